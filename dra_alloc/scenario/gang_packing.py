"""
Pods distributed over nodes, once it is known what each node can take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node
from dra_alloc.scenario.gang_menus import Counts, Menus, TooMuchWork
from dra_alloc.solve.cpsat import Model, Verdict, is_installed

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
    model = Model()
    offers = [(node, counts) for node in nodes for counts in menus.largest(node, demand) if any(counts)]
    chosen = [model.boolean() for _ in offers]
    for node in nodes:
        model.at_most_one([each for each, (where, _) in zip(chosen, offers, strict=True) if where is node])
    placed = [model.integer(0, count) for count in demand]
    for shape, count in enumerate(placed):
        offered = [(each, counts[shape]) for each, (_, counts) in zip(chosen, offers, strict=True) if counts[shape]]
        model.linear([(count, -1), *offered], 0, None)
        if not most:
            model.linear([(count, 1)], demand[shape], None)
    if most:
        solved = model.best_solution([(each, -1) for each in placed], _LIMIT)
    elif fewest:
        solved = model.best_solution([(each, 1) for each in chosen], _LIMIT)
    else:
        solved = model.first_solution(chosen, _LIMIT)
    if solved.verdict is Verdict.NONE:
        return Packed((), complete=False)
    if solved.verdict is Verdict.UNKNOWN:
        raise TooMuchWork("the solver's budget ran out")
    left = [solved.values[each] for each in placed]
    counts = []
    for each, (node, offer) in zip(chosen, offers, strict=True):
        if solved.values[each]:
            here = tuple(min(one, more) for one, more in zip(offer, left, strict=True))
            left = [more - one for one, more in zip(here, left, strict=True)]
            if any(here):
                counts.append((node, here))
    complete = all(solved.values[each] == count for each, count in zip(placed, demand, strict=True))
    return Packed(tuple(counts), complete, solved.verdict is Verdict.OPTIMAL or not (most or fewest))
