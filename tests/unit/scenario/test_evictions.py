"""
Who is evicted, when, and what holds a drain up.
"""

from __future__ import annotations

import copy
import io
import json
from typing import Any

import pytest

from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import Fate, WhatIf, after_steps, what_if
from dra_alloc.work import Purse

Json = dict[str, Any]
NS = "shop"


def node(name: str, pods: str = "110") -> Json:
    status = {"allocatable": {"cpu": "32", "memory": "64Gi", "pods": pods}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def template(name: str) -> Json:
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def stateful_set(name: str, replicas: int) -> Json:
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(name)}
    meta = {"name": name, "namespace": NS, "uid": f"{name}-uid"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}


def pod(name: str, on: str, kind: str = "StatefulSet", *, ready: str = "True", phase: str = "Running") -> Json:
    owner = name.rpartition("-")[0]
    version = "batch/v1" if kind == "Job" else "apps/v1"
    reference = {"apiVersion": version, "kind": kind, "name": owner, "uid": f"{owner}-uid", "controller": True}
    meta: Json = {"name": name, "namespace": NS, "uid": name, "labels": {"app": owner}}
    if kind:
        meta["ownerReferences"] = [reference]
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}
    spec = {**template(owner)["spec"], "nodeName": on}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def budget(name: str = "b", app: str = "web", **spec: Any) -> Json:
    meta = {"name": name, "namespace": NS}
    spec = {"selector": {"matchLabels": {"app": app}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def documents(objects: list[Json]) -> Documents:
    whole = {"apiVersion": "v1", "kind": "List", "items": objects}
    return load("-", stdin=io.BytesIO(json.dumps(whole).encode()))


def asked(objects: list[Json], *steps: Json, settings: Settings = Settings("1.37")) -> WhatIf:  # noqa: B008 - frozen
    before, after = states(documents(objects), Documents(), Documents(), settings)
    after, wrong = after_steps(after, steps_in({"steps": list(steps)})[0], load)
    assert not wrong
    return what_if(before, after, CheckOptions(settings))


def evicted(found: WhatIf) -> list[str]:
    return sorted(name.rpartition("/")[2] for each in found.changes for name in each.evicted)


DRAIN = {"drainNodes": {"names": ["a"]}}
THREE = [stateful_set("web", 3), pod("web-0", "a"), pod("web-1", "a"), pod("web-2", "a")]
#: Nowhere to go, so that only the first round counts.
ALONE = [node("a"), *THREE]


@pytest.mark.parametrize(
    ("spec", "gone", "said"),
    [
        ({"minAvailable": 3}, 0, "needs 3 healthy pods and has 3 currently"),
        ({"minAvailable": 2}, 1, "needs 2 healthy pods and has 2 currently"),
        ({"minAvailable": 0}, 3, ""),
        ({"minAvailable": 9}, 0, "needs 9 healthy pods and has 3 currently"),
        ({"minAvailable": "50%"}, 1, "needs 2 healthy pods and has 2 currently"),
        ({"minAvailable": "100%"}, 0, "needs 3 healthy"),
        ({"maxUnavailable": 0}, 0, "needs 3 healthy"),
        ({"maxUnavailable": 1}, 1, "needs 2 healthy"),
        ({"maxUnavailable": "50%"}, 2, "needs 1 healthy pods and has 1 currently"),
        ({"maxUnavailable": "1%"}, 1, "needs 2 healthy"),
        ({"maxUnavailable": 5}, 3, ""),
        ({"maxUnavailable": "half"}, 0, "cannot be worked out"),
    ],
)
def test_budgets_let_go_as_many_as_their_controller_works_out(spec, gone, said):
    found = asked([*ALONE, budget(**spec)], DRAIN)
    assert len(evicted(found)) == gone
    assert len(found.stuck) == 3 - gone
    assert all(f"the disruption budget {NS}/b " in each and said in each for each in found.stuck.values())


def test_budgets_count_what_controllers_are_to_have():
    two_lacking = [node("a"), stateful_set("web", 5), *THREE[1:]]
    assert len(evicted(asked([*two_lacking, budget(maxUnavailable=2)], DRAIN))) == 0
    assert len(evicted(asked([*two_lacking, budget(maxUnavailable=3)], DRAIN))) == 1
    deployment = {**stateful_set("web", 4), "kind": "Deployment"}
    replica_set = {**stateful_set("web", 2), "kind": "ReplicaSet"}
    replica_set["metadata"] = {**replica_set["metadata"], "name": "web-abc", "uid": "web-abc-uid"}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web-uid", "controller": True}
    replica_set["metadata"]["ownerReferences"] = [owner]
    pods = [pod(f"web-abc-{number}", "a", "ReplicaSet") for number in range(2)]
    for each in (*pods, replica_set):
        each["metadata"]["labels"] = {"app": "web"}
    objects = [node("a"), deployment, replica_set, *pods]
    assert len(evicted(asked([*objects, budget(maxUnavailable=2)], DRAIN))) == 0
    assert len(evicted(asked([*objects, budget(maxUnavailable=3)], DRAIN))) == 1


def test_who_is_not_asked_of_a_budget():
    strict = budget(maxUnavailable=0)
    pending = [node("a"), stateful_set("web", 1), pod("web-0", "a", phase="Pending")]
    assert evicted(asked([*pending, strict], DRAIN)) == ["web-0"]
    assert len(evicted(asked([*ALONE, budget(app="other", maxUnavailable=0)], DRAIN))) == 3
    elsewhere = copy.deepcopy(strict)
    elsewhere["metadata"]["namespace"] = "other"
    assert len(evicted(asked([*ALONE, elsewhere], DRAIN))) == 3
    found = asked([*ALONE, budget("one", minAvailable=0), budget("two", minAvailable=0)], DRAIN)
    assert not evicted(found)
    assert set(found.stuck.values()) == {"it has more than one PodDisruptionBudget, which evictions do not support"}
    # Budgets hold up evictions only: neither nodes that go nor what is deleted.
    assert len(evicted(asked([node("b"), *ALONE, strict], {"removeNodes": {"names": ["a"]}}))) == 3


def test_pods_of_other_controllers_and_of_nobody():
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web", "namespace": NS, "uid": "web-uid"}}
    job["spec"] = {"parallelism": 1, "template": {"spec": {**template("web")["spec"], "restartPolicy": "Never"}}}
    objects = [node("a"), job, pod("web-0", "a", "Job")]
    assert "cannot be worked out" in "".join(asked([*objects, budget(maxUnavailable=1)], DRAIN).stuck.values())
    assert evicted(asked([*objects, budget(minAvailable=0)], DRAIN)) == ["web-0"]
    nobody = [node("a"), pod("web-0", "a", ""), budget(maxUnavailable=1)]
    assert list(asked(nobody, DRAIN).stuck) == [f"{NS}/web-0"]


@pytest.mark.parametrize(
    ("spec", "gone"),
    [
        ({"minAvailable": 2}, ["web-2"]),
        ({"minAvailable": 3}, []),
        ({"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, ["web-2"]),
        ({"minAvailable": 3, "unhealthyPodEvictionPolicy": "IfHealthyBudget"}, []),
        ({"minAvailable": 1}, ["web-0", "web-2"]),
    ],
)
def test_pods_that_are_not_ready(spec, gone):
    objects = [node("a"), *THREE[:3], pod("web-2", "a", ready="False"), budget(**spec)]
    assert evicted(asked(objects, DRAIN)) == gone


def test_a_drain_goes_on_as_others_run_elsewhere():
    found = asked([*ALONE, node("b"), budget(maxUnavailable=1)], DRAIN)
    assert len(evicted(found)) == 3
    assert not found.stuck
    found = asked([*ALONE, node("b", pods="1"), budget(maxUnavailable=1)], DRAIN)
    assert len(evicted(found)) == 2
    assert list(found.stuck) == [f"{NS}/web-2"]
    # What is stuck still runs.
    assert [each.after.running for each in found.changes] == [2]


def test_budgets_come_and_go():
    strict = budget(maxUnavailable=0)
    gone = {"delete": {"kind": "PodDisruptionBudget", "name": "b", "namespace": NS}}
    assert len(evicted(asked([*ALONE, strict], gone, DRAIN))) == 3


@pytest.mark.parametrize(
    "later",
    [
        [{"delete": {"kind": "PodDisruptionBudget", "name": "b", "namespace": NS}}, DRAIN],
        [{"delete": {"kind": "StatefulSet", "name": "web", "namespace": NS}}],
        [{"removeNodes": {"names": ["a"]}}],
    ],
)
def test_who_goes_in_a_later_step_holds_up_nothing(later):
    objects = [*ALONE, node("b"), budget(maxUnavailable=0)]
    assert len(asked(objects, DRAIN).stuck) == 3
    found = asked(objects, DRAIN, *later)
    assert len(evicted(found)) == 3
    assert not found.stuck


@pytest.mark.parametrize("policy", ["Parallel", "OrderedReady"])
def test_out_of_budget_nobody_is_said_to_be_stuck(policy):
    """Pods made anew have a costly selector: whatever the budget, what is told is so without one, or undecided."""
    expression = "".join(f"[1, 2].all(x{number}, " for number in range(6)) + "device.driver == 'd'" + ")" * 6
    exactly = {"deviceClassName": "c", "selectors": [{"cel": {"expression": expression}}]}
    made: Json = {"spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
    api = {"apiVersion": "resource.k8s.io/v1"}
    slices = []
    for name in "bc":
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec: Json = {"driver": "d", "nodeName": name, "pool": pool, "devices": [{"name": "gpu-0"}]}
        slices.append({**api, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})
    web = copy.deepcopy(THREE[0])
    web["spec"]["podManagementPolicy"] = policy
    web["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimTemplateName": "t"}]
    objects = [
        *(node(name) for name in "abc"),
        web,
        *THREE[1:],
        budget(maxUnavailable=1),
        *slices,
        {**api, "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}},
        {**api, "kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": NS}, "spec": made},
    ]
    whole = asked(objects, DRAIN)
    assert not whole.stuck
    assert not whole.unsure
    doubted = 0
    for power in range(0, 18, 3):
        with Purse(2**power):
            found = asked(objects, DRAIN)
        assert not found.stuck, power
        doubted += bool(found.unsure)
    assert doubted


def test_without_budgets_that_is_said():
    assert any("no PodDisruptionBudgets" in each for each in asked(ALONE, DRAIN).notes)
    assert not any("no PodDisruptionBudgets" in each for each in asked([*ALONE, budget(minAvailable=0)], DRAIN).notes)


def on_device(*tolerations: Json, taint: Json | None = None) -> list[Json]:
    """A pod on a device, whose allocation has these tolerations."""
    device: Json = {"name": "gpu-0"} | ({"taints": [taint]} if taint else {})
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    spec: Json = {"driver": "d", "nodeName": "a", "pool": pool, "devices": [device]}
    api = {"apiVersion": "resource.k8s.io/v1"}
    result: Json = {"request": "r", "driver": "d", "pool": "a", "device": "gpu-0", "tolerations": list(tolerations)}
    status = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": "web-0", "uid": "web-0"}],
    }
    asks = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
    user = pod("web-0", "a")
    user["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimName": "claim"}]
    return [
        node("a"),
        {**api, "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}},
        {**api, "kind": "ResourceSlice", "metadata": {"name": "a"}, "spec": spec},
        {
            **api,
            "kind": "ResourceClaim",
            "metadata": {"name": "claim", "namespace": NS},
            "spec": asks,
            "status": status,
        },
        stateful_set("web", 1),
        user,
        budget(maxUnavailable=0),
    ]


BAD = {"key": "bad", "effect": "NoExecute"}


def tolerates(seconds: int | None = None, effect: str = "NoExecute", key: str = "bad") -> Json:
    found: Json = {"key": key, "operator": "Exists", "effect": effect, "tolerationSeconds": seconds}
    return {name: value for name, value in found.items() if value not in ("", None)}


@pytest.mark.parametrize(
    ("tolerations", "after"),
    [
        ((), 0),
        ((tolerates(),), None),
        ((tolerates(30),), 30),
        ((tolerates(30), tolerates(10), tolerates(60)), 10),
        ((tolerates(30), tolerates()), None),
        ((tolerates(-5), tolerates(60)), 0),
        ((tolerates(key="other"),), 0),
        ((tolerates(effect=""),), 0),
        ((tolerates(20), tolerates(effect="")), 20),
    ],
)
def test_of_several_tolerations(tolerations, after):
    """Upstream's controller, of which budgets hold nothing up."""
    for seconds in (0, 9, 10, 29, 30, 100, None):
        taint = {"taint": BAD} | ({} if seconds is None else {"seconds": seconds})
        gone = evicted(asked(on_device(*tolerations), {"taintDevices": taint}))
        assert bool(gone) == (after is not None and (seconds is None or seconds >= after)), seconds
    forever = evicted(asked(on_device(tolerates(effect="")), {"taintDevices": {"taint": BAD}}))
    assert forever == ["web-0"]
    intended = Settings("1.37", semantics="intended")
    assert not evicted(asked(on_device(tolerates(effect="")), {"taintDevices": {"taint": BAD}}, settings=intended))


def test_the_clock():
    at_once: Json = {"taintDevices": {"taint": BAD, "seconds": 0}}
    objects = on_device(tolerates(30))
    assert not evicted(asked(objects, at_once, {"wait": {"seconds": 29}}))
    assert evicted(asked(objects, at_once, {"wait": {"seconds": 29}}, {"wait": {"seconds": 1}}))
    assert not evicted(asked(objects, {"wait": {"seconds": 100}}, at_once, {"wait": {"seconds": 29}}))
    there = on_device(tolerates(30), taint=BAD)
    assert not evicted(asked(there, {"wait": {"seconds": 29}}))
    assert evicted(asked(there, {"wait": {"seconds": 30}}))
    other = {"taintDevices": {"taint": {**BAD, "key": "other"}, "seconds": 0}}
    objects = on_device(tolerates(30), tolerates(30, key="other"))
    later: list[Json] = [at_once, {"wait": {"seconds": 20}}, other, {"wait": {"seconds": 9}}]
    assert not evicted(asked(objects, *later))
    assert evicted(asked(objects, *later, {"wait": {"seconds": 1}}))


def tolerating(*tolerations: Json) -> list[Json]:
    """Return a set of one pod on a node of two, which tolerates taints; the other node is full."""
    objects = [node("a"), node("b", pods="0"), stateful_set("web", 1), pod("web-0", "a")]
    for each in (objects[2]["spec"]["template"], objects[3]):
        each["spec"]["tolerations"] = list(tolerations)
    return objects


def tainting(key: str, effect: str = "NoExecute", **more: Any) -> Json:
    return {"taintNodes": {"names": ["a"], "taint": {"key": key, "effect": effect}, **more}}


FOR_EVER = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
A_MINUTE = {**FOR_EVER, "tolerationSeconds": 60}
OTHER_HALF = {"key": "other", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
WAIT = {"wait": {"seconds": 40}}


@pytest.mark.parametrize(
    ("tolerations", "steps", "goes"),
    [
        ([], [tainting("k", "NoSchedule")], False),
        ([], [tainting("k", "PreferNoSchedule")], False),
        ([], [tainting("k")], True),
        ([], [tainting("k", seconds=0)], True),
        ([FOR_EVER], [tainting("k")], False),
        ([FOR_EVER], [tainting("other")], True),
        ([{"operator": "Exists"}], [tainting("k")], False),  # no effect is every effect, and no key every key
        ([A_MINUTE], [tainting("k")], True),
        ([A_MINUTE], [tainting("k", seconds=59)], False),
        ([A_MINUTE], [tainting("k", seconds=60)], True),
        ([{**A_MINUTE, "tolerationSeconds": -5}], [tainting("k", seconds=0)], True),
        ([FOR_EVER, A_MINUTE], [tainting("k")], False),  # the first that tolerates it counts
        ([A_MINUTE, FOR_EVER], [tainting("k")], True),
        ([A_MINUTE], [tainting("k", seconds=0), WAIT], False),
        ([A_MINUTE], [tainting("k", seconds=0), WAIT, WAIT], True),
        # Once a time is set, more taints that are tolerated for a time do not change it.
        ([A_MINUTE], [tainting("k", seconds=0), WAIT, tainting("k", seconds=20)], True),
        ([A_MINUTE, OTHER_HALF], [tainting("k", seconds=0), WAIT, tainting("other", seconds=19)], False),
        ([A_MINUTE, OTHER_HALF], [tainting("k", seconds=0), WAIT, tainting("other", seconds=20)], True),
        ([A_MINUTE], [tainting("k", seconds=0), WAIT, tainting("other", seconds=0)], True),
        ([FOR_EVER, OTHER_HALF], [tainting("k", seconds=0), WAIT, tainting("other", seconds=29)], False),
        ([FOR_EVER, OTHER_HALF], [tainting("k", seconds=0), WAIT, tainting("other", seconds=30)], True),
        ([A_MINUTE], [tainting("k", seconds=0), {"removeNodes": {"names": ["b"]}}], False),
    ],
)
def test_taints_of_nodes_evict_who_does_not_tolerate_them(tolerations, steps, goes):
    found = asked([*tolerating(*tolerations), budget(maxUnavailable=0)], *steps)  # no budget holds it up
    assert evicted(found) == (["web-0"] if goes else [])
    assert not found.stuck


def test_taints_of_the_dump_are_there_from_the_start():
    objects = tolerating(A_MINUTE, OTHER_HALF)
    objects[0]["spec"] = {"taints": [{"key": key, "effect": "NoExecute"} for key in ("k", "other")]}
    assert evicted(asked(objects, {"wait": {"seconds": 29}})) == []
    found = asked(objects, {"wait": {"seconds": 30}})  # of taints that come together the shortest time counts
    assert [why for each in found.changes for why in each.evicted.values()] == [
        "node a is tainted other:NoExecute after 30 s"
    ]


def test_a_tainted_node_takes_nobody_who_does_not_tolerate_it():
    objects = [*tolerating(), stateful_set("new", 1)]
    fates = {each.subject.name: each.fate for each in asked(objects, tainting("k", "NoSchedule")).changes}
    assert fates == {"shop/new": Fate.LOST, "shop/web": Fate.STAYS}
    assert asked(objects, tainting("k", "PreferNoSchedule")).count(Fate.LOST) == 0
    gone = {each.subject.name: each for each in asked(objects, tainting("k")).changes}["shop/web"]
    assert gone.fate is Fate.LOST
    assert list(gone.evicted.values()) == ["node a is tainted k:NoExecute"]


def test_what_is_wrong_with_a_taint_of_nodes_is_told():
    _, after = states(documents(tolerating()), Documents(), Documents(), Settings("1.37"))
    taint = {"key": "not a key", "value": "not a value", "effect": "NoExecute"}
    step = {"taintNodes": {"names": ["a", "q"], "taint": taint}}
    _, wrong = after_steps(after, steps_in({"steps": [step]})[0], load)
    assert [each.where.path.rpartition("taintNodes.")[2] for each in wrong] == ["taint.key", "taint.value", "names"]
