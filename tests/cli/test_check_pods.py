"""
What stands between manifests and pods that run: what is stored, what is there already, what is being deleted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.cli.asked import CLUSTER, HELD, UID, Asked, claim, pod, template

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


def test_no_gang_is_placed_with_a_claim_that_is_being_deleted(tmp_path: Path, capsys) -> None:
    asked = Asked(tmp_path, capsys, pod("p", "resourceClaimName: zombie"), CLUSTER + claim("zombie", f", {GOING}"))
    assert run(["gang", *asked.paths]) == 2
    assert 'default/p is not to be placed: resourceclaim "zombie" is being deleted' in capsys.readouterr().err


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


def test_what_containers_do_not_get_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def notes(containers: str) -> str:
        user = pod("p", "resourceClaimTemplateName: t", containers=containers) + template("t")
        return " ".join(Asked(tmp_path, capsys, user).report(exits=0)["notes"])

    uses = "{{name: c, image: i, resources: {{claims: [{{name: c{}}}]}}}}"
    told = notes(uses.format(", request: q"))
    assert 'Pod default/p: container c uses request "q" of claim c, which has no such request' in told
    assert "no container uses" not in told
    assert "Pod default/p: no container uses the pod's claim c" in notes("{name: c, image: i}")
    right = notes(uses.format(", request: r"))
    assert "no such request" not in right
    assert "no container uses" not in right


def test_a_claim_template_that_no_pod_uses_is_asked_about_alone(tmp_path: Path, capsys) -> None:
    alone = Asked(tmp_path, capsys, template("t") + template("u")).report(exits=0)
    assert [each["name"] for each in alone["placements"]] == ["default/t", "default/u"]
    beside = Asked(tmp_path, capsys, pod("p", "resourceClaimTemplateName: t") + template("t") + template("u"))
    report = beside.report(exits=0)
    assert [each["name"] for each in report["placements"]] == ["default/p"]
    assert "no pod uses these claim templates, which are not asked about: default/u" in report["notes"]


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ("source: {resourceClaimTemplateName: t}", "gone since 1.31"),
        ("clusterResourceClaimTemplateName: t", "KEP-5978"),
        ("resourceClaimTemplatName: t", 'did you mean "resourceClaimTemplateName"?'),
    ],
)
def test_unknown_fields_of_a_pods_claims_are_named(entry: str, hint: str, tmp_path: Path, capsys) -> None:
    name = entry.partition(":")[0]
    job = pod("p", entry).replace("kind: Pod", "kind: Job").replace("apiVersion: v1", "apiVersion: batch/v1")
    job = job.replace("spec:\n", "spec:\n template:\n  spec:\n", 1).replace("\n  resource", "\n   resource")
    job = job.replace("\n  containers", "\n   restartPolicy: Never\n   containers")
    for path, user in (("spec", pod("p", entry)), ("spec.template.spec", job)):
        said = Asked(tmp_path, capsys, user + template("t")).text(exits=2)
        assert f'unknown field "{path}.resourceClaims[0].{name}"' in said
        assert hint in said
    other = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nspec: {template: {spec: "
    other += f"{{resourceClaims: [{{name: c, {entry}}}], containers: [{{name: c}}]}}}}}}\n"
    assert f'unknown field "resourceClaims.0.{name}"' in Asked(tmp_path, capsys, other).text(exits=2)


ALLOCATABLE = "metadata: {name: node}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '9'%s}}}"
WANTS_GPU = "{name: c, image: i, resources: {limits: {example.com/gpu: '1'}, claims: [{name: c}]}}"


def offering(more: str, spec: str = "{}") -> str:
    """Return the cluster with a node that says what it offers, and with the class's spec."""
    return CLUSTER.replace("metadata: {name: node}}", ALLOCATABLE % more).replace("spec: {}}", f"spec: {spec}}}")


def test_what_a_cluster_does_not_say_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user = pod("p", "resourceClaimTemplateName: t", containers=WANTS_GPU) + template("t")
    unknown = "whether there is any example.com/gpu is not known without status.allocatable: node"
    without_nodes = CLUSTER.replace("- {apiVersion: v1, kind: Node, metadata: {name: node}}\n", "")
    for cluster in (CLUSTER, without_nodes):
        assert unknown in Asked(tmp_path, capsys, user, cluster).report(exits=0)["notes"]
    for offered, code in (("", 1), (", example.com/gpu: '1'", 0)):
        assert unknown not in Asked(tmp_path, capsys, user, offering(offered)).report(exits=code)["notes"]


