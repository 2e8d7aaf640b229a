"""
First-fit search on a board, for questions whose picks have no side effects.

It finds what the plain search finds, because it tries the same devices in the
same order; it only passes over choices that leave a request too few devices.

Spec: DIRECT-1, DIRECT-2.
"""

from __future__ import annotations

from dra_alloc.solve.masks.board import NOTHING, Board, BoardAnswer, Seat, solution


class _OverBudget(Exception):
    """The search made more steps than it was given."""


def search(board: Board, busy: int, budget: int) -> BoardAnswer:
    """Return the first solution, or that there is none, if that takes no more than `budget` steps to find out."""
    slots = board.slots
    if len(slots) == 1 and len(slots[0]) == 1 and not board.agree:
        return _only_request(slots[0][0], busy)
    free = ~busy
    for slot in slots:
        for seat in slot:
            if (seat.mask & free).bit_count() >= seat.wanted:
                break
        else:
            return NOTHING
    attempt = _Search(board, budget)
    try:
        found = attempt.serve(0, free)
    except _OverBudget:
        return BoardAnswer(found=None, steps=attempt.steps)
    if not found:
        return BoardAnswer(found=False, steps=attempt.steps)
    return solution(attempt.steps, attempt.picks, attempt.served)


def _only_request(seat: Seat, busy: int) -> BoardAnswer:
    mask = seat.mask & ~busy
    if mask.bit_count() < seat.wanted:
        return NOTHING
    picks = []
    for _ in range(seat.wanted):
        bit = mask & -mask
        mask ^= bit
        picks.append((seat.ask, bit.bit_length() - 1))
    return solution(seat.wanted, picks, (seat.ask,))


class _Search:
    """One depth-first search; the depth is bounded by the number of picks."""

    __slots__ = ("_budget", "_holders", "_limits", "_slots", "picks", "served", "steps")

    def __init__(self, board: Board, budget: int) -> None:
        self._slots = board.slots
        self._holders = board.holders
        self._budget = budget
        # Per constraint: devices that agree with the picks, or those that do not differ from them.
        self._limits = [-1 if agree else 0 for agree in board.agree]
        self.picks: list[tuple[int, int]] = []
        self.served: list[int] = []
        self.steps = 0

    def serve(self, slot: int, free: int) -> bool:
        """Return whether the requests from this one on can be served with the free devices."""
        if slot == len(self._slots):
            return True
        for seat in self._slots[slot]:
            self.served.append(seat.ask)
            if self._take(seat, seat.wanted, seat.mask, slot, free):
                return True
            self.served.pop()
        return False

    def _take(self, seat: Seat, missing: int, above: int, slot: int, free: int) -> bool:
        if not missing:
            return self.serve(slot + 1, free)
        mask = self._candidates(seat, above & free)
        limits = self._limits
        while mask.bit_count() >= missing:
            self.steps += 1
            if self.steps > self._budget:
                raise _OverBudget
            bit = mask & -mask
            mask ^= bit
            self.picks.append((seat.ask, bit.bit_length() - 1))
            before = None
            if seat.agree or seat.differ:
                before = limits[:]
                self._constrain(seat, bit)
            if self._take(seat, missing - 1, mask, slot, free ^ bit):
                return True
            self.picks.pop()
            if before is not None:
                limits[:] = before
        return False

    def _candidates(self, seat: Seat, mask: int) -> int:
        for number in seat.agree:
            mask &= self._limits[number]
        for number in seat.differ:
            mask &= ~self._limits[number]
        return mask

    def _constrain(self, seat: Seat, bit: int) -> None:
        for number in seat.agree:
            self._limits[number] &= self._holders[number][bit]
        for number in seat.differ:
            self._limits[number] |= self._holders[number][bit]
