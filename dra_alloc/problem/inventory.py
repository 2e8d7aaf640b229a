"""
All slices of a cluster, indexed the ways the pools ask for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dra_alloc.api import DeviceTaintRule, ResourceSlice
from dra_alloc.problem.devices import PoolKey, SliceRow

__all__ = ["Inventory"]


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """
    The slices in input order, and the same by node name and by pool.

    `shared` are the slices that name no node, `shared_or_counters`
    also those with shared counters. Built once per cluster; the rows
    are shared by every question asked of it.
    """

    slices: tuple[SliceRow, ...]
    by_node: Mapping[str, tuple[SliceRow, ...]]
    shared: tuple[SliceRow, ...]
    shared_or_counters: tuple[SliceRow, ...]
    by_pool: Mapping[PoolKey, tuple[SliceRow, ...]]

    @classmethod
    def build(cls, slices: Iterable[ResourceSlice], taint_rules: Sequence[DeviceTaintRule] = ()) -> Inventory:
        """Return the index of the slices; the rules' taints are added to their devices."""
        rows = tuple(SliceRow(each, position, taint_rules) for position, each in enumerate(slices))
        by_node: dict[str, list[SliceRow]] = {}
        by_pool: dict[PoolKey, list[SliceRow]] = {}
        for row in rows:
            by_node.setdefault(row.node_name, []).append(row)
            by_pool.setdefault(row.pool, []).append(row)
        shared = tuple(by_node.pop("", ()))
        return cls(
            rows,
            {name: tuple(group) for name, group in by_node.items()},
            shared,
            tuple(row for row in rows if not row.node_name or row.wire.spec.shared_counters),
            {key: tuple(group) for key, group in by_pool.items()},
        )
