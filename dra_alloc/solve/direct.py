"""
The direct engine: answers read off a board, where picking has no side effects.

Spec: DIRECT-1, DIRECT-2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from dra_alloc.api import AllocationResult, Node, ResourceClaim
from dra_alloc.errors import InternalError
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.assemble import Assembly, assemble
from dra_alloc.solve.masks.board import Board, BoardAnswer
from dra_alloc.solve.masks.search import search
from dra_alloc.solve.outcome import Stage, Work
from dra_alloc.solve.survey import Admitted, Survey, View

__all__ = ["STEPS", "Answer", "Direct", "Occupied", "Picks", "Results", "assembled", "decide"]

#: Steps of one search; what takes more is the ladder's.
STEPS: Final = 500
#: Answers remembered per board; fewer on wide ones.
_MOST_ANSWERS: Final = 100_000
#: Results remembered per node.
_MOST_RESULTS: Final = 4


class Answer(NamedTuple):
    """What the engine found for a view, and what it cost."""

    admitted: Admitted
    view: View
    choice: BoardAnswer
    work: Work


class Occupied(Protocol):
    """What says which devices are held."""

    def busy(self, pools: Sequence[Pool]) -> int | None:
        """Return the devices held in pools side by side; None where more than that matters."""
        ...

    def busy_alone(self, row: SliceRow) -> int | None:
        """Return the devices held in one slice; None where more than that matters."""
        ...

    def busy_in_one(self) -> Callable[[SliceRow, int], int | None]:
        """Return the same for many slices: to be called with 0 besides the slice, until a device is taken."""
        ...


class Direct:
    """Answers for one state of allocation; what is found out is left in the survey for all states."""

    def __init__(self, survey: Survey, occupancy: Occupied) -> None:
        self._survey = survey
        self._occupancy = occupancy

    def answer(self, node: Node, claims: Sequence[ResourceClaim], steps: int | None) -> Answer | None:
        """
        Return the answer if it can be had directly, within `steps`.

        Raises: GatherError.
        """
        return self.answer_admitted(node, self._survey.admitted(claims), steps)

    def answer_admitted(self, node: Node, admitted: Admitted | None, steps: int | None) -> Answer | None:
        """
        Return the answer for claims that were admitted.

        Raises: GatherError.
        """
        if admitted is None or admitted.plan is None:
            return None
        survey = self._survey
        view = survey.view(node)
        board = survey.board(view, admitted.plan)
        if board is None:
            return None
        busy = self._occupancy.busy(view.pools)
        if busy is None:
            return None
        choice, work = decide(board, busy & board.relevant, admitted, view.slices)
        return Answer(admitted, view, choice, work) if _is_within(choice, steps) else None

    def answer_alone(
        self, row: SliceRow, admitted: Admitted | None, steps: int | None
    ) -> tuple[BoardAnswer, Work] | None:
        """Return the same for a node to which the slice is all there is, without a look at the node."""
        if admitted is None or admitted.plan is None:
            return None
        board = self._survey.board_alone(row, admitted.plan)
        busy = None if board is None else self._occupancy.busy_alone(row)
        if board is None or busy is None:
            return None
        found = decide(board, busy & board.relevant, admitted, (row,))
        return found if _is_within(found[0], steps) else None


def _is_within(choice: BoardAnswer, steps: int | None) -> bool:
    """Return whether the search came to an end, and within the steps."""
    return choice.found is not None and (steps is None or choice.steps <= steps)


def decide(board: Board, busy: int, admitted: Admitted, slices: Sequence[SliceRow]) -> tuple[BoardAnswer, Work]:
    """
    Return what is found on a board, searching only if it was not asked before with these devices busy.

    Raises: InternalError if a solution fails its check, which is always a bug of ours.
    """
    known = board.answers.get(busy)
    if known is None:
        choice = search(board, busy, STEPS)
        picks = Picks(admitted.asks, slices, choice)() if choice.found and admitted.constraints else ()
        _check(choice, board, busy, picks, admitted)
        if len(board.answers) >= _MOST_ANSWERS // (1 + board.relevant.bit_length() // 32):
            board.answers.clear()
        known = board.answers[busy] = choice, _work(choice.found, choice.steps)
        if admitted.plan is not None:
            admitted.plan.weigh(choice)
    return known


@lru_cache(STEPS)
def _work(found: bool | None, steps: int) -> Work:
    verdict = {True: "found", False: "refuted", None: "undecided"}[found]
    return Work(steps, "direct", (Stage("direct", steps, verdict),))


class Picks:
    """Makes the picks of a choice on the node at hand."""

    __slots__ = ("_asks", "_choice", "_slices")

    def __init__(self, asks: Sequence[Ask], slices: Sequence[SliceRow], choice: BoardAnswer) -> None:
        self._asks = asks
        self._slices = slices
        self._choice = choice

    def __call__(self) -> tuple[Pick, ...]:
        """Return the picks in order."""
        asks = self._asks
        if len(self._slices) == 1:
            devices = self._slices[0].devices
            return tuple([Pick(asks[ask], devices[index]) for ask, index in self._choice.picks])
        places = zip(self._choice.picks, self.places(), strict=True)
        return tuple([Pick(asks[ask], row.devices[index]) for (ask, _), (row, index) in places])

    def places(self) -> list[tuple[SliceRow, int]]:
        """Return the slice and the place in it of each pick."""
        return [self._place(index) for _, index in self._choice.picks]

    def _place(self, index: int) -> tuple[SliceRow, int]:
        for row in self._slices:
            width = len(row.wire.spec.devices)
            if index < width:
                return row, index
            index -= width
        raise InternalError("a pick lies outside of its board")


class Results:
    """Assembles the results of an answer for the claims at hand."""

    __slots__ = ("_answer", "_assembly")

    def __init__(self, answer: Answer, assembly: Assembly) -> None:
        self._answer = answer
        self._assembly = assembly

    def __call__(self, picks: tuple[Pick, ...]) -> tuple[AllocationResult, ...]:
        """Return one result per claim, made once for the same choice for the same requests on a node."""
        admitted, view, choice, _ = self._answer
        key = id(admitted.rows), id(choice)
        known = view.results.get(key)
        if known is None:
            if len(view.results) >= _MOST_RESULTS:
                view.results.clear()
            # The rows and the choice are kept, so that no others come by the same ids.
            known = view.results[key] = admitted.rows, choice, assembled(admitted, choice, picks, self._assembly)
        return known[2]


def assembled(
    admitted: Admitted, choice: BoardAnswer, picks: tuple[Pick, ...], assembly: Assembly
) -> tuple[AllocationResult, ...]:
    """Return one result per claim for a choice."""
    served = iter(choice.served)
    selected = {
        (row.index, number): admitted.asks[next(served)]
        for row in admitted.rows
        for number, _ in enumerate(row.requests)
    }
    return assemble(admitted.rows, picks, selected, assembly)


def _check(choice: BoardAnswer, board: Board, busy: int, picks: Sequence[Pick], admitted: Admitted) -> None:
    """Hold a solution against the definitions; `picks` are for those of constraints. Raises: InternalError."""
    if not choice.found:
        return
    taken = [index for _, index in choice.picks]
    wrong = [text for rule in admitted.constraints for text in rule.violations(picks)]
    if len(set(taken)) < len(taken) or any(busy >> index & 1 for index in taken):
        wrong.append("a device is not free")
    seats = {seat.ask: seat for slot in board.slots for seat in slot}
    if any(not seats[ask].mask >> index & 1 for ask, index in choice.picks):
        wrong.append("a device is not one the request could have")
    asked = [ask for ask, _ in choice.picks]
    if len(choice.served) != len(board.slots) or any(asked.count(ask) != seats[ask].wanted for ask in choice.served):
        wrong.append("a request has not its number of devices")
    if wrong:
        raise InternalError("an allocation failed its own check: " + "; ".join(wrong))
