"""
Which devices of a node are free, before and after picks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.rules import Pick
from dra_alloc.rules.facts import Draw
from dra_alloc.solve.question import Question

#: The size of a device that shares nothing.
_WHOLE: Final = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Freedom:
    """
    Devices that are free before a question is answered, and the draws on counters.

    `node` and `claims` (by name) are those of the question; `counters` are the
    counter draws; `amounts` what each device takes of each, by its position in
    `counters`.
    """

    node: Node
    claims: tuple[str, ...]
    free: tuple[DeviceRow, ...]
    counters: tuple[Draw, ...]
    amounts: Mapping[DeviceRow, Mapping[int, int]]

    def lost(self, picks: Sequence[Pick]) -> Iterable[DeviceRow]:
        """Yield the devices that the picks take or block."""
        taken = {pick.device for pick in picks}
        used = [0] * len(self.counters)
        charged: set[DeviceRow] = set()
        for pick in picks:
            device = pick.device
            if device.shareable and device in charged:
                continue
            charged.add(device)
            for draw, amount in self.amounts.get(device, {}).items():
                used[draw] += amount
        for device in self.free:
            short = any(
                used[draw] + amount > self.counters[draw].limit for draw, amount in self.amounts.get(device, {}).items()
            )
            if short or device in taken:
                yield device


def freedom_of(question: Question) -> Freedom:
    """Return what is free before the question is answered."""
    usage = question.context.usage
    asks = [ask for row in question.rows for request in row.requests for ask in request.asks]
    facts = [
        fact
        for rule in question.table_rules().take
        for fact in rule.encode(asks, question.candidates)
        if isinstance(fact, Draw) and not fact.by_request
    ]
    amounts: dict[DeviceRow, dict[int, int]] = {}
    for number, draw in enumerate(facts):
        for device, amount in (*draw.by_pick.items(), *draw.by_device.items()):
            amounts.setdefault(device, {})[number] = amount
    free = tuple(
        device
        for device in question.candidates
        if not usage.touches(device.key)
        and all(amount <= facts[draw].limit for draw, amount in amounts.get(device, {}).items())
    )
    claims = tuple(row.name for row in question.rows)
    return Freedom(question.context.node, claims, free, tuple(facts), amounts)


def sizes(freedom: Freedom) -> Mapping[DeviceRow, int]:
    """
    Return the size of each free device in permille of all that shares counters with it.

    The mean, over those counters, of what the device takes of the most that any device takes.
    """
    largest: dict[int, int] = {}
    group: dict[int, set[int]] = {}
    for amounts in freedom.amounts.values():
        joined = set(amounts).union(*(group.get(draw, set()) for draw in amounts))
        group.update(dict.fromkeys(joined, joined))
        for draw, amount in amounts.items():
            largest[draw] = max(largest.get(draw, 0), amount)
    return {device: _size(freedom.amounts.get(device, {}), largest, group) for device in freedom.free}


def _size(amounts: Mapping[int, int], largest: Mapping[int, int], group: Mapping[int, set[int]]) -> int:
    if not amounts:
        return _WHOLE
    parts = sum(_WHOLE * amount // largest[draw] for draw, amount in amounts.items())
    return max(1, parts // len(group[next(iter(amounts))]))
