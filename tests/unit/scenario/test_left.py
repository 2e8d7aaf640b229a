"""
What is left: held against one claim of one device for each class and each device.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

import dra_alloc
from dra_alloc.api import DeviceClass, Node, Quantity, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Unsatisfiable
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.codes import STRANDED_CODES
from dra_alloc.manifest import Documents
from dra_alloc.scenario.left import devices
from dra_alloc.scenario.left.devices import stranded, takers
from dra_alloc.scenario.left.left import Left, left_in
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.work import Purse
from tests.paths import ROOT

Json = dict[str, Any]
#: Errors that end a question about other devices than the one that is asked for.
ENDS = {"selector-runtime-error", "capacity-amount", "derived-attribute"}


def named(item: Json, device: Json) -> str:
    return "/".join((item["spec"]["driver"], item["spec"]["pool"]["name"], device["name"]))


def world(request: Json) -> tuple[Cluster, list[Json]]:
    """Return a cluster of two nodes, each device with an attribute of its own, and its slices."""
    slices = copy.deepcopy(request["slices"])
    for item in slices:
        for device in item["spec"].get("devices", ()):
            device.setdefault("attributes", {})["probe.example.com/id"] = {"string": named(item, device)}
    consumed = {tuple(each["id"]): each["cap"] for each in request["aggregated"]}
    results = [{"driver": d, "pool": p, "device": x} for d, p, x in request["allocated"]]
    for d, p, x, share in request["allocatedShared"]:
        taken = consumed.pop((d, p, x), None)
        result = {"driver": d, "pool": p, "device": x, "shareID": f"00000000-0000-4000-8000-00000000000{share[-1]}"}
        results.append({**result, **({"consumedCapacity": taken} if taken else {})})
    claims = [
        ResourceClaim.from_wire({
            "metadata": {"name": f"held-{number}", "namespace": "ns"},
            "spec": {"devices": {"requests": []}},
            "status": {"allocation": {"devices": {"results": [{"request": "r", **each}]}}},
        })
        for number, each in enumerate(results)
    ]  # fmt: skip
    nodes = [request["node"], {"metadata": {"name": "closed"}, "spec": {"unschedulable": True}}]
    documents = Documents(
        slices=tuple(map(ResourceSlice.from_wire, slices)),
        classes=tuple(map(DeviceClass.from_wire, request["classes"])),
        claims=tuple(claims),
        nodes=tuple(map(Node.from_wire, nodes)),
    )
    return Cluster.of(documents, dra_alloc.Settings(request["release"])), slices


def asked(cluster: Cluster, name: str, device: str) -> str:
    """Return whether a claim of one device, that one, can be allocated on a node that is open."""
    selects = (
        f'has(device.attributes["probe.example.com"].id) && device.attributes["probe.example.com"].id == "{device}"'
    )
    exactly = {"deviceClassName": name, "selectors": [{"cel": {"expression": selects}}]}
    claim = ResourceClaim.from_wire({
        "metadata": {"name": "probe", "namespace": "ns"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    })  # fmt: skip
    outcomes = [cluster.allocate([claim], node) for node in cluster.nodes if not node.spec.unschedulable]
    if any(isinstance(each, Allocated) for each in outcomes):
        return "taken"
    refused = [each for outcome in outcomes if isinstance(outcome, Unsatisfiable) for each in outcome.refusals]
    return "ended" if any(each.code in ENDS for each in refused) else "refused"


def newest(slices: list[Json]) -> list[Json]:
    generations: dict[tuple[str, str], int] = {}
    for each in slices:
        key = each["spec"]["driver"], each["spec"]["pool"]["name"]
        generations[key] = max(generations.get(key, 0), each["spec"]["pool"]["generation"])
    return [
        each
        for each in slices
        if each["spec"]["pool"]["generation"] == generations[each["spec"]["driver"], each["spec"]["pool"]["name"]]
    ]


def drawn(device: Json) -> Iterator[tuple[str, str, int]]:
    for use in device.get("consumesCounters", ()):
        for name, counter in use["counters"].items():
            yield use["counterSet"], name, Quantity(counter["value"]).nano


def free(request: Json, slices: list[Json]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the devices that are free by what the objects say, and the counter sets that each draws on."""
    dedicated = {"/".join(each) for each in request["allocated"]}
    shared = {"/".join(each[:3]) for each in request["allocatedShared"]}
    consumed = {"/".join(each["id"]): each["cap"] for each in request["aggregated"]}
    rows = [(item, device) for item in newest(slices) for device in item["spec"].get("devices", ())]
    left: dict[tuple[str, ...], int] = {}
    for item in newest(slices):
        pool = item["spec"]["driver"], item["spec"]["pool"]["name"]
        for each in item["spec"].get("sharedCounters", ()):
            for name, counter in each["counters"].items():
                left[*pool, each["name"], name] = Quantity(counter["value"]).nano
    for item, device in rows:
        if named(item, device) in dedicated | shared:
            for of, name, amount in drawn(device):
                key = (item["spec"]["driver"], item["spec"]["pool"]["name"], of, name)
                left[key] = left.get(key, 0) - amount
    found, sets = set[str](), dict[str, set[str]]()
    for item, device in rows:
        name, pool = named(item, device), (item["spec"]["driver"], item["spec"]["pool"]["name"])
        sets[name] = {f"{'/'.join(pool)}/{of}" for of, _, _ in drawn(device)}
        if name in dedicated or (name in shared and not device.get("allowMultipleAllocations")):
            continue
        if name in shared:
            took = consumed.get(name, {}).items()
            has_left = all(Quantity(device["capacity"][of]["value"]).nano > Quantity(it).nano for of, it in took)
        else:
            has_left = all(left.get((*pool, of, it), 0) > 0 for of, it, amount in drawn(device) if amount > 0)
        if has_left:
            found.add(name)
    return found, sets


