"""
Pods one after the other, each on the first node that has what it wants: as kube-scheduler goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_alloc.api import Node
from dra_alloc.scenario.gang.books import Books
from dra_alloc.scenario.gang.menus import TooMuchWork
from dra_alloc.scenario.gang.types import Gang, Member, Placement, Verdict, WantNumbers
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import Aborted, OutOfBudget, Solved
from dra_alloc.work import cuts, evenly, is_spent

#: What the best for the pods of one node may cost.
NODE_BUDGET: Final = Budget(solver=1.0)


def place_in_order(books: Books, nodes: Sequence[Node], members: Sequence[Member]) -> Gang:
    """
    Return the pods that find a node, in order; one that finds none is left out.

    Where it is undecided whether one of those finds one, more of them might be possible.

    Spec: GANG-1.
    """
    placements: list[Placement] = []
    # What a node refused it goes on refusing: only less is ever left.
    refused: dict[int, set[str]] = {}
    # Those of them that ran out of the command's work: who has more of it asks them again.
    cut: dict[int, set[str]] = {}
    alike = WantNumbers()
    why = doubt = ""
    for member in evenly(iter(members), len(members)):
        kind = alike(member)
        tried, short = refused.setdefault(kind, set()), cut.setdefault(kind, set())
        if not is_spent():
            tried -= short
            short.clear()
        for node in nodes:
            name = node.metadata.name or ""
            if name in tried:
                continue
            before = cuts()
            outcome = books.allocate(node, member.claims)
            if isinstance(outcome, Solved):
                placements.append(Placement(member, name, outcome, 0))
                break
            if isinstance(outcome, Aborted):
                why = why or outcome.text
            if isinstance(outcome, OutOfBudget):
                doubt = doubt or outcome.text or f"node {name} is undecided"
                if cuts() != before:
                    short.add(name)
            tried.add(name)
    none = Verdict.UNDECIDED if doubt else Verdict.NONE
    proven = not doubt or len(placements) == len(members)
    return Gang(Verdict.PLACED if placements else none, tuple(placements), doubt or why, proven)


def place_together(
    books: Books, node: Node, members: Sequence[Member], objectives: Sequence[Objective] = ()
) -> tuple[list[Placement], tuple[Score, ...]]:
    """
    Return the placements of pods put on one node in one question; nothing if they do not fit.

    With objectives they are the best ones, with their scores.

    Raises: TooMuchWork if that cannot be decided.
    """
    claims = [claim for member in members for claim in member.claims]
    scores: tuple[Score, ...] = ()
    if objectives:
        outcome, scores = books.best(node, claims, objectives, NODE_BUDGET)
    else:
        outcome = books.allocate(node, claims)
    if isinstance(outcome, OutOfBudget):
        raise TooMuchWork(f"node {node.metadata.name}: {outcome.text or 'undecided'}")
    if not isinstance(outcome, Solved):
        return [], ()
    placements = []
    first = 0
    for member in members:
        placements.append(Placement(member, node.metadata.name or "", outcome, first))
        first += len(member.claims)
    return placements, scores
