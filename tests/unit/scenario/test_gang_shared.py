"""
Gangs on nodes that share pools: decided, and as every distribution of devices says.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, FrozenMap, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.contents import Contents
from dra_alloc.cluster.known import Known
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.pools import GatherError
from dra_alloc.scenario.gang.gang import can_place, place_gang, place_most
from dra_alloc.scenario.gang.menus import TooMuchWork
from dra_alloc.scenario.gang.shared_pools import place_sharing
from dra_alloc.scenario.gang.types import Member, Placement, Verdict
from dra_alloc.solve.joint.answer import Placed, most_placed
from dra_alloc.solve.joint.spread import Spread

Json = dict[str, Any]
ANY = DeviceClass.model_validate({"metadata": {"name": "any"}})
ZONES = ("a", "b")


def made_slice(name: str, devices: Sequence[Json], place: Json, counters: int = 0) -> list[ResourceSlice]:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 2 if counters else 1}
    spec = {"driver": "d", "pool": pool, **place}
    found = [{"metadata": {"name": name}, "spec": {**spec, "devices": devices}}]
    if counters:
        sets = [{"name": "set", "counters": {"m": {"value": str(counters)}}}]
        found.append({"metadata": {"name": f"{name}-counters"}, "spec": {**spec, "sharedCounters": sets}})
    return [ResourceSlice.model_validate(each) for each in found]


def device(name: str, kind: str, switch: int = 0, size: int = 0) -> Json:
    found: Json = {"name": name, "attributes": {"kind": {"string": kind}, "switch": {"int": switch}}}
    if size:
        found["consumesCounters"] = [{"counterSet": "set", "counters": {"m": {"value": str(size)}}}]
    return found


def world(slices: Sequence[ResourceSlice], nodes: int) -> Cluster:
    made = [
        Node.model_validate({"metadata": {"name": f"n{number}", "labels": {"zone": ZONES[number % 2]}}})
        for number in range(nodes)
    ]
    return Cluster(Known(Contents(tuple(made), Inventory.build(slices), FrozenMap({"any": ANY}), FrozenMap())))


def ask(name: str, kind: str, count: int = 1) -> Json:
    cel = [{"cel": {"expression": f'device.attributes["d"].kind == "{kind}"'}}]
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": count, "selectors": cel}
    return {"name": name, "exactly": exactly}


def pod(number: int, requests: Sequence[Json], match: bool = False) -> Member:
    devices: Json = {"requests": list(requests)}
    if match:
        devices["constraints"] = [{"matchAttribute": "d/switch"}]
    name = f"p{number}"
    claim = ResourceClaim.model_validate({"metadata": {"name": name}, "spec": {"devices": devices}})
    return Member(name, (claim,))


def selector(zone: str) -> Json:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}]
    return {"nodeSelector": {"nodeSelectorTerms": terms}}


def drawn(draw: random.Random) -> tuple[Cluster, list[Member]]:
    """Return two or three nodes with devices of their own, and pools for all or for a zone."""
    nodes = draw.randint(2, 3)
    slices: list[ResourceSlice] = []
    for number in range(nodes):
        own = [device(f"nic-{place}", "nic", draw.randint(0, 1)) for place in range(draw.randint(0, 2))]
        slices += made_slice(f"n{number}", own, {"nodeName": f"n{number}"})
    counters = draw.choice((0, 3))
    for name, place in (("fabric", {"allNodes": True}), ("zonal", selector(draw.choice(ZONES)))):
        size = draw.randint(1, 2) if counters else 0
        shared = [device(f"{name}-{each}", "link", draw.randint(0, 1), size) for each in range(draw.randint(1, 3))]
        slices += made_slice(name, shared, place, counters)
    members = []
    for number in range(draw.randint(1, 4)):
        requests = draw.choice(
            ([ask("l", "link")], [ask("l", "link", 2)], [ask("n", "nic"), ask("l", "link")], [ask("n", "nic")])
        )
        members.append(pod(number, requests, match=len(requests) > 1 and draw.random() < 0.5))
    return world(slices, nodes), members


def most_by_hand(cluster: Cluster, members: Sequence[Member]) -> int:
    """Return how many pods fit: every pod on every node or nowhere, with every choice of its devices."""
    intended = cluster.intended
    choices = [[None, *_ways(intended, member)] for member in members]
    best = 0
    for ways in itertools.product(*choices):
        there = [way for way in ways if way is not None]
        if len(there) <= best:
            continue
        taken = [name for _, names, _ in there for name in names]
        drawn_ = sum(size for _, _, sizes in there for size in sizes.get("fabric", ()))
        zonal = sum(size for _, _, sizes in there for size in sizes.get("zonal", ()))
        if len(set(taken)) == len(taken) and max(drawn_, zonal) <= 3:
            best = len(there)
    return best


def _ways(cluster: Cluster, member: Member) -> list[tuple[str, tuple[str, ...], dict[str, list[int]]]]:
    """Return every node with every set of devices that the pod could have there, were it alone."""
    found = []
    (claim,) = member.claims
    devices = claim.spec.devices
    for node in cluster.nodes:
        rows = [row for pool in cluster.known.allocator.survey.pools(node) for row in pool.devices]
        wires = [request.to_wire()["exactly"] for request in devices.requests]
        kinds: list[tuple[str, int]] = [(wire["selectors"][0]["cel"]["expression"], wire["count"]) for wire in wires]
        picks = [
            itertools.combinations([row for row in rows if f'"{row.attributes["kind"].string}"' in text], count)
            for text, count in kinds
        ]
        for combination in itertools.product(*picks):
            chosen = [row for group in combination for row in group]
            if devices.constraints and len({row.attributes["switch"].int_ for row in chosen}) > 1:
                continue
            sizes: dict[str, list[int]] = {}
            for row in chosen:
                for _, _, amount in row.consumes:
                    sizes.setdefault(row.key.pool, []).append(amount // 10**9)
            found.append((node.metadata.name or "", tuple(str(row.key) for row in chosen), sizes))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_shared_pools_are_decided_as_by_trying_every_distribution(seed: int, solver: None) -> None:
    cluster, members = drawn(random.Random(seed))
    most = most_by_hand(cluster, members)
    joint = place_gang(cluster, members).joint
    assert joint.verdict is (Verdict.PLACED if most == len(members) else Verdict.NONE)
    assert can_place(cluster, members) is joint.verdict
    fewer = place_most(cluster, members).joint
    assert len(fewer.placements) == most
    assert fewer.proven
    # Also where node by node would have been enough.
    at_once = place_sharing(cluster.intended, cluster.nodes, members)
    assert at_once.verdict is joint.verdict


@pytest.mark.parametrize("seed", range(20))
def test_without_or_tools_small_ones_are_decided_all_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dra_alloc.solve.joint.answer.is_installed", lambda: False)
    monkeypatch.setattr("dra_alloc.scenario.gang.packing.is_installed", lambda: False)
    cluster, members = drawn(random.Random(seed))
    most = most_by_hand(cluster, members)
    assert place_gang(cluster, members).joint.verdict is (Verdict.PLACED if most == len(members) else Verdict.NONE)


def large(links: int, match: bool = True, pods: int = 16) -> tuple[Cluster, list[Member]]:
    """Return so many pods that want a device of their node and four of a pool of all nodes, of one switch of two."""
    slices = made_slice("fabric", [device(f"l{each}", "link", each % 2) for each in range(links)], {"allNodes": True})
    for number in range(8):
        slices += made_slice(
            f"n{number}", [device(f"nic-{each}", "nic", each) for each in range(2)], {"nodeName": f"n{number}"}
        )
    members = [pod(number, [ask("n", "nic"), ask("l", "link", 4)], match) for number in range(pods)]
    return world(slices, 8), members


def test_as_many_as_people_have(solver: None) -> None:
    placed = place_gang(*large(64)).joint
    assert placed.verdict is Verdict.PLACED
    assert len({name for each in placed.placements for name in _names(each)}) == 16 * 5
    assert place_gang(*large(63)).joint.verdict is Verdict.NONE
    fewer = place_most(*large(62, match=False)).joint
    assert (len(fewer.placements), fewer.proven) == (15, True)


def test_as_many_alike_as_possible_are_proven_by_asking_for_one_more(
    monkeypatch: pytest.MonkeyPatch, solver: None
) -> None:
    monkeypatch.setattr("dra_alloc.scenario.gang.shared_pools.most_placed", _half_proven)
    cluster, members = large(22, pods=6)
    most = place_most(cluster, members).joint
    assert (len(most.placements), most.proven, most.why) == (4, True, "")


def _half_proven(whole: Spread, pods: int) -> Placed:
    """Return what a solver that runs out of its budget would: a placement of fewer than there could be."""
    found = most_placed(whole, pods)
    kept = dict(list(found.node_of.items())[:3])
    return replace(found, node_of=kept, proven=False)


def _names(placement: Placement) -> list[str]:
    return [f"{each.pool}/{each.device}" for result in placement.results for each in result.devices.results]


def test_as_many_as_possible_stay_undecided_without_or_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dra_alloc.solve.joint.answer.is_installed", lambda: False)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    slices = made_slice("fabric", [device(f"l{each}", "link") for each in range(3)], {"allNodes": True})
    fewer = place_most(world(slices, 2), [pod(number, [ask("l", "link", 2)]) for number in range(2)]).joint
    assert fewer.verdict is Verdict.UNDECIDED
    assert "pip install" in fewer.why


def test_a_node_that_cannot_be_asked_ends_in_words() -> None:
    unreadable = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": []}]}]}
    # The last device is only looked at for the first node.
    places: list[Json] = [{"nodeName": "n1"}, {"nodeName": "n2"}, {"nodeSelector": unreadable}]
    own = [{**device(f"d{number}", "none"), **place} for number, place in enumerate(places)]
    slices = made_slice("own", own, {"perDeviceNodeSelection": True})
    slices += made_slice("fabric", [device(f"l{each}", "link") for each in range(3)], {"allNodes": True})
    cluster = world(slices, 3).intended
    with pytest.raises(GatherError):
        cluster.known.allocator.survey.pools(cluster.nodes[0])
    with pytest.raises(TooMuchWork, match="node selector"):
        place_sharing(cluster, cluster.nodes, [pod(0, [ask("l", "link", 2)])])
