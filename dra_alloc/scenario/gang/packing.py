"""
Pods distributed over nodes, once it is known what each node can take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from dra_alloc.api import Node
from dra_alloc.scenario.gang.cells import cells_of_nodes, wants_one_device
from dra_alloc.scenario.gang.menus import Counts, Menus, TooMuchWork
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.cpsat.solver import Model, Solution, SolveStatus, is_installed

_LIMIT: Final = 10.0
#: What it costs to use a node at all, in whole units.
NodePrice: TypeAlias = Callable[[Node], int]


@dataclass(frozen=True, slots=True)
class Packed:
    """
    Counts of pods per node used; `complete` if that is all of the demand.

    `proven` is False if the budget ran out before the best was known; `scores`
    has one entry per objective.
    """

    counts: tuple[tuple[Node, Counts], ...]
    complete: bool
    proven: bool = True
    scores: tuple[Score, ...] = ()


def pack(
    menus: Menus, nodes: Sequence[Node], demand: Counts, *, price: NodePrice | None = None, most: bool = False
) -> Packed:
    """
    Return how to distribute the demand over the nodes.

    With a price for each node used the sum of prices is least; with `most` as
    many pods as possible are placed if not all can be.

    Raises: TooMuchWork.
    """
    if len(demand) == 1 and (price is None or len({price(node) for node in nodes}) <= 1):
        # Pods of one shape need no solver: each node takes as many as it can.
        room = {id(node): menus.most(node, 0, demand[0]) for node in nodes} if price is not None else {}
        order = sorted(nodes, key=lambda node: -room[id(node)]) if price is not None else nodes
        return _fill(menus, order, demand[0])
    if not is_installed():
        raise TooMuchWork("pods of several shapes need OR-tools: pip install ortools")
    if price is None and all(wants_one_device(group[0].claims) for group in menus.shapes.members):
        return _pack_cells(menus, nodes, demand, most=most)
    return _pack_nodes(menus, nodes, _Packing(demand, most=most), price)


def _fill(menus: Menus, nodes: Sequence[Node], demand: int) -> Packed:
    left = demand
    counts: list[tuple[Node, Counts]] = []
    for node in nodes:
        count = menus.most(node, 0, left) if left else 0
        if count:
            counts.append((node, (count,)))
            left -= count
    return Packed(tuple(counts), complete=left == 0)


def _pack_nodes(menus: Menus, nodes: Sequence[Node], packing: _Packing, price: NodePrice | None) -> Packed:
    offers = [(node, counts) for node in nodes for counts in menus.largest(node, packing.demand) if any(counts)]
    chosen = [packing.offer(counts, 1) for _, counts in offers]
    for node in nodes:
        packing.model.at_most_one([each for each, (where, _) in zip(chosen, offers, strict=True) if where is node])
    cost = [] if price is None else [(each, price(node)) for each, (node, _) in zip(chosen, offers, strict=True)]
    solved = packing.solve(cost)
    if solved is None:
        return Packed((), complete=False)
    taken = [(node, counts) for each, (node, counts) in zip(chosen, offers, strict=True) if solved.values[each]]
    return packing.packed(solved, taken)


def _pack_cells(menus: Menus, nodes: Sequence[Node], demand: Counts, *, most: bool) -> Packed:
    """Pods that want one device each do not care for nodes, only for cells."""
    groups = cells_of_nodes(menus.allocator, nodes, [group[0].claims for group in menus.shapes.members], demand)
    packing = _Packing(demand, most=most)
    used = [[packing.offer(way, group.number) for way in group.ways] for group in groups]
    for group, ways in zip(groups, used, strict=True):
        packing.model.linear([(way, 1) for way in ways], None, group.number)
    solved = packing.solve([])
    if solved is None:
        return Packed((), complete=False)
    counts: dict[str, tuple[Node, Counts]] = {}
    for group, ways in zip(groups, used, strict=True):
        places = [node for node, number in group.where for _ in range(number)]
        fillings = [way for way, each in zip(group.ways, ways, strict=True) for _ in range(solved.values[each])]
        for node, filling in zip(places, fillings, strict=False):
            name = node.metadata.name or ""
            before = counts.get(name, (node, (0,) * len(demand)))[1]
            counts[name] = (node, tuple(one + more for one, more in zip(before, filling, strict=True)))
    return packing.packed(solved, [counts[name] for node in nodes if (name := node.metadata.name or "") in counts])


class _Packing:
    """The model both ways of packing have in common: offers of counts, of which enough have to be taken."""

    def __init__(self, demand: Counts, *, most: bool) -> None:
        self.model = Model()
        self.demand = demand
        self._most = most
        self._placed = [self.model.integer(0, count) for count in demand]
        self._offered: list[list[tuple[int, int]]] = [[] for _ in demand]

    def offer(self, counts: Counts, times: int) -> int:
        """Return a variable: how often the offer of these counts is taken."""
        taken = self.model.boolean() if times == 1 else self.model.integer(0, times)
        for offered, count in zip(self._offered, counts, strict=True):
            if count:
                offered.append((taken, count))
        return taken

    def solve(self, cost: Sequence[tuple[int, int]]) -> Solution | None:
        """
        Return the solution of least cost, or with most pods; None if there is none.

        Raises: TooMuchWork.
        """
        model = self.model
        for placed, offered, count in zip(self._placed, self._offered, self.demand, strict=True):
            model.linear([(placed, -1), *offered], 0, None)
            if not self._most:
                model.linear([(placed, 1)], count, None)
        if self._most:
            solved = model.best_solution([(each, -1) for each in self._placed], _LIMIT)
        elif cost:
            solved = model.best_solution(cost, _LIMIT)
        else:
            solved = model.any_solution(_LIMIT)
        if solved.verdict is SolveStatus.UNKNOWN:
            raise TooMuchWork("the solver's budget ran out")
        return None if solved.verdict is SolveStatus.NONE else solved

    def packed(self, solved: Solution, taken: Sequence[tuple[Node, Counts]]) -> Packed:
        """Return the offers taken, without what exceeds the demand."""
        left = [solved.values[each] for each in self._placed]
        complete = left == list(self.demand)
        counts = []
        for node, offer in taken:
            here = tuple(min(one, more) for one, more in zip(offer, left, strict=True))
            left = [more - one for one, more in zip(here, left, strict=True)]
            if any(here):
                counts.append((node, here))
        return Packed(tuple(counts), complete, solved.verdict is SolveStatus.OPTIMAL)
