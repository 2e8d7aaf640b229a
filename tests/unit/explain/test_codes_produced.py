"""
Reason codes one by one, each from a question that ends with it.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.explain.codes import DEVICE_CODES, FACT_CODES, NODE_CODES
from dra_alloc.explain.facts import facts_of
from dra_alloc.explain.tally import explain
from dra_alloc.scenario.check import Check, check
from dra_alloc.solve.outcome import Aborted
from fuzz.targets.reasons_hold import world_of
from tests.reading import documents
from tests.unit.explain.test_cause import failing_later
from tests.unit.solve.questions import FEATURES, ask, claim, device, request

Json = dict[str, Any]
PLAIN = [device("a", kind=1)]
ONE = claim(ask(1))


def with_class(asked: Json, expression: str) -> Json:
    selectors = [{"cel": {"expression": expression}}]
    return {**asked, "classes": [{"metadata": {"name": "any"}, "spec": {"selectors": selectors}}]}


def without(asked: Json, *features: str) -> Json:
    return {**asked, "features": {**FEATURES, **dict.fromkeys(features, False)}}


def on_other_node() -> Json:
    asked = request([{**device("a"), "nodeName": "m"}, {**device("b"), "nodeName": "n"}], claim(ask(2)))
    spec = {name: value for name, value in asked["slices"][0]["spec"].items() if name != "nodeName"}
    asked["slices"][0]["spec"] = {**spec, "perDeviceNodeSelection": True}
    return asked


def bad_capacity() -> Json:
    sized = device("a", shares=4)
    sized["capacity"]["c"]["requestPolicy"] = {"default": "1", "validValues": ["1"]}
    return request([sized], claim(ask(1, capacity=3)))


def with_gate(asked: Json, feature: str) -> Json:
    return {**asked, "release": "1.37.2", "channel": "experimental", "features": {**FEATURES, feature: True}}


def grouped() -> Json:
    devices = [device("a", counters=1), device("b", counters=1)]
    for made, group in zip(devices, ("x", "y"), strict=True):
        made["consumesCounters"][0]["compatibilityGroups"] = [group]
    return with_gate(request(devices, claim(ask(2)), counters=9), "CompatibilityGroups")


def skipping() -> Json:
    asked = with_gate(request(PLAIN, ONE), "OptionalNodeOperations")
    asked["slices"][0]["spec"]["skipNodeOperations"] = ["*"]
    return asked


DEVICES: dict[str, Json] = {
    "binding-conditions-disabled": request(
        [{"name": "a", "bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}], ONE
    ),
    "groups-incompatible": grouped(),
    "node-operations": skipping(),
    "class-mismatch": with_class(request(PLAIN, ONE), "false"),
    "selector-mismatch": request(PLAIN, claim(ask(1, kind=2))),
    "device-on-other-node": on_other_node(),
    "device-in-use": request(PLAIN, ONE, allocated=[["d", "p", "a"]]),
    "device-picked": request(PLAIN, claim(ask(1), ask(1))),
    "counters-disabled": without(request([device("a", counters=1)], ONE, counters=1), "PartitionableDevices"),
    "counter-exhausted": request([device("a", counters=2), device("b", counters=2)], claim(ask(2)), counters=3),
    "taint-not-tolerated": request([device("a", tainted=True)], ONE),
    "attribute-missing": request(PLAIN, claim(ask(1), match="numa")),
    "attribute-mismatch": request([device("a", numa=0), device("b", numa=1)], claim(ask(2), match="numa")),
    "attribute-not-distinct": request(
        [device("a", numa=0), device("b", numa=0)], claim(ask(2), distinct="numa"), semantics="intended"
    ),
    "capacity-missing": request(PLAIN, claim(ask(1, capacity=1))),
    "capacity-policy": bad_capacity(),
    "device-error": failing_later(),
    "capacity-exhausted": request([device("a", shares=4)], claim(ask(1, capacity=3), ask(1, capacity=3))),
}


@pytest.mark.parametrize("code", DEVICES)
def test_devices_fall_to_the_rule(code: str) -> None:
    allocator, node, claims = read_request(DEVICES[code])
    found = explain(allocator, node, claims)
    groups = [group for tally in found.requests for pool in tally.pools for group in pool.groups]
    assert code in {group.code for group in groups}
    assert all(group.detail for group in groups)


def broken(name: str, value: Any) -> Json:
    return request(PLAIN, claim({**ask(1), name: value}))


def bare_request() -> Json:
    asked = request(PLAIN, claim(ask(1)))
    asked["claims"][0]["spec"]["devices"]["requests"][0] = {"name": "r0"}
    return asked


def in_slice(asked: Json, **spec: Any) -> Json:
    for each in asked["slices"]:
        each["spec"] |= spec
    return asked


def elsewhere(*terms: Json) -> Json:
    """Return a question with a slice for the nodes of a selector instead of one node."""
    asked = request(PLAIN, ONE)
    del asked["slices"][0]["spec"]["nodeName"]
    return in_slice(asked, nodeSelector={"nodeSelectorTerms": list(terms)})


def term(operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": "zone", "operator": operator, "values": list(values)}]}


def unknown_constraint() -> Json:
    asked = request(PLAIN, claim(ask(1)))
    asked["claims"][0]["spec"]["devices"]["constraints"] = [{}]
    return asked


def negative() -> Json:
    asked = request([device("a", shares=4)], claim(ask(1)))
    asked["claims"][0]["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = {"requests": {"c": "-1"}}
    return {**asked, "release": "1.37.2", "channel": "experimental"}


def panicking() -> Json:
    """Release 1.34 looks at the capacity of the device whose position is the number of the pick."""
    return request([device("a", shares=4)], claim(ask(2, capacity=1)), release="1.34.13", channel="experimental")


def deriving() -> Json:
    wanted = {**ask(1), "derivedAttributes": [{"name": "d/x", "expression": "nonsense("}]}
    return with_gate(request(PLAIN, claim(wanted, match="x")), "DerivedAttributes")


def without_value() -> Json:
    """Two devices one of which has an attribute without a value, for a release that says so."""
    made = {**request([device("a", numa=0), device("b", numa=1)], claim(ask(1), match="numa")), "release": "1.38"}
    attributes = made["slices"][0]["spec"]["devices"][0]["attributes"]
    attributes.update({key: {} for key in attributes})
    return made


ABORTS: dict[str, Json] = {
    "attribute-unsupported": without_value(),
    "all-misfit": request([device("a", numa=0), device("b", numa=1)], claim(ask(None), match="numa")),
    "capacity-amount": negative(),
    "derived-attribute": deriving(),
    "node-selector": elsewhere(term("Gt", "many")),
    "pool-incomplete": in_slice(
        request(PLAIN, claim(ask(None))), pool={"name": "p", "generation": 1, "resourceSliceCount": 2}
    ),
    "pool-invalid": request([device("a"), device("a")], ONE),
    "scheduler-panics": panicking(),
    "unsupported-constraint": unknown_constraint(),
    "unsupported-node-selector": elsewhere(term("DoesNotExist"), term("In", "a")),
    "too-many-devices": request(PLAIN, claim(ask(33))),
    "selector-compile-error": broken("selectors", [{"cel": {"expression": "nonsense("}}]),
    "selector-runtime-error": broken("selectors", [{"cel": {"expression": 'device.attributes["d"].gone == 1'}}]),
    "empty-selector": broken("selectors", [{}]),
    "missing-class-name": broken("deviceClassName", ""),
    "unknown-class": broken("deviceClassName", "gone"),
    "unsupported-mode": broken("allocationMode", "Some"),
    "unknown-request-type": bare_request(),
    "feature-disabled": without(request(PLAIN, claim(ask(1, admin=True))), "AdminAccess"),
}


@pytest.mark.parametrize("code", ABORTS)
def test_the_question_ends_with_the_code(code: str) -> None:
    allocator, node, claims = read_request(ABORTS[code])
    outcome = allocator.allocate(node, claims)
    assert isinstance(outcome, Aborted)
    assert outcome.code == code
    assert outcome.text


def pods(node: Json, spec: Json, *, held: bool = False, there: Json | None = None) -> Check:
    """Return what a check says of a pod with this spec, on a node with these members and one device."""
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    requests = {"requests": [{"name": "r", "exactly": {"deviceClassName": "any"}}]}
    found: Json = {
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": requests},
    }
    if held:
        result = {"request": "r", "driver": "d", "pool": "p", "device": "a"}
        place = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}
        found["status"] = {
            "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [place]}},
            "reservedFor": [{"resource": "pods", "name": "other", "uid": "other"}],
        }
    meta = {"name": "n", **node.get("metadata", {})}
    dump = [
        {"apiVersion": "v1", "kind": "Node", **node, "metadata": meta},
        {"apiVersion": RESOURCES, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
        {
            "apiVersion": RESOURCES,
            "kind": "ResourceSlice",
            "metadata": {"name": "s"},
            "spec": {"driver": "d", "nodeName": "n", "pool": pool, "devices": [{"name": "a"}]},
        },
        {"apiVersion": RESOURCES, **found},
    ]
    if there is not None:
        running = {"metadata": {"name": "there", "namespace": "default"}, "spec": {"nodeName": "n", **there}}
        dump.append({"apiVersion": "v1", "kind": "Pod", **running})
    body = {
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
        **spec,
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": body}
    return check(documents(pod), documents(*dump))


RESOURCES = "resource.k8s.io/v1"
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term("Exists")]}}}
ASKS_MORE = {"name": "c", "image": "i", "resources": {"limits": {"example.com/gpu": "1"}}}

HOST = {"labels": {"kubernetes.io/hostname": "n"}}
EVERY = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
NEAR = {"requiredDuringSchedulingIgnoredDuringExecution": [EVERY]}
WITH_PORT = {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}
#: A pod that runs on the node with the codes of which it is.
THERE: dict[str, Json] = {
    "node-ports": {"containers": [WITH_PORT]},
    "pod-anti-affinity": {},
    "pod-anti-affinity-of-others": {"affinity": {"podAntiAffinity": NEAR}},
}

SPREAD = {"maxSkew": 1, "topologyKey": "z", "labelSelector": {}, "whenUnsatisfiable": "DoNotSchedule"}

PODS: dict[str, tuple[Json, Json]] = {
    "no-fit": ({"metadata": {"name": "m"}}, {}),
    "node-affinity": ({}, {"affinity": AFFINITY}),
    "node-selector": ({}, {"nodeSelector": {"zone": "a"}}),
    "node-taint": ({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, {}),
    "node-unschedulable": ({"spec": {"unschedulable": True}}, {}),
    "node-resources": ({"status": {"allocatable": {"cpu": "1", "pods": "9"}}}, {"containers": [ASKS_MORE]}),
    "topology-spread": ({}, {"topologySpreadConstraints": [SPREAD]}),
    "pod-affinity": ({}, {"affinity": {"podAffinity": NEAR}}),
    "node-ports": ({"metadata": HOST}, {"containers": [WITH_PORT]}),
    "pod-anti-affinity": ({"metadata": HOST}, {"affinity": {"podAntiAffinity": NEAR}}),
    "pod-anti-affinity-of-others": ({"metadata": HOST}, {}),
}


@pytest.mark.parametrize("code", PODS)
def test_the_node_is_refused_to_the_pod_with_the_code(code: str) -> None:
    node, spec = PODS[code]
    assert codes_of(pods(node, spec, there=THERE.get(code))) == {code}


def test_a_claim_that_is_allocated_elsewhere() -> None:
    assert codes_of(pods({}, {}, held=True)) == {"allocated-elsewhere"}


def codes_of(answer: Check) -> set[str]:
    return {refusal.code for placement in answer.placements for refusal in placement.refusals}


FACTS: dict[str, Json] = {
    "pool-incomplete": in_slice(request(PLAIN, ONE), pool={"name": "p", "generation": 1, "resourceSliceCount": 2}),
    "holder": DEVICES["device-in-use"],
    "taint": DEVICES["taint-not-tolerated"],
    "constraint": DEVICES["attribute-mismatch"],
    "selector": DEVICES["selector-mismatch"],
    "class": DEVICES["class-mismatch"],
    "shared-counters": DEVICES["counter-exhausted"],
    "request": DEVICES["device-picked"],
}


@pytest.mark.parametrize("code", FACTS)
def test_the_refusal_can_rest_on_the_fact(code: str) -> None:
    assert code in {fact.code for fact in facts_of(world_of(FACTS[code]))}


def test_no_code_is_documented_that_nothing_produces() -> None:
    assert set(DEVICES) == set(DEVICE_CODES)
    # What is asked of no node: test_quotas.py and test_check_nodes.py, tests/cli/test_check_pods.py.
    unasked = {"quota", "claim-deleted", "claim-not-owned", "admin-access", "node-name"}
    # And tests/unit/cluster/test_schedule.py, test_binding.py, tests/unit/scenario/test_groups.py.
    unasked |= {"pod-group", "claim-in-use", "claim-missing", "scheduling-gates", "in-order", "extended-resources"}
    # And tests/unit/pods/test_volumes.py.
    unasked |= {"claim-undated", "volume-missing", "volume-unbound", "volume-in-use", "node-volumes"}
    assert {*ABORTS, *PODS, *unasked, "allocated-elsewhere"} == set(NODE_CODES)
    assert set(FACTS) == set(FACT_CODES)


def test_a_capacity_is_told_with_its_numbers() -> None:
    asked = request([device("a", shares=4)], claim(ask(1, capacity=5)))
    found = explain(*read_request(asked))
    (group,) = [group for tally in found.requests for pool in tally.pools for group in pool.groups]
    assert group.code == "capacity-exhausted"
    assert group.detail == "capacity c: 5 needed, 4 of 4 left"
