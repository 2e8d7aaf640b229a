"""
A table as a CP-SAT model: every rule, one boolean per request and device.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd

from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Pick
from dra_alloc.solve.cpsat.solver import LARGEST, Model
from dra_alloc.solve.cpsat.stops import bind_misfits, check_stops, declare_misfits, declare_places, declare_stopping
from dra_alloc.solve.stops import Stop
from dra_alloc.solve.table.table import AskRow, NotModelled, Table, ValueRow, bits


class TableModel:
    """
    The model of one table.

    `chosen` says by request id whether it is the alternative used, `picked`
    by request id and device that it gets the device; a request that may get a
    shareable device several times has several. `order` lists the variables as
    the search would decide them, `drawn` the terms of each draw. `placed` has
    by request id, where it matters, by place in the request the variables of
    its devices.
    With `alike`, equal requests get their devices in order, as in the first
    answer; an objective that tells them apart must do without. `stopping` says
    by request id and device that coming to it ends the search: nothing is
    picked or chosen after that, so an error is an answer like any other. `ends`
    has all such ends, also those that come after all rules allowed the pick:
    variable, request, device, and whether it is one of those.
    """

    def __init__(self, table: Table, model: Model, *, alike: bool = True) -> None:
        self.table = table
        self.model = model
        self.chosen: dict[int, int] = {}
        self.picked: dict[tuple[int, int], list[int]] = {}
        self.stopping: dict[tuple[int, int], list[int]] = {}
        self.ends: list[tuple[int, AskRow, int, bool]] = []
        self.placed: dict[int, list[list[tuple[int, int]]]] = {}
        self.order: list[int] = []
        if table.stops:
            check_stops(table)
        self._slot_of = {ask.id: number for number, slot in enumerate(table.slots) for ask in slot.asks}
        for slot in table.slots:
            stopped = [stop for stop, *_ in self.ends]
            for ask in slot.asks:
                self._declare(ask)
            model.exactly_one([*(self.chosen[ask.id] for ask in slot.asks), *stopped])
        model.at_most_one([stop for stop, *_ in self.ends])
        self._asks = list(table.asks)
        self.drawn: list[list[tuple[int, int]]] = [[] for _ in table.limits]
        self._dedicate()
        self._draw()
        for row in table.agree:
            self._agree(row)
        for row in table.differ:
            self._differ(row)
        for ask in self._asks:
            if ask.recorded is not None and ask.stopping and table.exact:
                bind_misfits(self, ask)
        self._limit_results()
        if alike:
            self._sort_alike()

    def _declare(self, ask: AskRow) -> None:
        model = self.model
        chosen = self.chosen[ask.id] = model.boolean()
        self.order.append(chosen)
        if ask.recorded is not None and (ask.stopping or ask.ends):
            declare_misfits(self, ask, ask.recorded)
            return
        if not ask.possible:
            model.linear([(chosen, 1)], 0, 0)
        if ask.recorded is not None:
            self.picked.update({(ask.id, index): [chosen] for index in ask.recorded})
            return
        if ask.ends:
            self.placed[ask.id] = declare_places(self, ask)
            return
        if ask.stopping:
            declare_stopping(self, ask)
            return
        every: list[int] = []
        for index in self._devices(ask):
            every += self.copies(ask, index)
        self.order += every
        model.linear([*((each, 1) for each in every), (chosen, -ask.count)], 0, 0)

    def stop(self, ask: AskRow, index: int, *, panics: bool = False) -> int:
        """Return a variable that says that the search ends at the device."""
        stop = self.model.boolean()
        self.order.append(stop)
        self.ends.append((stop, ask, index, panics))
        if not panics:
            self.stopping.setdefault((ask.id, index), []).append(stop)
        return stop

    def copies(self, ask: AskRow, index: int) -> list[int]:
        """Return variables for the times that the request may get the device."""
        again = self.table.reuses and not self.table.dedicated >> index & 1
        copies = [self.model.boolean() for _ in range(ask.count if again else 1)]
        self.picked[ask.id, index] = copies
        for more, fewer in pairwise(copies):
            self.model.implies(fewer, [more])
        return copies

    def stopped(self, values: Sequence[int]) -> Stop | None:
        """Return with which error the search ends; None if it does not."""
        for stop, ask, index, panics in self.ends:
            if values[stop]:
                return Stop(ask.ask, self.table.devices[index], panics)
        return None

    def answer(self, values: Sequence[int]) -> tuple[list[Pick], dict[tuple[int, int], Ask]]:
        """Return the picks in search order, and the alternative chosen by claim and request index."""
        picks: list[Pick] = []
        selected: dict[tuple[int, int], Ask] = {}
        for slot in self.table.slots:
            ask = next(ask for ask in slot.asks if values[self.chosen[ask.id]])
            selected[slot.claim, slot.request] = ask.ask
            picks += [Pick(ask.ask, self.table.devices[device]) for device in self._taken(ask, values)]
        return picks, selected

    def _taken(self, ask: AskRow, values: Sequence[int]) -> Iterable[int]:
        """Yield the devices that the request gets, in the order in which it gets them."""
        if ask.id in self.placed:
            yield from (device for place in self.placed[ask.id] for device, literal in place if values[literal])
            return
        for device in self._devices(ask):
            yield from (device for literal in self.picked[ask.id, device] if values[literal])

    def _devices(self, ask: AskRow) -> Iterable[int]:
        """Return the devices that the request may pick, in search order."""
        if ask.recorded is not None:
            return ask.recorded
        return bits(ask.usable) if ask.count else ()

    def _picks(self, asks: Sequence[AskRow], device: int) -> list[int]:
        found = [literal for ask in asks for literal in self.picked.get((ask.id, device), ())]
        # A device in use is passed over before its error shows.
        found += [stop for ask in asks for stop in self.stopping.get((ask.id, device), ())]
        return found

    def _dedicate(self) -> None:
        table, model = self.table, self.model
        normal = [ask for ask in self._asks if not ask.admin]
        admin = [ask for ask in self._asks if ask.admin]
        claims = {ask.ask.claim for ask in admin}
        for device in bits(table.dedicated):
            model.at_most_one(self._picks(normal, device))
            for claim in claims:
                model.at_most_one(self._picks([ask for ask in self._asks if ask.ask.claim == claim], device))
            for ask in admin:
                later = [each for each in normal if each.ask.claim > ask.ask.claim]
                for literal in self.picked.get((ask.id, device), ()):
                    model.at_most_one([literal, *self._picks(later, device)])

    def _draw(self) -> None:
        table = self.table
        terms = self.drawn
        used: dict[int, int] = {}
        drawing = [(key, literals) for key, literals in self.picked.items()]
        # What ends the search at a constraint has drawn on counters before, and on capacity if it was a candidate.
        all_of = {ask.id for ask in self._asks if ask.recorded is not None}
        drawing += [((-1 if ask in all_of else ask, device), [stop]) for (ask, device), stop in self._held()]
        for (ask, device), literals in drawing:
            for draw, amount in (*table.pick_charges[device], *table.request_charges.get((ask, device), ())):
                terms[draw] += [(literal, amount) for literal in literals]
            if table.device_charges[device]:
                if device not in used:
                    used[device] = self.model.boolean()
                    for draw, amount in table.device_charges[device]:
                        terms[draw].append((used[device], amount))
                for literal in literals:
                    self.model.implies(literal, [used[device]])
        for limit, drawn in zip(table.limits, terms, strict=True):
            self.hold(drawn, limit)

    def _held(self) -> Iterable[tuple[tuple[int, int], int]]:
        """Return the devices with which the search ends when they are held against constraints."""
        held = {ask.id: ask.reading if ask.recorded is None else -1 for ask in self._asks}
        return (
            ((ask, device), stop)
            for (ask, device), stops in self.stopping.items()
            if held[ask] >> device & 1
            for stop in stops
        )

    def hold(self, terms: list[tuple[int, int]], limit: int) -> None:
        """Keep a draw within its limit, in the largest unit that divides all amounts."""
        unit = gcd(*(amount for _, amount in terms))
        if not terms or not unit:
            return
        scaled = [(literal, amount // unit) for literal, amount in terms]
        total = sum(amount for _, amount in scaled)
        if total <= limit // unit:
            return
        if total >= LARGEST:
            raise NotModelled("amounts are too large for the solver")
        self.model.linear(scaled, None, limit // unit)

    def concerned(self, row: ValueRow) -> list[tuple[AskRow, int, int]]:
        """Return (request, device, variable) for every pick the constraint applies to, in search order."""
        found = []
        for ask in self._asks:
            if ask.id in row.asks:
                for device in self._devices(ask):
                    found += [(ask, device, literal) for literal in self.picked[ask.id, device]]
        return found

    def _agree(self, row: ValueRow) -> None:
        model = self.model
        picks = self.concerned(row)
        values = [model.boolean() for _ in row.holders]
        model.at_most_one(values)
        agreeing = [(ask.id, device, literal) for ask, device, literal in picks]
        if not row.of_claim:
            agreeing += [(ask, device, stop) for (ask, device), stop in self._held() if ask in row.asks]
        for ask, device, literal in agreeing:
            if seen := row.of(ask, device):
                model.implies(literal, [values[value] for value in bits(seen)])
        for each, device, literal in picks:
            if row.is_alone(each.id, device):
                self._stand_alone(row, device, literal)

    def _stand_alone(self, row: ValueRow, device: int, literal: int) -> None:
        """A device without a value is the only pick of the constraint."""
        if self.ends:
            self._alone_among_picks(row, device, literal)
            return
        for ask in self._asks:
            if ask.id not in row.asks:
                continue
            own = literal in self.picked.get((ask.id, device), ())
            if not own and ask.count:
                self.model.excludes(literal, self.chosen[ask.id])
            elif own and ask.count > 1:
                self.model.linear([(literal, 1)], 0, 0)

    def _alone_among_picks(self, row: ValueRow, device: int, literal: int) -> None:
        """The same where a request that is chosen need not get all its devices: an error may come before."""
        for _, other, pick in self.concerned(row):
            if pick != literal:
                self.model.excludes(literal, pick)
            elif other != device:
                self.model.linear([(literal, 1)], 0, 0)

    def _differ(self, row: ValueRow) -> None:
        picks = self.concerned(row)
        holding: list[list[int]] = [[] for _ in row.holders]
        for ask, device, literal in picks:
            for value in bits(row.of(ask.id, device)):
                holding[value].append(literal)
        for literals in holding:
            self._at_most_one_pick(literals)
        for number, (ask, device, literal) in enumerate(picks):
            if row.is_alone(ask.id, device):
                earlier = [other for before, _, other in picks[:number] if self._can_join(before, ask)]
                for other in earlier:
                    if other == literal:
                        self.model.linear([(literal, 1)], 0, 0)
                    else:
                        self.model.excludes(literal, other)

    def _can_join(self, one: AskRow, other: AskRow) -> bool:
        """Return whether picks of the two can be in one solution."""
        return one.id == other.id or self._slot_of[one.id] != self._slot_of[other.id]

    def _at_most_one_pick(self, literals: list[int]) -> None:
        """Let at most one pick be made; one variable may stand for several picks of an All request."""
        single = dict.fromkeys(literals)
        for literal in single:
            if literals.count(literal) > 1:
                self.model.linear([(literal, 1)], 0, 0)
        self.model.at_most_one(list(single))

    def _limit_results(self) -> None:
        for claim in dict.fromkeys(slot.claim for slot in self.table.slots):
            slots = [slot for slot in self.table.slots if slot.claim == claim]
            if sum(max(ask.count for ask in slot.asks) for slot in slots) > ALLOCATION_RESULTS_MAX:
                counts = [(self.chosen[ask.id], ask.count) for slot in slots for ask in slot.asks]
                self.model.linear(counts, None, ALLOCATION_RESULTS_MAX)

    def _sort_alike(self) -> None:
        """Of equal requests for one device the earlier gets the earlier device: the first answer is sorted anyway."""
        if any(ask.admin for ask in self._asks):
            # Which claim comes first then matters.
            return
        last: dict[int, AskRow] = {}
        for slot in self.table.slots:
            ask = slot.asks[0]
            if len(slot.asks) > 1 or ask.count != 1 or ask.stopping or ask.ends or ask.recorded is not None:
                continue
            if any(self.table.differ[number].any_alone for number in ask.differ):
                continue
            before = last.get(ask.kind)
            last[ask.kind] = ask
            if before is not None and ask.usable:
                places = list(enumerate(bits(ask.usable)))
                terms = [(self.picked[ask.id, device][0], place) for place, device in places]
                terms += [(self.picked[before.id, device][0], -place) for place, device in places]
                # After an error a request may have nothing.
                terms += [(stop, len(places)) for stop, *_ in self.ends]
                shared = ask.usable & ~self.table.dedicated
                self.model.linear(terms, 0 if shared else 1, None)
