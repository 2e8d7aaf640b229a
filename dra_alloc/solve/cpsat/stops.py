"""
The ends of a search in a CP-SAT model: to come to some devices is one more choice, after which nothing is picked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.solve.table.table import AskRow, NotModelled, Table, ValueRow, bits

if TYPE_CHECKING:
    from dra_alloc.solve.cpsat.model import TableModel


def check_stops(table: Table) -> None:
    """
    Check that the model says when the search comes to an error.

    Raises: NotModelled.
    """
    for claim in dict.fromkeys(slot.claim for slot in table.slots):
        slots = [slot for slot in table.slots if slot.claim == claim]
        if sum(max(ask.count for ask in slot.asks) for slot in slots) > ALLOCATION_RESULTS_MAX:
            # Too many results take the search back past devices that it then never looks at.
            raise NotModelled("a device stops the search with an error, if too many results do not")


def declare_stopping(made: TableModel, ask: AskRow) -> None:
    """Declare a request that may end with the error of a device instead of with all its devices."""
    model, chosen = made.model, made.chosen[ask.id]
    every: list[int] = []
    stops: list[int] = []
    passed: int | None = None
    for index in bits(ask.usable | ask.stopping):
        if ask.stopping >> index & 1:
            stop = made.stop(ask, index)
            stops.append(stop)
            model.implies(stop, [chosen])
            before, passed = passed, model.boolean()
            for earlier in (stop, before):
                if earlier is not None:
                    model.implies(earlier, [passed])
            continue
        copies = made.copies(ask, index)
        every += copies
        made.order += copies
        if passed is not None:
            for copy in copies:
                model.excludes(passed, copy)
    picks = [(each, 1) for each in every]
    model.linear([*picks, (chosen, -ask.count), *((stop, 1) for stop in stops)], None, 0)
    model.linear([*picks, (chosen, -ask.count), *((stop, ask.count) for stop in stops)], 0, None)


def declare_misfits(made: TableModel, ask: AskRow, recorded: Sequence[int]) -> None:
    """Declare an All request that takes its devices in order until one ends the search."""
    model = made.model
    taken = made.chosen[ask.id]
    for place, index in enumerate(recorded):
        before = taken
        panics = place >= ask.ends.get(index, len(recorded))
        stops = [made.stop(ask, index)] if ask.stopping >> index & 1 else []
        stops += [made.stop(ask, index, panics=True)] if panics else []
        if stops:
            taken = model.boolean()
            model.linear([(before, 1), (taken, -1), *((stop, -1) for stop in stops)], 0, 0)
        if panics or not ask.usable >> index & 1:
            model.linear([(taken, 1)], 0, 0)
        made.picked[ask.id, index] = [stops[-1] if panics else taken]


def declare_places(made: TableModel, ask: AskRow) -> list[list[tuple[int, int]]]:
    """
    Declare a request whose devices end the search by the number of those before them.

    Return by place in its order which device is there if which variable is 1.
    """
    earlier: list[int] = []
    places: list[list[tuple[int, int]]] = []
    for place in range(ask.count):
        here: list[tuple[int, int]] = []
        for index in bits(ask.usable | ask.stopping):
            panics = place >= ask.ends.get(index, ask.count)
            if ask.stopping >> index & 1 or panics:
                literal = made.stop(ask, index, panics=panics)
            else:
                literal = made.model.boolean()
                made.order.append(literal)
            here.append((index, literal))
            if not ask.stopping >> index & 1:
                made.picked.setdefault((ask.id, index), []).append(literal)
        terms = [*((literal, 1) for _, literal in here), *((stop, 1) for stop in earlier)]
        made.model.linear([*terms, (made.chosen[ask.id], -1)], 0, 0)
        stops = {stop for stop, *_ in made.ends}
        earlier += [literal for _, literal in here if literal in stops]
        places.append(here)
    return places


def bind_misfits(made: TableModel, ask: AskRow) -> None:
    """A device ends the search only if a constraint refuses it after the picks before."""
    for index in bits(ask.stopping & ~ask.unfit):
        refusing: list[int] = []
        for number in ask.agree:
            if made.table.agree[number].of_claim:
                refusing += _not_agreeing(made, made.table.agree[number], ask, index)
        for number in ask.differ:
            row = made.table.differ[number]
            refusing += [
                literal
                for before, device, literal in made.concerned(row)
                if row.is_alone(ask.id, index) or row.of(before.id, device) & row.of(ask.id, index)
            ]
        for stop in made.stopping[ask.id, index]:
            made.model.implies(stop, list(dict.fromkeys(refusing)))


def _not_agreeing(made: TableModel, row: ValueRow, ask: AskRow, index: int) -> list[int]:
    """Return a variable that is 1 only if picks have no value in common with the device; none if they always do."""
    picks = made.concerned(row)
    lacking = [
        list(dict.fromkeys(pick for each, device, pick in picks if not row.of(each.id, device) >> value & 1))
        for value in bits(row.of(ask.id, index))
    ]
    if not lacking:
        lacking = [list(dict.fromkeys(literal for _, _, literal in picks))]
    if not all(lacking):
        return []
    refusing = made.model.boolean()
    for literals in lacking:
        made.model.implies(refusing, literals)
    return [refusing]
