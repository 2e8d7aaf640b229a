"""
Lint of gangs: versions and gates of releases, claims of groups, claims that groups of pods share.
"""

from __future__ import annotations

import io

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.linting.rules import LintFinding
from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.manifest import Documents, Manner, load_readable

ON = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True, "TopologyAwareWorkloadScheduling": True}
CLAIMS = "[{name: channel, resourceClaimTemplateName: shared}]"


def found_in(text: str, release: str, gates: dict[str, bool], cluster: str = "") -> tuple[LintFinding, ...]:
    manner = Manner("strict", "keep", Settings(release).profile().release)
    read = load_readable(["-"], stdin=io.BytesIO(text.encode()), manner=manner)
    there: Documents | None = load_readable(["-"], stdin=io.BytesIO(cluster.encode()))[0] if cluster else None
    return linted(read, LintAsked(Settings(release, gates), cluster=there)).findings


def gang(version: str, spec: str, kind: str = "PodGroup") -> str:
    head = f"apiVersion: scheduling.k8s.io/{version}\nkind: {kind}\nmetadata: {{name: train, namespace: ml}}\n"
    return f"{head}spec: {spec}\n---\n"


def pod(member: str = "schedulingGroup: {podGroupName: train}", claims: str = "[]") -> str:
    containers = "[{name: c, image: i, resources: {claims: [{name: channel}, {name: link}]}}]"
    spec = f"{{{member}, resourceClaims: {claims}, containers: {containers}}}"
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: one, namespace: ml}}\nspec: {spec}\n---\n"


def codes(found: tuple[LintFinding, ...], *families: str) -> list[str]:
    return [each.code for each in found if each.code.startswith(families or ("R7", "W8"))]


@pytest.mark.parametrize(
    ("release", "version", "kind", "spec", "expected"),
    [
        ("1.35", "v1alpha1", "Workload", "{podGroups: []}", []),
        ("1.36", "v1alpha1", "Workload", "{podGroups: []}", ["R705"]),
        ("1.36", "v1alpha2", "Workload", "{podGroups: []}", ["R706"]),
        ("1.36", "v1alpha2", "PodGroup", "{podGroupTemplateRef: {}, disruptionMode: Pod}", []),
        ("1.36", "v1alpha2", "PodGroup", "{workloadRef: {}, disruptionMode: {all: {}}}", ["R706", "R706"]),
        ("1.36", "v1beta1", "PodGroup", "{workloadRef: {}}", ["R705"]),
        ("1.37", "v1alpha2", "PodGroup", "{podGroupTemplateRef: {}}", ["R705"]),
        ("1.37", "v1beta1", "PodGroup", "{podGroupTemplateRef: {}, disruptionMode: Pod}", ["R706", "R706"]),
        ("1.37", "v1beta1", "PodGroup", "{workloadRef: {}, disruptionMode: {all: {}}}", []),
        ("1.37", "v1beta1", "CompositePodGroup", "{}", ["R705"]),
        ("1.38", "v1beta1", "CompositePodGroup", "{}", []),
        ("1.38", "v1beta2", "PodGroup", "{}", ["R701"]),
    ],
)
def test_each_release_has_gangs_of_its_own_version_and_shape(release, version, kind, spec, expected):
    gates = {"GenericWorkload": True}
    assert codes(found_in(gang(version, spec, kind), release, gates)) == expected


def test_what_the_fields_are_called_in_the_version_that_is_there():
    (found,) = found_in(gang("v1alpha2", "{podGroupTemplateRef: {}}"), "1.37", ON)
    assert found.hint == (
        "scheduling.k8s.io/v1beta1 is there; podGroupTemplateRef is workloadRef, with workloadName and templateName"
    )
    (found,) = found_in(gang("v1alpha2", "{}"), "1.35", {})
    assert found.hint == "PodGroup is there since 1.36"


@pytest.mark.parametrize(("release", "wrong"), [("1.35", "schedulingGroup"), ("1.36", "workloadRef")])
def test_pods_name_their_gang_by_the_field_of_the_release(release, wrong):
    for name in ("schedulingGroup", "workloadRef"):
        found = found_in(pod(f"{name}: {{}}"), release, {"GenericWorkload": True})
        assert codes(found) == (["R706"] if name == wrong else [])


def test_gates_that_gangs_need():
    group = gang("v1beta1", f"{{schedulingPolicy: {{gang: {{minCount: 2}}}}, resourceClaims: {CLAIMS}}}")
    spread = gang("v1beta1", "{schedulingConstraints: {topology: [{key: rack}]}}")
    assert codes(found_in(group + pod(claims=CLAIMS), "1.37", {})) == ["R707", "R707"]
    assert codes(found_in(group + pod(claims=CLAIMS), "1.37", {"GenericWorkload": True})) == ["R707"]
    assert codes(found_in(spread, "1.37", {**ON, "TopologyAwareWorkloadScheduling": False})) == ["R707"]
    assert codes(found_in(group + spread + pod(claims=CLAIMS), "1.37", ON)) == []
    one_by_one = gang("v1alpha2", "{schedulingPolicy: {gang: {minCount: 2}}}")
    assert codes(found_in(one_by_one, "1.36", {"GenericWorkload": True})) == ["R707"]
    assert codes(found_in(one_by_one, "1.36", {"GenericWorkload": True, "GangScheduling": True})) == []


def test_gates_of_what_templates_of_groups_say():
    (found,) = found_in(
        gang("v1beta1", f"{{podGroupTemplates: [{{name: a, resourceClaims: {CLAIMS}}}]}}", "Workload"),
        "1.37",
        {"GenericWorkload": True},
    )
    assert (found.code, found.where.path) == ("R707", "spec.podGroupTemplates[0].resourceClaims")


@pytest.mark.parametrize(
    ("claims", "differs"),
    [
        (CLAIMS, ""),
        ("[{name: link, resourceClaimTemplateName: shared}]", "name differs"),
        ("[{name: channel, resourceClaimTemplateName: other}]", "resourceClaimTemplateName differs"),
        (
            "[{name: channel, resourceClaimName: shared}]",
            "resourceClaimName and resourceClaimTemplateName differ",
        ),
        ("[{name: link, resourceClaimTemplateName: other}]", ""),
    ],
)
def test_claims_that_are_nearly_those_of_the_group(claims, differs):
    group = gang("v1beta1", f"{{resourceClaims: {CLAIMS}}}")
    for text, cluster in ((group + pod(claims=claims), ""), (pod(claims=claims), group)):
        found = found_in(text, "1.37", ON, cluster)
        assert codes(found) == (["W809"] if differs else [])
        told = [each.message for each in found if each.code == "W809"]
        assert all(each == f"no claim of pod group train, but one of the pod: {differs}" for each in told)


@pytest.mark.parametrize(("size", "expected"), [(1, []), (2, ["W810", "W810"])])
def test_a_claim_that_leader_and_workers_name_is_shared_by_all_groups(size, expected):
    spec = (
        "{containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}],"
        " resourceClaims: [{name: gpu, resourceClaimName: shared}]}"
    )
    template = f"leaderTemplate: {{spec: {spec}}}, workerTemplate: {{spec: {spec}}}, size: {size}"
    text = (
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: serve, namespace: ml}\n"
        f"spec: {{replicas: 1, leaderWorkerTemplate: {{{template}}}}}\n"
    )
    assert codes(found_in(text, "1.36", {})) == expected
