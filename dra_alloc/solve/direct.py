"""
The direct engine: answers read off a board, where picking has no side effects.

Spec: DIRECT-1, DIRECT-2.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, Protocol

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.errors import InternalError
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.overlay import Findings
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Trait
from dra_alloc.rules import Pick
from dra_alloc.solve.masks.board import Board, BoardAnswer
from dra_alloc.solve.masks.first_path import first_path
from dra_alloc.solve.masks.search import search
from dra_alloc.solve.masks.shared_path import Remainder, Shared
from dra_alloc.solve.outcome import Stage, Work
from dra_alloc.solve.survey import Survey
from dra_alloc.solve.views import Admitted, View

#: What the engine is called where it is told which one answered.
ENGINE: Final = "direct"
#: Steps of one search; what takes more is the ladder's.
STEPS: Final = 500
#: What the constructor of a named tuple does, without its call in Python.
_MAKE: Final[Any] = tuple.__new__
_FAILED: Final = "an allocation failed its own check"
#: Questions about slices that are answered without a board.
_LOOKS: Final = 2
#: Slices that are remembered to have been asked about so.
_MOST_PATHS: Final = 20_000
#: Answers remembered per board; fewer on wide ones.
_MOST_ANSWERS: Final = 100_000


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

    def whole(self, pools: Sequence[Pool]) -> int:
        """Return the devices held as a whole in pools side by side, whatever is consumed of others."""
        ...

    def whole_alone(self, row: SliceRow) -> int:
        """Return the devices held as a whole in one slice, whatever is consumed of others."""
        ...

    @property
    def left(self) -> Findings[SliceRow, Remainder]:
        """Return what was found out of what is left of slices; forgotten of those of which that changes."""
        ...

    def busy_in_one(self) -> Callable[[SliceRow, int], int | None]:
        """Return the same for many slices: to be called with 0 besides the slice, until a device is taken."""
        ...


class Direct:
    """Answers for one state of allocation; what is found out is left in the survey for all states."""

    def __init__(self, survey: Survey, occupancy: Occupied, usage: Usage) -> None:
        self._survey = survey
        self._occupancy = occupancy
        self._usage = usage
        self._as_seen = survey.profile.shows(Trait.POOLS_AS_SEEN)
        # Stands for the state of allocation, which nothing that outlives it may keep.
        self._state = object()

    def may_answer(self, node: Node, claims: Sequence[ResourceClaim]) -> bool:
        """
        Return whether an answer can be had directly, as far as claims, the node and what is held have a say in that.

        Raises: GatherError.
        """
        admitted = self._survey.admitted(claims)
        if admitted is None or admitted.plan is None:
            return False
        view = self._survey.view(node)
        return self._survey.is_direct(view, admitted.plan) and self._occupancy.busy(view.pools) is not None

    def admitted(self, claims: Sequence[ResourceClaim]) -> Admitted | None:
        """Return the claims as rows, as far as no node has a say in that; None where they cannot be answered for."""
        # Claims have no shape where pools are as seen: nothing need be known of them.
        return None if self._as_seen else self._survey.admitted(claims)

    def answer(self, node: Node, claims: Sequence[ResourceClaim], steps: int | None) -> Answer | None:
        """
        Return the answer if it can be had directly, within `steps`.

        Raises: GatherError.
        """
        return self.answer_known(node, self.admitted(claims), steps)

    def answer_known(self, node: Node, admitted: Admitted | None, steps: int | None) -> Answer | None:
        """
        Return the answer for claims that were admitted, also where devices are shared.

        Raises: GatherError.
        """
        if admitted is None or admitted.plan is None:
            return None
        view = self._survey.view(node)
        found = self._on(view, admitted)
        if found is None or not _is_within(found[0], steps):
            found = None if admitted.plan.sharing is None else self._shared_on(view, admitted)
            if found is None or not _is_within(found[0], steps):
                return None
        answer: Answer = _MAKE(Answer, (admitted, view, *found))
        return answer

    def _on(self, view: View, admitted: Admitted) -> tuple[BoardAnswer, Work] | None:
        occupancy, only = self._occupancy, view.only
        busy = occupancy.busy(view.pools) if only is None else occupancy.busy_alone(only)
        return None if busy is None else on_view(self._survey, view, admitted, busy)

    def _shared_on(self, view: View, admitted: Admitted) -> tuple[BoardAnswer, Work] | None:
        plan, last = admitted.plan, view.last
        if plan is None or not view.direct:
            return None
        if view.only is not None:
            choice = self.shared_alone(admitted, view.only)
        elif last is not None and last[0] is plan and last[1] is self._state:
            choice = last[2]
        else:
            choice = self._survey.shared_path(plan, view.slices, self._occupancy.whole(view.pools), self._shared)
            if choice is not None:
                _hold_against_constraints(choice, admitted, view.slices)
                view.last = plan, self._state, choice
        return None if choice is None else (choice, _work(choice.found, choice.steps))

    def shared_alone(self, admitted: Admitted, row: SliceRow) -> BoardAnswer | None:
        """Return the same for a node to which the slice is all there is."""
        plan = admitted.plan
        if plan is None:
            return None
        busy, left = self._occupancy.whole_alone(row), self._shared.of(row)
        last = left.last
        if last is not None and last[0] is plan and last[1] == busy:
            return last[2]
        choice = self._survey.shared_path(plan, (row,), busy, self._shared)
        if choice is not None:
            _hold_against_constraints(choice, admitted, (row,))
            left.last = plan, busy, choice
        return choice

    @cached_property
    def _shared(self) -> Shared:
        return Shared(self._usage, self._survey.profile, self._occupancy.left)

    def answer_admitted(self, node: Node, admitted: Admitted | None, steps: int | None) -> Answer | None:
        """
        Return the answer for claims that were admitted, where no device is shared.

        Raises: GatherError.
        """
        if admitted is None or admitted.plan is None:
            return None
        view = self._survey.view(node)
        found = self._on(view, admitted)
        return Answer(admitted, view, *found) if found is not None and _is_within(found[0], steps) else None

    def answer_alone(
        self, row: SliceRow, admitted: Admitted | None, steps: int | None
    ) -> tuple[BoardAnswer, Work] | None:
        """Return the same for a node to which the slice is all there is, without a look at the node."""
        if admitted is None or admitted.plan is None:
            return None
        busy = self._occupancy.busy_alone(row)
        found = None if busy is None else alone(self._survey, row, admitted, busy)
        return found if found is not None and _is_within(found[0], steps) else None


def _is_within(choice: BoardAnswer, steps: int | None) -> bool:
    """Return whether the search came to an end, and within the steps."""
    return choice.found is not None and (steps is None or choice.steps <= steps)


def on_view(survey: Survey, view: View, admitted: Admitted, busy: int) -> tuple[BoardAnswer, Work] | None:
    """Return what is found for a node of which these devices are held; None where only the search can answer."""
    plan = admitted.plan
    if plan is None:
        return None
    if view.latest[0] is not plan and survey.is_direct(view, plan):
        key = survey.key_of(view.pools, plan)
        found = None if key in plan.boards else _path(survey, admitted, key, view.slices, busy)
        if found is not None:
            return found
    board = survey.board(view, plan)
    return None if board is None else decide(board, busy & board.relevant, admitted, view.slices)


def alone(survey: Survey, row: SliceRow, admitted: Admitted, busy: int) -> tuple[BoardAnswer, Work] | None:
    """Return the same for a node to which the slice is all there is."""
    plan = admitted.plan
    if plan is None:
        return None
    key = plan.lens.signature(row)
    if key not in plan.boards:
        found = _path(survey, admitted, key, (row,), busy)
        if found is not None:
            return found
    board = survey.board_alone(row, plan, key)
    if board is None:
        return None
    busy &= board.relevant
    return board.answers.get(busy) or decide(board, busy, admitted, (row,))


def _path(
    survey: Survey, admitted: Admitted, key: Hashable, slices: Sequence[SliceRow], busy: int
) -> tuple[BoardAnswer, Work] | None:
    """
    Return what is found for slices that few nodes have, looking at no more devices than a search without going back.

    None where that does not tell, or such slices are asked about so often that a board is worth its while.
    """
    plan, paths = admitted.plan, survey.paths
    if plan is None or plan.every:
        return None
    looks = 0
    known = paths.get((plan, key))
    if known is not None:
        looks, before, found = known
        if before == busy or looks >= _LOOKS:
            return found if before == busy else None
    elif not all(row.node_name for row in slices):
        # Of slices that many nodes see it is better to know all.
        return None
    elif plan.entangled and 2 * plan.least >= sum([len(row.wire.spec.devices) for row in slices]):
        # Most devices are looked at anyway, and those that go together are seldom the first.
        return None
    choice = first_path(plan.shape, plan.judges, plan.constraints, slices, busy)
    found = None if choice is None else _along(choice, busy, admitted, slices)
    if len(paths) >= _MOST_PATHS:
        paths.clear()
    paths[plan, key] = looks + 1, busy, found
    return found


def _along(choice: BoardAnswer, busy: int, admitted: Admitted, slices: Sequence[SliceRow]) -> tuple[BoardAnswer, Work]:
    """
    Return a solution that was found without a board, held against the definitions.

    Raises: InternalError.
    """
    if not choice.found:
        return choice, _work(False, choice.steps)
    if wrong := _overlapping(choice, busy):
        raise InternalError(f"{_FAILED}: {'; '.join(wrong)}")
    _hold_against_constraints(choice, admitted, slices)
    return choice, _work(True, choice.steps)


def _hold_against_constraints(choice: BoardAnswer, admitted: Admitted, slices: Sequence[SliceRow]) -> None:
    """Raise InternalError for a solution that breaks a constraint."""
    if not admitted.constraints:
        return
    picks = picks_of(admitted.asks, slices, choice)
    wrong = [text for rule in admitted.constraints for text in rule.violations(picks)]
    if wrong:
        raise InternalError(f"{_FAILED}: {'; '.join(wrong)}")


def decide(board: Board, busy: int, admitted: Admitted, slices: Sequence[SliceRow]) -> tuple[BoardAnswer, Work]:
    """
    Return what is found on a board, searching only if it was not asked before with these devices busy.

    Raises: InternalError if a solution fails its check, which is always a bug of ours.
    """
    known = board.answers.get(busy)
    if known is None:
        choice = search(board, busy, STEPS)
        picks = picks_of(admitted.asks, slices, choice) if choice.found and admitted.constraints else ()
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
    return Work(steps, ENGINE, (Stage(ENGINE, steps, verdict),))


def picks_of(asks: Sequence[Ask], slices: Sequence[SliceRow], choice: BoardAnswer) -> tuple[Pick, ...]:
    """Return the picks of a choice on the node at hand, in order."""
    if len(slices) == 1:
        devices = slices[0].devices
        return tuple([_MAKE(Pick, (asks[ask], devices[index])) for ask, index in choice.picks])
    places = zip(choice.picks, places_in(slices, choice), strict=True)
    return tuple([_MAKE(Pick, (asks[ask], row.devices[index])) for (ask, _), (row, index) in places])


def places_in(slices: Sequence[SliceRow], choice: BoardAnswer) -> list[tuple[SliceRow, int]]:
    """Return the slice and the place in it of each pick."""
    return [_place(slices, index) for _, index in choice.picks]


def _place(slices: Sequence[SliceRow], index: int) -> tuple[SliceRow, int]:
    for row in slices:
        width = len(row.wire.spec.devices)
        if index < width:
            return row, index
        index -= width
    raise InternalError("a pick lies outside of its board")


def _check(choice: BoardAnswer, board: Board, busy: int, picks: Sequence[Pick], admitted: Admitted) -> None:
    """Hold a solution against the definitions; `picks` are for those of constraints. Raises: InternalError."""
    if not choice.found:
        return
    wrong = [text for rule in admitted.constraints for text in rule.violations(picks)]
    wrong += _overlapping(choice, busy)
    seats = {seat.ask: seat for slot in board.slots for seat in slot}
    if any(not seats[ask].mask >> index & 1 for ask, index in choice.picks):
        wrong.append("a device is not one the request could have")
    asked = [ask for ask, _ in choice.picks]
    if len(choice.served) != len(board.slots) or any(asked.count(ask) != seats[ask].wanted for ask in choice.served):
        wrong.append("a request has not its number of devices")
    if wrong:
        raise InternalError(f"{_FAILED}: {'; '.join(wrong)}")


def _overlapping(choice: BoardAnswer, busy: int) -> list[str]:
    """Return what is wrong if a device was taken twice, or was not free."""
    return ["a device is not free"] if choice.taken & busy or choice.taken.bit_count() < len(choice.picks) else []
