"""
Shares of devices asked for one question after the other, while what is consumed changes: what is remembered of earlier
questions changes no answer.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from dra_alloc.api import Quantity
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.usage import Usage
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.outcome import Solved, SolveOutcome

Json = dict[str, Any]
DRIVER = "x.example"
AMOUNTS = ("-1Gi", "0", "1Gi", "2Gi", "3Gi", "2048Mi", "7Gi", "1.5", "1500m")
POLICIES: tuple[Json | None, ...] = (
    None,
    {"default": "1Gi"},
    {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi", "max": "4Gi"}},
    {"validRange": {"min": "1Gi"}},
    {"default": "2Gi", "validValues": ["1Gi", "2Gi", "7Gi"]},
    {"validValues": ["1Gi", "7Gi"]},
)
NAMES = ("memory", f"{DRIVER}/memory", "cores", "other.example/memory")
ASKED = ("memory", "cores", f"{DRIVER}/memory", "other.example/memory")


def _kind(draw: Random) -> dict[str, Json]:
    """The capacities of a kind of device, with what they have besides a value."""
    policies = {name: draw.choice(POLICIES) for name in draw.sample(NAMES, draw.choice((1, 1, 2, 3)))}
    return {name: {} if policy is None else {"requestPolicy": policy} for name, policy in policies.items()}


def _device(draw: Random, place: int, kinds: list[dict[str, Json]]) -> Json:
    capacity = {name: {"value": draw.choice(AMOUNTS[2:]), **more} for name, more in draw.choice(kinds).items()}
    shared = draw.random() < 0.8
    more: Json = {"allowMultipleAllocations": True} if shared else {}
    return {"name": f"d{place}", "attributes": {"model": {"string": draw.choice("ab")}}, "capacity": capacity, **more}


def _claim(draw: Random, number: int) -> Json:
    requests = []
    for each in range(draw.choice((1, 1, 2))):
        expression = f"device.attributes['{DRIVER}'].model {draw.choice(('==', '!='))} 'a'"
        exactly: Json = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": draw.choice((1, 1, 2))}
        if draw.random() < 0.7:
            exactly["selectors"] = [{"cel": {"expression": expression}}]
        amounts = {name: draw.choice(AMOUNTS) for name in draw.sample(ASKED, draw.choice((0, 1, 1, 2)))}
        if amounts:
            exactly["capacity"] = {"requests": amounts}
        requests.append({"name": f"r{each}", "exactly": exactly})
    return {"metadata": {"name": f"c{number}", "uid": f"u{number}"}, "spec": {"devices": {"requests": requests}}}


def _used(draw: Random) -> Usage:
    keys = [DeviceKey(DRIVER, "p", f"d{place}") for place in range(5)]
    consumed = {
        key: {draw.choice(NAMES): Quantity.parse(draw.choice(AMOUNTS[1:])).nano} for key in keys if draw.random() < 0.4
    }
    return Usage(frozenset(key for key in keys if draw.random() < 0.1), frozenset(consumed), consumed)


def _said(outcome: SolveOutcome) -> Any:
    if not isinstance(outcome, Solved):
        return type(outcome), getattr(outcome, "text", "")
    results = [each for allocation in outcome.results for each in allocation.devices.results]
    return [(each.device, {name: str(amount) for name, amount in each.consumed_capacity.items()}) for each in results]


@pytest.mark.parametrize("release", ["1.36", "1.37", "1.38"])
@pytest.mark.parametrize("semantics", ["upstream", "intended"])
def test_what_is_remembered_of_shares_changes_no_answer(release: str, semantics: str) -> None:
    found = offered = 0
    for seed in range(30):
        draw = Random(f"shares/{seed}")
        spec: Json = {"driver": DRIVER, "nodeName": "node-1", "pool": {"name": "p", "resourceSliceCount": 1}}
        kinds = [_kind(draw), _kind(draw)]
        spec["devices"] = [_device(draw, place, kinds) for place in range(5)]
        asked = {
            "release": release,
            "semantics": semantics,
            "features": {"ConsumableCapacity": True},
            "slices": [{"metadata": {"name": "s"}, "spec": spec}],
            "classes": [{"metadata": {"name": "any"}, "spec": {}}],
        }
        first, node, _ = read_request(asked)
        for number in range(5):
            state = replace(first.state, usage=_used(draw))
            alone, _, claims = read_request(asked | {"claims": [_claim(draw, number)]})
            known = Allocator(state, first.profile, first.survey)
            said = _said(known.allocate(node, claims))
            plain = Allocator(replace(alone.state, usage=state.usage), alone.profile)
            assert said == _said(plain.allocate(node, claims, engine="first-fit")), (seed, number)
            found += isinstance(said, list) and known.direct.answer(node, claims, None) is not None
            rows = first.state.inventory.slices[0].devices
            # What a device remembers must not keep the memory of a question alive, which may die before it.
            assert all(each.offers[0] is None or type(each.offers[0]) is object for each in rows)
            offered += sum(each.offers[0] is not None for each in rows)
    assert found > 20
    assert offered
