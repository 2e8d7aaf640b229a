"""
What has to hold of every answer of a queue system's rule, whatever is asked: systems whose code cannot be asked anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import Quantity
from dra_alloc.cli.harness.rule import answer_rule
from dra_alloc.queues.kai.fair_share import fair_shares
from tests.unit.queues.test_queue_rules import CLAIMANTS

Json = dict[str, Any]


def out(rule: str, given_: Json) -> Json:
    found: Json = answer_rule({"rule": rule, "in": given_})["out"]
    return found


# Kueue's charge

#: Of a pool of three cards and one that has no memory.
SLICE: Json = {
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {"name": f"gpu-{number}", "capacity": {"memory": {"value": f"{size}Gi"}}}
            for number, size in enumerate((10, 40, 80))
        ],
    },
}
BY_MEMORY = [{"capacity": {"name": "memory", "driver": "gpu.example.com"}}]
COUNTS = st.lists(st.integers(1, 3), min_size=1, max_size=3)


def charge(requests: list[Json], sources: list[Json], devices: int = 3) -> Json:
    spec: Json = {**SLICE["spec"], "devices": SLICE["spec"]["devices"][:devices]}
    mapping: Json = {"name": "r", "deviceClassNames": ["gpu.example.com"]}
    asked = [{"name": f"r{number}", "exactly": each} for number, each in enumerate(requests)]
    template = {"metadata": {"name": "t", "namespace": "ns"}, "spec": {"spec": {"devices": {"requests": asked}}}}
    return out(
        "kueue/dra-charge",
        {
            "deviceClassMappings": [mapping | ({"sources": sources} if sources else {})],
            "deviceClasses": [{"metadata": {"name": "gpu.example.com"}, "spec": {}}],
            "resourceClaimTemplates": [template],
            "resourceSlices": [{**SLICE, "spec": spec}],
            "podResourceClaimTemplateNames": ["t"],
        },
    )


def cost(found: Json) -> int:
    return Quantity.from_wire(found.get("perPod", {}).get("r", "0")).nano


def exactly(count: int, **more: Any) -> Json:
    return {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": count, **more}


@given(COUNTS, st.sampled_from([[], BY_MEMORY]), st.integers(0, 2))
def test_admin_access_never_costs_more(counts, sources, free):
    requests = [exactly(each) for each in counts]
    before = charge(requests, sources)
    requests[free % len(counts)]["adminAccess"] = True
    assert cost(charge(requests, sources)) < cost(before)


@given(COUNTS)
def test_twice_as_many_cost_twice_as_much(counts):
    once, twice = (cost(charge([exactly(each * times) for each in counts], [])) for times in (1, 2))
    assert twice == 2 * once == 2 * sum(counts) * 10**9


@given(st.integers(1, 2), st.integers(1, 80))
def test_one_device_more_never_costs_less(devices, asked):
    request = exactly(1, capacity={"requests": {"memory": f"{asked}Gi"}})
    less, more = (charge([request], BY_MEMORY, devices=number) for number in (devices, devices + 1))
    assert "error" not in more
    assert cost(more) >= cost(less)


@given(COUNTS)
def test_a_selector_that_all_devices_pass_costs_nothing_more(counts):
    passed = {"selectors": [{"cel": {"expression": "true"}}]}
    plain, selecting = (charge([exactly(1, **more) for _ in counts], BY_MEMORY) for more in ({}, passed))
    assert plain == selecting


# KAI's division and reclaim


@given(st.integers(0, 12).map(float), CLAIMANTS, st.integers(0, 4), st.sampled_from([0.5, 1.0, 4.0]))
def test_a_larger_weight_never_costs_more_than_a_unit(total, queues, which, more):
    """A unit: remainders go to others then."""
    if queues:
        name = queues[which % len(queues)].name
        heavier = [replace(each, weight=each.weight + more) if each.name == name else each for each in queues]
        assert fair_shares(total, heavier)[name] >= fair_shares(total, queues)[name] - 1


@given(st.integers(0, 12).map(float), CLAIMANTS)
def test_the_order_of_queues_changes_no_share(total, queues):
    assert fair_shares(total, queues) == fair_shares(total, queues[::-1])


HELD = st.integers(0, 8)
LEAVES = st.fixed_dictionaries({name: st.tuples(HELD, HELD, HELD) for name in ("a", "b", "c")})
VICTIMS = st.fixed_dictionaries({}, optional={name: st.lists(st.integers(1, 3), max_size=3) for name in ("b", "c")})


def reclaim(leaves: dict[str, tuple[int, int, int]], victims: Json, request: int, multiplier: float = 1) -> Json:
    queues = [
        {"name": name, "parent": "", "quota": quota, "limit": -1, "fairShare": share, "allocated": allocated}
        for name, (quota, share, allocated) in leaves.items()
    ]
    reclaimer = {"queue": "a", "request": request, "preemptible": True}
    given_ = {"queues": queues, "reclaimer": reclaimer, "victims": victims, "saturationMultiplier": multiplier}
    return out("kai/reclaim", given_)


def answers(found: Json) -> set[bool]:
    told = found["reclaimable"]
    return set(told["oneOf"]) if isinstance(told, dict) else {told}


@given(LEAVES, st.integers(1, 8))
def test_who_may_ask_for_much_may_ask_for_less(leaves, request):
    may = [reclaim(leaves, {}, each)["may"] for each in range(1, request + 1)]
    assert may == sorted(may, reverse=True)


@given(LEAVES, VICTIMS, st.integers(1, 8))
def test_a_larger_multiplier_allows_nothing_more(leaves, victims, request):
    """It is for robbing those that are nearer to their share."""
    allowed = [True in answers(reclaim(leaves, victims, request, each)) for each in (1, 2, 10)]
    assert allowed == sorted(allowed, reverse=True)


@given(LEAVES, VICTIMS, st.integers(1, 8))
def test_the_order_of_queues_changes_nothing_of_reclaiming(leaves, victims, request):
    turned = dict(reversed(leaves.items()))
    assert answers(reclaim(leaves, victims, request)) == answers(reclaim(turned, victims, request))


# Volcano's devices

CLAIMS = st.lists(
    st.tuples(st.sampled_from(["exact", "all", "alternatives"]), st.integers(1, 4), st.integers(1, 20)),
    min_size=1,
    max_size=4,
)
PODS = st.lists(st.lists(st.integers(0, 3), max_size=2), max_size=5)


def enqueue(claims: list[tuple[str, int, int]], pods: list[list[int]], capability: Json, **more: Any) -> Json:
    made = []
    for number, (mode, count, memory) in enumerate(claims):
        request = exactly(count, capacity={"requests": {"memory": f"{memory}Gi"}})
        request["deviceClassName"] = "gpu"
        asked: Json = {"name": "r", "exactly": request}
        if mode == "all":
            asked["exactly"] = {"deviceClassName": "gpu", "allocationMode": "All"}
        elif mode == "alternatives":
            below = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
            asked = {"name": "r", "firstAvailable": [{"name": "s", **below}]}
        made.append({"metadata": {"name": f"c{number}"}, "spec": {"devices": {"requests": [asked]}}})
    names = [[f"c{each % len(claims)}" for each in pod] for pod in pods]
    return out(
        "volcano/dra-enqueue",
        {
            "capability": capability,
            "claims": made,
            "podClaims": names,
            "minAvailable": more.pop("least", len(pods)),
            "consumableCapacity": False,
            **more,
        },
    )


def counted(found: Json) -> int:
    return int(found["minimum"].get("gpu", {}).get("count", 0))


@given(CLAIMS, PODS, st.integers(0, 4))
def test_more_pods_need_no_less(claims, pods, least):
    less, more = (counted(enqueue(claims, pods, {}, least=each)) for each in (least, least + 1))
    assert less <= more


@given(CLAIMS, PODS)
def test_only_what_asks_for_a_number_of_devices_counts(claims, pods):
    expected = sum(
        claims[each % len(claims)][1] for pod in pods for each in pod if claims[each % len(claims)][0] == "exact"
    )
    assert counted(enqueue(claims, pods, {})) == expected


@given(CLAIMS, PODS)
def test_what_pods_share_counts_no_more_without_the_defect(claims, pods):
    found = [counted(enqueue(claims, pods, {}, semantics=each)) for each in ("intended", "upstream")]
    assert found == sorted(found)


@given(CLAIMS, PODS, st.integers(0, 12), st.integers(0, 6))
def test_room_in_a_queue(claims, pods, most, held):
    """More room refuses nobody who was let in; what is held lets nobody in; no limit, or 0, refuses nobody."""

    def let_in(capability: Json, allocated: int = held, semantics: str = "upstream") -> bool:
        given_ = {"allocatedCounts": {"gpu": allocated}, "semantics": semantics}
        return bool(enqueue(claims, pods, capability, **given_)["enqueue"])

    assert let_in({}) is let_in({"deviceclass/gpu": "0"}) is True
    room = [let_in({"deviceclass/gpu": str(each)}) for each in range(1, most + 2)]
    assert room == sorted(room)
    taken = [let_in({"deviceclass/gpu": str(most + 1)}, each) for each in range(held + 1)]
    assert taken == sorted(taken, reverse=True)
    if counted(enqueue(claims, pods, {}, semantics="intended")):
        assert not let_in({"deviceclass/gpu": "0"}, semantics="intended")
