"""
From cheap to costly: the plain search, bounds, the pruned search, CP-SAT, the plain search again.

Every rung gives the same answer or none. Which rungs may answer depends on the
table: a looser one can only refute, and a question that cannot be modelled is
left to the plain search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType
from typing import Final

from dra_alloc.errors import InputError
from dra_alloc.limits import (
    DEFAULT_LATE_STEP_BUDGET,
    DEFAULT_PRUNED_BUDGET,
    DEFAULT_SOLVER_BUDGET,
    DEFAULT_STEP_BUDGET,
    DefaultSteps,
)
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.cpsat.solver import INSTALL, is_installed, require
from dra_alloc.solve.outcome import Stage
from dra_alloc.solve.question import Question
from dra_alloc.solve.search.upstream import first_fit
from dra_alloc.solve.stops import raise_stop
from dra_alloc.solve.table.bounds import refuted
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.pruned import PrunedSearch
from dra_alloc.solve.table.table import Knows, NotModelled, Table
from dra_alloc.solve.table.trust import judged
from dra_alloc.work import BudgetExhausted, Steps


class Engine(StrEnum):
    """Who answers: the whole ladder, upstream's search alone, or CP-SAT."""

    AUTO = "auto"
    FIRST_FIT = "first-fit"
    CP_SAT = "cp-sat"


@dataclass(frozen=True, slots=True)
class Budget:
    """
    How much work one question may cost.

    `steps` bounds the plain search, `pruned` the pruned one, `solver` CP-SAT
    in its deterministic units, of the order of a second each. The default number of steps
    is cut short where the other engines could have decided, had their budgets
    sufficed. `seconds` is for callers who insist on a clock, which every search
    then looks at; making its model is not cut short. It makes
    "undecided" depend on the machine.

    Raises: InputError for what is no such number.
    """

    steps: int | None = DEFAULT_STEP_BUDGET
    pruned: int = DEFAULT_PRUNED_BUDGET
    solver: float = DEFAULT_SOLVER_BUDGET
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, kinds, wanted in (
            ("steps", (int, NoneType), "a whole number of at least 0, or None"),
            ("pruned", (int,), "a whole number of at least 0"),
            ("solver", (int, float), "a number of at least 0"),
            ("seconds", (int, float, NoneType), "a number of at least 0, or None"),
        ):
            value = getattr(self, name)
            # Written so that a NaN is refused, too.
            if not isinstance(value, kinds) or not (value is None or value >= 0):
                raise InputError(f"{name} of a Budget takes {wanted}, not {value!r:.60}")


DEFAULT_BUDGET: Final = Budget()

#: Steps of the pruned search before the solver is asked; importing OR-tools costs as much as thousands of them.
_BEFORE_SOLVER: Final = 1_600
#: Steps of the pruned search between two looks at the clock of a caller who insists on one.
_BETWEEN_LOOKS: Final = 500
_VERDICTS: Final = {True: "found", False: "refuted", None: "undecided"}


@dataclass(frozen=True, slots=True)
class Found:
    """
    A solution: picks in order, and the alternative chosen by claim and request index.

    `settled` are the picks with what they consume, if the search had a say in that.
    """

    picks: Sequence[Pick]
    selected: Mapping[tuple[int, int], Ask]
    settled: Sequence[Pick] | None = None


class _Settled(Exception):
    """A rung knows the answer; None is "no solution"."""

    def __init__(self, found: Found | None) -> None:
        super().__init__()
        self.found = found


class _Looser(Exception):
    """A table has a solution, but upstream need not find it."""


