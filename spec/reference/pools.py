"""
Which pools there are on a node, and the devices they offer, in the order in which they are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_alloc.api import Device, ResourceSlice
from spec.reference.nodes import slice_is_for
from spec.reference.question import Offer, Question


@dataclass(frozen=True, eq=False)
class Pool:
    """
    A pool as the node sees it.

    `here` are its slices for this node and `elsewhere` those for others, if they
    had to be looked at. An incomplete or invalid pool offers nothing.
    """

    driver: str
    name: str
    here: tuple[ResourceSlice, ...]
    elsewhere: tuple[ResourceSlice, ...]
    incomplete: bool
    invalid: bool

    @property
    def bad(self) -> bool:
        """Return whether it offers nothing."""
        return self.incomplete or self.invalid

    def offers(self, *, partitionable: bool) -> list[Offer]:
        """Return its devices for this node."""
        if self.bad:
            return []
        return [Offer(device, each) for each in self.here for device in devices_of(each, partitionable=partitionable)]


def devices_of(each: ResourceSlice, *, partitionable: bool) -> tuple[Device, ...]:
    """
    Return the devices of a slice; one with shared counters has none.

    Spec: POOL-6.
    """
    return () if partitionable and each.spec.shared_counters else each.spec.devices


def pools(question: Question) -> list[Pool]:
    """
    Return the pools of the node: by driver and name, those with binding conditions last.

    Spec: POOL-1, POOL-2, POOL-4, POOL-9.
    """
    readable = [each for each in question.slices if _is_read(each, question)]
    own = [each for each in readable if each.spec.node_name == question.node.metadata.name]
    anyones = [each for each in readable if not each.spec.node_name]
    groups: dict[tuple[str, str], list[ResourceSlice]] = {}
    for each in own + anyones:
        if slice_is_for(each, question.node):
            groups.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
    found = [_pool(key, group, question) for key, group in sorted(groups.items())]
    known = [pool for pool in found if pool is not None]
    return sorted(known, key=lambda pool: not pool.bad and _binds(pool, question))


def _is_read(each: ResourceSlice, question: Question) -> bool:
    said = each.spec.per_device_node_selection is not None or bool(each.spec.shared_counters)
    return question.on("PartitionableDevices") or not said


def _binds(pool: Pool, question: Question) -> bool:
    offers = pool.offers(partitionable=question.on("PartitionableDevices"))
    return any(offer.device.binding_conditions for offer in offers)


def _pool(key: tuple[str, str], group: list[ResourceSlice], question: Question) -> Pool | None:
    """
    Return the pool that slices for this node belong to, or None if a newer one is being published.

    Spec: POOL-4, POOL-5.
    """
    newest = max(each.spec.pool.generation for each in group)
    here = [each for each in group if each.spec.pool.generation == newest]
    wanted = here[0].spec.pool.resource_slice_count
    elsewhere: list[ResourceSlice] = []
    incomplete = False
    if len(here) != wanted:
        every = [each for each in question.slices if (each.spec.driver, each.spec.pool.name) == key]
        if any(each.spec.pool.generation > newest for each in every):
            return None
        same = [each for each in every if each.spec.pool.generation == newest]
        incomplete = len(same) != wanted
        names = {each.metadata.name for each in here}
        elsewhere = [each for each in same if each.metadata.name not in names]
    by_name = tuple(sorted(here, key=lambda each: each.metadata.name or ""))
    invalid = not incomplete and _is_invalid(by_name, elsewhere, partitionable=question.on("PartitionableDevices"))
    return Pool(*key, by_name, tuple(elsewhere), incomplete, invalid)


def _is_invalid(here: tuple[ResourceSlice, ...], elsewhere: list[ResourceSlice], *, partitionable: bool) -> bool:
    """
    Return whether names occur twice, or devices draw on what is not there.

    Spec: POOL-7.
    """
    names = [device.name for each in here for device in devices_of(each, partitionable=partitionable)]
    if len(names) != len(set(names)):
        return True
    if not partitionable:
        return False
    slices = [*here, *elsewhere]
    sets = [each for one in slices for each in one.spec.shared_counters]
    if len(sets) != len({each.name for each in sets}):
        return True
    there = {each.name: set(each.counters) for each in sets}
    devices = [device for each in slices for device in devices_of(each, partitionable=True)]
    draws = [draw for device in devices for draw in device.consumes_counters]
    return any(not set(draw.counters) <= there.get(draw.counter_set, set()) for draw in draws) or any(
        draw.counter_set not in there for draw in draws
    )
