"""
The pools of many nodes, each pool made once.

The answer is that of :func:`dra_alloc.problem.pools.gather`, which defines it;
here pools that several nodes see are shared, and the pools of other nodes that
offer nothing are not listed at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from typing import NamedTuple

from dra_alloc.api import Node
from dra_alloc.problem.devices import PoolKey, SliceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.overlay import Findings
from dra_alloc.problem.pools import Pool, gather, grouped, has_groups, is_readable, is_relevant, ordered
from dra_alloc.profiles import Feature, Profile, Trait


class Offer(NamedTuple):
    """
    What a node can take devices from: its usable pools with devices, in order.

    `invalid` says that some pool the node can see is invalid.
    """

    pools: tuple[Pool, ...]
    invalid: bool


class Gathering:
    """
    Pools of one inventory for one profile, made on first use and kept; safe to use from several threads.

    `broken` are the pools that are invalid to nodes that only see their counters, `unfinished` those that are
    incomplete to them.
    """

    def __init__(self, inventory: Inventory, profile: Profile) -> None:
        self._inventory = inventory
        self._profile = profile
        self._partitionable = profile.on(Feature.PARTITIONABLE)
        everywhere = profile.shows(Trait.COUNTER_SLICES_EVERYWHERE)
        beyond = inventory.shared_or_counters if everywhere else inventory.shared
        # Pools of which some slice names no node; counter slices of other pools, where every node looks at them.
        self._pools = frozenset(row.pool for row in inventory.shared)
        self._common = tuple(row for row in beyond if row.pool in self._pools)
        self._counters = _by_pool(row for row in beyond if row.pool not in self._pools)
        self._places = _by_place(self._common)
        self.broken: frozenset[PoolKey] = frozenset()
        self.unfinished: frozenset[PoolKey] = frozenset()
        self._look_from_elsewhere(self._counters)
        # Nodes see nothing but their own slices.
        self._alone = not beyond
        self._local: Findings[str, tuple[Pool, ...]] = Findings()
        self._shared: dict[tuple[bool, ...], tuple[Pool, ...]] = {}

    def offer(self, node: Node) -> Offer:
        """
        Return the node's pools as far as they offer devices.

        Raises: GatherError.
        """
        name = node.metadata.name or ""
        rows = self._inventory.by_node.get(name, ())
        alone = self._alone and len(rows) == 1 and len(self._inventory.by_pool[rows[0].pool]) == 1
        if alone and self._is_whole(rows[0]):
            return Offer((Pool(rows[0].pool, rows),), invalid=False)
        keys = {row.pool for row in rows}
        if self._profile.shows(Trait.INPUT_ORDER) or not self._pools.isdisjoint(keys):
            pools = gather(self._inventory, node, self._profile)
            return _offer(pools, invalid=any(pool.invalid for pool in pools))
        local = self._local.get(name)
        if local is None:
            local = self._local.put(name, self._own(rows))
        shared = self._for_places(node) if self._common else ()
        pools = ordered((*local, *shared), self._profile) if shared else local
        broken = bool(self.broken) and not self.broken <= keys
        return _offer(pools, invalid=broken or any(pool.invalid for pool in pools))

    def alone(self, names: Sequence[str]) -> list[SliceRow | None]:
        """Return for each node the slice that is all it can see, and a valid pool by itself; None for others."""
        if not self._alone:
            return [None] * len(names)
        groups = self._inventory.by_node.many(names, ())
        first = [rows[0] if len(rows) == 1 else None for rows in groups]
        pools = self._inventory.by_pool
        one_each = len(pools) == len(self._inventory.rows)
        return [
            row if row is not None and (one_each or len(pools[row.pool]) == 1) and self._is_whole(row) else None
            for row in first
        ]

    def changed(self, keys: frozenset[PoolKey], inventory: Inventory) -> Gathering:
        """Return the gathering of an inventory that differs in these pools only."""
        rows = [row for key in keys for each in (self._inventory, inventory) for row in each.by_pool.get(key, ())]
        made = copy(self)
        made._inventory = inventory  # noqa: SLF001  # its own class
        if not all(row.node_name for row in rows):
            made = Gathering(inventory, self._profile)
        elif any(row.wire.spec.shared_counters for row in rows):
            made._recount(keys)  # its own class
        made._local = self._local.without(row.node_name for row in rows)  # its own class
        return made

    def _recount(self, keys: frozenset[PoolKey]) -> None:
        """Look at the counter slices of these pools anew; none of their slices is without a node."""
        if not self._profile.shows(Trait.COUNTER_SLICES_EVERYWHERE):
            return
        counters = {key: rows for key, rows in self._counters.items() if key not in keys}
        for key in keys:
            rows = [row for row in self._inventory.by_pool.get(key, ()) if row.wire.spec.shared_counters]
            if rows:
                counters[key] = rows
        self._counters = counters
        self._alone = not self._common and not counters
        self._look_from_elsewhere(keys)

    def _look_from_elsewhere(self, keys: Iterable[PoolKey]) -> None:
        """Say anew what nodes that only see the counters of these pools make of them."""
        pools = [pool for key in keys for pool in self._seen_elsewhere(self._counters.get(key, ()))]
        self.broken = self.broken.difference(keys).union(pool.key for pool in pools if pool.invalid)
        self.unfinished = self.unfinished.difference(keys).union(pool.key for pool in pools if pool.incomplete)

    def _seen_elsewhere(self, counters: Iterable[SliceRow]) -> Iterable[Pool]:
        readable = [row for row in counters if is_readable(row, self._profile)]
        return grouped(readable, self._inventory, self._profile)

    def _own(self, rows: Sequence[SliceRow]) -> tuple[Pool, ...]:
        """Return the pools of a node's own slices, of which every slice names a node."""
        counters = {each: None for row in rows for each in self._counters.get(row.pool, ())}
        seen = [*(row for row in rows if row not in counters), *sorted(counters, key=lambda row: row.position)]
        relevant = [row for row in seen if is_readable(row, self._profile)]
        return ordered(grouped(relevant, self._inventory, self._profile), self._profile)

    def _is_whole(self, row: SliceRow) -> bool:
        """Return whether the slice is a valid pool by itself, as most are, if it is all there is to its pool."""
        outline = row.outline
        if row.slice_count != 1 or outline.repeats or outline.consumes:
            return False
        if row.is_local:
            return True
        # Nothing hides a slice whose devices consume no counters, but a feature that it needs to be read.
        spec = row.wire.spec
        return not spec.shared_counters and (self._partitionable or spec.per_device_node_selection is None)

    def _for_places(self, node: Node) -> tuple[Pool, ...]:
        """Return the pools of slices that name no node, as the node sees them."""
        visible = {place: is_relevant(first, node, self._profile) for place, first in self._places.items()}
        key = tuple(visible.values())
        found = self._shared.get(key)
        if found is None:
            relevant = [row for row in self._common if visible[_place(row)]]
            found = self._shared[key] = tuple(grouped(relevant, self._inventory, self._profile))
        return found


def _offer(pools: Iterable[Pool], *, invalid: bool) -> Offer:
    return Offer(tuple([pool for pool in pools if pool.usable and pool.slices]), invalid)


def _by_pool(rows: Iterable[SliceRow]) -> Mapping[PoolKey, list[SliceRow]]:
    found: dict[PoolKey, list[SliceRow]] = {}
    for row in rows:
        found.setdefault(row.pool, []).append(row)
    return found


def _by_place(rows: Iterable[SliceRow]) -> dict[Hashable, SliceRow]:
    """Return one slice for every set of nodes that slices are for, in order."""
    found: dict[Hashable, SliceRow] = {}
    for row in rows:
        found.setdefault(_place(row), row)
    return found


def _place(row: SliceRow) -> Hashable:
    """Return what decides which nodes see the slice."""
    spec = row.wire.spec
    if spec.shared_counters or spec.per_device_node_selection is not None or row.node_name or has_groups(row):
        return row
    return "all" if spec.all_nodes else spec.node_selector
