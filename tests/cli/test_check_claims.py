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
            "allocation": {"devices": {"results": results}, "nodeSelector": ON, **more},
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


def conditions(*true: str) -> tuple[Json, ...]:
    listed = [{"type": each, "status": "True", "reason": "r", "message": "m"} for each in true]
    return ({"driver": "d", "pool": "a", "device": "x", "conditions": listed},)


def test_a_binding_that_may_have_timed_out_is_a_note(ask: Question) -> None:
    since: Json = {"allocationTimestamp": "2026-01-01T00:00:00Z"}
    waits = "claim default/c waits for its devices to be bound since 2026-01-01T00:00:00Z: the scheduler gives up"
    for found, noted in (
        (claim(1, BINDS, **since), True),
        (claim(1, BINDS, conditions("d/other"), **since), True),
        (claim(1, BINDS, conditions("d/ready"), **since), False),
        (claim(1, BINDS), False),
        (claim(1, **since), False),
    ):
        notes = ask([pod()], [*cluster(), found])["notes"]
        assert any(note.startswith(waits) for note in notes) is noted
    off = ask([pod()], [*cluster(), claim(1, BINDS, **since)], "--gate", "DRADeviceBindingConditions=false")
    assert not any(note.startswith(waits) for note in off["notes"])
