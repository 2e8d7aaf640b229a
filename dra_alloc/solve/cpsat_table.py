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
from dra_alloc.solve.cpsat import LARGEST, Model
from dra_alloc.solve.table import AskRow, NotModelled, Table, ValueRow, bits

__all__ = ["TableModel"]


class TableModel:
    """
    The model of one table.

    `chosen` says by request id whether it is the alternative used, `picked`
    by request id and device that it gets the device; a request that may get a
    shareable device several times has several. `order` lists the variables as
    the search would decide them, `drawn` the terms of each draw.
    With `alike`, equal requests get their devices in order, as in the first
    answer; an objective that tells them apart must do without. `stopping` says
    by request id and device that coming to it ends the search: nothing is
    picked or chosen after that, so an error is an answer like any other.
    """

    def __init__(self, table: Table, model: Model, *, alike: bool = True) -> None:
        self.table = table
        self.model = model
        self.chosen: dict[int, int] = {}
        self.picked: dict[tuple[int, int], list[int]] = {}
        self.stopping: dict[tuple[int, int], int] = {}
        self.order: list[int] = []
        if table.stops:
            _check_stops(table)
        self._slot_of = {ask.id: number for number, slot in enumerate(table.slots) for ask in slot.asks}
        for slot in table.slots:
            stopped = list(self.stopping.values())
            for ask in slot.asks:
                self._declare(ask)
            model.exactly_one([*(self.chosen[ask.id] for ask in slot.asks), *stopped])
        model.at_most_one(list(self.stopping.values()))
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
                self._misfit(ask)
        self._limit_results()
        if alike:
            self._sort_alike()

    def _declare(self, ask: AskRow) -> None:
        model = self.model
        chosen = self.chosen[ask.id] = model.boolean()
        self.order.append(chosen)
        if ask.recorded is not None and ask.stopping:
            self._declare_misfits(ask, ask.recorded)
            return
        if not ask.possible:
            model.linear([(chosen, 1)], 0, 0)
        if ask.recorded is not None:
            self.picked.update({(ask.id, index): [chosen] for index in ask.recorded})
            return
        if ask.stopping:
            self._declare_stopping(ask)
            return
        every: list[int] = []
        for index in self._devices(ask):
            every += self._copies(ask, index)
        self.order += every
        model.linear([*((each, 1) for each in every), (chosen, -ask.count)], 0, 0)

    def _declare_stopping(self, ask: AskRow) -> None:
        """Declare a request that may end with the error of a device instead of with all its devices."""
        model, chosen = self.model, self.chosen[ask.id]
        every: list[int] = []
        stops: list[int] = []
        passed: int | None = None
        for index in bits(ask.usable | ask.stopping):
            if ask.stopping >> index & 1:
                stop = self.stopping[ask.id, index] = model.boolean()
                stops.append(stop)
                self.order.append(stop)
                model.implies(stop, [chosen])
                before, passed = passed, model.boolean()
                for earlier in (stop, before):
                    if earlier is not None:
                        model.implies(earlier, [passed])
                continue
            copies = self._copies(ask, index)
            every += copies
            self.order += copies
            if passed is not None:
                for copy in copies:
                    model.excludes(passed, copy)
        picks = [(each, 1) for each in every]
        model.linear([*picks, (chosen, -ask.count), *((stop, 1) for stop in stops)], None, 0)
        model.linear([*picks, (chosen, -ask.count), *((stop, ask.count) for stop in stops)], 0, None)

    def _declare_misfits(self, ask: AskRow, recorded: Sequence[int]) -> None:
        """Declare an All request that takes its devices in order until one ends the search."""
        model = self.model
        taken = self.chosen[ask.id]
        for index in recorded:
            before = taken
            if ask.stopping >> index & 1:
                stop = self.stopping[ask.id, index] = model.boolean()
                self.order.append(stop)
                taken = model.boolean()
                model.linear([(before, 1), (stop, -1), (taken, -1)], 0, 0)
            if not ask.usable >> index & 1:
                model.linear([(taken, 1)], 0, 0)
            self.picked[ask.id, index] = [taken]

    def _misfit(self, ask: AskRow) -> None:
        """A device ends the search only if a constraint refuses it after the picks before."""
        for index in bits(ask.stopping & ~ask.unfit):
            refusing: list[int] = []
            for number in ask.agree:
                if self.table.agree[number].of_claim:
                    refusing += self._not_agreeing(self.table.agree[number], ask, index)
            for number in ask.differ:
                row = self.table.differ[number]
                refusing += [
                    literal
                    for before, device, literal in self._concerned(row)
                    if row.is_alone(ask.id, index) or row.of(before.id, device) & row.of(ask.id, index)
                ]
            self.model.implies(self.stopping[ask.id, index], list(dict.fromkeys(refusing)))

    def _not_agreeing(self, row: ValueRow, ask: AskRow, index: int) -> list[int]:
        """Return a variable that is 1 only if picks have no value in common with the device; none if they always do."""
        picks = self._concerned(row)
        lacking = [
            list(dict.fromkeys(pick for each, device, pick in picks if not row.of(each.id, device) >> value & 1))
            for value in bits(row.of(ask.id, index))
        ]
        if not lacking:
            lacking = [list(dict.fromkeys(literal for _, _, literal in picks))]
        if not all(lacking):
            return []
        refusing = self.model.boolean()
        for literals in lacking:
            self.model.implies(refusing, literals)
        return [refusing]

    def _copies(self, ask: AskRow, index: int) -> list[int]:
        """Return variables for the times that the request may get the device."""
        again = self.table.reuses and not self.table.dedicated >> index & 1
        copies = [self.model.boolean() for _ in range(ask.count if again else 1)]
        self.picked[ask.id, index] = copies
        for more, fewer in pairwise(copies):
            self.model.implies(fewer, [more])
        return copies

    def stopped(self, values: Sequence[int]) -> tuple[Ask, int] | None:
        """Return the request and the device with whose error the search ends; None if it does not."""
        found = next((key for key, stop in self.stopping.items() if values[stop]), None)
        if found is None:
            return None
        return next(ask.ask for ask in self._asks if ask.id == found[0]), found[1]

    def answer(self, values: Sequence[int]) -> tuple[list[Pick], dict[tuple[int, int], Ask]]:
        """Return the picks in search order, and the alternative chosen by claim and request index."""
        picks: list[Pick] = []
        selected: dict[tuple[int, int], Ask] = {}
        for slot in self.table.slots:
            ask = next(ask for ask in slot.asks if values[self.chosen[ask.id]])
            selected[slot.claim, slot.request] = ask.ask
            for device in self._devices(ask):
                taken = sum(values[literal] for literal in self.picked[ask.id, device])
                picks += [Pick(ask.ask, self.table.devices[device])] * taken
        return picks, selected

    def _devices(self, ask: AskRow) -> Iterable[int]:
        """Return the devices that the request may pick, in search order."""
        if ask.recorded is not None:
            return ask.recorded
        return bits(ask.usable) if ask.count else ()

    def _picks(self, asks: Sequence[AskRow], device: int) -> list[int]:
        found = [literal for ask in asks for literal in self.picked.get((ask.id, device), ())]
        # A device in use is passed over before its error shows.
        found += [self.stopping[ask.id, device] for ask in asks if (ask.id, device) in self.stopping]
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
        # What does not go with earlier picks has drawn on counters before that shows, but not on capacity.
        drawing += [((-1, device), [stop]) for (_, device), stop in self._misfits()]
        for (ask, device), literals in drawing:
            for draw, amount in (*table.pick_charges[device], *table.request_charges.get((ask, device), ())):
                terms[draw] += [(literal, amount) for literal in literals]
            if table.device_charges[device]:
                if device not in used:
                    used[device] = self.model.boolean()
                    for draw, amount in table.device_charges[device]:
                        terms[draw].append((used[device], amount))
                self.model.implies(literals[0], [used[device]])
        for limit, drawn in zip(table.limits, terms, strict=True):
            self.hold(drawn, limit)

    def _misfits(self) -> Iterable[tuple[tuple[int, int], int]]:
        """Return the devices of All requests with which the search ends."""
        recorded = {ask.id for ask in self._asks if ask.recorded is not None}
        return ((key, stop) for key, stop in self.stopping.items() if key[0] in recorded)

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

    def _concerned(self, row: ValueRow) -> list[tuple[AskRow, int, int]]:
        """Return (request, device, variable) for every pick the constraint applies to, in search order."""
        found = []
        for ask in self._asks:
            if ask.id in row.asks:
                for device in self._devices(ask):
                    found += [(ask, device, literal) for literal in self.picked[ask.id, device]]
        return found

    def _agree(self, row: ValueRow) -> None:
        model = self.model
        picks = self._concerned(row)
        values = [model.boolean() for _ in row.holders]
        model.at_most_one(values)
        agreeing = [(ask.id, device, literal) for ask, device, literal in picks]
        if not row.of_claim:
            agreeing += [(ask, device, stop) for (ask, device), stop in self._misfits() if ask in row.asks]
        for ask, device, literal in agreeing:
            if seen := row.of(ask, device):
                model.implies(literal, [values[value] for value in bits(seen)])
        for each, device, literal in picks:
            if row.is_alone(each.id, device):
                self._stand_alone(row, device, literal)

    def _stand_alone(self, row: ValueRow, device: int, literal: int) -> None:
        """A device without a value is the only pick of the constraint."""
        if self.stopping:
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
        for _, other, pick in self._concerned(row):
            if pick != literal:
                self.model.excludes(literal, pick)
            elif other != device:
                self.model.linear([(literal, 1)], 0, 0)

    def _differ(self, row: ValueRow) -> None:
        picks = self._concerned(row)
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
            if len(slot.asks) > 1 or ask.count != 1 or ask.stopping or ask.recorded is not None:
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
                terms += [(stop, len(places)) for stop in self.stopping.values()]
                shared = ask.usable & ~self.table.dedicated
                self.model.linear(terms, 0 if shared else 1, None)


def _check_stops(table: Table) -> None:
    """
    Check that the model says when the search comes to an error.

    Raises: NotModelled.
    """
    for claim in dict.fromkeys(slot.claim for slot in table.slots):
        slots = [slot for slot in table.slots if slot.claim == claim]
        if sum(max(ask.count for ask in slot.asks) for slot in slots) > ALLOCATION_RESULTS_MAX:
            # Too many results take the search back past devices that it then never looks at.
            raise NotModelled("a device stops the search with an error, if too many results do not")
