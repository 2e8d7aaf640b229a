"""
What holds for the devices of a slice at large, noted while they are fresh in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from dra_alloc.api import Device

__all__ = ["Outline", "outline_of"]


class Outline(NamedTuple):
    """
    What holds for the devices of a slice at large.

    `repeats`: two have the same name. `consumes`: some consume counters.
    `waits`: some have binding conditions. `simple`: none has more than
    attributes and capacity without request policies. `versions`: those of all
    attributes that are versions; None is among them if other attributes than
    plain texts, numbers, booleans and versions need a look.
    """

    repeats: bool
    consumes: bool
    waits: bool
    simple: bool
    versions: frozenset[str | None]


def outline_of(devices: Sequence[Device]) -> Outline:
    """Return the outline of devices."""
    # Asked of every slice of a cluster: nothing here may call Python code for a device or an attribute.
    repeats = len({each.name for each in devices}) < len(devices)
    consumes = any(map(_CONSUMES, devices))
    waits = any(map(_WAITS, devices))
    simple = not (consumes or waits or any(map(_TAINTS, devices)) or any(map(_SHAREABLE, devices)))
    if simple:
        policies = [each.request_policy for device in devices for each in device.capacity.values()]
        simple = policies.count(None) == len(policies)
    versions = [
        each.version if (each.ints, each.bools, each.strings, each.versions) == _NO_LISTS else None
        for device in devices
        for each in device.attributes.values()
        if each.versions is not None or (each.string is None and each.int_ is None and each.bool_ is None)
    ]
    return Outline(repeats, consumes, waits, simple, frozenset(versions))


_NO_LISTS: Final = (None, None, None, None)
_CONSUMES: Final = attrgetter("consumes_counters")
_WAITS: Final = attrgetter("binding_conditions")
_TAINTS: Final = attrgetter("taints")
_SHAREABLE: Final = attrgetter("allow_multiple_allocations")
