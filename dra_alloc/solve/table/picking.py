"""
The state of a search over a table: what is picked, and what that leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.solve.table.table import AskRow, Charge, Table, ValueRow, bits


class Taken(NamedTuple):
    """One pick, with what has to be put back when it is given up."""

    ask: AskRow
    device: int
    charges: tuple[Charge, ...]
    agreed: tuple[int, ...]
    blocked: tuple[tuple[int, int], ...]


class Picking:
    """
    Picks so far; `take` and `give_back` change it, newest pick first.

    `used` are the dedicated devices picked, `left` what remains of each draw,
    `common` the values the picks of a constraint still have in common,
    `seen` the values that must not come again.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self.used = 0
        claims = 1 + max((slot.claim for slot in table.slots), default=0)
        self.used_by = [0] * claims
        self.results = [0] * claims
        self.left = list(table.limits)
        self.shares = [0] * len(table.devices)
        self.common = [0] * len(table.agree)
        self.agreeing = [0] * len(table.agree)
        self.seen = [0] * len(table.differ)
        self.blocked = [0] * len(table.differ)
        self.differing = [0] * len(table.differ)
        self.picks: list[Taken] = []
        self._holders: dict[tuple[int, int], int] = {}

    def candidates(self, ask: AskRow) -> int:
        """Return the devices the request could take next, as far as draws allow."""
        mask = ask.usable & ~(self.used_by[ask.ask.claim] if ask.admin else self.used)
        for number in ask.agree:
            if self.agreeing[number]:
                mask &= self._having(number, self.common[number])
        for number in ask.differ:
            mask &= ~self.blocked[number]
            if self.differing[number]:
                mask &= ~self._table.differ[number].alone
        return mask

    def _having(self, number: int, values: int) -> int:
        known = self._holders.get((number, values))
        if known is None:
            known = self._holders[number, values] = _holding(self._table.agree[number], values)
        return known

    def has_room(self, ask: AskRow, missing: int) -> bool:
        """Return whether the claim may get that many more results."""
        return self.results[ask.ask.claim] + missing <= ALLOCATION_RESULTS_MAX

    def charges(self, ask: AskRow, index: int) -> Sequence[Charge]:
        """Return what the pick would draw now."""
        table = self._table
        charges = table.pick_charges[index]
        if table.device_charges[index] and not self.shares[index]:
            charges += table.device_charges[index]
        if table.request_charges:
            charges += table.request_charges.get((ask.id, index), ())
        return charges

    def take(self, ask: AskRow, index: int) -> bool:
        """Take one of the candidates if its draws have enough left."""
        charges = tuple(self.charges(ask, index))
        left = self.left
        for draw, amount in charges:
            if left[draw] < amount:
                return False
        for draw, amount in charges:
            left[draw] -= amount
        bit = 1 << index
        if self._table.dedicated & bit:
            self.used |= bit
            self.used_by[ask.ask.claim] |= bit
        else:
            self.shares[index] += 1
        self.results[ask.ask.claim] += 1
        self.picks.append(Taken(ask, index, charges, self._agree(ask, index), self._differ(ask, index)))
        return True

    def _agree(self, ask: AskRow, index: int) -> tuple[int, ...]:
        before = tuple(self.common[number] for number in ask.agree)
        for number in ask.agree:
            values = self._table.agree[number].values[index]
            self.common[number] = self.common[number] & values if self.agreeing[number] else values
            self.agreeing[number] += 1
        return before

    def _differ(self, ask: AskRow, index: int) -> tuple[tuple[int, int], ...]:
        before = tuple((self.seen[number], self.blocked[number]) for number in ask.differ)
        for number in ask.differ:
            row = self._table.differ[number]
            self.seen[number] |= row.values[index]
            self.blocked[number] |= _holding(row, row.values[index])
            self.differing[number] += 1
        return before

    def give_back(self) -> Taken:
        """Undo the newest pick and return it."""
        taken = self.picks.pop()
        ask, index, charges, agreed, blocked = taken
        for draw, amount in charges:
            self.left[draw] += amount
        bit = 1 << index
        if self._table.dedicated & bit:
            self.used_by[ask.ask.claim] &= ~bit
            if not any(mask & bit for mask in self.used_by):
                self.used &= ~bit
        else:
            self.shares[index] -= 1
        self.results[ask.ask.claim] -= 1
        for number, common in zip(ask.agree, agreed, strict=True):
            self.common[number] = common
            self.agreeing[number] -= 1
        for number, (seen, mask) in zip(ask.differ, blocked, strict=True):
            self.seen[number] = seen
            self.blocked[number] = mask
            self.differing[number] -= 1
        return taken


def _holding(row: ValueRow, values: int) -> int:
    mask = 0
    for value in bits(values):
        mask |= row.holders[value]
    return mask
