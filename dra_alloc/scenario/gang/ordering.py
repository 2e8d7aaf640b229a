"""
Whether it matters in which order the pods of a gang are placed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import factorial, prod
from typing import Final

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.scenario.gang.books import Books
from dra_alloc.scenario.gang.gang import GangAnswers
from dra_alloc.scenario.gang.greedy import place_in_order
from dra_alloc.scenario.gang.types import Member, Verdict

#: Orders that are tried: all that differ in more than names, if there are no more.
_MOST_ORDERS: Final = 24
_MATTERS: Final = "their order matters"


def order_of(cluster: Cluster, alike: Sequence[Sequence[Member]], most: GangAnswers) -> str:
    """
    Return what there is to say of the order of pods, each kind of them together, of which as many as can be fit.

    Nothing is said where it is not known: of too many orders, or one that is undecided.

    Spec: GANG-9.
    """
    together, one_by_one = len(most.joint.placements), len(most.greedy.placements)
    if not most.greedy.proven or most.greedy.verdict is Verdict.UNDECIDED:
        return ""
    if one_by_one < together:
        only = f"only {one_by_one}" if one_by_one else "none"
        if any(count > one_by_one for count in _counts(cluster, alike)):
            return f", but one by one, in this order, {only}: {_MATTERS}"
        return f", but one by one, as kube-scheduler goes, {only}"
    if one_by_one > together:
        return f", though one by one, as kube-scheduler goes with its defects, {one_by_one}"
    found = list(_counts(cluster, alike))
    if any(count < together for count in found):
        return f", but in another order only {min(found)}: {_MATTERS}"
    return ", in whatever order" if len(found) == _number(alike) else ""


def _counts(cluster: Cluster, alike: Sequence[Sequence[Member]]) -> Iterator[int]:
    """Yield how many pods find a node one by one, by order; pods of one kind are the same in whatever order."""
    if len(alike) == 1:
        return
    for order in itertools.islice(_orders(alike), _MOST_ORDERS):
        gang = place_in_order(Books(cluster.known.allocator), cluster.nodes, order)
        if gang.proven and gang.verdict is not Verdict.UNDECIDED:
            yield len(gang.placements)


def _number(alike: Sequence[Sequence[Member]]) -> int:
    """Return how many orders differ in more than names, if pods are of several kinds."""
    if len(alike) == 1:
        return 0
    return factorial(sum(map(len, alike))) // prod(factorial(len(each)) for each in alike)


def _orders(alike: Sequence[Sequence[Member]]) -> Iterator[list[Member]]:
    """Yield the orders that differ in more than names, those first in which a kind stays together."""
    left = [list(each) for each in alike if each]
    if not left:
        yield []
        return
    if _number(alike) > _MOST_ORDERS:
        yield from (list(itertools.chain(*each)) for each in itertools.permutations(left))
        return
    for number, (first, *others) in enumerate(left):
        rest = [others if index == number else each for index, each in enumerate(left)]
        yield from ([first, *order] for order in _orders(rest))
