"""
Which states of a search are alike, because devices, partitions or whole devices are.

Devices that draw on the same amounts form a cell, such as the partitions of
one GPU. Two states are alike if cells of equal make-up are in equal states, in
whatever order: what cannot be completed from one cannot be completed from the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.solve.table.picking import Picking
from dra_alloc.solve.table.table import AskRow, Charge, Table, ValueRow, bits

_Rename = Callable[[int], Hashable]


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """
    Devices that draw on the same amounts.

    Cells of one `make_up` are alike. `types` are masks of devices that are
    alike, empty if every type has one device: then `low` is the
    lowest bit and the whole mask stands for itself. `shared` are shareable
    devices that are charged once. `agree` and `differ` list the values, by
    constraint, that occur in this cell only.
    """

    make_up: int
    mask: int
    low: int
    types: tuple[int, ...]
    draws: tuple[int, ...]
    shared: tuple[int, ...]
    agree: tuple[tuple[int, tuple[int, ...]], ...]
    differ: tuple[tuple[int, tuple[int, ...]], ...]

    def state(self, free: int, eligible: int, picking: Picking) -> tuple[int, ...]:
        """Return what the picks leave of the cell; `eligible` may be taken next."""
        state = [self.make_up]
        if self.types:
            for mask in self.types:
                state += ((free & mask).bit_count(), (eligible & mask).bit_count())
        else:
            state += ((free & self.mask) >> self.low, (eligible & self.mask) >> self.low)
        left = picking.left
        state += [left[draw] for draw in self.draws]
        if self.shared:
            state += [min(picking.shares[index], 1) for index in self.shared]
        for number, values in self.agree:
            state += [picking.common[number] >> value & 1 for value in values]
        for number, values in self.differ:
            state += [picking.seen[number] >> value & 1 for value in values]
        return tuple(state)


class Symmetry:
    """
    The likenesses of one table.

    `alike` holds, per device, the mask of devices that can stand in for it in
    any state in which neither is picked; `later` the devices that a slot or
    one after it can use.
    """

    def __init__(self, table: Table) -> None:
        self._admin = any(ask.admin for ask in table.asks)
        most = sum(max((ask.count for ask in slot.asks), default=0) for slot in table.slots)
        self._limited = most > ALLOCATION_RESULTS_MAX
        self.later = _later(table)
        self._live = _live(table)
        self._table = table
        self._describe = _Describer(table)
        self.alike = _alike(self._describe, self.later[0])

    @cached_property
    def _masks(self) -> list[int]:
        return cells_of(self._table, self.later[0])

    @cached_property
    def _homes(self) -> tuple[list[dict[int, int | None]], list[dict[int, int | None]]]:
        """Per constraint the one cell that has a value, if it is one."""
        agree = [_home(row, self._masks) for row in self._table.agree]
        return agree, [_home(row, self._masks) for row in self._table.differ]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells of all devices that are of use; many searches end without having compared states."""
        make_ups: dict[Hashable, int] = {}
        maker = _CellMaker(self._table, self._describe, *self._homes)
        return [maker.cell(number, mask, make_ups) for number, mask in enumerate(self._masks)]

    @cached_property
    def _everywhere(self) -> tuple[list[int], list[int]]:
        """Per constraint the values that no single cell has for itself."""
        agree, differ = self._homes
        return (
            [_mask(value for value, home in homes.items() if home is None) for homes in agree],
            [_mask(value for value, home in homes.items() if home is None) for homes in differ],
        )

    def key(self, slot: int, ask: AskRow, taken: int, start: int, picking: Picking) -> Hashable:
        """Return the class of the state in which the request is to get its next device, from `start` on."""
        results = picking.results[ask.ask.claim] if self._limited else 0
        head = (slot, ask.kind, ask.count, taken, results)
        if self._admin:
            return head, start, _raw(picking)
        agree, differ = self._live[slot]
        common, seen = self._everywhere
        values = (
            *((picking.agreeing[each] > 0, picking.common[each] & common[each]) for each in agree),
            *((picking.differing[each] > 0, picking.seen[each] & seen[each]) for each in differ),
        )
        free = self.later[slot] & ~picking.used
        eligible = (ask.usable & free) >> start << start if taken else 0
        return head, values, tuple(sorted([cell.state(free, eligible, picking) for cell in self.cells]))


def _raw(picking: Picking) -> Hashable:
    return (
        tuple(picking.used_by),
        tuple(picking.left),
        tuple(picking.shares),
        tuple(zip(picking.agreeing, picking.common, strict=True)),
        tuple(zip(picking.differing, picking.seen, strict=True)),
    )


def _mask(positions: Iterable[int]) -> int:
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


def _later(table: Table) -> list[int]:
    """Return per slot the devices that it or a later one can use."""
    later = [0]
    for slot in reversed(table.slots):
        mask = later[-1]
        for ask in slot.asks:
            mask |= ask.usable
        later.append(mask)
    return later[::-1]


def _live(table: Table) -> list[tuple[list[int], list[int]]]:
    """Return per slot the constraints that it or a later one is concerned by."""
    live: list[tuple[list[int], list[int]]] = [([], [])]
    for slot in reversed(table.slots):
        agree, differ = (set(each) for each in live[-1])
        for ask in slot.asks:
            agree.update(ask.agree)
            differ.update(ask.differ)
        live.append((sorted(agree), sorted(differ)))
    return live[::-1]