class Ladder:
    """
    One climb for one question; `stages` says what each rung did.

    `steps` are those of the plain search.
    """

    def __init__(self, question: Question, engine: Engine, budget: Budget) -> None:
        self._question = question
        self._engine = engine
        self._budget = budget
        self._paid = Steps(len(question.candidates))
        self._search = first_fit(question.rows, question.candidates, question.fresh_rules(), tick=self._tick())
        self.stages: list[Stage] = []
        self._deadline = None if budget.seconds is None else time.monotonic() + budget.seconds

    @property
    def steps(self) -> int:
        """Return the steps of the plain search."""
        return self._search.steps

    def climb(self) -> Found | None:
        """
        Return the solution, or None if there is none.

        Raises: SearchStopped, BudgetExhausted, EngineUnavailable.
        """
        try:
            if self._engine is Engine.CP_SAT:
                require()
                self._try(self._ask_solver_alone)
            found = self._search.run()
        except _Settled as settled:
            return settled.found
        finally:
            self._paid.made(self.steps)
        self._note("first-fit", self.steps, "found" if found else "refuted")
        return Found(self._search.picks, self._search.selected, self._search.settled) if found else None

    @property
    def engine(self) -> str:
        """Return the engine that gave the answer, the last one asked."""
        return self.stages[-1].engine if self.stages else "first-fit"

    def _note(self, engine: str, work: float, verdict: str) -> None:
        self.stages.append(Stage(engine, work, verdict))

    def _tick(self) -> Callable[[int], None]:
        """Return what the plain search calls now and then; the first call climbs the other rungs."""
        budget = self._budget
        climbed = self._engine is not Engine.AUTO
        most = budget.steps
        hint = ""

        def tick(steps: int) -> None:
            nonlocal climbed, most, hint
            self._paid.up_to(steps)
            if not climbed:
                climbed = True
                self._note("first-fit", steps, "undecided")
                if self._try(self._climb_further):
                    most = DEFAULT_LATE_STEP_BUDGET if isinstance(most, DefaultSteps) else most
                    hint = "" if is_installed() else f"; OR-tools may decide it ({INSTALL})"
            if most is not None and steps > most:
                raise BudgetExhausted(f"gave up after {steps} search steps{hint}")
            if self._seconds_left() == 0:
                raise BudgetExhausted("filter operation aborted: context deadline exceeded")

        return tick

    def _seconds_left(self) -> float | None:
        """Return how long the caller is willing to wait; None without a clock."""
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def _table(self) -> Table | None:
        """Return the table of the question; None, noted, if there cannot be one."""
        question = self._question
        rules = question.table_rules()
        try:
            return judged(build_table(question.rows, question.candidates, rules, knows=Knows.ALL), rules, Knows.ALL)
        except NotModelled as reason:
            self._note("table", 0, str(reason))
            return None

    def _try(self, rungs: Callable[[], bool]) -> bool:
        """Climb; return whether the rungs could have said all there is to say, had their budgets sufficed."""
        try:
            return rungs()
        except _Looser as reason:
            self._note("table", 0, str(reason))
            return False

    def _climb_further(self) -> bool:
        table = self._table()
        if table is None:
            return False
        if not table.plain:
            return self._solve_table(table)
        reason = refuted(table)
        self._note("bounds", 0, reason or "undecided")
        if reason is not None:
            raise _Settled(None)
        search = PrunedSearch(table)
        self._search_table(table, search, min(_BEFORE_SOLVER, self._budget.pruned))
        self._solve_table(table)
        self._search_table(table, search, self._budget.pruned)
        return table.exact

    def _search_table(self, table: Table, search: PrunedSearch, budget: int) -> None:
        if search.steps >= budget:
            return
        while True:
            # Without a clock all at once.
            found = search.run(budget if self._deadline is None else min(budget, search.steps + _BETWEEN_LOOKS))
            if found is not None or search.steps >= budget or self._seconds_left() == 0:
                break
        self._settle("pruned", search.steps, table, found, lambda: Found(search.picks, search.selected))

    def _solve_table(self, table: Table) -> bool:
        """Ask CP-SAT; return whether it could have said all there is to say, had its budget sufficed."""
        if not self._budget.solver or not is_installed():
            return table.exact
        from dra_alloc.solve.cpsat.first import first_answer  # noqa: PLC0415 - most questions never get here

        try:
            answer = first_answer(table, self._budget.solver, self._seconds_left())
        except NotModelled as reason:
            self._note("cp-sat", 0, str(reason))
            return False
        if answer.stopped is not None:
            self._note("cp-sat", answer.work, "stopped")
            if not table.exact:
                raise _Looser("; ".join(table.looser))
            claim = self._question.rows[answer.stopped.ask.claim].name
            raise_stop(claim, answer.stopped, self._question.table_rules())
        self._settle("cp-sat", answer.work, table, answer.found, lambda: Found(answer.picks, answer.selected))
        return table.exact

    def _settle(self, engine: str, work: float, table: Table, found: bool | None, answer: Callable[[], Found]) -> None:
        """Note what an engine says of the table, and end the climb if that is the answer."""
        self._note(engine, work, _VERDICTS[found])
        if found is False:
            raise _Settled(None)
        if found and table.exact:
            raise _Settled(answer())
        if found:
            # More work on the table cannot help: only the plain search knows what leaks.
            raise _Looser("; ".join(table.looser))

    def _ask_solver_alone(self) -> bool:
        table = self._table()
        if table is not None:
            self._solve_table(table)
        return False
