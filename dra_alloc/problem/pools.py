"""
Pools as one node sees them: newest generation, completeness, validity, order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dra_alloc.api import Node
from dra_alloc.problem.devices import DeviceRow, PoolKey, SliceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.nodes import NodeSelectorError, is_on_node
from dra_alloc.profiles import Feature, Profile, Trait

__all__ = ["GatherError", "Pool", "gather"]


class GatherError(Exception):
    """Pools cannot be gathered; the text is upstream's, and no node can be tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """
    One pool of one generation on one node.

    `devices` are those of slices that target the node, in the order in which
    they are tried; `elsewhere` those of the pool's other slices, which matter
    for counters only. `incomplete` and `invalid` pools offer no devices;
    `invalid` holds the reason.
    """

    key: PoolKey
    devices: tuple[DeviceRow, ...] = ()
    elsewhere: tuple[DeviceRow, ...] = ()
    counters: Mapping[tuple[str, str], int] = field(default_factory=dict)
    incomplete: bool = False
    invalid: str = ""
    slices_wanted: int = 0
    slices_found: int = 0

    @property
    def usable(self) -> bool:
        """Return whether ExactCount requests may take devices from it."""
        return not self.incomplete and not self.invalid


def gather(inventory: Inventory, node: Node, profile: Profile) -> tuple[Pool, ...]:
    """
    Return the pools with a slice that is relevant on the node, in the order in which they are tried.

    Spec: POOL-1..POOL-9.
    Raises: GatherError for a node selector that cannot be evaluated.
    """
    groups: dict[PoolKey, list[SliceRow]] = {}
    for row in _candidates(inventory, node, profile):
        if not _is_readable(row, profile) or not _is_relevant(row, node, profile):
            continue
        group = groups.setdefault(row.pool, [])
        if group and row.generation > group[0].generation:
            group.clear()
        if not group or row.generation == group[0].generation:
            group.append(row)
    pools = [pool for key, group in groups.items() if (pool := _pool(key, group, inventory, profile)) is not None]
    return tuple(_ordered(pools, profile))


def _candidates(inventory: Inventory, node: Node, profile: Profile) -> Iterable[SliceRow]:
    if profile.shows(Trait.INPUT_ORDER):
        return inventory.slices
    local = inventory.by_node.get(node.metadata.name or "", ())
    if not profile.shows(Trait.COUNTER_SLICES_EVERYWHERE):
        return (*local, *inventory.shared)
    # Counter slices then are looked at on every node, after the node's own slices.
    return (*(row for row in local if not row.wire.spec.shared_counters), *inventory.shared_or_counters)


def _is_readable(row: SliceRow, profile: Profile) -> bool:
    spec = row.wire.spec
    return profile.on(Feature.PARTITIONABLE) or (spec.per_device_node_selection is None and not spec.shared_counters)


def _is_relevant(row: SliceRow, node: Node, profile: Profile) -> bool:
    spec = row.wire.spec
    if spec.shared_counters and profile.shows(Trait.COUNTER_SLICES_EVERYWHERE):
        return True
    if row.node_name:
        return row.node_name == node.metadata.name
    try:
        if row.per_device and not spec.all_nodes and spec.node_selector is None:
            return any(is_on_node(device, node) for device in spec.devices)
        return is_on_node(spec, node)
    except NodeSelectorError as error:
        raise GatherError(
            "gather pool information: failed to perform node selection for slice "
            f"{row.name}: failed to parse node selector: {error}"
        ) from error


def _pool(key: PoolKey, group: Sequence[SliceRow], inventory: Inventory, profile: Profile) -> Pool | None:
    wanted = group[0].slice_count
    elsewhere: tuple[SliceRow, ...] = ()
    if len(group) != wanted:
        generation = group[0].generation
        everywhere = inventory.by_pool[key]
        if any(row.generation > generation for row in everywhere):
            return None
        same = [row for row in everywhere if row.generation == generation]
        if len(same) != wanted:
            return Pool(key, incomplete=True, slices_wanted=wanted, slices_found=len(same))
        names = {row.name for row in group}
        elsewhere = tuple(row for row in same if row.name not in names)
    return _build(key, group, elsewhere, profile)


def _build(key: PoolKey, group: Sequence[SliceRow], elsewhere: Sequence[SliceRow], profile: Profile) -> Pool:
    by_name = not profile.shows(Trait.INPUT_ORDER)
    rows = sorted(group, key=lambda row: row.name) if by_name else group
    partitionable = profile.on(Feature.PARTITIONABLE)
    counter_slices = [row for row in (*rows, *elsewhere) if partitionable and row.wire.spec.shared_counters]
    held = set(map(id, counter_slices))
    devices = tuple(device for row in rows if id(row) not in held for device in row.devices)
    others = tuple(device for row in elsewhere if id(row) not in held for device in row.devices)
    counters, invalid = _counters(counter_slices)
    invalid = _duplicate_device(devices) or invalid
    if not invalid and partitionable:
        invalid = _dangling_counter((*devices, *others), counters)
    return Pool(key, devices, others, counters, invalid=invalid, slices_wanted=len(group), slices_found=len(group))


def _duplicate_device(devices: Iterable[DeviceRow]) -> str:
    seen: set[str] = set()
    for device in devices:
        if device.key.device in seen:
            return f"duplicate device name {device.key.device}"
        seen.add(device.key.device)
    return ""


def _counters(counter_slices: Iterable[SliceRow]) -> tuple[dict[tuple[str, str], int], str]:
    counters: dict[tuple[str, str], int] = {}
    seen: set[str] = set()
    for row in counter_slices:
        for counter_set in row.wire.spec.shared_counters:
            if counter_set.name in seen:
                return counters, f"duplicate counter set name {counter_set.name}"
            seen.add(counter_set.name)
            for name, counter in counter_set.counters.items():
                counters[counter_set.name, name] = counter.value.nano
    return counters, ""


def _dangling_counter(devices: Iterable[DeviceRow], counters: Mapping[tuple[str, str], int]) -> str:
    sets = {counter_set for counter_set, _ in counters}
    for device in devices:
        for counter_set, name, _ in device.consumes:
            if counter_set not in sets:
                return f"counter set {counter_set} not found"
            if (counter_set, name) not in counters:
                return f"counter {name} not found in counter set {counter_set}"
    return ""


def _ordered(pools: Sequence[Pool], profile: Profile) -> Sequence[Pool]:
    if profile.shows(Trait.INPUT_ORDER):
        return pools

    def waits(pool: Pool) -> bool:
        return any(device.has_binding_conditions for device in pool.devices)

    return sorted(pools, key=lambda pool: (pool.usable and waits(pool), pool.key))
