"""
How far the facts of a question may be trusted while upstream's defects are at work.

Leaks of refusals only ever take away: what is impossible without them is
impossible with them, so a refutation stands. An answer stands only if nothing
can leak. Where an All request can end the search with an error, nothing stands.

See docs/adr/0007-engines-and-defects.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from dra_alloc.rules import RuleSet
from dra_alloc.solve.table import AskRow, NotModelled, Table, ValueRow, bits

__all__ = ["judged"]

#: One leak is enough to know; a few help to see why.
_SHOWN: Final = 3


def judged(table: Table, rules: RuleSet) -> Table:
    """
    Return the table, marked as looser than upstream where a refusal could leak.

    Raises: NotModelled if an All request could end the search with an error.
    """
    leaks = tuple(islice(_leaks(table), _SHOWN)) if rules.leaky else ()
    if rules.misfit_stops:
        for ask in table.asks:
            if ask.recorded is None:
                continue
            constraints = sum(rule.constrains for rule in rules.take_for(ask.ask))
            stated = sum(table.agree[number].of_claim for number in ask.agree) + len(ask.differ)
            unstated = constraints > stated
            if unstated or _can_misfit(table, ask, leaking=bool(leaks)):
                raise NotModelled(f"All request {ask.ask.full_name} could violate a constraint, which ends the search")
    return replace(table, looser=(*table.looser, *leaks)) if leaks else table


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
    common = -1
    for index in bits(mask):
        common &= row.values[index]
    return common != 0


def _always_differ(row: ValueRow, mask: int) -> bool:
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
