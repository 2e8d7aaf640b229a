"""
Claims that are allocated already: who may use them, where, and when the scheduler gives them back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run

Json = dict[str, Any]
ON = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}
#: What the claim's device waits for.
BINDS = {"bindingConditions": ["d/ready"], "bindingFailureConditions": ["d/broken"]}


def cluster(features: tuple[str, ...] = ()) -> list[Json]:
    objects: list[Json] = [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
    ]
    for name in ("a", "b"):
        node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        node["status"] = {"declaredFeatures": list(features)}
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "d", "nodeName": name, "pool": pool, "devices": [{"name": "x"}]}
        objects += [node, {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "spec": spec}]
        objects[-1]["metadata"] = {"name": name}
    return objects


def claim(users: int = 0, result: Json | None = None, devices: tuple[Json, ...] = (), **more: Any) -> Json:
    """Return a claim that is allocated to the device on node a."""
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    results = [{"request": "r", "driver": "d", "pool": "a", "device": "x", **(result or {})}]
    reserved = [{"resource": "pods", "name": f"other-{each}", "uid": f"u{each}"} for each in range(users)]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default", "uid": "u"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
        "status": {
            "allocation": {
                "devices": {"results": results},
                "nodeSelector": ON,
                "allocationTimestamp": "2026-01-01T00:00:00Z",
                **more,
            },
            "reservedFor": reserved,
            "devices": list(devices),
        },
    }


def pod(name: str = "p", **spec: Any) -> Json:
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "c"}]}}
    claims = [{"name": "c", "resourceClaimName": "c"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], "resourceClaims": claims, **spec},
    }


class Question:
    """Pods asked about on a cluster."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def __call__(self, pods: list[Json], there: list[Json], *options: str) -> Json:
        for name, objects in (("pods", pods), ("cluster", there)):
            text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
            (self.folder / f"{name}.json").write_text(text, encoding="utf-8")
        files = [str(self.folder / "pods.json"), "--cluster", str(self.folder / "cluster.json")]
        run(["check", *files, "--format", "json", *options])
        found: Json = json.loads(self.capsys.readouterr().out)
        return found


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Question:
    return Question(tmp_path, capsys)


def told(report: Json) -> list[tuple[str, str]]:
    (placement,) = report["placements"]
    return [(each["code"], each["error"]) for each in placement["refusals"]]


@pytest.mark.parametrize(("users", "verdict"), [(255, "allocated"), (256, "unsatisfiable")])
def test_a_claim_has_at_most_256_consumers(ask: Question, users: int, verdict: str) -> None:
    report = ask([pod()], [*cluster(), claim(users)])
    assert [each["verdict"] for each in report["placements"]] == [verdict]
    if verdict == "unsatisfiable":
        assert {text for _, text in told(report)} == {"resourceclaim in use"}


def test_pods_that_share_a_claim_are_consumers_as_they_find_a_node(ask: Question) -> None:
    report = ask([pod(name) for name in ("p", "q", "r")], [*cluster(), claim(254)])
    verdicts = [each["verdict"] for each in report["placements"]]
    assert verdicts == ["allocated", "allocated", "unsatisfiable"]


def test_a_claim_that_nobody_reserved_is_given_back_where_it_does_not_fit(ask: Question) -> None:
    on_b = pod(nodeSelector={"kubernetes.io/hostname": "b"})
    there = [*cluster(), claim()]
    for node in there:
        if node["kind"] == "Node":
            node["metadata"]["labels"] = {"kubernetes.io/hostname": node["metadata"]["name"]}
    report = ask([on_b], there)
    (placement,) = report["placements"]
    assert (placement["verdict"], placement["allocation"]["node"]) == ("allocated", "b")
    assert any("nobody reserved it: the scheduler gives it back" in note for note in report["notes"])
    held = ask([on_b], [*there[:-1], claim(1)])
    assert ("allocated-elsewhere", "claim default/c is allocated for a, and not for this node") in told(held)


