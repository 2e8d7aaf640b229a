"""
What manifests ask for: copies of workloads, shared claims, names left to the API server.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.manifests import write_manifest

CLUSTER = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- {apiVersion: v1, kind: Node, metadata: {name: b, labels: {gpu: "true"}}}
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
REQUEST = "{devices: {requests: [{name: r, exactly: {deviceClassName: any}}]}}"
TEMPLATE = f"""
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: t}}
spec: {{spec: {REQUEST}}}
"""
POD = "spec: {containers: [{name: c, image: i}], resourceClaims: [{name: x, resourceClaimTemplateName: t}]}"


def placements(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> list[dict[str, Any]]:
    run(["check", str(path), "--format", "json", *options])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["placements"]
    return found


def devices(placement: dict[str, Any]) -> list[str]:
    return [
        result["device"]
        for claim in placement["allocation"]["claims"]
        for result in claim["allocation"]["devices"]["results"]
    ]


def workload(kind: str, more: str = "") -> str:
    return (
        TEMPLATE
        + f"---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w}}\n"
        + f"spec: {{{more}selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, {POD}}}}}\n"
    )


def test_entries_of_one_pod_share_a_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {REQUEST}\n"
    pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    pod += "spec: {containers: [{name: c, image: i}], "
    pod += "resourceClaims: [{name: u, resourceClaimName: c}, {name: v, resourceClaimName: c}]}\n"
    (placement,) = placements(capsys, write_manifest(tmp_path, CLUSTER + claim + pod))
    assert devices(placement) == ["x0"]


def test_claims_that_leave_their_name_to_the_api_server_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CLUSTER + "".join(
        f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {meta}\nspec: {REQUEST}\n"
        for meta in ("{generateName: c-}", "{name: c-1}", "{generateName: c-}")
    )
    found = placements(capsys, write_manifest(tmp_path, text))
    assert [(each["name"], *devices(each)) for each in found] == [
        ("default/c-00000", "x0"),
        ("default/c-1", "x1"),
        ("default/c-00001", "x2"),
    ]


def test_copies_that_are_refused_alike_are_refused_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_manifest(tmp_path, CLUSTER + workload("Deployment", "replicas: 3000, "))
    found = placements(capsys, path)
    assert [each["verdict"] for each in found] == ["allocated"] * 3 + ["unsatisfiable"] * 2997
    assert {each["sameAs"] for each in found[4:]} == {"default/w-0000000000-00003"}
    assert found[3]["refusals"]
    assert not found[4]["refusals"]
    assert run(["check", str(path)]) == 1
    told = capsys.readouterr().out
    assert "cannot be allocated either, as default/w-0000000000-00003" in " ".join(told.split())
    assert len(told.splitlines()) < 40


def test_more_copies_than_are_tried_are_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["check", str(write_manifest(tmp_path, CLUSTER + workload("Deployment", "replicas: 1000000000, ")))]) == 2
    )
    assert "asks for 1,000,000,000 pods at once" in capsys.readouterr().err


def test_a_daemon_set_has_a_pod_on_every_node_that_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everywhere = placements(capsys, write_manifest(tmp_path, CLUSTER + workload("DaemonSet")))
    assert [(each["name"], each["nodes"]) for each in everywhere] == [
        ("default/w-00000", ["a"]),
        ("default/w-00001", ["b"]),
    ]
    picky = workload("DaemonSet").replace("resourceClaims", 'nodeSelector: {gpu: "true"}, resourceClaims')
    (only,) = placements(capsys, write_manifest(tmp_path, CLUSTER + picky))
    assert only["nodes"] == ["b"]


def test_an_allocation_to_devices_that_no_slice_has_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {REQUEST}\n"
    claim += "status: {allocation: {devices: {results: [{request: r, driver: d.io, pool: p, device: gone}]}}}\n"
    run(["check", str(write_manifest(tmp_path, CLUSTER + claim))])
    assert "to devices no slice has: d.io/p/gone" in " ".join(capsys.readouterr().out.split())
