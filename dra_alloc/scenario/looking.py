"""
Refused nodes looked into: what devices fell to, and the reasons of each kind of node.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.cluster.attempts.scheduled import Unschedulable
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.reasons import WORK, Reasons
from dra_alloc.explain.world import Surroundings, World
from dra_alloc.problem.pools import GatherError
from dra_alloc.scenario.explaining import Holders, world_of
from dra_alloc.scenario.repeated import Repeated

__all__ = ["EXPLAINED_NODES", "Looking"]

#: Refused nodes that are looked into for counts and reasons.
EXPLAINED_NODES: Final = 200
#: Kinds of nodes whose reasons are looked for, those that lack the fewest devices; of a fleet fewer.
_KINDS: Final = 12
_KINDS_OF_A_FLEET: Final = 5
_FLEET: Final = 64
#: What reasons may cost, in steps of a search: those of one subject, and those of a whole check.
_SUBJECT_WORK: Final = 120_000
_CHECK_WORK: Final = 600_000


@dataclass(slots=True)
class _Allowance:
    """Work that is left for reasons; half of what is left goes to each, so that the last one has some, too."""

    left: int
    known: Repeated = field(default_factory=Repeated)

    def reasons(self, world: World | None, most: int, elsewhere: Sequence[World]) -> Reasons:
        """Return the reasons of a refusal, at the expense of what is left; none that is known without a world."""
        if world is None:
            return Reasons((), exact=False)
        found = self.known.reasons(world, min(most, self.left // 2, WORK), elsewhere)
        self.left -= found.work
        return found


class Looking:
    """Looks into the refusals of one check, within the work that is allowed for all of them."""

    def __init__(self) -> None:
        self._allowance = _Allowance(_CHECK_WORK)
        self._holders = Holders()
        self._around: Surroundings | None = None

    def into(self, cluster: Cluster, outcome: Unschedulable, refused: Sequence[NodeRefusal]) -> tuple[NodeRefusal, ...]:
        """
        Return the refusals with counts, for as many nodes as are worth looking into.

        Nodes whose counts look alike share the reasons of the first of them.
        """
        counted: list[tuple[NodeRefusal, object]] = []
        kinds: dict[object, NodeRefusal] = {}
        count = cluster.known.counting()
        for number, refusal in enumerate(refused):
            if refusal.code != "no-fit":
                counted.append((refusal, None))
            elif number < EXPLAINED_NODES:
                told = self._allowance.known.counted(cluster, refusal, outcome.claims_on(refusal.node), count)
                shape = told.explanation.shape
                counted.append((told, shape))
                kinds.setdefault(shape, told)
        found: dict[object, Reasons] = {}
        left = _SUBJECT_WORK
        fleet = len(refused) > _FLEET
        most = _KINDS_OF_A_FLEET if fleet else _KINDS
        nearest = sorted(kinds.items(), key=lambda each: each[1].explanation.short_of)[:most]
        # Nodes that look alike can end otherwise once something is changed; of a fleet the kinds have to do.
        few = [] if fleet else [each for each, _ in counted if each.code == "no-fit"]
        worlds = dict(self._worlds(cluster, outcome, few or [each for _, each in nearest]))
        for shape, refusal in nearest:
            elsewhere = [world for name, world in worlds.items() if name != refusal.node]
            found[shape] = self._allowance.reasons(worlds.get(refusal.node), left // 3, elsewhere)
            left -= found[shape].work
        return tuple(
            [each if each.code != "no-fit" else replace(each, reasons=found.get(shape)) for each, shape in counted]
        )

    def _worlds(
        self, cluster: Cluster, outcome: Unschedulable, refusals: Sequence[NodeRefusal]
    ) -> Iterator[tuple[str, World]]:
        """Yield the worlds of nodes, each with its name, as far as they can be told."""
        held, around = self._holders.of(cluster) if refusals else {}, self._around
        if around is None or around.inventory is not cluster.inventory or around.is_full:
            around = self._around = Surroundings(cluster.inventory, cluster.known.survey.columns)
        for each in refusals:
            with contextlib.suppress(GatherError):
                claims, node = outcome.claims_on(each.node), cluster.node(each.node)
                yield each.node, world_of(cluster, claims, node, held, around)
