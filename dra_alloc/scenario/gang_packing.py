"""
Pods distributed over nodes, once it is known what each node can take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node
from dra_alloc.scenario.gang_cells import cells_of_nodes, wants_one_device
from dra_alloc.scenario.gang_menus import Counts, Menus, TooMuchWork
from dra_alloc.solve.cpsat import Model, Solved, Verdict, is_installed

__all__ = ["Packed", "pack"]

_LIMIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Packed:
    """
    Counts of pods per node used; `complete` if that is all of the demand.

    `proven` is False if the budget ran out before the best was known.
    """

    counts: tuple[tuple[Node, Counts], ...]
    complete: bool
    proven: bool = True


def pack(menus: Menus, nodes: Sequence[Node], demand: Counts, *, fewest: bool = False, most: bool = False) -> Packed:
    """
    Return how to distribute the demand over the nodes.

    With `fewest` as few nodes as possible are used; with `most` as many pods
    as possible are placed if not all can be.

    Raises: TooMuchWork.
    """
    if len(demand) == 1:
        return _pack_alike(menus, nodes, demand[0], fewest=fewest)
    return _pack_mixed(menus, nodes, demand, fewest=fewest, most=most)


def _pack_alike(menus: Menus, nodes: Sequence[Node], demand: int, *, fewest: bool) -> Packed:
    """Pods of one shape need no solver: each node takes as many as it can."""
    room = [(node, menus.most(node, 0, demand)) for node in nodes] if fewest else []
    if fewest:
        room.sort(key=lambda each: -each[1])
    left = demand
    counts: list[tuple[Node, Counts]] = []
    for node in [node for node, _ in room] if fewest else nodes:
        count = menus.most(node, 0, left) if left else 0
        if count:
            counts.append((node, (count,)))
            left -= count
    return Packed(tuple(counts), complete=left == 0)


def _pack_mixed(menus: Menus, nodes: Sequence[Node], demand: Counts, *, fewest: bool, most: bool) -> Packed:
    if not is_installed():
        raise TooMuchWork('pods of several shapes need OR-tools: pip install "dra-alloc[solver]"')
    if not fewest and all(wants_one_device(group[0].claims) for group in menus.shapes.members):
        return _pack_cells(menus, nodes, demand, most=most)
    packing = _Packing(demand, most=most)
    offers = [(node, counts) for node in nodes for counts in menus.largest(node, demand) if any(counts)]
    chosen = [packing.offer(counts, 1) for _, counts in offers]
    for node in nodes:
        packing.model.at_most_one([each for each, (where, _) in zip(chosen, offers, strict=True) if where is node])
    solved = packing.solve(chosen, fewest=fewest)
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
    solved = packing.solve([way for ways in used for way in ways], fewest=False)
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
        self._demand = demand
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

    def solve(self, taken: Sequence[int], *, fewest: bool) -> Solved | None:
        """
        Return a solution, None if there is none.

        Raises: TooMuchWork.
        """
        model = self.model
        for placed, offered, count in zip(self._placed, self._offered, self._demand, strict=True):
            model.linear([(placed, -1), *offered], 0, None)
            if not self._most:
                model.linear([(placed, 1)], count, None)
        if self._most:
            solved = model.best_solution([(each, -1) for each in self._placed], _LIMIT)
        elif fewest:
            solved = model.best_solution([(each, 1) for each in taken], _LIMIT)
        else:
            solved = model.any_solution(_LIMIT)
        if solved.verdict is Verdict.UNKNOWN:
            raise TooMuchWork("the solver's budget ran out")
        return None if solved.verdict is Verdict.NONE else solved

    def packed(self, solved: Solved, taken: Sequence[tuple[Node, Counts]]) -> Packed:
        """Return the offers taken, without what exceeds the demand."""
        left = [solved.values[each] for each in self._placed]
        complete = left == list(self._demand)
        counts = []
        for node, offer in taken:
            here = tuple(min(one, more) for one, more in zip(offer, left, strict=True))
            left = [more - one for one, more in zip(here, left, strict=True)]
            if any(here):
                counts.append((node, here))
        return Packed(tuple(counts), complete, solved.verdict is Verdict.OPTIMAL)
