"""
What would let a pod onto a node that has something against the pod itself: proposed where it was tried.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_alloc.cli.main import run
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.scenario.refused.pod_fixes import _Trying

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"disk": "hdd"}},
    "spec": {},
    "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
}
CORDONED = {**NODE, "spec": {"unschedulable": True}}
TAINTED = {**NODE, "spec": {"taints": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}]}}
UNREADY = [{"key": "node.kubernetes.io/not-ready", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
STARTING = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}
BOTH = {**NODE, "spec": {**CORDONED["spec"], **TAINTED["spec"]}}
SSD = {"nodeSelector": {"disk": "ssd"}}
NEAR = [{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}]
ALONE = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": NEAR}}}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "disk",
    "whenUnsatisfiable": "DoNotSchedule",
    "nodeTaintsPolicy": "Honor",
    "labelSelector": {"matchLabels": {"app": "db"}},
}
LISTENING = {
    "name": "main",
    "image": "x",
    "resources": {"claims": [{"name": "c"}]},
    "ports": [{"containerPort": 1, "hostPort": 80}],
}
SIDECAR = {"name": "side", "image": "x", "restartPolicy": "Always", "ports": LISTENING["ports"]}
#: As the control plane cordons nodes.
CLOSED = {**CORDONED["spec"], "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}
LIMITS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "l", "namespace": "ns"},
    "spec": {"limits": [{"type": "Container", "min": {"cpu": "3"}}]},
}
DEVICES = (
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "x.io",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        },
    },
)


def running(name: str, **port: int) -> dict[str, Any]:
    containers = [{"name": "main", "image": "x", "ports": [{"containerPort": 80, **port}]}]
    meta = {"name": name, "namespace": "ns", "labels": {"app": "db"}}
    spec = {"nodeName": "a", "containers": containers}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Running"}}


def pod(spec: dict[str, Any], count: int = 1, **requests: str) -> list[dict[str, Any]]:
    asked = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": count}}]}
    used = {"claims": [{"name": "c"}], "requests": requests}
    meta = {"namespace": "ns"}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "c", **meta},
            "spec": {"devices": asked},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "pod", **meta},
            "spec": {
                "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
                "containers": [{"name": "main", "image": "x", "resources": used}],
                **spec,
            },
        },
    ]


@pytest.mark.parametrize(
    ("objects", "fixes"),
    [
        pytest.param([CORDONED, *pod({})], [["uncordoning node a"]], id="cordon"),
        pytest.param([TAINTED, *pod({})], [["tolerating the node's taint dedicated=ml:NoSchedule"]], id="taint"),
        pytest.param(
            [{**NODE, "spec": {"taints": UNREADY[:1]}}, *pod({})],
            [["the end of the node's taint node.kubernetes.io/not-ready:NoSchedule"]],
            id="a taint of the control plane",
        ),
        pytest.param(
            [{**NODE, "spec": {"taints": UNREADY}}, *pod({})],
            [["the end of the node's taint node.kubernetes.io/not-ready:NoSchedule and :NoExecute"]],
            id="a state of the node that has two taints",
        ),
        pytest.param(
            [{**NODE, "spec": {"taints": [STARTING]}}, *pod({})],
            [["the end of the node's taint node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule"]],
            id="a taint of the cloud's control plane",
        ),
        pytest.param([NODE, *pod(SSD)], [["dropping disk=ssd from the pod's nodeSelector"]], id="selector"),
        pytest.param([NODE, *pod(ALONE)], [["dropping the pod's required affinity to pods"]], id="affinity"),
        pytest.param(
            [NODE, *pod({}, cpu="2500m", memory="5Gi")],
            [["asking for 2 instead of 2.5 cpu and 4Gi instead of 5Gi memory"]],
            id="resources",
        ),
        pytest.param(
            [BOTH, *pod({})],
            [["uncordoning node a", "tolerating the node's taint dedicated=ml:NoSchedule"]],
            id="the second obstacle shows after the first",
        ),
        pytest.param(
            [CORDONED, *pod({"topologySpreadConstraints": [SPREAD]})],
            [["uncordoning node a"]],
            id="a cordon that spreading honours",
        ),
        pytest.param(
            [NODE, running("web", hostPort=80), *pod({"containers": [LISTENING]})],
            [["dropping the pod's hostPort 80"]],
            id="a port of the node",
        ),
        pytest.param(
            [NODE, running("web", hostPort=80), *pod({"initContainers": [SIDECAR]})],
            [["dropping the pod's hostPort 80"]],
            id="a port of the node that a sidecar takes",
        ),
        pytest.param(
            [CORDONED, *pod({}, count=2)],
            [["uncordoning node a", 'asking for 1 instead of 2 devices in request "r"']],
            id="devices would be short then",
        ),
        pytest.param([BOTH, *pod({}, count=2)], None, id="three changes are not tried"),
        pytest.param([NODE, LIMITS, *pod({}, cpu="4")], None, id="a LimitRange has a say in requests"),
    ],
)
def test_what_lets_the_pod_in_is_proposed(tmp_path, capsys, objects, fixes) -> None:
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*DEVICES, *objects]}))
    assert run(["check", str(file), "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    (refusal,) = placement["refusals"]
    told = refusal["reasons"] and [fix["steps"] for fix in refusal["reasons"]["fixes"]]
    assert told == fixes


@pytest.mark.parametrize("count", [1, 2])
def test_it_is_told_whether_the_claims_would_fit_on_a_node_that_keeps_the_pod_off(tmp_path, capsys, count) -> None:
    file = tmp_path / "objects.json"
    items = [*DEVICES, TAINTED, *pod({}, count=count)]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert run(["check", str(file)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "the pod does not tolerate the node's taint dedicated=ml:NoSchedule" in printed
    assert ("NoSchedule (nor do its claims fit)" in printed) is (count == 2)


def test_taints_of_two_nodes_do_not_end_together(tmp_path, capsys) -> None:
    """The first node is too small as well: what is known of its taint is not what becomes of the second one's."""
    small = {"cpu": "1", "memory": "4Gi", "pods": "10"}
    first = {**NODE, "metadata": {"name": "0"}, "spec": {"taints": UNREADY[:1]}, "status": {"allocatable": small}}
    objects = [first, {**NODE, "spec": {"taints": UNREADY[:1]}}, *pod({}, cpu="2")]
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*DEVICES, *objects]}))
    assert run(["check", str(file), "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    told = {each["node"]: each["reasons"] and each["reasons"]["fixes"] for each in placement["refusals"]}
    assert [each["steps"] for each in told["a"]] == [
        ["the end of the node's taint node.kubernetes.io/not-ready:NoSchedule"]
    ]


def test_of_two_cordoned_nodes_one_stays_closed(tmp_path, capsys) -> None:
    """Spreading that honours taints does not count it: were the cordon tolerated instead, both would count."""
    nodes = [
        {**NODE, "metadata": {"name": name, "labels": {"disk": disk}}, "spec": CLOSED}
        for name, disk in (("a", "hdd"), ("b", "ssd"))
    ]
    objects = [*nodes, running("db-0"), running("db-1"), *pod({"topologySpreadConstraints": [SPREAD]})]
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*DEVICES, *objects]}))
    assert run(["check", str(file), "--format", "json"]) == 1
    pod_asked = json.loads(capsys.readouterr().out)["placements"][-1]
    fixes = {each["node"]: each["reasons"] and each["reasons"]["fixes"] for each in pod_asked["refusals"]}
    assert [each["steps"] for each in fixes["a"]] == [["uncordoning node a"]]
    assert fixes["b"] is None