def test_what_is_offered_twice_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = "example.com/gpu may be offered twice, by a device plugin and as class any: what is taken one way is not"
    gpu = ", example.com/gpu: '2'"
    named = "{extendedResourceName: example.com/gpu%s}"
    ours = ", selectors: [{cel: {expression: 'device.driver == \"d\"'}}]"
    others = ours.replace('"d', '"other')
    for offered, spec, told in (
        (gpu, named % "", True),
        (gpu, named % ours, True),
        ("", named % ours, False),
        (gpu, "{}", False),
        (gpu, named % others, False),
    ):
        alone = Asked(tmp_path, capsys, claim("c"), offering(offered, spec))
        notes = alone.report(exits=0 if others not in spec else 1)["notes"]
        assert any(note.startswith(twice) for note in notes) is told, (offered, spec)


def test_a_class_with_the_name_of_a_resource_needs_the_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user = pod("p", "resourceClaimTemplateName: t", containers=WANTS_GPU) + template("t")
    asked = Asked(tmp_path, capsys, user, offering("", "{extendedResourceName: example.com/gpu}"))
    why = "class any does not serve example.com/gpu: the gate DRAExtendedResource is off in 1.34"
    refused = asked.report("--release", "1.34", exits=1)
    assert why in refused["notes"]
    (placement,) = refused["placements"]
    serves = "Kubernetes 1.34 serves no example.com/gpu from device classes, as the gate DRAExtendedResource is off; "
    assert placement["cause"].startswith(serves)
    switching = "switching the gate DRAExtendedResource on, in kube-apiserver, kube-scheduler and kubelet; then it fits"
    assert placement["fix"].startswith(switching)
    assert "does not serve" not in asked.text("--release", "1.34", exits=1)
    report = asked.report("--release", "1.34", "--gate", "DRAExtendedResource=true", exits=0)
    assert why not in report["notes"]


def test_slices_of_nodes_that_are_not_there_and_empty_pools_are_named(tmp_path: Path, capsys) -> None:
    def notes(cluster: str, code: int) -> str:
        return " ".join(Asked(tmp_path, capsys, claim("c"), cluster).report(exits=code)["notes"])

    assert "no Node" not in notes(CLUSTER, 0)
    elsewhere = CLUSTER.replace("nodeName: node", "nodeName: gone")
    assert "there are slices, and no Node, of these: what they offer is not looked at: gone (d)" in notes(elsewhere, 1)
    empty = CLUSTER.replace("    devices: [{name: d0}, {name: d1}]\n", "")
    assert "driver d published no devices: its pools are empty: node" in notes(empty, 1)
    full = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s2}\nspec:\n"
    full += "  driver: d\n  nodeName: node\n  pool: {name: other, generation: 1, resourceSliceCount: 1}\n"
    full = f"{empty}{full}  devices: [{{name: d0}}]\n"
    assert "published no devices" not in notes(full, 0)


def test_requests_of_one_name_are_told_with_their_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = "resourceClaimTemplateName: t}, {name: e, resourceClaimTemplateName: t"
    many = template("t", request="deviceClassName: any, count: 3")
    said = Asked(tmp_path, capsys, pod("p", entries) + many).text("-v", exits=1)
    assert 'request "r" of claim default/p-c-00000 needs 3 devices' in said
    assert 'request "r" of claim default/p-e-00000 needs 3 devices' in said
    two = Asked(tmp_path, capsys, pod("p", entries) + template("t", request="deviceClassName: any, count: 2"))
    said = two.text(exits=1)
    together = 'request "r" of claim default/p-c-00000: 2, request "r" of claim default/p-e-00000: 2'
    assert f"4 devices are needed together ({together})" in said
    alone = Asked(tmp_path, capsys, pod("p", "resourceClaimTemplateName: t") + many)
    assert 'request "r" needs 3 devices' in alone.text(exits=1)


def test_a_workload_without_a_name_of_its_own_has_the_one_that_is_made(tmp_path: Path, capsys) -> None:
    job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {generateName: eval-}\nspec:\n  template:\n    spec:\n"
    job += "      restartPolicy: Never\n      resourceClaims: [{name: c, resourceClaimTemplateName: t}]\n"
    job += "      containers: [{name: c, image: i, resources: {claims: [{name: c}]}}]\n"
    report = Asked(tmp_path, capsys, job + template("t")).report(exits=0)
    assert [each["name"] for each in report["placements"]] == ["default/eval-00000-00000"]
    wrong = Asked(tmp_path, capsys, job.replace("resourceClaimTemplateName: t", "resourceClaimTemplateName: u"))
    assert "Job default/eval-00000: spec.template.spec.resourceClaims[0]" in wrong.text(exits=2)


