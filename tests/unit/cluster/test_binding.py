"""
Pods that find a node, and that kube-scheduler then cannot bind.
"""

from __future__ import annotations

import pytest

from dra_alloc import Unschedulable
from tests.unit.cluster.test_schedule import claim, cluster, from_template, gpus, named, node, outcomes, pod, template


def test_a_pod_with_claims_is_not_bound_where_a_device_plugin_serves_it():
    there = node("a", **{"example.com/gpu": "1"}), gpus("a", 1), template("one")
    both = pod("both", from_template(), more={"example.com/gpu": "1"})
    refused, other = cluster(*there).schedule([both, pod("other", from_template())])
    assert isinstance(refused, Unschedulable)
    said = "nil or empty request mappings, no update of pod ns/both ExtendedResourceClaimStatus"
    assert (refused.code, refused.message) == (
        "extended-resources",
        f'running PreBind plugin "DynamicResources": {said}',
    )
    assert isinstance(other, Unschedulable)  # the claim of the first keeps the device
    assert outcomes(cluster(*there).schedule([pod("plain", more={"example.com/gpu": "1"})])) == ["a"]
    assert outcomes(cluster(*there, release="1.35").schedule([both])) == ["a"]  # without the gate
    assert outcomes(cluster(*there, semantics="intended").schedule([both])) == ["a"]


@pytest.mark.parametrize(
    ("made", "users", "settings", "expected"),
    [
        ({}, ["u"], {}, "Unschedulable"),
        ({}, ["u"], {"release": "1.35"}, "a"),
        ({}, ["u"], {"semantics": "intended"}, "a"),
        ({}, ["uid-p", "u"], {}, "a"),
        ({}, [], {}, "a"),
        ({"allocationTimestamp": "2026-01-01T00:00:00Z"}, ["u"], {}, "a"),
    ],
)
def test_a_claim_in_use_that_was_allocated_without_a_time_takes_no_more_pods(made, users, settings, expected):
    results = [{"request": "r", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}]
    reserved = [{"resource": "pods", "name": each, "uid": each} for each in users]
    held = claim("c", allocation={"devices": {"results": results}, **made}, reservedFor=reserved)
    found = cluster(node("a"), gpus("a", 1), held, **settings).schedule([pod("p", named("c")), pod("q", named("c"))])
    assert outcomes(found)[0] == expected
    if expected == "Unschedulable":
        assert isinstance(found[0], Unschedulable)
        assert found[0].code == "claim-undated"
        assert found[0].message.startswith('running PreBind plugin "DynamicResources": add reservation to claim ns/c: ')