def test_each_change_is_tried_on_the_state_as_it_is(tmp_path, monkeypatch) -> None:
    """A claim that nobody reserved is given back by a trial that is refused: the next one finds it allocated again."""
    claim, *rest = pod({"nodeSelector": {"disk": "ssd"}}, count=2)
    only = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}]}
    held = {"results": [{"request": "r", "driver": "x.io", "pool": "c", "device": each} for each in "de"]}
    idle = {**claim, "status": {"allocation": {"devices": held, "nodeSelector": only}}}
    tainted = {**TAINTED, "metadata": {"name": "b", "labels": {"disk": "ssd"}}}
    began: list[bool] = []
    given: list[str] = []
    attempt, give_back = _Trying.attempt, Scheduling._given_back

    def watched(self: _Trying, queued: Any, **changes: Any) -> Any:
        state = self._beside or self.scheduling
        began.append(all(each.status.allocation is not None for each in state.cluster.claims.values()))
        return attempt(self, queued, **changes)

    def noted(self: Scheduling, *claims: Any) -> Any:
        given.append("back")
        return give_back(self, *claims)

    monkeypatch.setattr(_Trying, "attempt", watched)
    monkeypatch.setattr(Scheduling, "_given_back", noted)
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*DEVICES, NODE, tainted, idle, *rest]}))
    assert run(["check", str(file)]) == 1
    assert given
    assert len(began) > 1
    assert all(began)
