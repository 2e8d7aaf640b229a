"""
A question as numbers: devices are bits, rules are masks and limits.

The bounds, the pruned search and CP-SAT work on this table instead of on the
rules. It is built from the facts that rules state, after the ordinary search
has shown that the question is not easy.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.nodes import NodeSelectorError
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.rules import RuleSet, SearchStopped
from dra_alloc.rules.counters import Counters
from dra_alloc.rules.exclusive_use import ExclusiveUse
from dra_alloc.rules.facts import Agree, Dedicated, Differ, Draw, Fact, Looser, Unmodelled, Values
from dra_alloc.solve.stops import look

__all__ = ["AskRow", "Charge", "NotModelled", "Slot", "Table", "ValueRow", "bits", "build_table"]

#: Index of a draw, and an amount.
Charge = tuple[int, int]


class NotModelled(Exception):
    """The question cannot be put into a table; only the search itself can answer it."""


@dataclass(frozen=True, slots=True, eq=False)
class AskRow:
    """
    One request, or one alternative of it.

    Requests of equal `kind` are interchangeable. `usable` are the devices it
    could take were they the only picks, `reserving` those that get as far as
    having their counters reserved; `recorded` those that All has to take,
    else None; `possible` is False if All cannot take one of them. Coming to
    one of the devices `stopping` for it can end the search with an error: by
    looking at it, or where it is recorded because it does not go with earlier
    picks. All holds the devices `constrained` against its constraints, which
    refuse those that are `unfit` whatever was picked.
    """

    ask: Ask
    kind: int
    count: int
    usable: int
    reserving: int
    recorded: tuple[int, ...] | None
    possible: bool
    agree: tuple[int, ...]
    differ: tuple[int, ...]
    stopping: int = 0
    constrained: int = 0
    unfit: int = 0

    @property
    def id(self) -> int:
        """Return the id of the request or alternative."""
        return self.ask.id

    @property
    def admin(self) -> bool:
        """Return whether it asks for admin access."""
        return self.ask.admin


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One request of one claim, to be served by exactly one of its alternatives."""

    claim: int
    request: int
    asks: tuple[AskRow, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ValueRow:
    """
    An attribute constraint.

    `values` holds a mask of value ids per device, `holders` a mask of devices
    per value id, `alone` the devices without a value. `of_claim` is False for
    what holds without any constraint of a claim.
    """

    label: str
    asks: frozenset[int]
    values: tuple[int, ...]
    holders: tuple[int, ...]
    alone: int
    of_claim: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """
    The whole question.

    `dedicated` masks the devices that serve one pick. `limits` belong to the
    draws; `pick_charges` and `device_charges` hold what a device draws with
    every pick and once, `request_charges` what (request id, device) draws.
    `reuses` lets one request pick a shareable device again. `looser` says why
    the table allows more than upstream: then it refutes, but its first answer
    need not be upstream's.
    """

    slots: tuple[Slot, ...]
    devices: tuple[DeviceRow, ...]
    dedicated: int
    limits: tuple[int, ...]
    labels: tuple[str, ...]
    pick_charges: tuple[tuple[Charge, ...], ...]
    device_charges: tuple[tuple[Charge, ...], ...]
    request_charges: Mapping[tuple[int, int], tuple[Charge, ...]]
    agree: tuple[ValueRow, ...]
    differ: tuple[ValueRow, ...]
    reuses: bool
    looser: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Return whether the first answer of the table is the answer of the search."""
        return not self.looser

    @property
    def stops(self) -> bool:
        """Return whether the search could come to an error; then its first answer may be that error."""
        return any(ask.stopping for ask in self.asks)

    @property
    def asks(self) -> Iterable[AskRow]:
        """Return all requests and alternatives, in order."""
        return (ask for slot in self.slots for ask in slot.asks)


def bits(mask: int) -> Iterable[int]:
    """Yield the positions of the bits set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def build_table(
    rows: Sequence[ClaimRow],
    candidates: Sequence[DeviceRow],
    rules: RuleSet,
    *,
    every_draw: bool = False,
    stops: bool = False,
) -> Table:
    """
    Return the table of a question; `rules` must be fresh and are used up.

    Draws that no picks could exhaust are left out, unless `every_draw` is set.
    Devices on which the search would end with an error are marked if `stops`
    is set: bounds and the pruned search do not know them.

    Spec: BOUND-1, BOUND-2, ENGINE-6.
    Raises: NotModelled where the search could end with an error that depends
    on its order, or where a rule cannot be said in facts.
    """
    try:
        table = _Builder(rows, candidates, rules).table(every_draw=every_draw)
    except (SearchStopped, NodeSelectorError) as error:
        raise NotModelled(f"a device stops the search with an error: {error}") from None
    if table.stops and not stops:
        raise NotModelled(f"a device stops the search with an error: {_an_error(table, rules)}")
    return table


def _an_error(table: Table, rules: RuleSet) -> str:
    ask = next(ask for ask in table.asks if ask.stopping)
    try:
        look(ask.ask, table.devices[next(iter(bits(ask.stopping)))], rules)
    except (SearchStopped, NodeSelectorError) as error:
        return str(error)
    return ""


class _Usable(NamedTuple):
    """The masks of an AskRow."""

    usable: int
    reserving: int
    stopping: int
    constrained: int = 0
    unfit: int = 0


class _Builder:
    """Collects the parts of one table."""

    def __init__(self, rows: Sequence[ClaimRow], candidates: Sequence[DeviceRow], rules: RuleSet) -> None:
        self._rows = rows
        self._devices = tuple(candidates)
        self._index = {device: index for index, device in enumerate(self._devices)}
        self._rules = rules
        self._asks = [ask for row in rows for request in row.requests for ask in request.asks]
        self._facts: list[Fact] = []
        for rule in dict.fromkeys((*rules.candidate, *rules.take)):
            self._facts += rule.encode(self._asks, self._devices)
        self._usable: dict[Hashable, _Usable] = {}
        self._kinds: dict[Hashable, int] = {}

    def table(self, *, every_draw: bool) -> Table:
        for fact in self._facts:
            if isinstance(fact, Unmodelled):
                raise NotModelled(fact.why)
        agree = tuple(self._value_row(fact) for fact in self._facts if isinstance(fact, Agree))
        differ = tuple(self._value_row(fact) for fact in self._facts if isinstance(fact, Differ))
        if self._rules.reuses and any(row.alone for row in differ):
            raise NotModelled("a device without a value of distinctAttribute has to be picked first")
        if self._rules.slips and any(
            ask.all_devices for row in self._rows for request in row.requests for ask in request.asks[1:]
        ):
            raise NotModelled("an All alternative goes on as the first one")
        slots = tuple(
            Slot(row.index, number, tuple(self._ask_row(ask, agree, differ) for ask in request.asks))
            for row in self._rows
            for number, request in enumerate(row.requests)
        )
        dedicated = 0
        for fact in self._facts:
            if isinstance(fact, Dedicated):
                dedicated = self._mask(fact.devices)
        draws = [fact for fact in self._facts if isinstance(fact, Draw) and (every_draw or self._binds(fact))]
        return Table(
            slots,
            self._devices,
            dedicated,
            tuple(draw.limit for draw in draws),
            tuple(draw.label for draw in draws),
            self._charges([draw.by_pick for draw in draws]),
            self._charges([draw.by_device for draw in draws]),
            self._request_charges(draws),
            agree,
            differ,
            self._rules.reuses,
            tuple(dict.fromkeys(fact.why for fact in self._facts if isinstance(fact, Looser))),
        )

    def _mask(self, devices: Iterable[DeviceRow]) -> int:
        mask = 0
        for device in devices:
            mask |= 1 << self._index[device]
        return mask

    def _value_row(self, fact: Agree | Differ) -> ValueRow:
        ids: dict[Hashable, int] = {}
        masks = [0] * len(self._devices)
        holders: list[int] = []
        for index, device in enumerate(self._devices):
            for value in _sorted(fact.values, device):
                number = ids.setdefault(value, len(ids))
                if number == len(holders):
                    holders.append(0)
                holders[number] |= 1 << index
                masks[index] |= 1 << number
        alone = self._mask(device for device, values in fact.values.items() if not values)
        of_claim = isinstance(fact, Differ) or fact.of_claim
        return ValueRow(fact.label, fact.asks, tuple(masks), tuple(holders), alone, of_claim)

    def _ask_row(self, ask: Ask, agree: Sequence[ValueRow], differ: Sequence[ValueRow]) -> AskRow:
        agreeing = tuple(number for number, row in enumerate(agree) if ask.id in row.asks)
        differing = tuple(number for number, row in enumerate(differ) if ask.id in row.asks)
        wire = ask.wire
        alike = (ask.class_name, wire.selectors, ask.admin, ask.tolerations, ask.capacity)
        recorded = tuple(self._index[device] for device in ask.recorded) if ask.all_devices else None
        # Also constraints that are not said in facts can refuse a device.
        constraints = tuple(id(rule) for rule in self._rules.take_for(ask) if rule.constrains)
        key = (alike, constraints, agreeing, differing, recorded)
        if key not in self._usable:
            self._usable[key] = self._usable_for(ask)
        found = self._usable[key]
        possible = recorded is None or (bool(recorded) and all(found.usable >> index & 1 for index in recorded))
        kind = self._kinds.setdefault(key, len(self._kinds))
        return AskRow(
            ask,
            kind,
            ask.count,
            found.usable,
            found.reserving,
            recorded,
            possible,
            agreeing,
            differing,
            found.stopping if ask.count else 0,
            found.constrained,
            found.unfit,
        )

    def _usable_for(self, ask: Ask) -> _Usable:
        """Return what becomes of the devices if one of them is the first pick."""
        stopping = 0
        considered = ask.recorded
        if not ask.all_devices:
            considered, stopping = self._looked_at(ask)
        takes = self._rules.take_for(ask)
        early = [rule for rule in takes if isinstance(rule, (ExclusiveUse, Counters))]
        late = [rule for rule in takes if rule not in early]
        reserving = [device for device in considered if all(rule.allows(ask, device) for rule in early)]
        usable = self._mask(device for device in reserving if all(rule.allows(ask, device) for rule in late))
        charges = any(isinstance(rule, Counters) for rule in early)
        charged = self._mask(device for device in reserving if device.consumes) if charges else 0
        constraints = [rule for rule in takes if rule.constrains]
        if not (ask.all_devices and constraints):
            return _Usable(usable, charged, stopping)
        before = takes[: takes.index(constraints[0])]
        held = [device for device in considered if all(rule.allows(ask, device) for rule in before)]
        unfit = self._mask(device for device in held if not all(rule.allows(ask, device) for rule in constraints))
        return _Usable(usable, charged, stopping, self._mask(held), unfit)

    def _looked_at(self, ask: Ask) -> tuple[tuple[DeviceRow, ...], int]:
        """Return the devices that no rule passes over, and which end the search."""
        passed: list[DeviceRow] = []
        stopping = 0
        for index, device in enumerate(self._devices):
            try:
                if look(ask, device, self._rules):
                    passed.append(device)
            except (SearchStopped, NodeSelectorError):
                stopping |= 1 << index
        return tuple(passed), stopping

    def _binds(self, draw: Draw) -> bool:
        """Return whether the picks could need more than the limit."""
        if any(ask.admin for ask in self._asks):
            return True
        most = sum(draw.by_pick.values()) + sum(draw.by_device.values())
        counts = {ask.id: ask.count for ask in self._asks}
        most += sum(amount * counts[ask] for (ask, _), amount in draw.by_request.items())
        return most > draw.limit

    def _charges(self, amounts: Sequence[Mapping[DeviceRow, int]]) -> tuple[tuple[Charge, ...], ...]:
        charges: list[list[Charge]] = [[] for _ in self._devices]
        for number, each in enumerate(amounts):
            for device, amount in each.items():
                charges[self._index[device]].append((number, amount))
        return tuple(map(tuple, charges))

    def _request_charges(self, draws: Sequence[Draw]) -> Mapping[tuple[int, int], tuple[Charge, ...]]:
        charges: dict[tuple[int, int], list[Charge]] = {}
        for number, draw in enumerate(draws):
            for (ask, device), amount in draw.by_request.items():
                charges.setdefault((ask, self._index[device]), []).append((number, amount))
        return {key: tuple(each) for key, each in charges.items()}


def _sorted(values: Values, device: DeviceRow) -> Sequence[Hashable]:
    # Sets of strings have no stable order of their own.
    found = values.get(device, frozenset())
    return tuple(found) if len(found) < 2 else sorted(found, key=repr)
