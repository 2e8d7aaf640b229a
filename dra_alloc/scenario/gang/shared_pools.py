"""
Gangs on nodes that share pools, placed by one question about all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dra_alloc.api import Node
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.rules import Pick
from dra_alloc.scenario.gang.books import Books
from dra_alloc.scenario.gang.menus import TooMuchWork
from dra_alloc.scenario.gang.types import Gang, Member, Placement, Verdict, WantNumbers
from dra_alloc.solve.joint.answer import JointUndecided, Placed, all_placed, most_placed
from dra_alloc.solve.joint.spread import Spread, spread
from dra_alloc.solve.ladder import Found
from dra_alloc.solve.question import Question
from dra_alloc.solve.table.table import NotModelled


def place_sharing(cluster: Cluster, nodes: Sequence[Node], members: Sequence[Member], *, most: bool = False) -> Gang:
    """
    Return a placement of all members, or of as many as possible, on nodes that share pools.

    Spec: GANG-5.
    Raises: TooMuchWork.
    """
    try:
        whole = spread(cluster.known.allocator, nodes, [member.claims for member in members])
        placed = most_placed(whole, len(members)) if most else all_placed(whole, len(members))
        if placed is not None and not placed.proven and _are_alike(members):
            whole, placed = _one_more_each(cluster, nodes, members, (whole, placed))
    except NotModelled as reason:
        raise TooMuchWork(f"nodes share pools, and all of them at once cannot be asked: {reason}") from None
    except JointUndecided as reason:
        raise TooMuchWork(str(reason)) from None
    if placed is None:
        return Gang(Verdict.NONE, (), "nodes share pools, and there are not enough devices for all")
    placements = _Booking(cluster, whole, placed).placements(nodes, members)
    why = "" if placed.proven else "nodes share pools, and the solver's budget ran out"
    return Gang(Verdict.PLACED if placements else Verdict.NONE, tuple(placements), why, proven=placed.proven)


def _are_alike(members: Sequence[Member]) -> bool:
    number = WantNumbers()
    return len({number(member) for member in members}) == 1


def _one_more_each(
    cluster: Cluster, nodes: Sequence[Node], members: Sequence[Member], best: tuple[Spread, Placed]
) -> tuple[Spread, Placed]:
    """
    Return a placement of more members that all want the same, asking for one more until that is impossible.

    Whether so many fit is an easier question than how many do.
    """
    whole, placed = best
    for count in range(len(placed.node_of) + 1, len(members) + 1):
        asked = spread(cluster.known.allocator, nodes, [member.claims for member in members[:count]])
        try:
            more = all_placed(asked, count)
        except JointUndecided:
            return whole, placed
        if more is None:
            break
        whole, placed = asked, more
    return whole, replace(placed, proven=True)


class _Booking:
    """Puts what was found for all nodes down node by node, where it is checked once more by each rule."""

    def __init__(self, cluster: Cluster, whole: Spread, placed: Placed) -> None:
        self._books = Books(cluster.known.allocator)
        self._placed = placed
        self._first = {pod: claim for claim, pod in reversed(list(enumerate(whole.pod_of)))}

    def placements(self, nodes: Sequence[Node], members: Sequence[Member]) -> list[Placement]:
        found: dict[int, Placement] = {}
        for place, node in enumerate(nodes):
            here = [number for number, where in self._placed.node_of.items() if where == place]
            claims = [claim for number in here for claim in members[number].claims]
            if not here:
                continue
            # The claims' numbers in the question about all nodes.
            numbers = [self._first[each] + more for each in here for more in range(len(members[each].claims))]
            outcome = self._books.settle(node, claims, partial(self._found, numbers))
            first = 0
            for number in here:
                found[number] = Placement(members[number], node.metadata.name or "", outcome, first)
                first += len(members[number].claims)
        return [found[number] for number in sorted(found)]

    def _found(self, numbers: Sequence[int], question: Question) -> Found:
        """Return the answer in terms of the question about one node."""
        selected = {}
        picks = []
        for row, claim in zip(question.rows, numbers, strict=True):
            for place, request in enumerate(row.requests):
                chosen = self._placed.selected[claim, place]
                ask = next(each for each in request.asks if each.full_name == chosen.full_name)
                selected[row.index, place] = ask
                picks += [Pick(ask, pick.device) for pick in self._placed.picks if pick.ask is chosen]
        return Found(picks, selected)
