"""
Nodes of clusters without Node objects: those that slices name, with a hostname label only.
"""

from __future__ import annotations

from collections.abc import Iterable

from dra_alloc.api import FrozenMap, Node, ObjectMeta
from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.problem.devices import PoolKey
from dra_alloc.problem.inventory import Inventory


def implied_nodes(inventory: Inventory) -> tuple[Node, ...]:
    """Return the nodes that slices name, by name; one of any name where no slice names one."""
    names = sorted(inventory.by_node) or (["any-node"] if inventory.slices else [])
    return tuple(Node(metadata=ObjectMeta(name=name, labels=FrozenMap({HOSTNAME: name}))) for name in names)


def names_differ(before: Inventory, after: Inventory, pools: Iterable[PoolKey]) -> bool:
    """Return whether slices of two inventories, which differ in these pools only, imply other nodes."""
    if bool(before.rows) != bool(after.rows):
        return True
    rows = [row for key in pools for each in (before, after) for row in each.by_pool.get(key, ())]
    names = {row.node_name for row in rows if row.node_name}
    return any((name in before.by_node) != (name in after.by_node) for name in names)
