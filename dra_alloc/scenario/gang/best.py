"""
Pods distributed over nodes so that the whole is best by a list of objectives.

Nodes are independent of each other, and every objective is a sum over nodes.
So the best for given counts of pods on a node can be found node by node, and
what is left is to choose the counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node
from dra_alloc.cluster.best_place import seen
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.scenario.gang.greedy import NODE_BUDGET
from dra_alloc.scenario.gang.menus import Counts, Menus, TooMuchWork
from dra_alloc.scenario.gang.packing import Packed
from dra_alloc.solve.best.answer import best_answer
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.cpsat.solver import Model, Solution, SolveStatus
from dra_alloc.solve.outcome import OutOfBudget

#: Questions "what is best for so many pods on such a node".
MOST_ASKED: Final = 400
_LIMIT: Final = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class _Offer:
    """Pods that alike nodes can take, and the best scores with them; `taken` is a variable: how many nodes do."""

    counts: Counts
    scores: tuple[Score, ...]
    taken: int


def pack_best(
    cluster: Cluster, menus: Menus, nodes: Sequence[Node], objectives: Sequence[Objective], *, most: bool
) -> Packed:
    """
    Return how to distribute the pods, with scores.

    With `most` as many as possible come first, else all have to be placed.

    Raises: TooMuchWork, EngineUnavailable.
    """
    packing = _Packing(menus.shapes.demand, most=most)
    groups: dict[Hashable, list[Node]] = {}
    for node in nodes:
        groups.setdefault((menus.kind(node), seen(cluster, objectives, node)), []).append(node)
    asked = 0
    for alike in groups.values():
        offers = [counts for counts in menus.fitting(alike[0], packing.demand) if any(counts)]
        asked += len(offers)
        if asked > MOST_ASKED:
            raise TooMuchWork("nodes can be filled in too many ways to find the best")
        packing.add(alike, [(counts, _scores(menus, alike[0], counts, objectives)) for counts in offers])
    return packing.solved(nodes, objectives)


def _scores(menus: Menus, node: Node, counts: Counts, objectives: Sequence[Objective]) -> tuple[Score, ...]:
    outcome, scores = best_answer(menus.allocator, node, menus.claims(counts), objectives, NODE_BUDGET)
    if isinstance(outcome, OutOfBudget):
        raise TooMuchWork(f"node {node.metadata.name}: {outcome.text or 'undecided'}")
    return scores


class _Packing:
    """The choice of counts for groups of alike nodes."""

    def __init__(self, demand: Counts, *, most: bool) -> None:
        self.demand = demand
        self._most = most
        self._model = Model()
        self._groups: list[tuple[list[Node], list[_Offer]]] = []

    @property
    def _offers(self) -> list[_Offer]:
        return [offer for _, offers in self._groups for offer in offers]

    def add(self, nodes: list[Node], offers: Sequence[tuple[Counts, tuple[Score, ...]]]) -> None:
        """Add alike nodes with what each of them can take."""
        made = [_Offer(counts, scores, self._model.integer(0, len(nodes))) for counts, scores in offers]
        self._model.linear([(offer.taken, 1) for offer in made], None, len(nodes))
        self._groups.append((nodes, made))

    def solved(self, nodes: Sequence[Node], objectives: Sequence[Objective]) -> Packed:
        """
        Return the best choice.

        Raises: TooMuchWork.
        """
        for shape, wanted in enumerate(self.demand):
            placed = [(offer.taken, offer.counts[shape]) for offer in self._offers if offer.counts[shape]]
            self._model.linear(placed, 0 if self._most else wanted, wanted)
        found: Solution | None = None
        known = True
        if self._most:
            found = self._least([(offer.taken, -sum(offer.counts)) for offer in self._offers])
            known = found is not None and found.verdict is SolveStatus.OPTIMAL
        proven = known
        # A node's own best may not be proven either.
        known = known and all(score.proven for offer in self._offers for score in offer.scores)
        scores: list[Score] = []
        for number, objective in enumerate(objectives):
            found = self._least([(offer.taken, offer.scores[number].value) for offer in self._offers])
            if found is None:
                return Packed((), complete=False)
            bound = found.bound if known else 0
            scores.append(Score(objective.name, found.objective, min(bound, found.objective)))
            known = known and scores[-1].proven
        return self._packed(found, nodes, proven, tuple(scores))

    def _least(self, terms: list[tuple[int, int]]) -> Solution | None:
        """Return a solution with the least sum, which later ones must not exceed; None if there is none."""
        found = self._model.best_solution(terms, _LIMIT)
        if found.verdict is SolveStatus.UNKNOWN:
            raise TooMuchWork("the solver's budget ran out")
        if found.verdict is SolveStatus.NONE:
            return None
        self._model.linear(terms, None, found.objective)
        self._model.start_from(found.values)
        return found

    def _packed(self, found: Solution | None, nodes: Sequence[Node], proven: bool, scores: tuple[Score, ...]) -> Packed:
        chosen: dict[int, Counts] = {}
        for alike, offers in self._groups:
            fillings = (
                [] if found is None else [each.counts for each in offers for _ in range(found.values[each.taken])]
            )
            # As in order: the first nodes take most.
            for node, filling in zip(alike, sorted(fillings, reverse=True), strict=False):
                chosen[id(node)] = filling
        counts = tuple((node, chosen[id(node)]) for node in nodes if id(node) in chosen)
        total = tuple(map(sum, zip(*(each for _, each in counts), strict=True)))
        return Packed(counts, total == self.demand, proven, scores)
