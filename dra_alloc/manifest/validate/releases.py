"""
Where admission differs between releases: each behaviour with the releases that show it.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.releases import Span

#: What is in a list that is too long is looked at all the same.
LOOKS_ON: Final = Span(end="1.35")
#: A name given again is told at the name, not at its object.
TWICE_AT_NAME: Final = Span(end="1.35")
#: A taint has no effect `None`.
NO_EFFECT_NONE: Final = Span(end="1.35")
#: Names are told in other words: lengths of label keys and values in characters, a key as a qualified name.
NAMES_IN_EARLY_WORDS: Final = Span(end="1.35")
#: An empty name of a driver is a missing one, and no subdomain either.
EMPTY_DRIVERS_NAMED: Final = Span(end="1.35")
#: The effect of a taint rule is looked at even if it stays as it is.
EFFECT_ALWAYS: Final = Span(end="1.35")
#: Devices and the counters that they consume are in one slice; there are other limits, of taints, too.
COUNTERS_TOGETHER: Final = Span(end="1.35")
#: Both of `exactly` and alternatives are looked at, though one is too many.
BOTH_LOOKED_AT: Final = Span(end="1.35")
#: An empty part of a qualified name is a value that is missing.
EMPTY_IS_REQUIRED: Final = Span(end="1.35")
#: What is wrong with a key of a map is told at the key, not at the map.
KEYS_APART: Final = Span(end="1.36")
#: A default beyond a bound of its range is told at the bound.
DEFAULT_AT_BOUND: Final = Span(end="1.37")
#: The name of a class is looked at where it is generated, too, and what it is generated from is not.
CLASSES_BY_NAME: Final = Span("1.35")
#: The values of attributes are counted, too.
VALUES_COUNTED: Final = Span("1.36")
#: What is wrong with an owner is told at this owner, and with metadata or labels in the same words once.
OWNERS_APART: Final = Span("1.37")
#: What may not be changed in a StatefulSet is told at its field, not of all of its spec.
STATEFUL_SET_BY_FIELD: Final = Span("1.37")
#: Generated checks are enforced, in their words, at the paths of the version that was sent.
GENERATED: Final = Span("1.37")
#: Taints of a device that stay as they are are not looked at, but by generated checks.
TAINTS_KEPT: Final = Span("1.35", "1.38")
#: Nor are the capacities of such a device.
CAPACITIES_KEPT: Final = Span("1.37", "1.38")
#: Nor are devices that all stay as they are.
DEVICES_KEPT: Final = Span("1.38")
#: A step below nothing is refused as one of nothing is.
STEP_ABOVE_ZERO: Final = Span("1.37")
#: Of what belongs together a missing member is told without its name, by a generated check.
PAIRS_BRIEFLY: Final = Span("1.38")
#: What owners and conditions lack is told without words, and zero as a number.
UNWORDED: Final = Span("1.38")
#: Drivers in capital letters are stored with a warning.
DRIVERS_IN_CAPITALS_TOLD: Final = Span("1.35")
#: A taint rule whose selector is there and empty is stored with a warning.
EMPTY_SELECTORS_TOLD: Final = Span("1.38")
#: What requests ask of capacities is looked at, and what is consumed of them.
AMOUNTS_OF_CLAIMS: Final = Span("1.38")
#: The nodes of devices are looked at beyond their number, too.
NODES_OF_ALL: Final = Span("1.38")
#: The selector of a device, too, has one term.
ONE_TERM_A_DEVICE: Final = Span("1.38")
#: The capacity that a device takes of its node is named as capacities are.
CAPACITY_KEYS_NAMED: Final = Span("1.38")
#: A qualified name has one slash at most.
ONE_SLASH: Final = Span("1.38")
#: The numbers of a version have 18 digits at most.
VERSIONS_BOUNDED: Final = Span("1.38")