def test_a_daemon_sets_pod_speaks_of_its_node_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = CLUSTER.replace("items:\n", "items:\n- {apiVersion: v1, kind: Node, metadata: {name: bare}}\n")
    work = "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: w}\nspec:\n  selector: {matchLabels: {a: b}}\n"
    work += "  template:\n    metadata: {labels: {a: b}}\n    spec:\n"
    work += "      resourceClaims: [{name: c, resourceClaimTemplateName: t}]\n"
    work += "      containers: [{name: c, image: i, resources: {claims: [{name: c}]}}]\n"
    report = Asked(tmp_path, capsys, work + template("t"), cluster).report(exits=1)
    refused, allocated = sorted(report["placements"], key=lambda each: each["verdict"], reverse=True)
    assert [each["node"] for each in refused["refusals"]] == ["bare"]
    assert (refused["nodesAsked"], allocated["nodes"], allocated["nodesAsked"]) == (1, ["node"], 1)
    report = Asked(tmp_path, capsys, work + template("t"), cluster).report("--node", "node", exits=0)
    assert [each["name"] for each in report["placements"]] == [allocated["name"]]
    assert f"{refused['name']}: for another node than node, so not asked" in report["notes"]


def test_devices_that_take_of_their_node_are_told_where_that_is_not_looked_at(tmp_path: Path, capsys) -> None:
    taking = "{name: d0, nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: '2'}}}}"
    cluster = CLUSTER.replace("{name: d0}", taking)
    old = CLUSTER.replace(
        "{name: d0}", "{name: d0, nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: '2'}}}"
    )
    told = "devices of d take cpu or memory of their node (DRANodeAllocatableResources), which is not looked at"
    gate = ("--gate", "DRANodeAllocatableResources=true")
    for there, release, on, said in (
        (cluster, "1.37", gate, "gang"),
        (cluster, "1.37", (), ""),
        (CLUSTER, "1.37", gate, ""),
        (old, "1.36", gate, "check gang"),
    ):
        for verb in ("check", "gang"):
            asked = Asked(tmp_path, capsys, claim("c"), there, verb)
            notes = asked.report("--release", release, *on, exits=0)["notes"]
            assert any(note.startswith(told) for note in notes) is (verb in said), (release, verb)


@pytest.mark.parametrize(("asked", "code"), [(1, 0), (2, 1)])
@pytest.mark.parametrize("where", ["manifests", "cluster", "both"])
def test_bound_pods_use_their_node_once_wherever_they_stand(
    asked: int, code: int, where: str, tmp_path, capsys
) -> None:
    def running(name: str, cpu: int, claim_name: str, more: str = "") -> str:
        uses = f"{{name: c, image: i, resources: {{requests: {{cpu: '{cpu}'}}, claims: [{{name: c}}]}}}}"
        return pod(name, f"resourceClaimName: {claim_name}", f", {UID}", containers=uses).replace("spec:\n", more)

    bound = claim("a", f", {UID}", status=HELD + "}") + running("old", 3, "a", "spec:\n  nodeName: node\n")
    new = claim("b") + running("new", asked, "b", "spec:\n")
    there = offering("")
    manifests = {"manifests": bound + new, "cluster": new, "both": bound + new}[where]
    cluster = there if where == "manifests" else there + bound
    report = Asked(tmp_path, capsys, manifests, cluster).report(exits=code)
    assert [each["name"] for each in report["placements"]] == ["default/new"]
    if where == "manifests":
        alone = Asked(tmp_path, capsys, there + manifests, "").report(exits=code)
        assert [each["name"] for each in alone["placements"]] == ["default/new"]


def test_a_pod_of_the_manifests_that_names_its_node_is_asked(tmp_path: Path, capsys) -> None:
    """It was never made: nobody allocates its claims, whatever it names."""
    named = pod("p", "resourceClaimTemplateName: t").replace("spec:", "spec:\n  nodeName: node", 1)
    said = Asked(tmp_path, capsys, named + template("t")).text(exits=1)
    assert "the pod names node node, so that no scheduler allocates its claims" in said


UNSEEN = (
    "- {apiVersion: v1, kind: Pod, metadata: {name: old, namespace: default, uid: u}, spec: {nodeName: node},"
    " status: {phase: Running, resourceClaimStatuses: [{name: g, resourceClaimName: old-g}]}}\n"
)


@pytest.mark.parametrize(
    ("cluster", "exits", "said"),
    [
        (CLUSTER + UNSEEN, 0, "what these pods hold is not known, since their claims are not there: default/old"),
        (CLUSTER.partition("- apiVersion")[0], 1, "there are no ResourceSlices: no device of any node is known"),
    ],
)
def test_what_a_dump_does_not_show_is_said(tmp_path: Path, capsys, cluster: str, exits: int, said: str) -> None:
    asked = Asked(tmp_path, capsys, pod("p", "resourceClaimTemplateName: t") + template("t"), cluster)
    assert said in asked.text(exits=exits)
