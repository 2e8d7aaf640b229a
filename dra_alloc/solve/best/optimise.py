"""
The best answer by a list of objectives, the first deciding, the next breaking ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.best.freedom import Freedom, freedom_of
from dra_alloc.solve.best.objectives import Objective, Stable
from dra_alloc.solve.best.terms import terms_of
from dra_alloc.solve.cpsat.model import TableModel
from dra_alloc.solve.cpsat.solver import Model, Solution, SolveStatus
from dra_alloc.solve.question import Question
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.table import Knows
from dra_alloc.solve.table.trust import judged


class Status(StrEnum):
    """Whether there is an answer; "undecided" if the budget was not enough to know."""

    FOUND = "found"
    NONE = "none"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Score:
    """
    An objective's value in the answer and the least it could be, given the objectives before it.

    They are equal if the value is proven to be the best; else `why` can say
    what stood in the way.
    """

    objective: str
    value: int
    bound: int
    why: str = ""

    @property
    def proven(self) -> bool:
        """Return whether no answer has a smaller value."""
        return self.value == self.bound


@dataclass(frozen=True, slots=True)
class Best:
    """
    The best answer found.

    Among equals the first in the order of the search is taken, if `first` is
    set; else the budget ran out before it was known. `work` is in
    deterministic units of CP-SAT.
    """

    status: Status
    work: float
    picks: Sequence[Pick] = ()
    selected: Mapping[tuple[int, int], Ask] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    first: bool = False


def optimise(question: Question, objectives: Sequence[Objective], limit: float) -> Best:
    """
    Return the best answer to a question asked with intended semantics.

    `limit` bounds the work of all solves together, in deterministic units.

    Spec: OPTIMUM-1, OPTIMUM-2.
    Raises: EngineUnavailable; NotModelled where a selector fails on a device;
    ValueError under upstream semantics with a defect at work.
    """
    rules = question.table_rules()
    made = build_table(question.rows, question.candidates, rules, every_draw=True, knows=Knows.BY_REQUEST)
    table = judged(made, rules, Knows.BY_REQUEST)
    if not table.exact:
        raise ValueError(f"objectives need intended semantics: {'; '.join(table.looser)}")
    alike = not any(isinstance(objective, Stable) for objective in objectives)
    climb = _Climb(TableModel(table, Model(), alike=alike), freedom_of(question), limit)
    for objective in objectives:
        if not climb.minimise(objective):
            break
    return climb.best(question, objectives)


class _Climb:
    """Solves for one objective after the other, holding on to what is reached."""

    def __init__(self, model: TableModel, freedom: Freedom, limit: float) -> None:
        self._model = model
        self._freedom = freedom
        self._limit = limit
        self._solved: Solution | None = None
        self._none = False
        self._bounds: list[int] = []
        self._work = 0.0

    @property
    def _left(self) -> float:
        return max(self._limit - self._work, 0.0)

    def minimise(self, objective: Objective) -> bool:
        """Return whether an answer was found that is at least as good by this objective as any before."""
        terms, constant = terms_of(objective, self._model, self._freedom)
        model = self._model.model
        if self._solved is not None:
            model.start_from(self._solved.values)
        found = model.best_solution(terms, self._left)
        self._work += found.work
        self._none = found.verdict is SolveStatus.NONE
        self._bounds.append(found.bound + constant)
        if found.verdict not in (SolveStatus.FOUND, SolveStatus.OPTIMAL):
            return False
        self._solved = found
        model.linear(terms, None, found.objective)
        return True

    def best(self, question: Question, objectives: Sequence[Objective]) -> Best:
        """Return, of the answers as good as the one reached, the one that the search would find first."""
        if self._none and self._solved is None:
            return Best(Status.NONE, self._work)
        first = self._model.model.first_solution(self._model.order, self._left)
        self._work += first.work
        known = first.verdict in (SolveStatus.FOUND, SolveStatus.OPTIMAL)
        solved = first if known else self._solved
        if solved is None:
            return Best(Status.NONE if first.verdict is SolveStatus.NONE else Status.UNDECIDED, self._work)
        picks, selected = self._model.answer(solved.values)
        ranks = ranks_of(question, selected)
        scores = [
            Score(objective.name, objective.value(picks, ranks, self._freedom), bound)
            for objective, bound in zip(objectives, self._bounds, strict=False)
        ]
        return Best(Status.FOUND, self._work, picks, selected, tuple(scores), known)


def ranks_of(question: Question, selected: Mapping[tuple[int, int], Ask]) -> list[int]:
    """Return the rank of the alternative used, for every request in order."""
    return [
        next(rank for rank, ask in enumerate(request.asks) if ask is selected[row.index, number])
        for row in question.rows
        for number, request in enumerate(row.requests)
    ]
