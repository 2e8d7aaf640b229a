"""
Defaults as the API server sets them.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.manifest.make.defaults import set_defaults


def request(given, version="v1", kind="exactly"):
    wanted = [given] if kind == "firstAvailable" else given
    value = {"spec": {"devices": {"requests": [{"name": "a", kind: wanted}]}}}
    result = set_defaults(value, "ResourceClaim", version)["spec"]["devices"]["requests"][0][kind]
    return result[0] if kind == "firstAvailable" else result


@pytest.mark.parametrize("kind", ["exactly", "firstAvailable"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"allocationMode": "ExactCount", "count": 1}),
        ({"count": 0, "allocationMode": ""}, {"allocationMode": "ExactCount", "count": 1}),
        ({"count": None}, {"allocationMode": "ExactCount", "count": 1}),
        ({"count": 3}, {"allocationMode": "ExactCount", "count": 3}),
        ({"count": -1}, {"allocationMode": "ExactCount", "count": -1}),
        ({"allocationMode": "All"}, {"allocationMode": "All"}),
        ({"allocationMode": "Foo"}, {"allocationMode": "Foo"}),
        ({"count": "2"}, {"allocationMode": "ExactCount", "count": "2"}),
        ({"count": False}, {"allocationMode": "ExactCount", "count": False}),
    ],
)
def test_requests(kind, given, expected):
    assert request(given, kind=kind) == expected


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
def test_flat_requests_need_a_class(version):
    assert request({"count": 2}, version) == {"count": 2}
    assert request({"deviceClassName": "c"}, version) == {
        "deviceClassName": "c",
        "allocationMode": "ExactCount",
        "count": 1,
    }
    assert request({}, version, "firstAvailable") == {"allocationMode": "ExactCount", "count": 1}


def test_tolerations():
    tolerations = [{"key": "a"}, {"operator": "Exists"}, {"operator": ""}]
    expected = [{"key": "a", "operator": "Equal"}, {"operator": "Exists"}, {"operator": "Equal"}]
    assert request({"tolerations": tolerations})["tolerations"] == expected
    assert request({"tolerations": tolerations}, kind="firstAvailable")["tolerations"] == expected
    status = {"status": {"allocation": {"devices": {"results": [{"tolerations": tolerations}]}}}}
    filled = set_defaults(status, "ResourceClaim", "v1")
    assert filled["status"]["allocation"]["devices"]["results"][0]["tolerations"] == expected


def test_templates_nest_once_more():
    value: Any = {"spec": {"spec": {"devices": {"requests": [{"exactly": {}}]}}}}
    filled = set_defaults(value, "ResourceClaimTemplate", "v1")
    assert filled["spec"]["spec"]["devices"]["requests"] == [{"exactly": {"allocationMode": "ExactCount", "count": 1}}]


def test_taints_keep_no_time():
    value = {"spec": {"devices": [{"taints": [{"key": "a"}]}]}}
    assert set_defaults(value, "ResourceSlice", "v1") is value


def test_a_mapping_of_1_36_keeps_no_multiplier():
    taken = {"spec": {"devices": [{"name": "d", "nodeAllocatableResourceMappings": {"cpu": {"capacityKey": "m"}}}]}}
    assert set_defaults(taken, "ResourceSlice", "v1") == taken