def conditions(*true: str) -> tuple[Json, ...]:
    listed = [{"type": each, "status": "True", "reason": "r", "message": "m"} for each in true]
    return ({"driver": "d", "pool": "a", "device": "x", "conditions": listed},)


def test_a_device_that_could_not_be_bound_is_of_no_use(ask: Question) -> None:
    report = ask([pod()], [*cluster(), claim(1, BINDS, conditions("d/broken"))])
    assert any("binding failed: d/broken of device d/a/x" in text for _, text in told(report))
    ready = ask([pod()], [*cluster(), claim(1, BINDS, conditions("d/ready"))])
    assert [each["verdict"] for each in ready["placements"]] == ["allocated"]


def test_a_binding_that_may_have_timed_out_is_a_note(ask: Question) -> None:
    since: Json = {"allocationTimestamp": "2026-01-01T00:00:00Z"}
    waits = "claim default/c waits for its devices to be bound since 2026-01-01T00:00:00Z: the scheduler gives up"
    for found, noted in (
        (claim(1, BINDS, **since), True),
        (claim(1, BINDS, conditions("d/other"), **since), True),
        (claim(1, BINDS, conditions("d/ready"), **since), False),
        (claim(1, BINDS, allocationTimestamp=None), False),
        (claim(1, **since), False),
    ):
        notes = ask([pod()], [*cluster(), found])["notes"]
        assert any(note.startswith(waits) for note in notes) is noted
    off = ask([pod()], [*cluster(), claim(1, BINDS, **since)], "--gate", "DRADeviceBindingConditions=false")
    assert not any(note.startswith(waits) for note in off["notes"])


def test_an_allocation_that_skips_node_operations_needs_a_node_that_declares_it(ask: Question) -> None:
    skips = claim(1, {"skipNodeOperations": ["NodePrepareResources"]})
    report = ask([pod()], [*cluster(), skips], "--release", "1.37")
    assert any("skips node operations" in text for _, text in told(report))
    able = ask([pod()], [*cluster(("DRAOptionalNodeOperations",)), skips], "--release", "1.37")
    assert [each["verdict"] for each in able["placements"]] == ["allocated"]


@pytest.mark.parametrize(
    ("spec", "note"),
    [
        ({"schedulerName": "kai-scheduler"}, "scheduler kai-scheduler decides"),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}]},
            "/v is not among the files: without it",
        ),
        ({"priorityClassName": "mine"}, "PriorityClass mine is not among the files"),
    ],
)
def test_what_is_not_looked_at_is_a_note_on_the_answer(ask: Question, spec: Json, note: str) -> None:
    report = ask([pod(**spec)], [*cluster(), claim(1)])
    assert any(note in each for each in report["notes"])
    plain = ask([pod()], [*cluster(), claim(1)])
    assert not any(note in each for each in plain["notes"])


def test_pods_that_could_be_preempted_are_a_note(ask: Question) -> None:
    there = [*cluster(), claim(1)]
    for node in there:
        if node["kind"] == "Node":
            node["status"]["allocatable"] = {"cpu": "4", "memory": "8Gi", "pods": "9"}
    runs = pod("low", nodeName="a", priority=5, resourceClaims=[])
    runs["spec"]["containers"] = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]
    asks = pod(priority=6)
    asks["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "2"}
    told = "pods of lower priority are in the way"
    for changed, noted in (({}, True), ({"priority": 5}, False), ({"preemptionPolicy": "Never"}, False)):
        report = ask([{**asks, "spec": {**asks["spec"], **changed}}], [*there, runs])
        assert [each["verdict"] for each in report["placements"]] == ["unsatisfiable"]
        assert any(told in note for note in report["notes"]) is noted
    too_large = json.loads(json.dumps(asks).replace('"cpu": "2"', '"cpu": "5"'))
    assert not any(told in note for note in ask([too_large], [*there, runs])["notes"])
