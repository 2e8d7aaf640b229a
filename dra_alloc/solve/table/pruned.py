"""
First-fit search that never visits a state like one it has seen fail.

It takes the same choices in the same order as the plain search, so its first
solution is the same; it leaves out only what is known to fail. It works on a
table, and its answer is upstream's only if the table is exact.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.table.bounds import Remaining
from dra_alloc.solve.table.picking import Picking
from dra_alloc.solve.table.symmetry import Symmetry
from dra_alloc.solve.table.table import AskRow, Slot, Table
from dra_alloc.work import Steps, spend

_REMEMBERED: Final = 1_000_000


class _Choice:
    """An open choice: between alternatives if `ask` is None, else between devices."""

    __slots__ = ("alternative", "ask", "candidates", "holds", "key", "slot", "start", "taken", "tried")

    def __init__(self, slot: int, alternative: int, ask: AskRow | None, taken: int, start: int = 0) -> None:
        self.slot = slot
        self.alternative = alternative
        self.ask = ask
        self.taken = taken
        self.start = start
        self.candidates = 0
        self.holds = False
        self.key: Hashable = None
        self.tried: set[tuple[int, int]] = set()


class PrunedSearch:
    """
    One search over a table.

    `run` returns True with a solution in `picks` and `selected`, False if
    there is none, None if that many steps in all were not enough; then it can
    be run again with more.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._symmetry = Symmetry(table)
        self._remaining = Remaining(table)
        self._picking = Picking(table)
        # By slot, kind of request and devices taken: most states need no key, as none like them can have failed.
        self._failed: dict[Hashable, set[Hashable]] = {}
        self._remembered = 0
        self._choices: list[_Choice] = []
        self._place: tuple[int, AskRow | None, int, int] = (0, None, 0, 0)
        self._paid = Steps(len(table.devices))
        self.steps = 0

    @property
    def picks(self) -> list[Pick]:
        """Return the devices picked, in order."""
        return [Pick(taken.ask.ask, self._table.devices[taken.device]) for taken in self._picking.picks]

    @property
    def selected(self) -> dict[tuple[int, int], Ask]:
        """Return the alternative that was chosen, by claim and request index."""
        slots = self._table.slots
        return {
            (slots[choice.slot].claim, slots[choice.slot].request): slots[choice.slot].asks[choice.alternative].ask
            for choice in self._choices
            if choice.ask is None
        }

    def run(self, budget: int) -> bool | None:
        """
        Search, or go on; see the class.

        Raises: BudgetExhausted.
        """
        spend(0)
        try:
            return self._run(budget)
        finally:
            self._paid.made(self.steps)

    def _run(self, budget: int) -> bool | None:
        slot, ask, taken, start = self._place
        while slot < len(self._table.slots):
            if self.steps >= budget:
                self._place = (slot, ask, taken, start)
                return None
            self.steps += 1
            if ask is None:
                resumed = self._open(slot)
            elif taken == ask.count:
                slot, ask, taken, start = slot + 1, None, 0, 0
                continue
            else:
                resumed = self._serve(slot, ask, taken, start)
            if resumed is None:
                resumed = self._backtrack()
                if resumed is None:
                    return False
            slot, ask, taken, start = resumed
        return True

    def _open(self, slot: int) -> tuple[int, AskRow, int, int] | None:
        if self._remaining.hopeless(slot, self._picking):
            return None
        choice = _Choice(slot, -1, None, 0)
        self._choices.append(choice)
        return self._next_alternative(choice)

    def _next_alternative(self, choice: _Choice) -> tuple[int, AskRow, int, int] | None:
        asks = self._slot(choice).asks
        while choice.alternative + 1 < len(asks):
            choice.alternative += 1
            ask = asks[choice.alternative]
            if ask.possible and (ask.kind, ask.count) not in choice.tried:
                choice.tried.add((ask.kind, ask.count))
                return choice.slot, ask, 0, 0
        return None

    def _slot(self, choice: _Choice) -> Slot:
        return self._table.slots[choice.slot]

    def _serve(self, slot: int, ask: AskRow, taken: int, start: int) -> tuple[int, AskRow, int, int] | None:
        """Take the next device for the request, from `start` on."""
        if not self._picking.has_room(ask, ask.count - taken):
            return None
        choice = _Choice(slot, -1, ask, taken, start)
        if ask.recorded is not None:
            choice.candidates = 1 << ask.recorded[taken]
            choice.candidates &= self._picking.candidates(ask)
        else:
            choice.candidates = self._picking.candidates(ask) >> start << start
            failed = self._failed.get((slot, ask.kind, ask.count, taken))
            if failed is not None:
                choice.key = self._symmetry.key(slot, ask, taken, start, self._picking)
                if choice.key in failed:
                    return None
            if choice.candidates.bit_count() < ask.count - taken and not self._may_reuse(choice.candidates):
                return None
        self._choices.append(choice)
        return self._next_device(choice, ask)

    def _may_reuse(self, candidates: int) -> bool:
        return self._table.reuses and bool(candidates & ~self._table.dedicated)

    def _next_device(self, choice: _Choice, ask: AskRow) -> tuple[int, AskRow, int, int] | None:
        while choice.candidates:
            low = choice.candidates & -choice.candidates
            index = low.bit_length() - 1
            # What is alike fails alike, now or when this pick turns out to lead nowhere.
            alike = low if ask.admin or ask.recorded is not None else self._symmetry.alike[index]
            choice.candidates &= ~(alike | low)
            if self._picking.take(ask, index):
                choice.holds = True
                again = self._table.reuses and not self._table.dedicated & low
                return choice.slot, ask, choice.taken + 1, index if again else index + 1
        return None

    def _backtrack(self) -> tuple[int, AskRow, int, int] | None:
        while self._choices:
            choice = self._choices[-1]
            if choice.ask is None:
                resumed = self._next_alternative(choice)
            else:
                if choice.holds:
                    choice.holds = False
                    self._picking.give_back()
                resumed = self._next_device(choice, choice.ask)
            if resumed is not None:
                return resumed
            self._choices.pop()
            if choice.ask is not None and choice.ask.recorded is None:
                self._remember(choice, choice.ask)
        return None

    def _remember(self, choice: _Choice, ask: AskRow) -> None:
        """Note that the state fails in which the choice was made; with its picks given back it is the present one."""
        if self._remembered >= _REMEMBERED:
            return
        key = choice.key
        if key is None:
            key = self._symmetry.key(choice.slot, ask, choice.taken, choice.start, self._picking)
        self._failed.setdefault((choice.slot, ask.kind, ask.count, choice.taken), set()).add(key)
        self._remembered += 1
