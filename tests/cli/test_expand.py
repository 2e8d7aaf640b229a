"""
The command `expand`, and what is expanded under `check`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from dra_alloc.cli.main import run
from tests.manifests import write_manifest

MANIFEST = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: any}}]}}}
---
apiVersion: KIND
metadata: {name: w}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {resourceClaims: [{name: g, resourceClaimTemplateName: one}], containers: [{name: c, image: i}]}
"""
CLUSTER = """
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: node}}
- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}, spec: {}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: s}
  spec:
    driver: d.io
    pool: {name: p, generation: 1, resourceSliceCount: 1}
    allNodes: true
    devices: [{name: x0}, {name: x1}, {name: x2}]
"""
SET = MANIFEST.replace("KIND", "apps/v1\nkind: StatefulSet")
MINE = MANIFEST.replace("KIND", "example.com/v1\nkind: Mine")
TYPO = MANIFEST.replace("KIND", "apps/v1\nkind: StatefulSte")


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_pods_and_claims_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert run(["expand", str(write_manifest(tmp_path, SET)), "--format", form, "-n", "team"]) == 0
    text = capsys.readouterr().out
    items = json.loads(text)["items"] if form == "json" else list(yaml.safe_load_all(text))
    assert [(each["kind"], each["metadata"]["namespace"], each["metadata"]["name"]) for each in items] == [
        ("Pod", "team", "w-0"),
        ("Pod", "team", "w-1"),
        ("ResourceClaim", "team", "w-0-g-00000"),
        ("ResourceClaim", "team", "w-1-g-00000"),
    ]
    assert items[0]["status"] == {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "w-0-g-00000"}]}


def test_what_cannot_be_expanded_is_told_beside_the_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_manifest(tmp_path, f"{SET}---{TYPO}")
    assert run(["expand", str(path)]) == 2
    told = capsys.readouterr()
    assert "w-0" in told.out
    assert 'no matches for kind "StatefulSte" in version "apps/v1" (did you mean StatefulSet?)' in told.err


@pytest.mark.parametrize(
    ("text", "options", "allocated"),
    [
        (SET, [], ["w-0", "w-1"]),
        (MINE, [], ["w-00000"]),
        (MINE, ["--pod-template", "Mine=spec.template:spec.replicas"], ["w-00000", "w-00001"]),
        (TYPO, [], []),
        (MINE, ["--pod-template", "Mine=spec.pods"], []),
    ],
)
def test_check_asks_for_every_pod(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: list[str], allocated: list[str]
) -> None:
    path = write_manifest(tmp_path, text + CLUSTER)
    assert run(["check", str(path), "--format", "json", *options]) == (0 if allocated else 2)
    found = json.loads(capsys.readouterr().out).get("placements", [])
    assert [each["name"] for each in found] == [f"default/{name}" for name in allocated]


def test_claims_that_pods_share_are_allocated_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: p}
spec:
  replicas: 1
  template:
    resourceClaimTemplates:
    - {name: fab, templateSpec: {spec: {devices: {requests: [{name: f, exactly: {deviceClassName: any}}]}}}}
    resourceSharing: [{name: fab, scope: AllReplicas}]
    cliques: [{name: a, spec: {replicas: 2, podSpec: {containers: [{name: c, image: i}]}}}]
"""
    assert run(["check", str(write_manifest(tmp_path, text + CLUSTER)), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["placements"]
    devices = [
        result["device"]
        for each in found
        for claim in each["allocation"]["claims"]
        for result in claim["allocation"]["devices"]["results"]
    ]
    assert len(found) == 2
    assert set(devices) == {"x0"}


def test_pods_that_are_there_are_not_asked_for_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = """
---
apiVersion: v1
kind: Pod
metadata: {name: w-0, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: w, uid: w}]}
spec: {nodeName: node, containers: [{name: c, image: i}]}
status: {phase: Running}
"""
    assert run(["check", str(write_manifest(tmp_path, SET + CLUSTER + there)), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in answer["placements"]] == ["default/w-1"]
    assert "pods that are not scheduled anew: 1 bound" in answer["notes"]


def test_templates_that_make_no_pods_are_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = "---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\n"
    policy += "spec: {rules: [{validate: {pattern: {spec: {resourceClaims: [{name: '?*'}]}}}}]}\n"
    assert run(["check", str(write_manifest(tmp_path, SET + CLUSTER + policy))]) == 0
    assert "2 allocated" in capsys.readouterr().out
