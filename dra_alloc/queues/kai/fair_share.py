"""
KAI's division of a cluster among queues: first what each is due, then what is over, by priority and weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Final

from dra_alloc.queues.ledger import QueueAccount, QueueLedger

#: A quota or limit that is none.
UNLIMITED: Final = -1.0


@dataclass(frozen=True, slots=True)
class Claimant:
    """
    A queue that wants a part of one resource, in units of that resource.

    `request` is what its jobs have and wait for; `usage` what it used of late,
    as a part of the whole, 0 to 1; `created` in seconds. -1 as quota or limit is none.
    """

    name: str
    quota: float
    limit: float
    weight: float
    request: float
    usage: float = 0
    priority: int = 100
    created: float = 0
    parent: str = ""

    @property
    def wanted(self) -> float:
        """What it could be given at most."""
        return self.request if self.limit == UNLIMITED else min(self.limit, self.request)


def fair_shares(total: float, queues: Iterable[Claimant], k: float = 1) -> Mapping[str, float]:
    """
    Return what each queue may have of `total`; queues below another divide what that one has.

    `k` says how much past use counts. Numbers are floats, as KAI's are.

    Spec: KAI-1 to KAI-4. Raises: InputError for queues that are no forest.
    """
    below: dict[str, list[Claimant]] = {}
    listed = list(queues)
    QueueLedger(QueueAccount(each.name, each.parent) for each in listed)
    for each in listed:
        below.setdefault(each.parent, []).append(each)
    found: dict[str, float] = {}
    level = [("", total)]
    while level:
        shares = [(name, _divided(whole, below.pop(name, ()), k)) for name, whole in level]
        level = [pair for _, each in shares for pair in each.items()]
        found |= dict(level)
    return found


def _divided(total: float, queues: Sequence[Claimant], k: float) -> dict[str, float]:
    """Return what queues side by side have of a total."""
    due = {each.name: min(total if each.quota == UNLIMITED else each.quota, each.wanted) for each in queues}
    over = total - sum(due.values())
    if over <= 0:
        return due
    priorities = sorted({each.priority for each in queues}, reverse=True)
    remainders: dict[str, float] = {}
    for priority in priorities:
        band = [each for each in queues if each.priority == priority]
        while over > 0:
            given, again = _round(over, band, k, due, remainders)
            over -= given
            if not again:
                break
    for priority in priorities:
        left = [each for each in queues if each.priority == priority and remainders.get(each.name, 0) > 0]
        for each in sorted(left, key=lambda queue: (-remainders[queue.name], queue.created, queue.name)):
            if over <= 0:
                return due
            due[each.name] += min(1, over)
            over -= min(1, over)
    return due


def _round(
    over: float, band: Sequence[Claimant], k: float, due: dict[str, float], remainders: dict[str, float]
) -> tuple[float, bool]:
    """Give queues of one priority whole units of what is over; return how much, and whether some wanted less."""
    whole = sum(each.weight for each in band if due[each.name] < each.wanted)
    values = {each.name: _value(each, whole, k) for each in band if due[each.name] < each.wanted}
    sum_of_values = sum(values.values())
    given, again = 0.0, False
    if sum_of_values <= 0:
        return given, again
    for each in band:
        if each.name not in values or each.weight <= 0:
            continue
        part = over * values[each.name] / sum_of_values
        lacking = each.wanted - due[each.name]
        if lacking <= part:
            amount = lacking
            remainders.pop(each.name, None)
            again = again or lacking < part
        else:
            amount = float(floor(part))
            if part > amount:
                remainders[each.name] = part - amount
        due[each.name] += amount
        given += amount
    return given, again


def _value(queue: Claimant, whole: float, k: float) -> float:
    """Return what a queue weighs in a round: its weight, less for what it used of late."""
    if whole == 0:
        return 0
    part = queue.weight / whole
    return max(0, part + k * (part - queue.usage))
