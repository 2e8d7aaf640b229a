"""
OR-tools behind a narrow door: the only module that imports it, and only when it is asked.

OR-tools is an optional extra: importing it takes most of a second and 75 MB,
and most questions never need it. Limits are in its deterministic units, so
that an answer does not depend on the machine's load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from importlib import import_module
from threading import current_thread, main_thread
from typing import Any, Final

from dra_alloc.errors import EngineUnavailable
from dra_alloc.work import solver_limit, solver_worked

_SEED: Final = 1
#: CP-SAT computes in int64 and wants head-room below it.
LARGEST: Final = 2**60

_Term = tuple[int, int]


class SolveStatus(Enum):
    """How a solve ended; FOUND is a solution, OPTIMAL one that is proven best."""

    FOUND = auto()
    OPTIMAL = auto()
    NONE = auto()
    UNKNOWN = auto()


#: What to do to get this engine.
INSTALL: Final = "pip install ortools"


@dataclass(frozen=True, slots=True)
class Solution:
    """One solve: values of all variables if there is a solution, its objective and the proven bound, work done."""

    verdict: SolveStatus
    values: Sequence[int]
    objective: int
    bound: int
    work: float


def _cp_model() -> Any:
    try:
        return import_module("ortools.sat.python.cp_model")
    except ImportError as error:
        raise EngineUnavailable(
            f"the CP-SAT engine needs OR-tools, which cannot be imported: {error}",
            hint=INSTALL,
        ) from error


def is_installed() -> bool:
    """Return whether OR-tools can be imported."""
    try:
        _cp_model()
    except EngineUnavailable:
        return False
    return True


def require() -> None:
    """
    Load OR-tools.

    Raises: EngineUnavailable, whose hint says what to install.
    """
    _cp_model()


class Model:
    """
    A model of integer variables, known by number.

    Raises: EngineUnavailable when it is made without OR-tools.
    """

    def __init__(self) -> None:
        self._cp_model = _cp_model()
        self._model = self._cp_model.CpModel()
        self._variables: list[Any] = []
        self._negated: dict[int, Any] = {}

    def boolean(self) -> int:
        """Return a new variable that is 0 or 1."""
        self._variables.append(self._model.new_bool_var(""))
        return len(self._variables) - 1

    def integer(self, low: int, high: int) -> int:
        """Return a new integer variable."""
        self._variables.append(self._model.new_int_var(low, high, ""))
        return len(self._variables) - 1

    def _sum(self, terms: Iterable[_Term]) -> Any:
        pairs = [(self._variables[variable], amount) for variable, amount in terms]
        return self._cp_model.LinearExpr.weighted_sum([each for each, _ in pairs], [amount for _, amount in pairs])

    def linear(self, terms: Iterable[_Term], low: int | None, high: int | None) -> None:
        """Hold the weighted sum between two limits; None is no limit."""
        total = self._sum(terms)
        self._model.add_linear_constraint(total, -LARGEST if low is None else low, LARGEST if high is None else high)

    def at_most_one(self, variables: Sequence[int]) -> None:
        """Let at most one of the booleans be 1."""
        if len(variables) > 1:
            self._model.add_at_most_one([self._variables[each] for each in variables])

    def exactly_one(self, variables: Sequence[int]) -> None:
        """Let exactly one of the booleans be 1."""
        self._model.add_exactly_one([self._variables[each] for each in variables])

    def implies(self, condition: int, any_of: Sequence[int]) -> None:
        """If the condition is 1, one of the others is."""
        self._model.add_bool_or([self._not(condition), *(self._variables[each] for each in any_of)])

    def excludes(self, condition: int, other: int) -> None:
        """Let the two booleans not both be 1."""
        self._model.add_bool_or([self._not(condition), self._not(other)])

    def _not(self, variable: int) -> Any:
        negated = self._negated.get(variable)
        if negated is None:
            negated = self._negated[variable] = self._variables[variable].negated()
        return negated

    def first_solution(self, order: Sequence[int], limit: float, seconds: float | None = None) -> Solution:
        """
        Return the solution that is first when each variable in turn is as large as it can be.

        `seconds` is for callers who insist on a clock.

        Presolve would break the order, and so would more than one worker.
        """
        cp_model = self._cp_model
        self._model.clear_objective()
        # A hint would be tried before the order is.
        self._model.clear_hints()
        strategy = [self._variables[each] for each in order]
        self._model.add_decision_strategy(strategy, cp_model.CHOOSE_FIRST, cp_model.SELECT_MAX_VALUE)
        solver = self._solver(limit)
        solver.parameters.search_branching = cp_model.FIXED_SEARCH
        solver.parameters.cp_model_presolve = False
        # Probing would take longer than the search that it spares, by half where counters are tight.
        solver.parameters.cp_model_probing_level = 0
        # So would cutting planes, by a third there; the linear relaxation itself is what prunes.
        solver.parameters.cut_level = 0
        if seconds is not None:
            solver.parameters.max_time_in_seconds = seconds
        return self._solve(solver)

    def any_solution(self, limit: float) -> Solution:
        """Return any solution."""
        return self._solve(self._solver(limit))

    def start_from(self, values: Sequence[int]) -> None:
        """Hint at a solution known from before; variables made since have no hint."""
        self._model.clear_hints()
        for variable, value in zip(self._variables, values, strict=False):
            self._model.add_hint(variable, value)

    def best_solution(self, terms: Iterable[_Term], limit: float) -> Solution:
        """Return a solution in which the weighted sum is least."""
        self._model.minimize(self._sum(terms))
        return self._solve(self._solver(limit))

    def _solver(self, limit: float) -> Any:
        solver = self._cp_model.CpSolver()
        parameters = solver.parameters
        parameters.num_workers = 1
        parameters.random_seed = _SEED
        parameters.max_deterministic_time = solver_limit(limit)
        # Detecting symmetries costs more than it gains here; identical requests are ordered by the model.
        parameters.symmetry_level = 0
        return solver

    def _solve(self, solver: Any) -> Solution:
        cp_model = self._cp_model
        verdicts = {
            cp_model.OPTIMAL: SolveStatus.OPTIMAL,
            cp_model.FEASIBLE: SolveStatus.FOUND,
            cp_model.INFEASIBLE: SolveStatus.NONE,
        }
        verdict = verdicts.get(_solved(solver, self._model), SolveStatus.UNKNOWN)
        has_values = verdict in (SolveStatus.OPTIMAL, SolveStatus.FOUND)
        response = solver.response_proto
        solver_worked(response.deterministic_time)
        values = tuple(response.solution) if has_values else ()
        return Solution(
            verdict,
            values,
            round(solver.objective_value) if has_values else 0,
            round(solver.best_objective_bound),
            response.deterministic_time,
        )


def _solved(solver: Any, model: Any) -> Any:
    """
    Return the solver's status; Ctrl-C ends the search at once.

    Left to itself the solver takes the signal for a wish to end early, and
    native code keeps Python from seeing it: the main thread only waits.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - brings logging, and most questions never get here

    solver.parameters.catch_sigint_signal = False
    if current_thread() is not main_thread():
        return solver.solve(model)
    with ThreadPoolExecutor(1) as pool:
        status = pool.submit(solver.solve, model)
        try:
            return status.result()
        except KeyboardInterrupt:
            solver.stop_search()
            raise
