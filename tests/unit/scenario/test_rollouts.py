"""
Workloads whose template changes while pods of the older one run: exit 0 means that the rollout can finish.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.scenario.check import Check, check
from tests.reading import documents

RESOURCES = "resource.k8s.io/v1"
REQUEST = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
STEPWISE = "made once a pod of the older template has gone"


def node(name: str, cpu: str) -> dict[str, Any]:
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def workload(kind: str, cpu: str, strategy: dict[str, Any], replicas: int = 2, claimed: bool = False) -> dict[str, Any]:
    spec = {"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]} if claimed else {}
    uses = {"claims": [{"name": "g"}]} if claimed else {}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}, **uses}}
    template = {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [container], **spec}}
    body: dict[str, Any] = {"selector": {"matchLabels": {"app": "w"}}, "template": template}
    body["strategy" if kind == "Deployment" else "updateStrategy"] = strategy
    body |= {} if kind == "DaemonSet" else {"replicas": replicas}
    body |= {"serviceName": "w"} if kind == "StatefulSet" else {}
    meta = {"name": "w", "namespace": "default", "uid": "w"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": body}


def running(given: dict[str, Any], names: dict[str, str], claimed: bool = False) -> list[dict[str, Any]]:
    """Return the pods of a workload on their nodes, and what stands between; each may have a claim with a device."""
    owner = {"apiVersion": "apps/v1", "kind": given["kind"], "name": "w", "uid": "w", "controller": True}
    found: list[dict[str, Any]] = []
    if given["kind"] == "Deployment":
        meta: dict[str, Any] = {"name": "w-h", "namespace": "default", "uid": "h", "ownerReferences": [owner]}
        found.append({**given, "kind": "ReplicaSet", "metadata": meta})
        owner = {**owner, "kind": "ReplicaSet", "name": "w-h", "uid": "h"}
    for name, where in names.items():
        meta = {"name": name, "namespace": "default", "uid": name, "labels": {"app": "w"}, "ownerReferences": [owner]}
        spec = {**given["spec"]["template"]["spec"], "nodeName": where}
        found.append(
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Running"}}
        )
        if claimed:
            made = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}
            told: dict[str, Any] = {
                "annotations": {"resource.kubernetes.io/pod-claim-name": "g"},
                "ownerReferences": [made],
            }
            result: dict[str, Any] = {"request": "r", "driver": "d", "pool": where, "device": f"d{len(found) // 2 - 1}"}
            status = {
                "allocation": {"devices": {"results": [result]}},
                "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
            }
            meta = {"name": f"{name}-g-x", "namespace": "default", "uid": f"c-{name}", **told}
            found[-1]["status"]["resourceClaimStatuses"] = [{"name": "g", "resourceClaimName": f"{name}-g-x"}]
            claim = {"apiVersion": RESOURCES, "kind": "ResourceClaim", "metadata": meta, "spec": REQUEST}
            found.append({**claim, "status": status})
    return found


def rolling(surge: int | str | None, gone: int | str | None) -> dict[str, Any]:
    given = {"maxSurge": surge, "maxUnavailable": gone}
    return {"type": "RollingUpdate", "rollingUpdate": {key: value for key, value in given.items() if value is not None}}


def asked(new: dict[str, Any], there: list[dict[str, Any]], *nodes: dict[str, Any]) -> tuple[bool, Check]:
    found = check(documents(new), documents(*nodes, *there))
    return all(each.verdict == "allocated" for each in found.placements), found


@pytest.mark.parametrize(
    ("strategy", "cpu", "finishes", "stepwise"),
    [
        (rolling(1, 0), "900m", True, True),
        (rolling(2, 0), "500m", True, False),
        (rolling(1, 0), "2500m", False, False),
        (rolling(0, 1), "2", True, True),
        (rolling(0, 1), "3", False, True),
        (rolling(0, 2), "3", False, True),
        (rolling("25%", "25%"), "2500m", False, False),
        ({"type": "Recreate"}, "1500m", True, True),
        ({"type": "Recreate"}, "3", False, True),
    ],
)
def test_a_deployment_rolls_out_as_far_as_its_strategy_lets_it(strategy, cpu, finishes, stepwise) -> None:
    """On one node, on which two pods of 1 cpu run: what 1.37.2 finished and what it did not."""
    before = workload("Deployment", "1", strategy)
    there = [before, *running(before, {"w-h-a": "n1", "w-h-b": "n1"})]
    done, found = asked(
        workload("Deployment", cpu, strategy), there, node("n1", "3" if cpu in ("900m", "500m") else "4")
    )
    assert done is finishes, found.placements
    assert any(STEPWISE in each for each in found.notes) is stepwise


def test_pods_of_a_stateful_set_take_the_place_of_their_own() -> None:
    strategy: dict[str, Any] = {"type": "RollingUpdate"}
    before = workload("StatefulSet", "1", strategy)
    there = [before, *running(before, {"w-0": "n1", "w-1": "n2"})]
    nodes = node("n1", "2"), node("n2", "3")
    assert asked(workload("StatefulSet", "2", strategy), there, *nodes)[0]
    done, found = asked(workload("StatefulSet", "3", strategy), there, *nodes)
    assert not done
    assert {each.name: each.verdict for each in found.placements}["default/w-1"] == "allocated"
    for kept in ({"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}):
        assert asked(workload("StatefulSet", "3", kept), there, *nodes)[0]


def test_a_daemon_set_of_another_template_is_asked_node_by_node() -> None:
    before = workload("DaemonSet", "1", rolling(None, 1))
    there = [before, *running(before, {"w-a": "n1", "w-b": "n2"})]
    nodes = node("n1", "2"), node("n2", "2")
    for cpu, strategy, finishes in (
        ("2", rolling(None, 1), True),
        ("3", rolling(None, 1), False),
        ("1", rolling(1, 0), True),
        ("2", rolling(1, 0), False),
        ("3", {"type": "OnDelete"}, True),
    ):
        done, found = asked(workload("DaemonSet", cpu, strategy), there, *nodes)
        assert done is finishes, (cpu, strategy, found.placements)


def test_devices_of_pods_that_go_are_free_for_those_that_come() -> None:
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n1", "pool": pool, "devices": [{"name": "d0"}, {"name": "d1"}]}
    meta = {"name": "t", "namespace": "default"}
    there = [
        {"apiVersion": RESOURCES, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
        {"apiVersion": RESOURCES, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec},
        {"apiVersion": RESOURCES, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": REQUEST}},
        node("n1", "16"),
    ]
    for strategy, finishes in ((rolling(0, 1), True), (rolling(1, 0), False), ({"type": "Recreate"}, True)):
        before = workload("Deployment", "1", strategy, claimed=True)
        pods = running(before, {"w-h-a": "n1", "w-h-b": "n1"}, claimed=True)
        done, found = asked(workload("Deployment", "2", strategy, claimed=True), [before, *pods, *there])
        assert done is finishes, (strategy, found.placements)


def test_a_node_is_as_before_when_a_pod_has_gone() -> None:
    labels = {"matchLabels": {"app": "w"}}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": labels}
    rather = [{"weight": 5, "podAffinityTerm": term}]
    affinity = {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [term],
            "preferredDuringSchedulingIgnoredDuringExecution": rather,
        },
    }
    first, *_ = running(workload("StatefulSet", "1", {}), {"w-0": "n1"})
    first["spec"] = {**first["spec"], "affinity": affinity}
    first["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    (node_there,), (pod,) = documents(node("n1", "4")).nodes, documents(first).pods
    fresh, used = Tenancy([node_there], {}), Tenancy([node_there], {}, [pod])
    assert used.loads != fresh.loads
    assert used.ports[0]
    assert used.apart
    used.remove(used.view(pod), 0)
    load, before = used.loads[0], fresh.loads[0]
    assert (load.pods, load.counted, {name for name, amount in load.used.items() if amount}) == (0, (0, 0), set())
    assert load.allocatable == before.allocatable
    counted = (used.staying, used.owned, used.near, used.apart, used.rather, used.ports)
    assert not any(places for each in counted for places in each.values())
