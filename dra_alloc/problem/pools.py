"""
Pools as one node sees them: newest generation, completeness, validity, order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from dra_alloc.api import Device, Node
from dra_alloc.problem.devices import DeviceRow, PoolKey, SliceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.nodes import NodeSelectorError, is_on_node
from dra_alloc.profiles import Feature, Profile, Trait


class GatherError(Exception):
    """Pools cannot be gathered; the text is upstream's, and no node can be tried."""


class Pool:
    """
    One pool of one generation on one node.

    `slices` are those that target the node, in the order in which their
    devices are tried; `others` the pool's remaining slices, which matter for
    counters only. `incomplete` and `invalid` pools offer no devices; `invalid`
    holds the reason. Of pools `abroad` the node sees counters alone, and their
    devices are other nodes'. `late` pools come after all others. `width` counts
    the devices.
    """

    __slots__ = (
        "__weakref__",
        "_devices",
        "_elsewhere",
        "abroad",
        "as_seen",
        "counters",
        "incomplete",
        "invalid",
        "key",
        "late",
        "others",
        "slices",
        "slices_found",
        "slices_wanted",
        "width",
    )

    def __init__(
        self,
        key: PoolKey,
        slices: Sequence[SliceRow],
        others: Sequence[SliceRow] = (),
        counters: Mapping[tuple[str, str], int] = MappingProxyType({}),
        invalid: str = "",
    ) -> None:
        self.key = key
        self.slices = tuple(slices)
        self.others = tuple(others)
        self.counters = counters
        self.as_seen = False
        self.abroad = False
        self.incomplete = False
        self.invalid = invalid
        self.late = not invalid and any(row.outline.waits for row in slices)
        self.width = sum([len(row.wire.spec.devices) for row in slices])
        self.slices_wanted = self.slices_found = len(slices)
        self._devices: tuple[DeviceRow, ...] | None = None
        self._elsewhere: tuple[DeviceRow, ...] | None = None

    @classmethod
    def unfinished(cls, key: PoolKey, wanted: int, found: int, *, abroad: bool) -> Pool:
        """Return a pool of which slices are missing, or too many."""
        pool = cls(key, ())
        pool.incomplete = True
        pool.abroad = abroad
        pool.slices_wanted, pool.slices_found = wanted, found
        return pool

    @property
    def devices(self) -> tuple[DeviceRow, ...]:
        """Return the devices that can be tried, in order."""
        if self._devices is None:
            self._devices = tuple(device for row in self.slices for device in row.devices)
        return self._devices

    @property
    def elsewhere(self) -> tuple[DeviceRow, ...]:
        """Return the devices of the pool's other slices."""
        if self._elsewhere is None:
            self._elsewhere = tuple(device for row in self.others for device in row.devices)
        return self._elsewhere

    @property
    def usable(self) -> bool:
        """Return whether ExactCount requests may take devices from it, or at least try."""
        return self.as_seen or self.whole

    @property
    def whole(self) -> bool:
        """Return whether the pool is complete and valid."""
        return not self.incomplete and not self.invalid

    def __repr__(self) -> str:
        return f"Pool({self.key})"


def gather(inventory: Inventory, node: Node, profile: Profile) -> tuple[Pool, ...]:
    """
    Return the pools with a slice that is relevant on the node, in the order in which they are tried.

    Spec: POOL-1..POOL-9.
    Raises: GatherError for a node selector that cannot be evaluated.
    """
    relevant = [row for row in candidates(inventory, node, profile) if is_relevant(row, node, profile)]
    return ordered(grouped(relevant, inventory, profile), profile)


def grouped(relevant: Iterable[SliceRow], inventory: Inventory, profile: Profile) -> list[Pool]:
    """Return the pools of slices that are relevant on a node, in the order in which they come up."""
    groups: dict[PoolKey, list[SliceRow]] = {}
    for row in relevant:
        group = groups.setdefault(row.pool, [])
        if group and row.generation > group[0].generation:
            group.clear()
        if not group or row.generation == group[0].generation:
            group.append(row)
    return [pool for key, group in groups.items() if (pool := _pool(key, group, inventory, profile)) is not None]


def candidates(inventory: Inventory, node: Node, profile: Profile) -> Iterable[SliceRow]:
    """Return the slices to look at for a node, in order."""
    local = inventory.by_node.get(node.metadata.name or "", ())
    everywhere = profile.shows(Trait.COUNTER_SLICES_EVERYWHERE)
    if everywhere:
        # Counter slices then are looked at on every node, after the node's own slices.
        local = tuple(row for row in local if not row.wire.spec.shared_counters)
    found = (*local, *(inventory.shared_or_counters if everywhere else inventory.shared))
    return sorted(found, key=_position) if profile.shows(Trait.INPUT_ORDER) else found


def _position(row: SliceRow) -> int:
    return row.position


def is_readable(row: SliceRow, profile: Profile) -> bool:
    """Return whether the slice can be read at all; without its feature a slice that needs it is as if absent."""
    spec = row.wire.spec
    if _is_hidden(row, profile):
        return False
    if profile.on(Feature.PARTITIONABLE):
        return True
    hidden = spec.shared_counters and not profile.shows(Trait.COUNTER_SLICES_READ)
    return spec.per_device_node_selection is None and not hidden


