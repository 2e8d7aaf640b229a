"""
What the API servers of 1.34 and 1.36 refuse otherwise than later ones, as they were seen to.
"""

from __future__ import annotations

from typing import Any

import pytest

import dra_alloc

CHARACTERS = "name part must be no more than 63 characters"
BYTES = "name part must be no more than 63 bytes"
NO_SET = "must reference a counterSet defined in the ResourceSlice sharedCounters"
NO_COUNTER = "must reference a counter defined in the ResourceSlice sharedCounters"
ON = {"DRAPartitionableDevices": True, "DRADeviceTaints": True}
ONE = {"value": "1"}
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of"


def made(kind: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    head = {"apiVersion": "resource.k8s.io/v1beta2", "kind": kind, "metadata": {"name": "a", **metadata}}
    return {**head, "spec": spec}


def sliced(*devices: dict[str, Any], **spec: Any) -> dict[str, Any]:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    named = [{"name": f"d{position}", **each} for position, each in enumerate(devices)]
    return made("ResourceSlice", {"driver": "d.io", "allNodes": True, "pool": pool, "devices": named, **spec})


def claimed(*constraints: dict[str, Any], **request: Any) -> dict[str, Any]:
    requests = [{"name": "r", "exactly": {"deviceClassName": "c"}, **request}]
    return made("ResourceClaim", {"devices": {"requests": requests, "constraints": list(constraints)}})


def configured(driver: str) -> dict[str, Any]:
    return made("DeviceClass", {"config": [{"opaque": {"driver": driver, "parameters": {}}}]})


def takes(counter_set: str, *counters: str) -> dict[str, Any]:
    return {"consumesCounters": [{"counterSet": counter_set, "counters": dict.fromkeys(counters, ONE)}]}


def sets(**sizes: int) -> list[dict[str, Any]]:
    return [{"name": name, "counters": {f"m{at}": ONE for at in range(size)}} for name, size in sizes.items()]


def told(item: dict[str, Any], release: str, **asked: Any) -> list[tuple[str, str]]:
    return [
        (each.where.path, each.detail[: len(SUBDOMAIN)] if each.detail.startswith(SUBDOMAIN) else each.detail)
        for each in dra_alloc.validate(item, release=release, **asked)
    ]


TAINTS = {"taints": [{"key": f"k{position}", "effect": "NoSchedule"} for position in range(5)]}
TWO = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
BOTH = [("spec.devices.requests[0]", TWO), ("spec.devices.requests[0].firstAvailable[0].deviceClassName", "")]


@pytest.mark.parametrize(
    ("item", "early", "later"),
    [
        (
            made("DeviceClass", {}, labels={"a" * 64: ""}),
            [("metadata.labels", CHARACTERS)],
            [("metadata.labels", BYTES)],
        ),
        (
            claimed({"matchAttribute": "a"}),
            [("spec.devices.constraints[0].matchAttribute", "must include a domain")],
            [
                (
                    "spec.devices.constraints[0].matchAttribute",
                    "a fully qualified name must be a domain and a name separated by a slash",
                )
            ],
        ),
        (
            claimed(firstAvailable=[{"name": "s"}]),
            BOTH,
            BOTH[:1],
        ),
        (
            configured(""),
            [("spec.config[0].opaque.driver", ""), ("spec.config[0].opaque.driver", SUBDOMAIN)],
            [("spec.config[0].opaque.driver", "")],
        ),
        (sliced(takes("cs", "m0")), [("spec.devices[0].consumesCounters[0].counterSet", NO_SET)], []),
        (
            sliced(takes("cs", "m0", "x"), sharedCounters=sets(cs=1)),
            [("spec.devices[0].consumesCounters[0].counters", NO_COUNTER)],
            [("spec", "only one of `sharedCounters` or `devices` is allowed")],
        ),
        (
            sliced(sharedCounters=sets(a=20, b=20)),
            [("spec.sharedCounters", "the total number of shared counters must not exceed 32")],
            [],
        ),
        (
            sliced(*[takes("cs", *[f"m{at}" for at in range(9)])] * 128, sharedCounters=sets(cs=9)),
            [("spec.devices", "the total number of counters in devices must not exceed 1024")],
            [
                ("spec", "only one of `sharedCounters` or `devices` is allowed"),
                ("spec.devices", "must have at most 64 items"),
            ],
        ),
        (sliced(TAINTS), [("spec.devices[0].taints", "must have at most 4 items")], []),
    ],
)
def test_1_34_and_later(item, early, later):
    assert told(item, "1.34", gates=ON) == early
    assert told(item, "1.36", gates=ON) == later


def test_1_34_keeps_tolerations_and_distinct_attributes():
    wrong = claimed({"distinctAttribute": "a"}, exactly={"deviceClassName": "c", "tolerations": [{"operator": "x"}]})
    found = [
        "spec.devices.requests[0].exactly.tolerations[0].operator",
        "spec.devices.constraints[0].distinctAttribute",
    ]
    assert [path for path, _ in told(wrong, "1.34")] == found
    off = {"DRADeviceTaints": False, "DRAConsumableCapacity": False}
    assert [path for path, _ in told(wrong, "1.36", gates=off)] == ["spec.devices.constraints[0].matchAttribute"]


def test_1_34_looks_at_the_effect_of_a_rule_that_stays():
    rule = {
        **made("DeviceTaintRule", {"taint": {"key": "k", "effect": "None"}}),
        "apiVersion": "resource.k8s.io/v1alpha3",
    }
    supported = 'supported values: "NoExecute", "NoSchedule"'
    assert told(rule, "1.34", old=rule) == [("spec.taint.effect", supported)]
    assert not told(rule, "1.36", old=rule)


@pytest.mark.parametrize(
    ("mapping", "wrong"),
    [
        ({"cpu": {"capacityKey": "m", "allocationMultiplier": "2"}, "kubernetes.io/x": {}}, []),
        ({"x.io/y": {}}, [("[x.io/y]", "must be a node allocatable resource name")]),
        ({"cpu": {"capacityKey": ""}}, [("[cpu].capacityKey", "capacityKey must not be an empty string")]),
        ({"cpu": {"capacityKey": "n"}}, [("[cpu].capacityKey", "")]),
        ({"cpu": {"allocationMultiplier": "0"}}, [("[cpu].allocationMultiplier", "must be positive")]),
    ],
)
def test_what_devices_take_of_their_node_in_1_36(mapping, wrong):
    item = sliced({"capacity": {"m": ONE}, "nodeAllocatableResourceMappings": mapping})
    place = "spec.devices[0].nodeAllocatableResourceMappings"
    gates = {"DRANodeAllocatableResources": True}
    assert told(item, "1.36", gates=gates) == [(f"{place}{path}", detail) for path, detail in wrong]
    assert not told(item, "1.36")


def test_what_is_generated_is_cut():
    long = made("ResourceClaim", {}, name=None, generateName="a" * 58 + "/b")
    assert [path for path, _ in told(long, "1.36")] == ["metadata.generateName"]
    short = made("ResourceClaim", {}, name=None, generateName="a" * 57 + "/b")
    assert [path for path, _ in told(short, "1.36")] == ["metadata.generateName", "metadata.name"]


def test_1_34_looks_at_counter_sets_however_many():
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    sets = [{"name": f"s{number}", "counters": {"c": {"value": "1"}}} for number in range(130)]
    item = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "a"},
        "spec": {"driver": "d.io", "nodeName": "n", "pool": pool, "sharedCounters": sets},
    }
    told = {}
    for on in (False, True):
        found = dra_alloc.validate(item, release="1.34", gates={"DRAPartitionableDevices": on})
        told[on] = [(each.where.path, each.detail) for each in found]
    counted = ("spec.sharedCounters", "the total number of shared counters must not exceed 32")
    assert told == {False: [], True: [counted]}
