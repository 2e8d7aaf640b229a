"""
Reason codes one by one, each from a question that ends with it.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cli.harness_allocate import read_request
from dra_alloc.explain.facts import facts_of
from dra_alloc.explain.tally import explain
from dra_alloc.solve.outcome import Aborted
from fuzz.targets.reasons_hold import world_of
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


DEVICES: dict[str, Json] = {
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


ABORTS: dict[str, Json] = {
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


FACTS: dict[str, Json] = {
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