def _is_hidden(row: SliceRow, profile: Profile) -> bool:
    """
    Return whether the slice is as if absent for its compatibility groups, also to the count of a pool's slices.

    Spec: GROUP-5, GROUP-6.
    """
    if profile.on(Feature.COMPATIBILITY_GROUPS) or not profile.shows(Trait.GROUPS_HIDE_SLICES):
        return False
    return has_groups(row)


def has_groups(row: SliceRow) -> bool:
    """Return whether a device of the slice has compatibility groups."""
    if not row.outline.consumes:
        return False
    return any(use.compatibility_groups for device in row.wire.spec.devices for use in device.consumes_counters)


def is_relevant(row: SliceRow, node: Node, profile: Profile) -> bool:
    """
    Return whether the node can use devices or counters of the slice.

    Raises: GatherError.
    """
    if not is_readable(row, profile):
        return False
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
            f"{row.name}: failed to parse node selector {error}"
        ) from error


def _pool(key: PoolKey, group: Sequence[SliceRow], inventory: Inventory, profile: Profile) -> Pool | None:
    if profile.shows(Trait.BINDING_SLICES_LAST):
        group = sorted(group, key=lambda row: row.outline.waits)  # also which slice says how many there are
    wanted = group[0].slice_count
    if profile.shows(Trait.POOLS_AS_SEEN):
        return _as_seen(key, group, wanted)
    elsewhere: tuple[SliceRow, ...] = ()
    if len(group) != wanted:
        generation = group[0].generation
        everywhere = inventory.by_pool[key]
        if any(row.generation > generation for row in everywhere):
            return None
        same = [row for row in everywhere if row.generation == generation and not _is_hidden(row, profile)]
        if len(same) != wanted:
            offering = [row for row in same if row.wire.spec.devices]
            abroad = bool(offering) and not any(row in offering for row in group)
            return Pool.unfinished(key, wanted, len(same), abroad=abroad)
        names = {row.name for row in group}
        elsewhere = tuple(row for row in same if row.name not in names)
    return _build(key, group, elsewhere, profile)


def _as_seen(key: PoolKey, group: Sequence[SliceRow], wanted: int) -> Pool:
    """
    Return the pool of exactly these slices, whatever other nodes see of it.

    Spec: OLD-1, OLD-2.
    """
    pool = Pool(key, group, invalid=_duplicate_device(group))
    pool.as_seen = True
    pool.incomplete = len(group) != wanted
    pool.slices_wanted = wanted
    pool.late = any(row.outline.waits for row in group)  # invalid pools, too
    return pool


def _build(key: PoolKey, group: Sequence[SliceRow], elsewhere: Sequence[SliceRow], profile: Profile) -> Pool:
    by_name = not profile.shows(Trait.INPUT_ORDER)
    rows = sorted(group, key=lambda row: row.name) if by_name else group
    partitionable = profile.on(Feature.PARTITIONABLE)
    counter_slices = [row for row in (*rows, *elsewhere) if partitionable and row.wire.spec.shared_counters]
    held = set(counter_slices)
    slices = [row for row in rows if row not in held]
    others = [row for row in elsewhere if row not in held]
    counters, invalid = _counters(counter_slices)
    invalid = _duplicate_device(slices) or invalid
    if not invalid and partitionable and any(row.outline.consumes for row in (*slices, *others)):
        invalid = _dangling_counter((*slices, *others), counters)
    pool = Pool(key, slices, others, counters, invalid)
    pool.slices_wanted = pool.slices_found = len(group)
    return pool


def _wires(slices: Iterable[SliceRow]) -> Iterator[Device]:
    for row in slices:
        yield from row.wire.spec.devices


def _duplicate_device(slices: Sequence[SliceRow]) -> str:
    if len(slices) == 1 and not slices[0].outline.repeats:
        return ""
    names = [device.name for device in _wires(slices)]
    if len(set(names)) == len(names):
        return ""
    seen: set[str] = set()
    twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return f"duplicate device name {twice}"


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


def _dangling_counter(slices: Sequence[SliceRow], counters: Mapping[tuple[str, str], int]) -> str:
    known = counters.keys()
    if all(known >= row.consumed for row in slices):
        return ""
    sets = {counter_set for counter_set, _ in counters}
    for device in _wires(slices):
        for use in device.consumes_counters:
            if use.counter_set not in sets:
                return f"counter set {use.counter_set} not found"
            for name in use.counters:
                if (use.counter_set, name) not in counters:
                    return f"counter {name} not found in counter set {use.counter_set}"
    return ""


def ordered(pools: Sequence[Pool], profile: Profile) -> tuple[Pool, ...]:
    """Return a node's pools in the order in which they are tried."""
    if profile.shows(Trait.BINDING_SLICES_LAST):
        return tuple(sorted(pools, key=lambda pool: pool.late))
    if profile.shows(Trait.INPUT_ORDER):
        return tuple(pools)
    return tuple(sorted(pools, key=_order))


def _order(pool: Pool) -> tuple[bool, PoolKey]:
    return pool.late, pool.key