@pytest.mark.parametrize("release", ["1.36", "1.37"])
def test_left_and_stranded_equal_asking_for_each_device_alone(release):
    seen = dict.fromkeys(("taken", "refused", "ended", "stranded", "behind"), 0)
    for request in islice(random_requests(16, Dialect(release)), 120):
        cluster, slices = world(request)
        found = takers(cluster)
        devices = [named(item, each) for item in newest(slices) for each in item["spec"].get("devices", ())]
        said = {name: {each: asked(cluster, name, each) for each in devices} for name in cluster.classes}
        for name, took in found.takes.items():
            answers = said[name]
            for answer in answers.values():
                seen[answer] += 1
            if "ended" not in answers.values() and name not in found.broken:
                can = {device for device, answer in answers.items() if answer == "taken"}
                assert {str(each.key) for each in took} == can, (request["name"], name)
        if any("ended" in each.values() for each in said.values()):
            continue
        taken = {device for each in said.values() for device, answer in each.items() if answer == "taken"}
        there, sets = free(request, slices)
        behind = {each for device in taken for each in sets[device]}
        wanted = {each for each in there - taken if not (sets[each] and sets[each] <= behind)}
        seen["stranded"] += len(wanted)
        seen["behind"] += len(there - taken - wanted)
        assert {str(key) for each in stranded(cluster, found) for key in each.devices} == wanted, request["name"]
    assert all(seen.values()), seen


def test_the_gang_and_the_largest_claim_are_had_and_one_more_is_not():
    cluster = dra_alloc.load(ROOT / "docs" / "examples" / "cluster")
    left = left_in(cluster)
    assert left is not None
    assert [(each.name, each.devices, each.gang, each.on_one_node) for each in left.classes] == [
        ("gpu.nvidia.com", 12, 12, 6),
        ("mig.nvidia.com", 314, 88, 32),
    ]
    (tainted,) = left.stranded
    assert (tainted.code, len(tainted.devices)) == ("taint-not-tolerated", 26)
    assert tainted.said == "taint gpu.nvidia.com/xid=79:NoSchedule is not tolerated"
    claim = {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount"}
    for count, fits in ((6, True), (7, False)):
        asked_for = ResourceClaim.from_wire({
            "metadata": {"name": "c", "namespace": "ns"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {**claim, "count": count}}]}},
        })  # fmt: skip
        assert isinstance(cluster.allocate([asked_for]), Allocated) is fits


def test_a_free_device_can_be_behind_a_closed_node_or_behind_none():
    pool = {"generation": 1, "resourceSliceCount": 1}
    slices = tuple(
        ResourceSlice.model_validate(
            {
                "metadata": {"name": name},
                "spec": {
                    "driver": "x.io",
                    "nodeName": name,
                    "pool": {"name": name, **pool},
                    "devices": [{"name": "d"}],
                },
            }
        )
        for name in ("closed", "gone")
    )
    cordoned = Node.model_validate({"metadata": {"name": "closed"}, "spec": {"unschedulable": True}})
    one = DeviceClass.model_validate({"metadata": {"name": "x"}, "spec": {}})
    left = left_in(Cluster.of(Documents(slices=slices, classes=(one,), nodes=(cordoned,))))
    assert left is not None
    assert {each.code for each in left.stranded} == set(STRANDED_CODES)


def test_without_classes_nothing_is_said_and_without_budget_that_it_is_not_counted():
    assert left_in(None) is None
    assert left_in(Cluster.of(Documents())) is None
    with Purse(1):
        left = left_in(dra_alloc.load(ROOT / "docs" / "examples" / "cluster"))
    assert left is not None
    assert (left.classes, left.counted, left.why.partition(":")[0]) == (
        (),
        False,
        "the budget of 1 units of work ran out",
    )


def test_of_too_many_devices_by_nodes_and_classes_nothing_is_counted(monkeypatch):
    monkeypatch.setattr(devices, "LOOKS_MAX", 20)
    left = left_in(dra_alloc.load(ROOT / "docs" / "examples" / "cluster"))
    assert left == Left(why="devices by nodes and classes are more than 20")


def test_a_share_of_a_capacity_that_its_device_does_not_have_takes_nothing_of_it():
    device = {"name": "d", "allowMultipleAllocations": True, "capacity": {"mem": {"value": "10"}}}
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "x.io", "nodeName": "n", "pool": pool, "devices": [device]}
    share = {"shareID": "00000000-0000-4000-8000-000000000000", "consumedCapacity": {"bandwidth": "1"}}
    result = {"request": "r", "driver": "x.io", "pool": "n", "device": "d", **share}
    claim = {
        "metadata": {"name": "c", "namespace": "ns"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]}},
        "status": {"allocation": {"devices": {"results": [result]}}},
    }
    selector = {"cel": {"expression": "device.driver == 'other'"}}
    documents = Documents(
        slices=(ResourceSlice.model_validate({"metadata": {"name": "s"}, "spec": spec}),),
        classes=(DeviceClass.model_validate({"metadata": {"name": "x"}, "spec": {"selectors": [selector]}}),),
        claims=(ResourceClaim.model_validate(claim),),
    )
    left = left_in(Cluster.of(documents, Settings("1.37")))
    assert left is not None
    assert [(each.code, len(each.devices)) for each in left.stranded] == [("class-mismatch", 1)]
