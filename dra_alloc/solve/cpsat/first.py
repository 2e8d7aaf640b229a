"""
The first answer of a table by CP-SAT: one solve, with the choices in the order of the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.cpsat.model import TableModel
from dra_alloc.solve.cpsat.solver import Model, SolveStatus
from dra_alloc.solve.stops import Stop
from dra_alloc.solve.table.table import Table


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """
    What CP-SAT says: `found` is True, False or, within its limit, None.

    `work` is in deterministic units. `stopped` says where the search ends with
    an error before it finds anything.
    """

    found: bool | None
    work: float
    picks: Sequence[Pick] = ()
    selected: Mapping[tuple[int, int], Ask] = field(default_factory=dict)
    stopped: Stop | None = None


def first_answer(table: Table, limit: float, seconds: float | None = None) -> FirstAnswer:
    """
    Return the answer that the plain search would find first.

    Spec: ENGINE-1, ENGINE-6.
    Raises: EngineUnavailable, NotModelled.
    """
    model = TableModel(table, Model())
    solved = model.model.first_solution(model.order, limit, seconds)
    if solved.verdict is SolveStatus.UNKNOWN:
        return FirstAnswer(None, solved.work)
    if solved.verdict is SolveStatus.NONE:
        return FirstAnswer(False, solved.work)
    stopped = model.stopped(solved.values)
    if stopped is not None:
        return FirstAnswer(None, solved.work, stopped=stopped)
    picks, selected = model.answer(solved.values)
    return FirstAnswer(True, solved.work, picks, selected)
