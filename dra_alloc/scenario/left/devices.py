"""
Each device held against a request of one device of each class: who could take it, and what it falls to if nobody can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    Node,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimSpec,
)
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.explain.tally import refusal
from dra_alloc.pods.taints import closing
from dra_alloc.problem.devices import DeviceKey, DeviceRow, PoolKey, SliceRow
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import Reason, Rule, SearchStopped, capacity_held
from dra_alloc.scenario.counter_sets import CounterSets
from dra_alloc.solve.question import Question
from dra_alloc.work import BudgetExhausted, spend

#: The code of devices on nodes that are cordoned or closed by the control plane: they come back with these.
CLOSED_CODE: Final = "node-closed"
#: How far from being taken devices are: what another class could take is told before what none selects.
_FAR: Final[Mapping[str, int]] = {CLOSED_CODE: -1, "class-mismatch": 1, "device-on-other-node": 2}
#: So many devices are looked at, each once for a node and a class.
LOOKS_MAX: Final = 400_000
_CLAIM: Final = "left"
#: What is said of reasons whose own words name one device or its holders.
_SAID: Final[Mapping[str, str]] = {
    "class-mismatch": "no class selects them",
    "counter-exhausted": "too little is left of their counters",
    "capacity-exhausted": "too little is left of their capacity",
}
_NO_NODE: Final = Reason("no-node", "no node that is there reaches them")
_LACKS: Final = Reason("pool-incomplete", "their pools lack slices")
_CONTRADICTS: Final = Reason("pool-invalid", "their pools contradict themselves")


@dataclass(frozen=True, slots=True)
class Stranded:
    """Free devices of a driver that no class can take, all for the same reason."""

    driver: str
    code: str
    said: str
    devices: tuple[DeviceKey, ...]


@dataclass(slots=True)
class Takers:
    """
    What one device of each class could be: the devices by class, with the open nodes that reach them.

    `reasons` is what others fall to, `states` why whole pools offer nothing, `broken` why classes cannot be asked.
    """

    takes: dict[str, dict[DeviceRow, list[str]]] = field(default_factory=dict)
    reasons: dict[DeviceRow, Reason] = field(default_factory=dict)
    states: dict[PoolKey, Reason] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    _looks: int = 0

    def note(self, name: str, node: Node, question: Question) -> None:
        """
        Note what becomes of the devices of a node for a class of which one is asked for.

        Raises: BudgetExhausted, also where devices by nodes and classes are more than are looked at.
        """
        closed, where, took = closing(node), node.metadata.name or "", self.takes[name]
        ((ask,),) = (each.asks for each in question.rows[0].requests)
        rules, exclusive = question.fresh_rules(), question.context.usage.exclusive
        for pool in question.context.pools:
            if not pool.usable:
                self.states[pool.key] = _LACKS if pool.incomplete else _CONTRADICTS
                continue
            spend(len(pool.devices))
            self._looks += len(pool.devices)
            if self._looks > LOOKS_MAX:
                raise BudgetExhausted(f"devices by nodes and classes are more than {LOOKS_MAX:,}")
            for device in pool.devices:
                if device.key in exclusive:
                    continue
                reason = refusal(rules, ask, device, _briefly)
                if reason is None and not closed:
                    took.setdefault(device, []).append(where)
                else:
                    self._reason(device, reason or Reason(CLOSED_CODE, f"node {where} {closed}"))

    def _reason(self, device: DeviceRow, reason: Reason) -> None:
        known = self.reasons.get(device)
        if known is None or _FAR.get(reason.code, 0) < _FAR.get(known.code, 0):
            self.reasons[device] = reason


def _briefly(rule: Rule, ask: Ask, device: DeviceRow) -> Reason:
    """Return what a rule says of a device in words that others have in common."""
    said = _SAID.get(rule.code)
    return rule.why(ask, device) if said is None else Reason(rule.code, said)


def one_device(name: str, count: int = 1) -> ResourceClaim:
    """Return a claim of one device of a class, or of so many, and of nothing else."""
    exactly = ExactDeviceRequest.made(device_class_name=name, allocation_mode="ExactCount", count=count)
    request = DeviceRequest.made(name="device", exactly=exactly)
    spec = ResourceClaimSpec.made(devices=DeviceClaim.made(requests=(request,)))
    return ResourceClaim.made(metadata=ObjectMeta.made(name=_CLAIM, namespace=_CLAIM), spec=spec)


def takers(cluster: Cluster) -> Takers:
    """
    Return which devices a request of one device of each class could take, each by itself, as the cluster is.

    Spec: LEFT-1.
    Raises: BudgetExhausted.
    """
    found, allocator = Takers(), cluster.known.allocator
    for name in cluster.classes:
        found.takes[name] = {}
        claims = (one_device(name),)
        for node in cluster.nodes:
            try:
                found.note(name, node, allocator.question(node, claims))
            except (SearchStopped, GatherError) as error:
                found.broken.setdefault(name, str(error))
    return found


def stranded(cluster: Cluster, found: Takers) -> tuple[Stranded, ...]:
    """
    Return the devices that are free and that none of the classes could take, by driver and reason.

    Spec: LEFT-2, LEFT-3.
    """
    rows = list(cluster.inventory.newest)
    taken = {device for each in found.takes.values() for device in each}
    devices = [device for row in rows for device in row.devices]
    behind = {(device.pool, name) for device in taken for name, _, _ in device.consumes}
    groups: dict[tuple[str, str, str], list[DeviceKey]] = {}
    free = _Free(cluster, rows)
    for device in devices:
        sets = {(device.pool, name) for name, _, _ in device.consumes}
        if device in taken or (sets and sets <= behind) or not free(device):
            continue
        reason = _reason(device, found)
        groups.setdefault((device.key.driver, reason.code, reason.detail), []).append(device.key)
    return tuple([Stranded(*of, tuple(dict.fromkeys(keys))) for of, keys in groups.items()])


def _reason(device: DeviceRow, found: Takers) -> Reason:
    reason = found.states.get(device.pool) or found.reasons.get(device)
    return _NO_NODE if reason is None or reason.code == "device-on-other-node" else reason


class _Free:
    """Says whether a device is free: nobody holds it, and something is left of all that it draws on and offers."""

    def __init__(self, cluster: Cluster, rows: Sequence[SliceRow]) -> None:
        self._usage = usage = cluster.known.ledger.usage
        self._profile = cluster.settings.profile()
        self._counters = CounterSets(rows, {*usage.exclusive, *usage.shared, *usage.consumed})

    def __call__(self, device: DeviceRow) -> bool:
        if device.key in self._usage.exclusive:
            return False
        if not self._usage.shares(device.key):
            return not self._counters.used_up(device)
        if not (device.shareable and self._profile.shares):
            return False
        held = capacity_held(self._usage.consumed, device, self._profile)
        there = ((device.capacity[name], amount) for name, amount in held.items() if name in device.capacity)
        return all(capacity.value.nano > amount for capacity, amount in there)
