"""
Claims of several pods over several nodes as one table: what nodes share is there once.

That all devices of a pod are to be had on one node is one more attribute that
they must have in common: the nodes on which a device can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.problem.devices import DeviceKey, DeviceRow, PoolKey
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import About, RuleSet, SearchStopped
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.table import AskRow, NotModelled, Slot, Table, ValueRow

#: Pairs of a request and a device; more would not be decided in good time.
_MOST_PAIRS: Final = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """
    The table of all pods' claims on all nodes.

    `pod_of` says by claim index whose it is, `seen` by device of the table on
    which nodes it can be used, as a mask.
    """

    table: Table
    pod_of: tuple[int, ...]
    seen: tuple[int, ...]


def spread(allocator: Allocator, nodes: Sequence[Node], pods: Sequence[Sequence[ResourceClaim]]) -> Spread:
    """
    Return the table of the pods' claims, each pod on one of the nodes.

    It is for intended semantics: upstream asks no such question.

    Spec: GANG-5.
    Raises: NotModelled.
    """
    claims = [claim for pod in pods for claim in pod]
    pod_of = tuple(number for number, pod in enumerate(pods) for _ in pod)
    pools = [_pools(allocator, node) for node in nodes]
    merged = _merged(pools)
    try:
        question = allocator.question(Node(), claims, merged)
        asks = [ask for row in question.rows for request in row.requests for ask in request.asks]
        if any(ask.all_devices for ask in asks):
            raise NotModelled("allocationMode All means other devices on each node; requests with a count can be asked")
        pairs = len(asks) * len(question.candidates)
        if pairs > _MOST_PAIRS:
            raise NotModelled(
                f"{len(asks):,} requests and {len(question.candidates):,} devices make {pairs:,} pairs, and "
                f"{_MOST_PAIRS:,} are the most; fewer pods at a time, or fewer nodes, can be asked"
            )
        seen: dict[DeviceRow, int] = {}
        for number, (node, own) in enumerate(zip(nodes, pools, strict=True)):
            for device in _usable(allocator, node, own, asks):
                seen[device] = seen.get(device, 0) | 1 << number
    except SearchStopped as stop:
        raise NotModelled(stop.text) from None
    table = build_table(question.rows, question.candidates, _without_nodes(question.table_rules()))
    if not table.exact:
        raise NotModelled("; ".join(table.looser))
    table = _each_once(table)
    masks = tuple(seen.get(device, 0) for device in table.devices)
    return Spread(_on_one_node(table, pod_of, masks, len(nodes)), pod_of, masks)


def _pools(allocator: Allocator, node: Node) -> tuple[Pool, ...]:
    """Return the pools the node can take devices from; none if it cannot be asked at all."""
    try:
        return tuple(pool for pool in allocator.survey.pools(node) if pool.usable)
    except GatherError:
        return ()


def _merged(pools: Sequence[Sequence[Pool]]) -> tuple[Pool, ...]:
    """
    Return each pool once, with all slices that any node can take devices from.

    Raises: NotModelled for generations of a pool whose counters differ.
    """
    views: dict[PoolKey, list[Pool]] = {}
    for own in pools:
        for pool in own:
            views.setdefault(pool.key, []).append(pool)
    made = []
    for key, alike in views.items():
        if any(pool.counters != alike[0].counters for pool in alike):
            raise NotModelled(f"nodes see generations of pool {key} with other counters")
        slices = dict.fromkeys(row for pool in alike for row in pool.slices)
        others = dict.fromkeys(row for pool in alike for row in pool.others if row not in slices)
        made.append(Pool(key, tuple(slices), tuple(others), alike[0].counters))
    return tuple(made)


def _usable(allocator: Allocator, node: Node, pools: Sequence[Pool], asks: Sequence[Ask]) -> list[DeviceRow]:
    """Return the devices that the node itself has nothing against."""
    rules = allocator.question(node, (), pools).fresh_rules()
    about = [rule for rule in (*rules.candidate, *rules.take) if rule.about is About.NODE]
    devices = [device for pool in pools for device in pool.devices]
    return [device for device in devices if all(rule.allows(ask, device) for rule in about for ask in asks[:1])]


def _without_nodes(rules: RuleSet) -> RuleSet:
    """Return the rules without those that look at the node: the table knows many."""
    return structs.replace(
        rules,
        candidate=tuple(rule for rule in rules.candidate if rule.about is not About.NODE),
        take=tuple(rule for rule in rules.take if rule.about is not About.NODE),
    )


def _each_once(table: Table) -> Table:
    """
    Return the table in which devices of one pool and name are one device, on whatever node a slice has it.

    Raises: NotModelled for devices that can be allocated several times.
    """
    alike: dict[DeviceKey, list[int]] = {}
    for index, device in enumerate(table.devices):
        alike.setdefault(device.key, []).append(index)
    limits, labels, charges = list(table.limits), list(table.labels), dict(table.request_charges)
    for key, indexes in alike.items():
        if len(indexes) == 1:
            continue
        if not all(table.dedicated >> index & 1 for index in indexes):
            raise NotModelled(f"several slices have a device {key}, which can be allocated several times")
        for ask in table.asks:
            if not ask.admin:
                for index in indexes:
                    charges[ask.id, index] = (*charges.get((ask.id, index), ()), (len(limits), 1))
        limits.append(1)
        labels.append(str(key))
    return replace(table, limits=tuple(limits), labels=tuple(labels), request_charges=charges)


def _on_one_node(table: Table, pod_of: Sequence[int], seen: Sequence[int], nodes: int) -> Table:
    """Return the table in which each pod has to have its devices on one node."""
    everywhere = (1 << nodes) - 1
    usable = sum(1 << index for index, mask in enumerate(seen) if mask)
    bound = sum(1 << index for index, mask in enumerate(seen) if mask and mask != everywhere)
    holders = tuple(sum(1 << index for index, mask in enumerate(seen) if mask >> number & 1) for number in range(nodes))
    rows = list(table.agree)
    kinds: dict[tuple[int, int | None], int] = {}
    row_of: dict[int, int] = {}
    slots = []
    for pod in dict.fromkeys(pod_of[slot.claim] for slot in table.slots):
        own = [slot for slot in table.slots if pod_of[slot.claim] == pod]
        if any(ask.usable & bound for slot in own for ask in slot.asks):
            row_of[pod] = len(rows)
            ids = frozenset(ask.id for slot in own for ask in slot.asks)
            rows.append(ValueRow("nodes", ids, tuple(seen), holders, 0, of_claim=False))
    for slot in table.slots:
        row = row_of.get(pod_of[slot.claim])

        def bounded(ask: AskRow, row: int | None = row) -> AskRow:
            kind = kinds.setdefault((ask.kind, row), len(kinds))
            agree = ask.agree if row is None else (*ask.agree, row)
            return replace(ask, kind=kind, usable=ask.usable & usable, agree=agree)

        slots.append(Slot(slot.claim, slot.request, tuple(map(bounded, slot.asks))))
    return replace(table, slots=tuple(slots), agree=tuple(rows))
