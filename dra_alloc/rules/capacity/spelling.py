"""
Names of capacities, whose domain may be left out where it is the driver's.

Spec: CAP-13.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_alloc.api import DeviceCapacity, Quantity
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules.capacity.policy import AmountError


def offered(device: DeviceRow, profile: Profile) -> Mapping[str, DeviceCapacity]:
    """Return the device's capacities; of two spellings of one name only the one with its domain counts."""
    named = device.capacity
    prefix = f"{device.key.driver}/"
    if profile.shows(Trait.CAPACITY_BY_SPELLING) or not any(name.startswith(prefix) for name in named):
        return named
    return {name: each for name, each in named.items() if "/" in name or prefix + name not in named}


def spelling(name: str, device: DeviceRow, profile: Profile) -> str | None:
    """Return how the device spells the capacity of that name; None if it has none."""
    domain, slash, short = name.partition("/")
    if profile.shows(Trait.CAPACITY_BY_SPELLING):
        return name if name in device.capacity else None
    if slash:
        others = (short,) if domain == device.key.driver else ()
        tried = (name, *others)
    else:
        tried = (f"{device.key.driver}/{name}", name)
    return next((each for each in tried if each in device.capacity), None)


def full_name(name: str, device: DeviceRow, profile: Profile) -> str:
    """Return the name as an error tells it: with its domain where domains count."""
    return name if "/" in name or profile.shows(Trait.CAPACITY_BY_SPELLING) else f"{device.key.driver}/{name}"


def asked(ask: Ask, device: DeviceRow, profile: Profile) -> Mapping[str, Quantity] | None:
    """
    Return the amounts asked for by the device's spelling; None if it lacks one of them.

    Raises: AmountError for one capacity named twice.
    """
    found: dict[str, Quantity] = {}
    before: dict[str, str] = {}
    for name, amount in ask.capacity:
        own = spelling(name, device, profile)
        if own is None:
            return None
        if own in found:
            short = own.rpartition("/")[2]
            raise AmountError(f'capacity "{short}" requested both as "{name}" and as "{before[own]}"')
        found[own], before[own] = amount, name
    return found


def totals(consumed: Mapping[str, int], device: DeviceRow, profile: Profile) -> Mapping[str, int]:
    """Return what is consumed by the device's spelling."""
    if profile.shows(Trait.CAPACITY_BY_SPELLING) or consumed.keys() <= device.capacity.keys():
        return consumed
    found: dict[str, int] = {}
    for name, amount in consumed.items():
        own = spelling(name, device, profile)
        if own is not None:
            found[own] = found.get(own, 0) + amount
    return found
