"""
What stands between manifests and pods that run: what is stored, what is there already, what is being deleted.
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
- {apiVersion: v1, kind: Node, metadata: {name: node}}
- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}, spec: {}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: s}
  spec:
    driver: d
    nodeName: node
    pool: {name: node, generation: 1, resourceSliceCount: 1}
    devices: [{name: d0}, {name: d1}]
"""
UID = "uid: 5c8e0000-0000-4000-8000-000000000001"
HELD = "status: {allocation: {devices: {results: [{request: r, driver: d, pool: node, device: d0}]}}"


def requests(request: str = "deviceClassName: any") -> str:
    return f"{{devices: {{requests: [{{name: r, exactly: {{{request}}}}}]}}}}"


def claim(name: str, more: str = "", request: str = "deviceClassName: any", status: str = "") -> str:
    head = f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {name}{more}}}\n"
    return f"{head}spec: {requests(request)}\n{status}\n"


def template(name: str, more: str = "", request: str = "deviceClassName: any") -> str:
    head = f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {{name: {name}{more}}}\n"
    return f"{head}spec: {{spec: {requests(request)}}}\n"


def pod(name: str, entry: str, more: str = "", status: str = "", containers: str = "") -> str:
    head = f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{more}}}\nspec:\n"
    head += f"  resourceClaims: [{{name: c, {entry}}}]\n"
    return f"{head}  containers: [{containers or '{name: c, image: i, resources: {claims: [{name: c}]}}'}]\n{status}\n"


