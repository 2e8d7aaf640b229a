"""
What nodes look like after an answer: their devices by state, who has them, and how full counter sets are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dra_alloc.api import AllocationResult, Node, ResourceClaim
from dra_alloc.api.core.nodes import BARRING
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.errors import DraAllocError
from dra_alloc.pods.taints import uncordoned
from dra_alloc.problem.devices import DeviceKey, DeviceRow
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.check import Check
from dra_alloc.scenario.counter_sets import CounterSets, Meter
from dra_alloc.scenario.gang.joint import JointAnswer
from dra_alloc.scenario.selecting import matched
from dra_alloc.work import BudgetExhausted

#: A claim with the devices that it has, each with whether it is a share.
_Taken = tuple[str, tuple[tuple[DeviceKey, bool], ...]]


class DeviceState(StrEnum):
    """What became of a device; `SPENT` is one whose counters others have used up."""

    TAKEN = "taken now"
    HELD = "in use"
    SHARED = "shared"
    TAINTED = "tainted"
    SPENT = "counters used up"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """Devices of one driver on a node with the same state, holders and classes (their places in `Picture.classes`)."""

    state: DeviceState
    driver: str
    devices: tuple[str, ...]
    holders: tuple[str, ...]
    classes: tuple[int, ...]
    parts: bool = False


@dataclass(frozen=True, slots=True)
class NodePicture:
    """A node on one side: groups of its devices, its counter sets, and what keeps pods away."""

    groups: tuple[DeviceGroup, ...] = ()
    meters: tuple[Meter, ...] = ()
    closed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes by name on each side, by the title of the side, and the classes that devices are of."""

    sides: Mapping[str, Mapping[str, NodePicture]]
    classes: tuple[str, ...]


def _taken_by(claims: Iterable[ResourceClaim]) -> Iterator[_Taken]:
    """Yield what claims have, admin access left out: it takes nothing away."""
    for claim in claims:
        allocation = claim.status.allocation
        if allocation is not None:
            yield claim_name(claim), _devices(allocation)


def _devices(allocation: AllocationResult) -> tuple[tuple[DeviceKey, bool], ...]:
    return tuple(
        (DeviceKey(each.driver, each.pool, each.device), bool(each.share_id))
        for each in allocation.devices.results
        if not each.admin_access
    )


def picture_of_checks(sides: Mapping[str, tuple[Check, Iterable[ResourceClaim]]]) -> Picture:
    """Return the picture of checks, each of a cluster with these claims."""
    return _picture_of(
        {
            title: (
                check.cluster,
                _taken_by(claims),
                (told for each in _allocated(check) for told in _taken_by(each.claims)),
            )
            for title, (check, claims) in sides.items()
            if check.cluster is not None
        }
    )


def _allocated(check: Check) -> Iterator[Allocated]:
    return (each.allocated for each in check.placements if each.allocated is not None)


def picture_of_gang(answer: JointAnswer) -> Picture:
    """Return the picture of a gang placed jointly."""
    cluster = answer.cluster
    now = (
        (f"{each.member.name}/{number}", _devices(result))
        for each in answer.answers.joint.placements
        for number, result in enumerate(each.results)
    )
    return _picture_of({"now": (cluster, _taken_by(cluster.claims.values()), now)})


def _picture_of(sides: Mapping[str, tuple[Cluster, Iterable[_Taken], Iterable[_Taken]]]) -> Picture:
    """
    Return the picture of clusters, each with what claims held before, and what is taken now, by the title of the side.

    Devices of several nodes stand under the node "".

    Spec: PAGE-2.
    """
    classes = tuple(dict.fromkeys(name for cluster, _, _ in sides.values() for name in cluster.classes))
    pictured = {
        title: _side(cluster, dict(before), dict(now), _of_classes(cluster, classes))
        for title, (cluster, before, now) in sides.items()
    }
    return Picture(pictured, classes)


def _of_classes(cluster: Cluster, classes: Sequence[str]) -> Mapping[DeviceKey, tuple[int, ...]]:
    """Return the classes of each device, by their places; a class whose selectors cannot be asked has none."""
    slices: list[Any] = [row.wire for row in cluster.inventory.slices]
    matching: dict[str, set[tuple[str, str, str]]] = {}
    found: dict[DeviceKey, list[int]] = defaultdict(list)
    every = {(*row.pool, each.name) for row in cluster.inventory.slices for each in row.wire.spec.devices}
    for place, name in enumerate(classes):
        selectors = cluster.classes[name].spec.selectors if name in cluster.classes else ()
        expressions = [each.cel.expression for each in selectors if each.cel is not None]
        devices: set[tuple[str, str, str]] = set(every) if name in cluster.classes else set()
        for expression in expressions:
            if expression not in matching:
                matching[expression] = _matching(expression, slices, cluster)
            devices &= matching[expression]
        for each in devices:
            found[DeviceKey(*each)].append(place)
    return {key: tuple(places) for key, places in found.items()}


def _matching(expression: str, slices: Sequence[Any], cluster: Cluster) -> set[tuple[str, str, str]]:
    try:
        return matched(expression, slices, cluster.settings)
    except (DraAllocError, BudgetExhausted):
        return set()


_Claims = Mapping[str, tuple[tuple[DeviceKey, bool], ...]]


def _side(
    cluster: Cluster, before: _Claims, now: _Claims, classes: Mapping[DeviceKey, tuple[int, ...]]
) -> Mapping[str, NodePicture]:
    rows = list(cluster.inventory.newest)
    holders: dict[DeviceKey, list[str]] = defaultdict(list)
    new: set[DeviceKey] = set()
    shared: set[DeviceKey] = set()
    for claims, is_new in ((before, False), (now, True)):
        for name, devices in claims.items():
            for key, share in devices if not is_new or before.get(name) != devices else ():
                holders[key].append(name)
                if is_new:
                    new.add(key)
                if share:
                    shared.add(key)
    counters = CounterSets(rows, holders)
    groups: dict[str, dict[Any, list[str]]] = {each.metadata.name or "": {} for each in cluster.nodes}
    for row in rows:
        for device in row.devices:
            state = _state(device, holders, new, shared, counters)
            kind = state, row.driver, tuple(holders.get(device.key, ())), classes.get(device.key, ()), device.draws
            node = row.node_name or device.wire.node_name or ""
            groups.setdefault(node, {}).setdefault(kind, []).append(device.wire.name)
    meters = counters.by_node()
    closed = {each.metadata.name or "": tuple(_closed(each)) for each in cluster.nodes}
    return {
        node: NodePicture(
            tuple(
                DeviceGroup(state, driver, tuple(names), who, of, draws)
                for (state, driver, who, of, draws), names in each.items()
            ),
            tuple(meters.get(node, ())),
            closed.get(node, ()),
        )
        for node, each in groups.items()
    }


def _closed(node: Node) -> Iterator[str]:
    if node.spec.unschedulable:
        yield "cordoned"
    for each in uncordoned(node).spec.taints:
        if each.effect in BARRING:
            yield f"taint {each.key}"


def _state(
    device: DeviceRow,
    holders: Mapping[DeviceKey, Sequence[str]],
    new: set[DeviceKey],
    shared: set[DeviceKey],
    counters: CounterSets,
) -> DeviceState:
    if device.key in new:
        return DeviceState.TAKEN
    if device.key in shared:
        return DeviceState.SHARED
    if device.key in holders:
        return DeviceState.HELD
    if device.blocking_taints:
        return DeviceState.TAINTED
    return DeviceState.SPENT if counters.lack(device) else DeviceState.FREE
