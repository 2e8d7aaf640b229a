"""
What there is to say about pods that were not placed, or not where they were wished to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal, Unsatisfiable
from dra_alloc.scenario.gang.gang import can_place
from dra_alloc.scenario.gang.shortfall import FellShort, shortfall
from dra_alloc.scenario.gang.types import Gang, Member, Topology, Verdict, WantNumbers

#: So many different pods are asked for alone; pods that want the same are asked for once.
_MOST_ASKED: Final = 16
#: Nodes of which the one is told of that is nearest to a fit for a pod that fits on none.
_MOST_NODES: Final = 16


def remarks(cluster: Cluster, joint: Gang, topology: Topology | None) -> Iterator[str]:
    """Yield what became of a topology that pods should have; nothing if all is as wished."""
    if topology is None or topology.must:
        return
    values = _values(cluster, topology)
    if not any(values.values()):
        yield f"no node has the label {topology.label}"
    elif len({values.get(name) for name in joint.nodes}) > 1:
        yield f"not all pods could be placed on nodes of one {topology.label}"


def _values(cluster: Cluster, topology: Topology) -> dict[str | None, str | None]:
    return {node.metadata.name: node.metadata.labels.get(topology.label) for node in cluster.nodes}


def fell_short(cluster: Cluster, members: Sequence[Member], joint: Gang, topology: Topology | None) -> FellShort:
    """Return why not all pods are placed, and what would help; nothing if they are, or nobody knows."""
    if topology is not None and topology.must and not any(_values(cluster, topology).values()):
        return FellShort(f"no node has the label {topology.label}")
    if joint.verdict is Verdict.UNDECIDED or not joint.proven or len(joint.placements) == len(members):
        return FellShort()
    alike = WantNumbers()
    different: dict[int, list[Member]] = {}
    for member in members:
        different.setdefault(alike(member), []).append(member)
    asked = [each[0] for each in different.values()][:_MOST_ASKED]
    alone = [can_place(cluster, [member]) for member in asked]
    hopeless = [member for member, verdict in zip(asked, alone, strict=True) if verdict is Verdict.NONE]
    if hopeless:
        first, *others = hopeless
        said = tuple(f"{each.name} fits on no node either, not even alone" for each in others)
        cause = f"{first.name} fits on no node, not even alone"
        return FellShort(f"{cause}{_why(cluster, first)}", nodes=said)
    if len(asked) == len(different) and set(alone) == {Verdict.PLACED}:
        label = topology.label if topology and topology.must else ""
        return shortfall(cluster, members, list(different.values()), label)
    return FellShort()


def _why(cluster: Cluster, member: Member) -> str:
    """Return what a pod that fits on no node misses on the nearest of the first nodes."""
    outcomes = (cluster.allocate(member.claims, node=node.metadata.name) for node in cluster.nodes[:_MOST_NODES])
    refusals: list[NodeRefusal] = [each.refusals[0] for each in outcomes if isinstance(each, Unsatisfiable)]
    nearest = min(refusals, key=lambda each: each.explanation.short_of, default=None)
    if nearest is None:
        return ""
    return f"; on {nearest.node}, {nearest.explanation.cause or nearest.text} (dra-alloc explain says more)"
