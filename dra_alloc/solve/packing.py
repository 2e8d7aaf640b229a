"""
How many devices of one kind the draws of each cell still allow, at most.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_alloc.solve.picking import Picking
from dra_alloc.solve.symmetry import cells_of
from dra_alloc.solve.table import AskRow, Charge, Table, bits

__all__ = ["Packing"]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The devices of a cell that one kind of request can use, and the least each takes of what they all draw on."""

    mask: int
    least: tuple[Charge, ...]


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
        for number, index in enumerate(bits(mask)):
            charges = dict(self._charges(ask, index))
            if number == 0:
                least = charges
            else:
                least = {draw: min(amount, charges[draw]) for draw, amount in least.items() if draw in charges}
        return _Part(mask, tuple((draw, amount) for draw, amount in least.items() if amount))

    def allows(self, ask: AskRow, count: int, candidates: int, picking: Picking) -> bool:
        """Return whether the draws may still serve so many picks from these dedicated devices."""
        left = picking.left
        charges = self._charged[ask.kind]
        # Asked at every step of a search: loops are spelt out.
        for part in self._parts[ask.kind]:
            mask = part.mask & candidates
            if not mask:
                continue
            most = mask.bit_count()
            for draw, amount in part.least:
                if left[draw] < most * amount:
                    most = left[draw] // amount
            while mask and most > 0:
                low = mask & -mask
                mask ^= low
                for draw, amount in charges[low.bit_length() - 1]:
                    if left[draw] < amount:
                        break
                else:
                    most -= 1
                    count -= 1
                    if not count:
                        return True
        return count <= 0
