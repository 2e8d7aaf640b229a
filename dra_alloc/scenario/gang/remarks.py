"""
What there is to say about pods that were not placed, or not where they were wished to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.scenario.gang.gang import can_place
from dra_alloc.scenario.gang.shortfall import shortfall
from dra_alloc.scenario.gang.types import Gang, Member, Topology, Verdict, WantNumbers

__all__ = ["remarks"]

#: So many different pods are asked for alone; pods that want the same are asked for once.
_MOST_ASKED: Final = 16


def remarks(cluster: Cluster, members: Sequence[Member], joint: Gang, topology: Topology | None) -> Iterator[str]:
    """Return which pods fit on no node even alone, and what became of the topology; nothing if all is as wished."""
    if topology is not None:
        values = {node.metadata.name: node.metadata.labels.get(topology.label) for node in cluster.nodes}
        if not any(value is not None for value in values.values()):
            yield f"no node has the label {topology.label}"
            if topology.must:
                return
        elif not topology.must and len({values.get(name) for name in joint.nodes}) > 1:
            yield f"not all pods could be placed on nodes of one {topology.label}"
    if joint.verdict is Verdict.UNDECIDED or len(joint.placements) == len(members):
        return
    alike = WantNumbers()
    different: dict[int, list[Member]] = {}
    for member in members:
        different.setdefault(alike(member), []).append(member)
    asked = [each[0] for each in different.values()][:_MOST_ASKED]
    alone = [can_place(cluster, [member]) for member in asked]
    for member, verdict in zip(asked, alone, strict=True):
        if verdict is Verdict.NONE:
            yield f"{member.name} fits on no node, not even alone: dra-alloc explain says why"
    if len(asked) == len(different) and set(alone) == {Verdict.PLACED}:
        yield "each pod fits on some node alone, but not all of them together"
        yield from shortfall(cluster, list(different.values()), topology.label if topology and topology.must else "")
