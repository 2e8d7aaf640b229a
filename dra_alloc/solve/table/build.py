"""
The table of a question, from the facts that rules state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.nodes import NodeSelectorError
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules import PANICS, About, Rule, RuleSet, SearchStopped
from dra_alloc.rules.facts import Agree, Dedicated, Differ, Draw, Ends, Fact, Looser, Unmodelled
from dra_alloc.solve.stops import Stop, look, raise_stop
from dra_alloc.solve.table.table import AskRow, Charge, Knows, NotModelled, Slot, Table, ValueRow, bits


def build_table(
    rows: Sequence[ClaimRow],
    candidates: Sequence[DeviceRow],
    rules: RuleSet,
    *,
    every_draw: bool = False,
    knows: Knows = Knows.NOTHING,
) -> Table:
    """
    Return the table of a question; `rules` must be fresh and are used up.

    Draws that no picks could exhaust are left out, unless `every_draw` is set.
    `knows` is what the engine that reads it knows of; bounds and the pruned
    search know of nothing.

    Spec: BOUND-1, BOUND-2, ENGINE-6.
    Raises: NotModelled where the search could end with an error that depends
    on its order, or where a rule cannot be said in facts.
    """
    try:
        table = _Builder(rows, candidates, rules).table(every_draw=every_draw)
    except (SearchStopped, NodeSelectorError) as error:
        raise NotModelled(f"a device stops the search with an error: {error}") from None
    if not Knows.BY_REQUEST & knows:
        odd = next((row.label for row in (*table.agree, *table.differ) if row.by_request), None)
        if odd is not None:
            raise NotModelled(f"{odd}: the value of a device depends on the request that picks it")
    if table.stops and not Knows.STOPS & knows:
        raise NotModelled(f"a device stops the search with an error: {_an_error(table, rules)}")
    return table


def _an_error(table: Table, rules: RuleSet) -> str:
    ask = next((ask for ask in table.asks if ask.stopping), None)
    if ask is None:
        return f"{PANICS} where a request gets more devices than a slice has"
    device = table.devices[next(iter(bits(ask.stopping)))]
    try:
        raise_stop("", Stop(ask.ask, device, panics=False), rules)
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
    reading: int = 0


class _Builder:
    """Collects the parts of one table."""

    def __init__(self, rows: Sequence[ClaimRow], candidates: Sequence[DeviceRow], rules: RuleSet) -> None:
        self._rows = rows
        self._devices = tuple(candidates)
        self._index = {device: index for index, device in enumerate(self._devices)}
        self._rules = rules
        self._reuses = rules.profile.shows(Trait.PERMUTATIONS)
        self._asks = [ask for row in rows for request in row.requests for ask in request.asks]
        self._facts: list[Fact] = []
        for rule in dict.fromkeys((*rules.candidate, *rules.take)):
            self._facts += self._stated(rule)
        self._usable: dict[Hashable, _Usable] = {}
        self._kinds: dict[Hashable, int] = {}

    def _stated(self, rule: Rule) -> Iterable[Fact]:
        """Return the facts of a rule; a constraint without any and what is judged at the end are none."""
        facts = tuple(rule.encode(self._asks, self._devices))
        if rule.judges_all or (rule.about is About.CONSTRAINT and not facts):
            return (Unmodelled(f"{rule.code} cannot be said in facts"),)
        return facts

    def table(self, *, every_draw: bool) -> Table:
        for fact in self._facts:
            if isinstance(fact, Unmodelled):
                raise NotModelled(fact.why)
        agree = tuple(self._value_row(fact) for fact in self._facts if isinstance(fact, Agree))
        differ = tuple(self._value_row(fact) for fact in self._facts if isinstance(fact, Differ))
        if self._reuses and any(row.any_alone for row in differ):
            raise NotModelled("a device without a value of distinctAttribute has to be picked first")
        slots = tuple(
            self._slot(row.index, number, [self._ask_row(ask, agree, differ) for ask in request.asks])
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
            self._reuses,
            tuple(dict.fromkeys(fact.why for fact in self._facts if isinstance(fact, Looser))),
            any(isinstance(fact, Looser) and fact.leaks for fact in self._facts),
        )

    def _slot(self, claim: int, request: int, asks: Sequence[AskRow]) -> Slot:
        """
        Return the request; where All slips, only the first device of a later All alternative is certain.

        Raises: NotModelled where going on as the first alternative could end the search.
        """
        if not (self._rules.profile.shows(Trait.ALL_SLIPS) and any(ask.recorded is not None for ask in asks[1:])):
            return Slot(claim, request, tuple(asks))
        first = asks[0]
        if first.ends or (first.constrained and self._rules.profile.shows(Trait.ALL_MISFIT_FATAL)):
            raise NotModelled("an All alternative goes on as the first one")
        self._facts.append(Looser(f"{asks[1].ask.full_name} goes on as the first alternative"))
        return Slot(claim, request, (first, *map(self._slipping, asks[1:])))

    def _slipping(self, ask: AskRow) -> AskRow:
        if not ask.recorded:
            return ask
        kind = self._kinds.setdefault(("slips", ask.kind), len(self._kinds))
        recorded = ask.recorded[:1]
        possible = bool(ask.usable >> recorded[0] & 1)
        return replace(ask, kind=kind, count=1, recorded=recorded, possible=possible)

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
            for value in _sorted(fact.values.get(device, frozenset())):
                number = ids.setdefault(value, len(ids))
                if number == len(holders):
                    holders.append(0)
                holders[number] |= 1 << index
                masks[index] |= 1 << number
        by_request: dict[tuple[int, int], int] = {}
        for (ask, device), values in fact.by_request.items():
            numbers = [ids.setdefault(value, len(ids)) for value in _sorted(values)]
            by_request[ask, self._index[device]] = sum(1 << number for number in numbers)
        holders += [0] * (len(ids) - len(holders))
        alone = self._mask(device for device, values in fact.values.items() if not values)
        of_claim = isinstance(fact, Differ) or fact.of_claim
        return ValueRow(fact.label, fact.asks, tuple(masks), tuple(holders), alone, of_claim, by_request)

    def _ask_row(self, ask: Ask, agree: Sequence[ValueRow], differ: Sequence[ValueRow]) -> AskRow:
        agreeing = tuple(number for number, row in enumerate(agree) if ask.id in row.asks)
        differing = tuple(number for number, row in enumerate(differ) if ask.id in row.asks)
        wire = ask.wire
        derived = tuple((each.name, each.expression) for each in wire.derived_attributes)
        alike = (ask.class_name, wire.selectors, ask.admin, ask.tolerations, ask.capacity, derived)
        recorded = tuple(self._index[device] for device in ask.recorded) if ask.all_devices else None
        # Also constraints that are not said in facts can refuse a device.
        constraints = tuple(map(id, self._constraints(ask)))
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
            self._ends(ask, found.usable),
            found.reading if ask.count else 0,
        )

    def _constraints(self, ask: Ask) -> list[Rule]:
        return [rule for rule in self._rules.take_for(ask) if rule.about is About.CONSTRAINT]

    def _ends(self, ask: Ask, usable: int) -> dict[int, int]:
        after = next((fact.after for fact in self._facts if isinstance(fact, Ends)), None)
        if after is None:
            return {}
        lengths = ((index, after[self._devices[index]]) for index in bits(usable))
        return {index: length for index, length in lengths if length < ask.count}

    def _usable_for(self, ask: Ask) -> _Usable:
        """Return what becomes of the devices if one of them is the first pick."""
        stopping = 0
        considered = ask.recorded
        if not ask.all_devices:
            considered, stopping = self._looked_at(ask)
        takes = self._rules.take_for(ask)
        early = [rule for rule in takes if rule.about in (About.USE, About.COUNTERS)]
        late = [rule for rule in takes if rule not in early]
        reserving = [device for device in considered if all(rule.allows(ask, device) for rule in early)]
        usable = reading = 0
        for device in reserving:
            try:
                if all(rule.allows(ask, device) for rule in late):
                    usable |= 1 << self._index[device]
            except SearchStopped as stop:
                reading |= 1 << self._index[device]
                self._facts += self._read_late(ask, device, stop)
        charges = any(rule.about is About.COUNTERS for rule in early)
        charged = self._mask(device for device in reserving if device.consumes) if charges else 0
        constraints = self._constraints(ask)
        if not (ask.all_devices and constraints):
            return _Usable(usable, charged, stopping | reading, reading=reading)
        before = takes[: takes.index(constraints[0])]
        held = self._mask(device for device in considered if all(rule.allows(ask, device) for rule in before))
        alone = [self._devices[index] for index in bits(held & ~reading)]
        unfit = self._mask(device for device in alone if not all(rule.allows(ask, device) for rule in constraints))
        return _Usable(usable, charged, reading, held, unfit | reading, reading)

    def _read_late(self, ask: Ask, device: DeviceRow, stop: SearchStopped) -> Iterable[Fact]:
        """Yield that the table is looser if a constraint could refuse the device before one ends the search."""
        try:
            for rule in self._constraints(ask)[:1]:
                rule.allows(ask, device)
        except SearchStopped:
            return
        yield Looser(f"a constraint before it may keep the search from an end: {stop.text}")

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
        counts = {ask.id: ask.count for ask in self._asks}
        times = sum(counts.values())
        most = sum(amount * (times if device.shareable else 1) for device, amount in draw.by_pick.items())
        most += sum(draw.by_device.values())
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


def _sorted(values: frozenset[Hashable]) -> Sequence[Hashable]:
    # Sets of strings have no stable order of their own.
    return tuple(values) if len(values) < 2 else sorted(values, key=repr)
