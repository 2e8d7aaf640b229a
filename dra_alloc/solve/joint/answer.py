"""
Answers to a spread: where all pods go, or as many as possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.cpsat.model import TableModel
from dra_alloc.solve.cpsat.solver import INSTALL, Model, Solution, SolveStatus, is_installed
from dra_alloc.solve.joint.spread import Spread
from dra_alloc.solve.ladder import DEFAULT_BUDGET
from dra_alloc.solve.table.bounds import refuted
from dra_alloc.solve.table.pruned import PrunedSearch
from dra_alloc.solve.table.table import Slot, bits

SPREAD_BUDGET: Final = replace(DEFAULT_BUDGET, solver=5.0)
#: Steps before the solver is asked.
_BEFORE_SOLVER: Final = 1_600


class JointUndecided(Exception):
    """The budget is used up; says what could help."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """
    The pods that have a node, by number, and their picks with the alternatives chosen, by claim and request.

    `proven` is False if more pods might be placed.
    """

    node_of: Mapping[int, int]
    picks: Sequence[Pick]
    selected: Mapping[tuple[int, int], Ask]
    proven: bool = True


def all_placed(spread: Spread, pods: int) -> Placed | None:
    """
    Return where all pods go; None if there is no such placement.

    Spec: GANG-5.
    Raises: JointUndecided, NotModelled.
    """
    table = spread.table
    if refuted(table) is not None:
        return None
    search = PrunedSearch(table)
    solver = SPREAD_BUDGET.solver > 0 and is_installed()
    found = search.run(min(_BEFORE_SOLVER, SPREAD_BUDGET.pruned) if solver else SPREAD_BUDGET.pruned)
    if found is None and solver:
        model = TableModel(table, Model())
        solved = model.model.any_solution(SPREAD_BUDGET.solver)
        if solved.verdict is SolveStatus.NONE:
            return None
        if solved.values:
            picks, selected = model.answer(solved.values)
            return _placed(spread, range(pods), picks, selected)
        found = search.run(SPREAD_BUDGET.pruned)
    if found is None:
        hint = "" if is_installed() else f"; OR-tools may decide it ({INSTALL})"
        raise JointUndecided(f"nodes share pools, and {search.steps} steps did not decide what fits together{hint}")
    return _placed(spread, range(pods), search.picks, search.selected) if found else None


def most_placed(spread: Spread, pods: int) -> Placed:
    """
    Return a placement of as many pods as possible.

    Spec: GANG-4, GANG-5.
    Raises: JointUndecided, NotModelled.
    """
    if not is_installed():
        raise JointUndecided(f"nodes share pools: how many pods fit needs OR-tools: {INSTALL}")
    spare = _Optional(spread)
    model = TableModel(replace(spread.table, slots=spare.slots), Model())
    terms = []
    for number in range(pods):
        left_out = [model.chosen[each] for each in spare.left_out.get(number, ())]
        for one in left_out[1:]:
            model.model.linear([(left_out[0], 1), (one, -1)], 0, 0)
        terms += [(each, 1) for each in left_out[:1]]
    solved: Solution = model.model.best_solution(terms, SPREAD_BUDGET.solver)
    if not solved.values:
        raise JointUndecided("nodes share pools, and the solver's budget ran out")
    gone = {
        number for number, asks in spare.left_out.items() if any(solved.values[model.chosen[each]] for each in asks)
    }
    picks, selected = model.answer(solved.values)
    selected = {key: ask for key, ask in selected.items() if spread.pod_of[key[0]] not in gone}
    there = [number for number in range(pods) if number not in gone]
    return replace(_placed(spread, there, picks, selected), proven=solved.verdict is SolveStatus.OPTIMAL)


class _Optional:
    """The slots with one more alternative each: to get nothing, as all of a pod that is left out."""

    def __init__(self, spread: Spread) -> None:
        self.left_out: dict[int, list[int]] = {}
        self._next = 1 + max((ask.id for ask in spread.table.asks), default=0)
        self.slots = tuple(self._slot(spread, slot) for slot in spread.table.slots)

    def _slot(self, spread: Spread, slot: Slot) -> Slot:
        first = slot.asks[0]
        number = self._next
        self._next += 1
        self.left_out.setdefault(spread.pod_of[slot.claim], []).append(number)
        nothing = replace(
            first,
            ask=structs.replace(first.ask, id=number, count=0),
            kind=-number,
            count=0,
            usable=0,
            reserving=0,
            agree=(),
            differ=(),
        )
        return replace(slot, asks=(*slot.asks, nothing))


def _placed(
    spread: Spread, pods: Sequence[int], picks: Sequence[Pick], selected: Mapping[tuple[int, int], Ask]
) -> Placed:
    common = dict.fromkeys(pods, -1)
    seen = dict(zip(spread.table.devices, spread.seen, strict=True))
    for ask, device in picks:
        common[spread.pod_of[ask.claim]] &= seen[device]
    node_of = {pod: next(iter(bits(mask & -mask))) if mask > 0 else 0 for pod, mask in common.items()}
    return Placed(node_of, picks, selected)
