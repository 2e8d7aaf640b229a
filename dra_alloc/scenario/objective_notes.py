"""
What objectives make no use of: prices of nothing, a previous answer about other claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.scenario.prices import idle_entries
from dra_alloc.solve.best.objectives import Cheapest, Objective, Stable


def idle_notes(objectives: Sequence[Objective], cluster: Cluster, placed: Iterable[str]) -> Iterator[str]:
    """Return what of prices and of a previous answer plays no part; `placed` are the names of the claims placed."""
    for objective in objectives:
        if isinstance(objective, Cheapest):
            yield from _prices(objective, cluster)
        elif isinstance(objective, Stable):
            yield from _previous(objective, list(placed))


def _prices(objective: Cheapest, cluster: Cluster) -> Iterator[str]:
    devices = (
        (DeviceKey(*row.pool, device.name), device)
        for row in cluster.inventory.slices
        for device in row.wire.spec.devices
    )
    for place, hidden in idle_entries(objective, devices, cluster.nodes):
        kind = "node" if place.startswith("nodes") else "device"
        why = f"the {kind}s it is for have an earlier entry" if hidden else f"it is for no {kind} of the cluster"
        yield f"price {place} counts for nothing: {why}"


def _previous(objective: Stable, placed: Sequence[str]) -> Iterator[str]:
    before = list(dict.fromkeys(name for name, _ in objective.previous))
    if placed and not set(before) & set(placed):
        known = f"{before[0]} and {len(before) - 1} more" if len(before) > 1 else before[0]
        yield f"the previous answer plays no part: it is about {known}, and none of these claims is placed here"
