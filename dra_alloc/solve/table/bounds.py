"""
Hopeless questions told apart without a search.

A bound counts what is still needed against what is left. It may only say "no"
where no search could find an answer; what it says about a table holds for
upstream as far as the table does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dra_alloc.solve.table.matching import can_match
from dra_alloc.solve.table.packing import Packing
from dra_alloc.solve.table.picking import Picking
from dra_alloc.solve.table.table import AskRow, Slot, Table, ValueRow, bits


def refuted(table: Table) -> str | None:
    """
    Return which bound shows that the table has no solution; None if none does.

    Spec: BOUND-1 (one request), BOUND-2 (matching), BOUND-3 (matchAttribute),
    BOUND-4 (distinctAttribute), BOUND-6 (matchAttribute of several claims).
    """
    for slot in table.slots:
        if not any(_enough(table, ask, ask.usable) for ask in slot.asks):
            return "too-few-devices"
    for row in table.agree:
        if not _agrees(table, row):
            return "no-common-value"
    for number, row in enumerate(table.differ):
        if not _differs(table, number, row):
            return "too-few-values"
    if not _matches(table) or not _side_by_side(table):
        return "too-few-devices-together"
    return None


def _enough(table: Table, ask: AskRow, mask: int) -> bool:
    """Return whether the request alone could be served from these devices."""
    if ask.recorded is not None:
        return ask.possible and not ask.usable & ~mask
    if table.reuses and mask & ~table.dedicated:
        return True
    return mask.bit_count() >= ask.count


def _concerned(table: Table, row: ValueRow) -> list[Slot]:
    """Return the slots that cannot be served without a pick the constraint applies to."""
    return [slot for slot in table.slots if all(ask.id in row.asks and ask.count for ask in slot.asks)]


def _agrees(table: Table, row: ValueRow) -> bool:
    slots = _concerned(table, row)
    needs = [min(ask.count for ask in slot.asks) for slot in slots]
    # A device without a value satisfies one pick, and nothing else.
    if sum(needs) <= 1:
        return True
    # Slots that are alike say the same about every value.
    kinds = {tuple((ask.kind, ask.count, ask.admin) for ask in slot.asks): slot for slot in slots}
    return any(_agrees_on(table, tuple(kinds.values()), sum(needs), holders) for holders in row.holders)


def _agrees_on(table: Table, slots: Sequence[Slot], needed: int, holders: int) -> bool:
    union = 0
    for slot in slots:
        if not any(_enough(table, ask, ask.usable & holders) for ask in slot.asks):
            return False
        for ask in slot.asks:
            union |= ask.usable & holders
    admin = any(ask.admin for slot in slots for ask in slot.asks)
    return admin or bool(union & ~table.dedicated) or union.bit_count() >= needed


def _side_by_side(table: Table) -> bool:
    """Return whether the constraints that are alike can each have devices of one value, all of them different."""
    together: dict[tuple[tuple[int, ...], int, int], int] = {}
    counted: dict[tuple[tuple[int, ...], int, int], set[tuple[int, int]]] = {}
    for row in table.agree:
        slots = _concerned(table, row)
        asks = [ask for slot in slots for ask in slot.asks]
        need = sum(min(ask.count for ask in slot.asks) for slot in slots)
        union = 0
        for ask in asks:
            union |= ask.usable
        if need < 2 or union & ~table.dedicated or any(ask.admin for ask in asks):
            continue
        key = row.values, union, need
        places = {(slot.claim, slot.request) for slot in slots}
        # Constraints on the same requests are met by the same devices.
        if counted.setdefault(key, set()).isdisjoint(places):
            counted[key] |= places
            together[key] = together.get(key, 0) + 1
    return all(_room(values, union, need) >= count for (values, union, need), count in together.items() if count > 1)


def _room(values: tuple[int, ...], union: int, need: int) -> int:
    """Return how many times so many devices can be taken, each time of one value."""
    groups = Counter(values[index] for index in bits(union) if values[index])
    if any(value & (value - 1) for value in groups):
        return union.bit_count() // need
    return sum(count // need for count in groups.values())


def _differs(table: Table, number: int, row: ValueRow) -> bool:
    slots = _concerned(table, row)
    union = 0
    for slot in slots:
        for ask in slot.asks:
            union |= ask.usable
    needed = sum(min(ask.count for ask in slot.asks) for slot in slots)
    values = 0
    for index in bits(union):
        values |= row.values[index]
    return values.bit_count() + bool(row.alone & union) >= needed


def _matches(table: Table) -> bool:
    """Return whether every needed device can be a different one, as far as devices serve one pick."""
    needs: list[tuple[int, int]] = []
    for slot in table.slots:
        if any(ask.admin for ask in slot.asks):
            continue
        union = 0
        for ask in slot.asks:
            union |= ask.usable
        count = min(ask.count for ask in slot.asks)
        if not union & ~table.dedicated:
            needs.append((count, union))
        elif not table.reuses:
            # Every shareable device can serve one pick of the request.
            needs.append((count - (union & ~table.dedicated).bit_count(), union & table.dedicated))
    return can_match([(count, mask) for count, mask in needs if count > 0])


@dataclass(frozen=True, slots=True, eq=False)
class _Need:
    """Slots of one kind from some slot on: how many devices they take at least, together and each."""

    ask: AskRow
    together: int
    each: int


class Remaining:
    """What the slots from any one on still need, counted against a state of the search."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._packing = Packing(table)
        self._single: list[tuple[_Need, ...]] = [()]
        self._several: list[tuple[Slot, ...]] = [()]
        self._differ: list[tuple[int, ...]] = [(0,) * len(table.differ)]
        needs: dict[int, _Need] = {}
        for slot in reversed(table.slots):
            first = slot.asks[0]
            if len(slot.asks) == 1:
                before = needs.pop(first.kind, _Need(first, 0, 0))
                needs[first.kind] = _Need(first, before.together + first.count, max(before.each, first.count))
            several = (slot, *self._several[-1]) if len(slot.asks) > 1 else self._several[-1]
            self._single.append(tuple(reversed(needs.values())))
            self._several.append(several)
            self._differ.append(tuple(self._differing(slot)))
        self._single.reverse()
        self._several.reverse()
        self._differ.reverse()
        self._values = [len(row.holders) for row in table.differ]

    def _differing(self, slot: Slot) -> Iterable[int]:
        least = min(ask.count for ask in slot.asks)
        for row, later in zip(self._table.differ, self._differ[-1], strict=True):
            yield later + (least if all(ask.id in row.asks for ask in slot.asks) else 0)

    def hopeless(self, slot: int, picking: Picking) -> bool:
        """Return whether the slots from this one on cannot all be served after the picks made."""
        table = self._table
        for need in self._single[slot]:
            ask = need.ask
            mask = picking.candidates(ask)
            if not _enough(table, ask, mask):
                return True
            if ask.admin or mask & ~table.dedicated:
                continue
            if mask.bit_count() < need.together:
                return True
            if table.limits and not self._packing.allows(ask, need.together, mask, picking):
                return True
        for each in self._several[slot]:
            if not any(_enough(table, ask, picking.candidates(ask)) for ask in each.asks):
                return True
        for number, needed in enumerate(self._differ[slot]):
            if needed and self._values[number] - picking.seen[number].bit_count() + 1 < needed:
                return True
        return False
