"""
How far the facts of a question may be trusted while upstream's defects are at work.

Leaks of refusals only ever take away: what is impossible without them is
impossible with them, so a refutation stands. An answer stands only if nothing
can leak. Where an All request can end the search with an error, only an engine
that knows of such ends can say anything.

See docs/adr/0007-engines-and-defects.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from dra_alloc.profiles import Trait
from dra_alloc.rules import About, RuleSet
from dra_alloc.solve.table.table import AskRow, Knows, NotModelled, Slot, Table, ValueRow, bits

#: One leak is enough to know; a few help to see why.
_SHOWN: Final = 3


def judged(table: Table, rules: RuleSet, knows: Knows = Knows.NOTHING) -> Table:
    """
    Return the table, marked as looser than upstream where a refusal could leak.

    Devices with which an All request can end the search are marked if the
    engine that reads the table knows of such.

    Spec: ENGINE-2, ENGINE-6.
    Raises: NotModelled for such devices otherwise.
    """
    leaks = tuple(islice(_leaks(table), _SHOWN)) if rules.profile.shows(Trait.REFUSAL_LEAKS) else ()
    if rules.profile.shows(Trait.ALL_MISFIT_FATAL):
        misfits = {ask.id for ask in table.asks if _could_misfit(table, ask, rules, leaking=bool(leaks) or table.leaks)}
        if misfits and not Knows.STOPS & knows:
            names = [ask.ask.full_name for ask in table.asks if ask.id in misfits]
            raise NotModelled(f"All request {names[0]} could violate a constraint, which ends the search")
        if misfits:
            table = replace(table, slots=tuple(_stopping(slot, misfits) for slot in table.slots))
    return replace(table, looser=(*table.looser, *leaks)) if leaks else table


def _stopping(slot: Slot, misfits: set[int]) -> Slot:
    asks = (replace(ask, stopping=ask.constrained) if ask.id in misfits else ask for ask in slot.asks)
    return replace(slot, asks=tuple(asks))


def _could_misfit(table: Table, ask: AskRow, rules: RuleSet, *, leaking: bool) -> bool:
    """Return whether a constraint could refuse a device of an All request, stated in facts or not."""
    if ask.recorded is None:
        return False
    constraints = sum(rule.about is About.CONSTRAINT for rule in rules.take_for(ask.ask))
    stated = sum(table.agree[number].of_claim for number in ask.agree) + len(ask.differ)
    return constraints > stated or _can_misfit(table, ask, leaking=leaking)


def _leaks(table: Table) -> Iterable[str]:
    """Yield the ways in which a refused device could keep what it reserved."""
    refusing = _refusing(table)
    for ask in table.asks:
        devices = ask.recorded if ask.recorded is not None else range(len(table.devices))
        constrained = not refusing.isdisjoint((*ask.agree, *(~number for number in ask.differ)))
        for index in devices:
            device = table.devices[index]
            shared = ask.recorded is not None and device.shareable and bool(device.capacity)
            if shared and (device.consumes or ask.agree or ask.differ):
                yield f"{device.key}, refused for its capacity, would keep counters or constraint values"
            elif ask.reserving >> index & 1 and (constrained or not ask.usable >> index & 1):
                yield f"{device.key}, refused by a taint or constraint, would keep its counters"


def _refusing(table: Table) -> set[int]:
    """Return the constraints that can refuse a device because of earlier picks; distinct ones as ~number."""
    found: set[int] = set()
    for number, row in enumerate(table.agree):
        if not _always_agree(row, _mask(table, row)) and _most_picks(table, row) > 1:
            found.add(number)
    for number, row in enumerate(table.differ):
        if not _never_equal(table, row, _mask(table, row)) and _most_picks(table, row) > 1:
            found.add(~number)
    return found


def _mask(table: Table, row: ValueRow) -> int:
    mask = 0
    for ask in table.asks:
        if ask.id in row.asks:
            mask |= ask.usable
    return mask


def _most_picks(table: Table, row: ValueRow) -> int:
    return sum(max((ask.count for ask in slot.asks if ask.id in row.asks), default=0) for slot in table.slots)


def _always_agree(row: ValueRow, mask: int) -> bool:
    if row.by_request:
        return False
    common = -1
    for index in bits(mask):
        common &= row.values[index]
    return common != 0


def _always_differ(row: ValueRow, mask: int) -> bool:
    if row.by_request:
        return False
    seen = 0
    for index in bits(mask):
        if not row.values[index] or seen & row.values[index]:
            return False
        seen |= row.values[index]
    return True


def _never_equal(table: Table, row: ValueRow, mask: int) -> bool:
    """Return whether no two picks have a value in common; a shareable device may be picked twice."""
    return not mask & ~table.dedicated and _always_differ(row, mask)


def _can_misfit(table: Table, ask: AskRow, *, leaking: bool) -> bool:
    """Return whether a constraint could refuse a device that All has to take."""
    rows: Sequence[tuple[ValueRow, bool]] = [
        *((table.agree[number], True) for number in ask.agree if table.agree[number].of_claim),
        *((table.differ[number], False) for number in ask.differ),
    ]
    if rows and leaking:
        return True
    if any(not row.values[index] and not row.alone >> index & 1 for row, _ in rows for index in ask.recorded or ()):
        return True
    return any(not _fits_by_itself(table, ask, row, agrees) for row, agrees in rows)


def _fits_by_itself(table: Table, ask: AskRow, row: ValueRow, agrees: bool) -> bool:
    own = 0
    for index in ask.recorded or ():
        own |= 1 << index
    others = [slot for slot in table.slots if any(each.id in row.asks for each in slot.asks)]
    alone = _always_agree(row, own) if agrees else _always_differ(row, own)
    if len(others) == 1 and (own.bit_count() <= 1 or alone):
        return True
    together = own | _mask(table, row)
    return _always_agree(row, together) if agrees else _never_equal(table, row, together)
