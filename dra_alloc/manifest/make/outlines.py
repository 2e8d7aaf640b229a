"""
What holds for the devices of a slice at large, noted while they are fresh in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from dra_alloc.api import Device, DeviceAttribute
from dra_alloc.api.amounts.quantity import is_debt
from dra_alloc.api.devices import has_lists


class Outline(NamedTuple):
    """
    What holds for the devices of a slice at large.

    `repeats`: two have the same name. `consumes`: some consume counters.
    `waits`: some have binding conditions. `simple`: none has more than
    attributes and capacity without request policies that is no debt. `versions`: those of all
    attributes that are versions; None is among them if other attributes than
    plain texts, numbers, booleans and versions need a look.
    """

    repeats: bool
    consumes: bool
    waits: bool
    simple: bool
    versions: frozenset[str | None]


def outline_of(
    devices: Sequence[Device], repeats: bool | None = None, versions: frozenset[str | None] | None = None
) -> Outline:
    """Return the outline of devices; whether names repeat, and the versions, may be known already."""
    # Asked of every slice of a cluster: nothing here may call Python code for a device or an attribute.
    if repeats is None:
        repeats = len({each.name for each in devices}) < len(devices)
    if versions is None:
        versions = versions_of([each for device in devices for each in device.attributes.values()])
    special = list(map(_SPECIAL, devices))
    simple = special.count(_NOTHING) == len(special) or not any(map(any, special))
    consumes = not simple and any(map(_CONSUMES, devices))
    waits = not simple and any(map(_WAITS, devices))
    if simple:
        capacities = [each for device in devices for each in device.capacity.values()]
        policies = list(map(_POLICY, capacities))
        simple = policies.count(None) == len(policies) and not is_debt(map(_AMOUNT, capacities))
    return Outline(repeats, consumes, waits, simple, versions)


def versions_of(attributes: Iterable[DeviceAttribute]) -> frozenset[str | None]:
    """Return the versions among attributes, and None if some are not plain."""
    return frozenset(
        [
            None if has_lists(each) else each.version
            for each in attributes
            if each.versions is not None or (each.string is None and each.int_ is None and each.bool_ is None)
        ]
    )


#: Of a device that has none of what follows.
_NOTHING: Final = ((), (), (), None)
_POLICY: Final = attrgetter("request_policy")
_AMOUNT: Final = attrgetter("value")
_CONSUMES: Final = attrgetter("consumes_counters")
_WAITS: Final = attrgetter("binding_conditions")
_SPECIAL: Final = attrgetter("consumes_counters", "binding_conditions", "taints", "allow_multiple_allocations")