def _draws(table: Table, index: int) -> set[int]:
    charges = [*table.pick_charges[index], *table.device_charges[index]]
    for ask in table.asks:
        charges += table.request_charges.get((ask.id, index), ())
    return {draw for draw, _ in charges}


def cells_of(table: Table, useful: int) -> list[int]:
    """
    Return masks of the useful devices that draw on the same amounts, each cell in device order.

    Devices that draw on nothing form one more cell.
    """
    owner: dict[int, int] = {}
    masks: dict[int, int] = {}
    plain = 0
    for index in bits(useful):
        draws = _draws(table, index)
        if not draws:
            plain |= 1 << index
            continue
        met = {owner[draw] for draw in draws if draw in owner}
        cell = min(met, default=index)
        masks[cell] = masks.get(cell, 0) | 1 << index
        for other in met - {cell}:
            masks[cell] |= masks.pop(other)
        joined = met | {cell}
        owner.update({draw: cell for draw, home in owner.items() if home in joined})
        owner.update(dict.fromkeys(draws, cell))
    return [*([plain] if plain else []), *masks.values()]


def _home(row: ValueRow, masks: Sequence[int]) -> dict[int, int | None]:
    """Return per value the one cell that has it, or None."""
    homes: dict[int, int | None] = {}
    for value, holders in enumerate(row.holders):
        homes[value] = next((number for number, mask in enumerate(masks) if not holders & ~mask), None)
    return homes


class _Describer:
    """Says what a device is like, with draws and values named by the caller."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._by_kind = {ask.kind: ask for ask in table.asks}

    def __call__(
        self, index: int, draw: _Rename, agree: Callable[[int, int], Hashable], differ: Callable[[int, int], Hashable]
    ) -> Hashable:
        table = self._table
        charges = table.request_charges
        asks = [(kind, ask) for kind, ask in self._by_kind.items() if ask.usable >> index & 1]
        return (
            table.dedicated >> index & 1,
            tuple((kind, _named(charges.get((ask.id, index), ()), draw)) for kind, ask in asks),
            _named(table.pick_charges[index], draw),
            _named(table.device_charges[index], draw),
            tuple(
                tuple(agree(number, value) for value in bits(row.values[index])) for number, row in _rows(table.agree)
            ),
            tuple(
                tuple(differ(number, value) for value in bits(row.values[index])) for number, row in _rows(table.differ)
            ),
            tuple(row.alone >> index & 1 for row in (*table.agree, *table.differ)),
        )


def _rows(rows: Sequence[ValueRow]) -> Iterable[tuple[int, ValueRow]]:
    return enumerate(rows)


def _named(charges: Sequence[Charge], draw: _Rename) -> tuple[tuple[Hashable, int], ...]:
    return tuple((draw(number), amount) for number, amount in charges)


def _alike(describe: _Describer, useful: int) -> dict[int, int]:
    groups: dict[Hashable, int] = {}
    keys = {}
    for index in bits(useful):
        keys[index] = key = describe(index, lambda draw: draw, lambda _, value: value, lambda _, value: value)
        groups[key] = groups.get(key, 0) | 1 << index
    return {index: groups[key] for index, key in keys.items()}


class _CellMaker:
    """Makes cells, naming what is inside a cell by the order in which it comes."""

    def __init__(
        self,
        table: Table,
        describe: _Describer,
        agree: Sequence[dict[int, int | None]],
        differ: Sequence[dict[int, int | None]],
    ) -> None:
        self._table = table
        self._describe = describe
        self._agree = agree
        self._differ = differ

    def cell(self, number: int, mask: int, make_ups: dict[Hashable, int]) -> Cell:
        draws: dict[int, int] = {}
        values: dict[tuple[str, int, int], int] = {}

        def draw(each: int) -> Hashable:
            return draws.setdefault(each, len(draws))

        def value(kind: str, homes: Sequence[dict[int, int | None]]) -> Callable[[int, int], Hashable]:
            def name(constraint: int, each: int) -> Hashable:
                if homes[constraint][each] != number:
                    return "everywhere", each
                return "here", values.setdefault((kind, constraint, each), len(values))

            return name

        names = (draw, value("agree", self._agree), value("differ", self._differ))
        low = (mask & -mask).bit_length() - 1
        types: dict[Hashable, int] = {}
        for index in bits(mask):
            key = self._describe(index, *names)
            types[key] = types.get(key, 0) | 1 << index
        table = self._table
        single = all(each & (each - 1) == 0 for each in types.values())
        order = [
            (key, [index - low for index in bits(each)] if single else each.bit_count()) for key, each in types.items()
        ]
        make_up = make_ups.setdefault(repr(order), len(make_ups))
        shared = tuple(index for index in bits(mask & ~table.dedicated) if table.device_charges[index])
        return Cell(
            make_up,
            mask,
            low,
            () if single else tuple(types.values()),
            tuple(draws),
            shared,
            _grouped(values, "agree"),
            _grouped(values, "differ"),
        )


def _grouped(values: Iterable[tuple[str, int, int]], kind: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    grouped: dict[int, list[int]] = {}
    for each, constraint, value in values:
        if each == kind:
            grouped.setdefault(constraint, []).append(value)
    return tuple((constraint, tuple(found)) for constraint, found in grouped.items())