class Asked:
    """What one run of `check` answered."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], manifests: str, cluster: str = CLUSTER
    ) -> None:
        self.folder, self.capsys = folder, capsys
        self.paths = [str(write_manifest(folder, manifests, "work.yaml"))]
        if cluster:
            self.paths += ["--cluster", str(write_manifest(folder, cluster, "cluster.yaml"))]

    def report(self, *options: str, exits: int) -> dict[str, Any]:
        assert run(["check", *self.paths, *options, "--format", "json"]) == exits
        found: dict[str, Any] = json.loads(self.capsys.readouterr().out)
        return found

    def text(self, *options: str, exits: int) -> str:
        """Return all that is said, on one line."""
        assert run(["check", *self.paths, *options]) == exits
        captured = self.capsys.readouterr()
        return " ".join((captured.out + captured.err).split())


GOING = 'deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [resource.kubernetes.io/delete-protection]'
IN_USE = f"{HELD}, reservedFor: [{{resource: pods, name: old, uid: u}}]}}"


@pytest.mark.parametrize(
    "user",
    [
        pod("p", "resourceClaimName: zombie"),
        pod(
            "p",
            "resourceClaimTemplateName: t",
            f", {UID}",
            "status: {resourceClaimStatuses: [{name: c, resourceClaimName: zombie}]}",
        )
        + template("t"),
        claim("zombie"),
    ],
)
def test_a_claim_that_is_being_deleted_serves_nobody_and_holds_its_devices(user: str, tmp_path: Path, capsys) -> None:
    owner = f"ownerReferences: [{{apiVersion: v1, kind: Pod, name: p, {UID}, controller: true}}]"
    cluster = CLUSTER + claim("zombie", f", {GOING}, {owner}", status=IN_USE)
    (placement,) = Asked(tmp_path, capsys, user, cluster).report(exits=1)["placements"]
    (refusal,) = placement["refusals"]
    assert (refusal["code"], refusal["error"]) == ("claim-deleted", 'resourceclaim "zombie" is being deleted')

    # Both devices are wanted, and one of them is held to the end: freeing the claim is no advice.
    both = claim("mine", request="deviceClassName: any, count: 2")
    (placement,) = Asked(tmp_path, capsys, both, cluster).report(exits=1)["placements"]
    reasons = placement["refusals"][0]["reasons"]
    why = "it is being deleted, in use by pods/old"
    assert ["holder", f"claim default/zombie holds 1 device: {why}"] in [
        list(each.values()) for each in reasons["facts"]
    ]
    steps = [step for fix in reasons["fixes"] for step in fix["steps"]]
    assert f"the end of claim default/zombie ({why})" in steps
    assert not any(step.startswith("freeing") for step in steps)


def test_a_claim_that_a_status_names_has_to_be_the_pods_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "status: {resourceClaimStatuses: [{name: c, resourceClaimName: other}]}"
    user = template("t") + pod("p", "resourceClaimTemplateName: t", f", {UID}", said)
    (placement,) = Asked(tmp_path, capsys, user, CLUSTER + claim("other")).report(exits=1)["placements"]
    assert [(each["code"], each["error"]) for each in placement["refusals"]] == [
        ("claim-not-owned", "ResourceClaim default/other was not created for Pod default/p (Pod is not owner)")
    ]


def test_a_status_in_manifests_is_not_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    holders = (
        CLUSTER + claim("a", status=HELD + "}") + claim("b", status=HELD.replace("device: d0", "device: d1") + "}")
    )
    new = claim("mine", status=HELD + "}")
    asked = Asked(tmp_path, capsys, new, holders)
    report = asked.report(exits=1)
    assert [each["verdict"] for each in report["placements"]] == ["unsatisfiable"]
    assert "the status of what is new is not stored: ResourceClaim default/mine" in report["notes"]

    # A claim with a UID is there, and without a cluster all that the manifests say is.
    there = Asked(tmp_path, capsys, claim("mine", f", {UID}", status=HELD + "}")).report(exits=0)
    assert not any("is not stored" in note for note in there["notes"])
    alone = Asked(tmp_path, capsys, CLUSTER + new, "").report(exits=0)
    (result,) = alone["placements"][0]["allocation"]["claims"][0]["allocation"]["devices"]["results"]
    assert result["device"] == "d0"

    # A pod that calls itself finished is asked all the same, if it is new.
    done = template("t") + pod("p", "resourceClaimTemplateName: t", status="status: {phase: Succeeded}")
    assert len(Asked(tmp_path, capsys, done).report(exits=0)["placements"]) == 1
    there = Asked(tmp_path, capsys, done.replace("{name: p}", f"{{name: p, {UID}}}")).report(exits=0)
    assert there["placements"] == []


def test_a_pod_that_the_cluster_has_is_as_it_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = pod("p", "resourceClaimName: c") + claim("c")
    runs = written.replace("spec:\n", "spec:\n  nodeName: node\n", 1)
    report = Asked(tmp_path, capsys, written, CLUSTER + runs).report(exits=0)
    assert (report["placements"], "pods that are not scheduled anew: 1 bound" in report["notes"]) == ([], True)


@pytest.mark.parametrize("kind", [claim, template])
def test_the_spec_of_a_claim_that_is_there_cannot_change(kind: Any, tmp_path: Path, capsys) -> None:
    said = Asked(tmp_path, capsys, kind("c", request="deviceClassName: any, count: 2"), CLUSTER + kind("c")).text(
        exits=2
    )
    assert "spec: Invalid value: field is immutable" in said
    # What is written differently and means the same is no change, and neither is a field that a gate takes away: a
    # claim that is there keeps it.
    same = kind("c", request="deviceClassName: any, count: 1, allocationMode: ExactCount")
    Asked(tmp_path, capsys, same, CLUSTER + kind("c")).report(exits=0)
    gated = kind("c", request="deviceClassName: any, capacity: {requests: {m: 0}}")
    Asked(tmp_path, capsys, gated, CLUSTER + gated).report(
        "--gate", "DRAConsumableCapacity=false", exits=1 if kind is claim else 0
    )


def test_admin_access_needs_the_label_of_the_namespace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    admin = "deviceClassName: any, adminAccess: true"
    label = 'labels: {resource.kubernetes.io/admin-access: "true"}'
    space = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {}}\n"
    forbidden = "requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
    for kind in (claim, template):
        asked = kind("c", request=admin)
        assert forbidden in Asked(tmp_path, capsys, asked, CLUSTER + space).text(exits=2)
        assert forbidden in Asked(tmp_path, capsys, space + asked).text(exits=2)
        allowed = Asked(tmp_path, capsys, asked, CLUSTER + space.replace("labels: {}", label)).report(exits=0)
        assert not any("admin access" in note for note in allowed["notes"])
        unknown = Asked(tmp_path, capsys, asked).report(exits=0)
        assert any(note.startswith("admin access needs the label") for note in unknown["notes"])
    # A template that is there is no longer looked at, but the claims that are made from it are.
    cluster = CLUSTER + space + template("t", request=admin)
    (placement,) = Asked(tmp_path, capsys, pod("p", "resourceClaimTemplateName: t"), cluster).report(exits=1)[
        "placements"
    ]
    assert forbidden in placement["refusals"][0]["error"]


def test_what_names_no_namespace_is_in_the_commands_also_in_the_cluster(tmp_path: Path, capsys) -> None:
    cluster = CLUSTER + template("t") + claim("c")
    users = pod("p", "resourceClaimTemplateName: t") + pod("q", "resourceClaimName: c")
    for options, namespace in (((), "default"), (("--namespace", "team"), "team")):
        report = Asked(tmp_path, capsys, users, cluster).report(*options, exits=0)
        assert [each["name"] for each in report["placements"]] == [f"{namespace}/p", f"{namespace}/q"]
