"""
The cause of a refusal in one sentence: what is asked for, what is available, and the numbers between.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.explain.facts import Whose
from dra_alloc.explain.reasons import reasons
from dra_alloc.explain.tally import explain
from fuzz.targets.reasons_hold import check_reasons, world_of
from tests.unit.solve.questions import ask, claim, device, request

NUMA = [*(device(f"a{number}", numa=0) for number in range(3)), *(device(f"b{number}", numa=1) for number in range(3))]


def cause(asked: dict[str, Any]) -> str:
    return explain(*read_request(asked)).cause


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        pytest.param(
            request([device("x", model="h100")], claim(ask(1, model="H100"))),
            'request "r0" needs 1 device, and none matches: its selector wants has(device.attributes["d"].model) && '
            'device.attributes["d"].model == "H100"; the device has model h100',
            id="values that devices have",
        ),
        pytest.param(
            request(NUMA, claim(ask(3), distinct="numa")),
            'request "r0" needs 3 devices that differ in numa (distinctAttribute d/numa), and numa has only 2 values: '
            "3 have numa 0, 3 have numa 1",
            id="how few values there are to differ in",
        ),
        pytest.param(
            request(NUMA, claim(ask(4), match="numa")),
            'request "r0" needs 4 devices that share one numa (matchAttribute d/numa), and at most 3 do: '
            "3 have numa 0, 3 have numa 1",
            id="how devices spread over a constraint's values",
        ),
        pytest.param(
            request([device("a", counters=3), device("b", counters=2)], claim(ask(2)), counters=4),
            'request "r0" needs 2 devices, only 1 can be chosen; '
            'b: counter "m" of counter set set: 2 needed, 1 of 4 left once a takes 3',
            id="counters",
        ),
        pytest.param(
            request([device("a", shares=4)], claim(ask(1, capacity=5))),
            'request "r0" needs 1 device, none is available; a: capacity c: 5 needed, 4 of 4 left',
            id="capacity",
        ),
        pytest.param(
            request([device("a"), device("b")], claim(ask(2)), claim(ask(1))),
            '3 devices are needed together (request "r0" of claim c0: 2, request "r0" of claim c1: 1), '
            "and there are only 2",
            id="requests of one name in two claims",
        ),
        pytest.param(
            request([device("a", tainted=True), device("b")], claim(ask(None))),
            'request "r0" needs all matching devices, only 1 of 2 is available; '
            "a: taint broken:NoSchedule is not tolerated",
            id="All",
        ),
        pytest.param(
            request([device("a", model="x", tainted=True), device("b", model="y")], claim(ask(1, model="x"))),
            'request "r0" needs 1 device, 1 of 2 matches and is not available; '
            "a: taint broken:NoSchedule is not tolerated",
            id="how many match",
        ),
        pytest.param(
            request([], claim(ask(1))),
            'request "r0" needs 1 device, and no pool offers any on this node',
            id="no device",
        ),
    ],
)
def test_the_cause_has_its_numbers(asked: dict[str, Any], told: str) -> None:
    assert cause(asked) == told


def test_a_counter_that_was_overdrawn_before_is_told() -> None:
    """Another counter of the pool is short than those the device draws on."""
    asked = request([device("a", counters=6), device("b", counters=1)], claim(ask(1)), counters=4)
    for each in asked["slices"]:
        for made in each["spec"].get("devices", ()):
            if made["name"] == "b":
                made["consumesCounters"] = [{"counterSet": "set", "counters": {"n": {"value": "1"}}}]
        for shared in each["spec"].get("sharedCounters", ()):
            shared["counters"]["n"] = {"value": "1"}
    told = cause({**asked, "allocated": [["d", "p", "a"]]})
    assert 'b: counter "m" of counter set set: more is held than the 4 that there are' in told


def test_requests_that_do_not_compete_are_not_counted() -> None:
    """A NIC that is free does not help two requests that want the one GPU."""
    devices = [device("gpu", kind="gpu"), device("nic", kind="nic")]
    asked = request(devices, claim(ask(1, kind="gpu"), ask(1, kind="nic"), ask(1, kind="gpu")))
    assert cause(asked) == '2 devices are needed together (request "r0": 1, request "r2": 1), and only 1 of 2 matches'


def test_the_selector_that_is_false_on_the_nearest_devices_is_told() -> None:
    devices = [device("a", kind="gpu", model="a100"), *(device(f"n{number}", kind="nic") for number in range(3))]
    told = cause(request(devices, claim(ask(1, kind="gpu", model="h100"))))
    assert "none matches: its selector wants" in told
    assert told.endswith("one device has model a100")


def test_too_few_of_the_kind_comes_before_what_stands_against_one_of_them() -> None:
    devices = [device("a", model="x", tainted=True), device("b", model="x"), device("c", model="y")]
    told = cause(request(devices, claim(ask(3, model="x"))))
    assert "only 2 of 3 match" in told
    assert "the other has model y; a: taint broken:NoSchedule is not tolerated" in told


def test_the_constraint_that_refuses_is_told_and_not_the_first() -> None:
    asked = claim(ask(2), match="model")
    constraints = asked["spec"]["devices"]["constraints"]
    constraints.append({"matchAttribute": "d/numa"})
    devices = [device("a", model="x", numa=0), device("b", model="x", numa=1)]
    assert cause(request(devices, asked)).endswith("(matchAttribute d/numa), and no two do: 1 has numa 0, 1 has numa 1")


def test_of_another_kind_is_told_before_in_use() -> None:
    asked = request([device("h", model="h100"), device("a", model="a100")], claim(ask(2, model="a100")))
    (tally,) = explain(*read_request({**asked, "allocated": [["d", "p", "h"]]})).requests
    assert [group.code for pool in tally.pools for group in pool.groups] == ["selector-mismatch"]


def test_what_the_search_passed_over_could_not_be_used() -> None:
    """Where one value per request is remembered, a device passed over looks free again: the search does not go back."""
    devices = [device("a", model="x"), device("b", model="x"), device("c", model="y")]
    asked = request(devices, claim(ask(3), distinct="model"), semantics="upstream")
    (tally,) = explain(*read_request(asked)).requests
    assert tally.usable == 0
    assert tally.needed == 1


def test_all_counts_every_device_of_the_pool() -> None:
    asked = request([device("a", model="x"), device("b", model="y")], claim(ask(None, model="z")))
    (tally,) = explain(*read_request(asked)).requests
    assert [pool.devices for pool in tally.pools] == [2]


def test_a_change_the_facts_do_not_rest_on_is_listed_and_nobody_else_is_killed() -> None:
    """All takes one more device for every holder that is freed; the toleration alone is enough."""
    devices = [device("a", tainted=True, kind="gpu"), device("b", kind="gpu"), device("m", kind="mig")]
    world = world_of({**request(devices, claim(ask(None, kind="gpu"))), "allocated": [["d", "p", "m"]]})
    found = reasons(world)
    taint = "the taint broken:NoSchedule"
    assert [str(fix) for fix in found.fixes] == [f"tolerating {taint}", f"removing {taint}"]
    assert check_reasons(world, found) == []


def test_an_obstacle_that_shows_only_after_the_first_change_is_found() -> None:
    devices = [device("d0", numa=0), device("d1", numa=1)]
    world = world_of({**request(devices, claim(ask(2), match="numa")), "allocated": [["d", "p", "d0"]]})
    found = reasons(world)
    assert ("freeing claim held-0", "dropping matchAttribute d/numa") in [fix.steps for fix in found.fixes]
    assert check_reasons(world, found) == []
    assert found.distance == (1, Whose.MANIFEST, 30)
    needs = 'request "r0" needs 2 devices that share one numa (matchAttribute d/numa)'
    left = f"after freeing claim held-0 alone, {needs}, and no two do: 1 has numa 0, 1 has numa 1"
    assert [fix.leaves for fix in found.fixes if len(fix.steps) > 1] == [left]


def test_what_is_behind_two_changes_is_found_beside_fewer_devices() -> None:
    """One device where two are asked for, tainted, and without the attribute that has to match."""
    world = world_of(request([device("d0", tainted=True)], claim(ask(2), match="numa")))
    found = reasons(world)
    fewer, taint = 'asking for 1 instead of 2 devices in request "r0"', "tolerating the taint broken:NoSchedule"
    assert [set(fix.steps) for fix in found.fixes] == [{fewer, taint, "dropping matchAttribute d/numa"}]
    assert str(found.fixes[0]).startswith(f"all of {fewer}, ")
    assert check_reasons(world, found) == []
    lacking = "d0: taint broken:NoSchedule is not tolerated, and no attribute d/numa, which matchAttribute needs"
    assert explain(world.allocator(), world.node, world.claims).cause.endswith(lacking)


def test_the_taint_of_an_incomplete_pool_is_part_of_the_fix() -> None:
    asked = request([device("a", tainted=True)], claim(ask(1)))
    for each in asked["slices"]:
        each["spec"]["pool"]["resourceSliceCount"] = 2
    found = reasons(world_of(asked))
    published = "having d publish the missing slice of pool p (1 of 2 seen)"
    assert [fix.steps for fix in found.fixes] == [(published, "tolerating the taint broken:NoSchedule")]
    assert found.fixes[0].each_whose == (Whose.CLUSTER, Whose.MANIFEST)
    assert found.fixes[0].leaves.startswith("of the devices seen so far, ")


def test_all_does_not_rest_on_who_holds_what_was_not_asked_for() -> None:
    devices = [device("a", model="x"), device("b", model="y", tainted=True)]
    asked = request(devices, claim(ask(None, model="y")), allocated=[["d", "p", "a"], ["d", "p", "b"]])
    found = reasons(world_of(asked))
    assert found.facts[0] == ("holder", "claim held-1 holds 1 device")
    assert [fix.steps for fix in found.fixes] == [("freeing claim held-1", "tolerating the taint broken:NoSchedule")]


@pytest.mark.parametrize(
    ("policy", "held", "fix"),
    [
        pytest.param({}, "0", "asking for 40Gi instead of 50Gi c", id="all there is"),
        pytest.param({}, "10Gi", "asking for 30Gi instead of 50Gi c", id="what others leave"),
        pytest.param({"validValues": ["8Gi", "16Gi"]}, "10Gi", "asking for 16Gi instead of 50Gi c", id="values"),
        pytest.param(
            {"validRange": {"min": "4Gi", "step": "4Gi"}}, "10Gi", "asking for 28Gi instead of 50Gi c", id="steps"
        ),
    ],
)
def test_less_of_a_capacity_is_a_fix(policy: dict[str, Any], held: str, fix: str) -> None:
    made = {"value": "40Gi", **({"requestPolicy": {"default": "8Gi", **policy}} if policy else {})}
    devices = [{"name": "a", "allowMultipleAllocations": True, "capacity": {"c": made}}]
    asked = request(devices, claim({**ask(1), "capacity": {"requests": {"c": "50Gi"}}}))
    usage = {"allocatedShared": [["d", "p", "a", "s"]], "aggregated": [{"id": ["d", "p", "a"], "cap": {"c": held}}]}
    found = reasons(world_of({**asked, **usage}))
    assert fix in " ".join(map(str, found.fixes))


def failing_later() -> dict[str, Any]:
    """A selector that fails, of a request that the search does not come to, as the first cannot be served."""
    guarded = ask(1)
    guarded["selectors"] = [{"cel": {"expression": 'device.attributes["d"].numa == 0'}}]
    return request([device("a"), device("b")], claim(ask(3), guarded))


def test_a_selector_that_would_fail_later_hides_no_cause() -> None:
    assert cause(failing_later()) == 'request "r0" needs 3 devices, and there are only 2'
