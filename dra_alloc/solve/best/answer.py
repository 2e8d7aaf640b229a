"""
The best answer on one node as an outcome, with its scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.best.freedom import freedom_of
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.best.optimise import Best, Score, Status, optimise, ranks_of
from dra_alloc.solve.cpsat.solver import require
from dra_alloc.solve.ladder import Budget, Found
from dra_alloc.solve.outcome import Solved, SolveOutcome, Stage, Work
from dra_alloc.solve.question import Question
from dra_alloc.solve.table.table import NotModelled
from dra_alloc.work import BudgetExhausted, finishing


def best_answer(
    allocator: Allocator, node: Node, claims: Sequence[ResourceClaim], objectives: Sequence[Objective], budget: Budget
) -> tuple[SolveOutcome, tuple[Score, ...]]:
    """
    Return the outcome on the node that is best by the objectives, and its scores.

    The first answer of the search is given, with scores that are not proven,
    where the budget or the model is not up to a better one.

    Spec: OPTIMUM-1, OPTIMUM-2, OPTIMUM-4.
    Raises: EngineUnavailable; ValueError under upstream semantics with a
    defect at work, and for a price below 0.
    """
    require()
    plain = allocator.allocate(node, claims, budget=budget)
    if not isinstance(plain, Solved):
        return plain, ()
    with finishing():
        question = allocator.question(node, claims)
    try:
        best = optimise(question, objectives, budget.solver)
    except (NotModelled, BudgetExhausted) as reason:
        with finishing():
            return plain, _unproven(question, plain, objectives, str(reason))
    if best.status is not Status.FOUND:
        return plain, _unproven(question, plain, objectives, "the budget ran out")
    stages = (*plain.work.stages, Stage("cp-sat", best.work, "best"))
    work = Work(plain.work.steps, "cp-sat", stages)
    return allocator.finished(question, Found(best.picks, best.selected), work), _padded(best, objectives, question)


def _padded(best: Best, objectives: Sequence[Objective], question: Question) -> tuple[Score, ...]:
    """Return a score for every objective; those the budget did not reach are not proven."""
    left = objectives[len(best.scores) :]
    ranks = ranks_of(question, best.selected)
    freedom = freedom_of(question)
    return (*best.scores, *(Score(each.name, each.value(best.picks, ranks, freedom), 0) for each in left))


def _unproven(question: Question, plain: Solved, objectives: Sequence[Objective], why: str) -> tuple[Score, ...]:
    freedom = freedom_of(question)
    used = {(pick.ask.claim, pick.ask.request_name): pick.ask for pick in plain.picks}
    ranks = [
        next((rank for rank, ask in enumerate(request.asks) if used.get((row.index, ask.request_name)) is ask), 0)
        for row in question.rows
        for request in row.requests
    ]
    return tuple(Score(each.name, each.value(plain.picks, ranks, freedom), 0, why) for each in objectives)
