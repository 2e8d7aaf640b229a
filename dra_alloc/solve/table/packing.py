"""
How many devices of one kind the draws of each cell still allow, at most.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from dra_alloc.solve.table.picking import Picking
from dra_alloc.solve.table.symmetry import cells_of
from dra_alloc.solve.table.table import AskRow, Charge, Table, bits

#: Counts remembered for each part of a cell.
_KNOWN: Final = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """
    The devices of a cell that one kind of request can use, and the least each takes of what they all draw on.

    `amounts` reads what is left of all that they draw on. `known` holds the counts that came out before:
    a pick changes one cell, and the others are asked about again and again.
    """

    mask: int
    least: tuple[Charge, ...]
    amounts: Callable[[Sequence[int]], Hashable]
    known: dict[Hashable, int] = field(default_factory=dict)


class Packing:
    """
    Upper bounds on how often requests of one kind can be served.

    Each cell is counted by itself and other kinds are left out, so the count
    is never too low.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._parts: dict[int, tuple[_Part, ...]] = {}
        self._charged: dict[int, dict[int, tuple[Charge, ...]]] = {}
        useful = 0
        for ask in table.asks:
            useful |= ask.usable
        cells = cells_of(table, useful) if table.limits else []
        for ask in table.asks:
            if table.limits and ask.kind not in self._parts:
                self._charged[ask.kind] = {index: self._charges(ask, index) for index in bits(ask.usable)}
                self._parts[ask.kind] = tuple(self._part(ask, cell) for cell in cells if cell & ask.usable)

    def _charges(self, ask: AskRow, index: int) -> tuple[Charge, ...]:
        return (*self._table.pick_charges[index], *self._table.request_charges.get((ask.id, index), ()))

    def _part(self, ask: AskRow, cell: int) -> _Part:
        mask = cell & ask.usable
        least: dict[int, int] = {}
        draws: set[int] = set()
        for number, index in enumerate(bits(mask)):
            charges = dict(self._charges(ask, index))
            draws.update(charges)
            if number == 0:
                least = charges
            else:
                least = {draw: min(amount, charges[draw]) for draw, amount in least.items() if draw in charges}
        amounts = itemgetter(*sorted(draws)) if draws else _nothing
        return _Part(mask, tuple((draw, amount) for draw, amount in least.items() if amount), amounts)

    def allows(self, ask: AskRow, count: int, candidates: int, picking: Picking) -> bool:
        """Return whether the draws may still serve so many picks from these dedicated devices."""
        left = picking.left
        # Asked at every step of a search: loops are spelt out.
        for part in self._parts[ask.kind]:
            mask = part.mask & candidates
            if not mask:
                continue
            key = mask, part.amounts(left)
            most = part.known.get(key)
            if most is None:
                most = self._most(ask, part, mask, left)
                if len(part.known) < _KNOWN:
                    part.known[key] = most
            count -= most
            if count <= 0:
                return True
        return count <= 0

    def _most(self, ask: AskRow, part: _Part, mask: int, left: Sequence[int]) -> int:
        """Return how many of the devices can be taken at most: by what all draw on, and by those that alone fit."""
        charges = self._charged[ask.kind]
        most = mask.bit_count()
        for draw, amount in part.least:
            if left[draw] < most * amount:
                most = left[draw] // amount
        fitting = 0
        for index in bits(mask):
            if fitting >= most:
                break
            fitting += all(left[draw] >= amount for draw, amount in charges[index])
        return min(most, fitting)


def _nothing(left: Sequence[int]) -> Hashable:
    return None
