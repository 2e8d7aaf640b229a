"""
Clusters in pickles: their objects and settings; what was found out is found out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, cast

from dra_alloc.api import DeviceTaintRule, FrozenMap, ResourceSlice
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.overlay import Overlay

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

__all__ = ["Copied", "picklable", "unpickled"]


class Copied:
    """What a copy and a pickle of a cluster are."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, picklable(cast("Cluster", self))


def picklable(cluster: Cluster) -> tuple[Any, ...]:
    """Return the arguments of `unpickled`, none of which shares anything with caches."""
    inventory = cluster.inventory
    members = {each.name: getattr(cluster, each.name) for each in fields(cluster)}
    del members["inventory"]
    members |= {name: dict(members[name]) for name in ("classes", "claims")}
    wires: list[Any] = [row.wire for row in inventory.slices]
    slices = [wire.model() if isinstance(wire, WireRecord) else wire for wire in wires]
    return type(cluster), members, slices, inventory.taint_rules


def unpickled(
    kind: type[Cluster], members: dict[str, Any], slices: Sequence[ResourceSlice], rules: Sequence[DeviceTaintRule]
) -> Cluster:
    """Return the cluster of these members; slices keep their order."""
    maps = {"classes": FrozenMap(members["classes"]), "claims": Overlay(members["claims"])}
    return kind(**{**members, **maps, "inventory": Inventory.build(slices, rules)})
