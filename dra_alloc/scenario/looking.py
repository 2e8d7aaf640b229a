"""
Refused nodes looked into: what devices fell to, and the reasons of each kind of node.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.attempts.scheduled import Unschedulable
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.reasons import WORK, Reasons
from dra_alloc.explain.world import World
from dra_alloc.problem.pools import GatherError
from dra_alloc.scenario.explaining import reasons_on, world_of

__all__ = ["EXPLAINED_NODES", "Looking"]

#: Refused nodes that are looked into for counts and reasons.
EXPLAINED_NODES: Final = 200
_REASONED_SHAPES: Final = 12
#: What reasons may cost, in steps of a search: those of one subject, and those of a whole check.
_SUBJECT_WORK: Final = 120_000
_CHECK_WORK: Final = 600_000


@dataclass(slots=True)
class _Allowance:
    """Work that is left for reasons; half of what is left goes to each, so that the last one has some, too."""

    left: int

    def reasons(
        self, cluster: Cluster, claims: Sequence[ResourceClaim], node: Node, most: int, elsewhere: Sequence[World]
    ) -> Reasons:
        """Return the reasons of a refusal, at the expense of what is left."""
        found = reasons_on(cluster, claims, node, min(most, self.left // 2, WORK), elsewhere)
        self.left -= found.work
        return found


class Looking:
    """Looks into the refusals of one check, within the work that is allowed for all of them."""

    def __init__(self) -> None:
        self._allowance = _Allowance(_CHECK_WORK)

    def into(self, cluster: Cluster, outcome: Unschedulable, refused: Sequence[NodeRefusal]) -> tuple[NodeRefusal, ...]:
        """
        Return the refusals with counts, for as many nodes as are worth looking into.

        Nodes whose counts look alike share the reasons of the first of them.
        """
        counted: list[NodeRefusal] = []
        kinds: dict[object, NodeRefusal] = {}
        for number, refusal in enumerate(refused):
            if refusal.code != "no-fit":
                counted.append(refusal)
            elif number < EXPLAINED_NODES:
                node = cluster.node(refusal.node)
                counted.append(cluster.known.counted(refusal, outcome.claims_on(refusal.node), node))
                kinds.setdefault(counted[-1].explanation.shape, counted[-1])
        found: dict[object, Reasons] = {}
        left = _SUBJECT_WORK
        worlds = dict(_worlds(cluster, outcome, list(kinds.values())[:_REASONED_SHAPES]))
        for shape, refusal in sorted(kinds.items(), key=lambda each: each[1].explanation.short_of)[:_REASONED_SHAPES]:
            elsewhere = [world for name, world in worlds.items() if name != refusal.node]
            claims, node = outcome.claims_on(refusal.node), cluster.node(refusal.node)
            found[shape] = self._allowance.reasons(cluster, claims, node, left // 3, elsewhere)
            left -= found[shape].work
        return tuple(
            [
                replace(each, reasons=found.get(each.explanation.shape)) if each.code == "no-fit" else each
                for each in counted
            ]
        )


def _worlds(cluster: Cluster, outcome: Unschedulable, refusals: Sequence[NodeRefusal]) -> Iterator[tuple[str, World]]:
    """Yield the worlds of nodes, each with its name, as far as they can be told; of a single node none is needed."""
    for each in refusals if len(refusals) > 1 else ():
        with contextlib.suppress(GatherError):
            yield each.node, world_of(cluster, outcome.claims_on(each.node), cluster.node(each.node))
