"""
All slices of a cluster, indexed the ways the pools ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TypeVar

from dra_alloc.api import DeviceTaintRule, ResourceSlice
from dra_alloc.manifest.make.layouts import Layout
from dra_alloc.problem.devices import PoolKey, SliceRow
from dra_alloc.problem.overlay import Overlay

K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class Inventory:
    """
    The slices by their place in the input, and the same by name, node name and pool.

    `shared` are the slices that name no node, `shared_or_counters` also those
    with shared counters. Rows are shared by every question, and by the
    inventories that differ in other slices.
    """

    rows: Overlay[int, SliceRow]
    places: Overlay[str, int]
    by_node: Overlay[str, tuple[SliceRow, ...]]
    by_pool: Overlay[PoolKey, tuple[SliceRow, ...]]
    shared: tuple[SliceRow, ...]
    shared_or_counters: tuple[SliceRow, ...]
    taint_rules: tuple[DeviceTaintRule, ...] = ()
    next_position: int = 0

    @classmethod
    def build(
        cls,
        slices: Iterable[ResourceSlice],
        taint_rules: Sequence[DeviceTaintRule] = (),
        layouts: Iterable[Layout | None] = repeat(None),
    ) -> Inventory:
        """Return the index of the slices, with the rules' taints; `layouts` are what is known of each."""
        rows = [
            SliceRow(wire, position, taint_rules, layout)
            for position, (wire, layout) in enumerate(zip(slices, layouts, strict=False))
        ]
        local = [row for row in rows if row.node_name]
        beyond = [row for row in rows if not row.is_local]
        return cls(
            Overlay(enumerate(rows)),
            Overlay({row.name: row.position for row in rows}),
            Overlay(_grouped([row.node_name for row in local], local)),
            Overlay(_grouped([row.pool for row in rows], rows)),
            tuple([row for row in beyond if not row.node_name]),
            tuple([row for row in beyond if not row.node_name or row.wire.spec.shared_counters]),
            tuple(taint_rules),
            len(rows),
        )

    @cached_property
    def slices(self) -> tuple[SliceRow, ...]:
        """The slices in input order."""
        return tuple(sorted(self.rows.values(), key=_position))

    @property
    def newest(self) -> Iterator[SliceRow]:
        """The slices of the newest generation of each pool, in input order."""
        newest = {pool: max(row.generation for row in rows) for pool, rows in self.by_pool.items()}
        return (row for row in self.slices if row.generation == newest[row.pool])

    @cached_property
    def nodes_share(self) -> bool:
        """Whether what one node takes may be missing on another: slices of one pool are not all of one node."""
        groups = (rows for rows in self.by_pool.values() if len(rows) > 1)
        return bool(self.shared) or any(len({row.node_name for row in rows}) > 1 for rows in groups)

    def find(self, name: str) -> SliceRow | None:
        """Return the slice of that name, the last of several."""
        position = self.places.get(name)
        return None if position is None else self.rows[position]

    def changed(
        self, slices: Iterable[ResourceSlice], gone: Iterable[str] = ()
    ) -> tuple[Inventory, frozenset[PoolKey]]:
        """
        Return the inventory with these slices and without those that are gone, and the pools that changed.

        A slice replaces the one of its name, in its place.
        """
        old = {name: row for name in gone if (row := self.find(name)) is not None}
        new: dict[str, SliceRow] = {}
        position = self.next_position
        for wire in slices:
            name = wire.metadata.name or ""
            before = self.find(name)
            if before is not None:
                old[name] = before
            new[name] = SliceRow(wire, position if before is None else before.position, self.taint_rules)
            position += before is None
        made = self._with(frozenset(old.values()), tuple(new.values()), position)
        return made, frozenset(row.pool for row in (*old.values(), *new.values()))

    def _with(self, old: frozenset[SliceRow], new: Sequence[SliceRow], next_position: int) -> Inventory:
        places = {row.position for row in new}
        names = {row.name for row in new}
        moved = [*old, *new]

        def regrouped(
            index: Overlay[K, tuple[SliceRow, ...]], key: Callable[[SliceRow], K]
        ) -> Overlay[K, tuple[SliceRow, ...]]:
            groups = {
                each: _merged(index.get(each, ()), old, [row for row in new if key(row) == each])
                for each in map(key, moved)
            }
            return index.changed(
                {each: rows for each, rows in groups.items() if rows},
                [each for each, rows in groups.items() if not rows],
            )

        beyond = any(not row.node_name or row.wire.spec.shared_counters for row in moved)
        return Inventory(
            self.rows.changed(
                {row.position: row for row in new}, [row.position for row in old if row.position not in places]
            ),
            self.places.changed(
                {row.name: row.position for row in new}, [row.name for row in old if row.name not in names]
            ),
            regrouped(self.by_node, _node_name).changed({}, ("",)),
            regrouped(self.by_pool, _pool),
            _merged(self.shared, old, [row for row in new if not row.node_name]) if beyond else self.shared,
            _merged(
                self.shared_or_counters, old, [row for row in new if not row.node_name or row.wire.spec.shared_counters]
            )
            if beyond
            else self.shared_or_counters,
            self.taint_rules,
            next_position,
        )


def _grouped(keys: Sequence[K], rows: Sequence[SliceRow]) -> dict[K, tuple[SliceRow, ...]]:
    """Return the rows by their keys, in order."""
    groups: dict[K, tuple[SliceRow, ...]] = dict(zip(keys, zip(rows, strict=True), strict=True))
    if len(groups) == len(rows):
        return groups
    lists: dict[K, list[SliceRow]] = {}
    for key, row in zip(keys, rows, strict=True):
        lists.setdefault(key, []).append(row)
    return dict(zip(lists, map(tuple, lists.values()), strict=True))


def _merged(rows: Sequence[SliceRow], old: frozenset[SliceRow], new: Sequence[SliceRow]) -> tuple[SliceRow, ...]:
    """Return the rows without old ones and with new ones, in input order."""
    return tuple(sorted([*(row for row in rows if row not in old), *new], key=_position))


def _position(row: SliceRow) -> int:
    return row.position


def _node_name(row: SliceRow) -> str:
    return row.node_name


def _pool(row: SliceRow) -> PoolKey:
    return row.pool
