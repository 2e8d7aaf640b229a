"""
Versions of PodGroup: one that the release does not have is refused, as the API server does.
"""

from __future__ import annotations

import io

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import Check, check

GROUP = """
apiVersion: scheduling.k8s.io/{version}
kind: PodGroup
metadata: {{name: g, namespace: default}}
spec: {{schedulingPolicy: {{gang: {{minCount: 1}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p, namespace: default}}
spec: {{schedulingGroup: {{podGroupName: g}}, containers: [{{name: c, image: i}}]}}
"""


@pytest.mark.parametrize(
    ("release", "version", "there"),
    [
        ("1.36", "v1alpha2", ""),
        ("1.36", "v1beta1", "Kubernetes 1.36 has v1alpha2"),
        ("1.37", "v1alpha2", "Kubernetes 1.37 has v1beta1, v1alpha3"),
        ("1.37", "v1beta1", ""),
        ("1.37", "v1alpha3", ""),
    ],
)
def test_a_version_of_another_release_is_refused(release, version, there):
    manifests = load("-", stdin=io.BytesIO(GROUP.format(version=version).encode()))
    gates = ("GenericWorkload", "GangScheduling") if release == "1.36" else ("GenericWorkload",)
    options = CheckOptions(settings=Settings(release, dict.fromkeys(gates, True)))
    if not there:
        check(manifests, Documents(), options)
        return
    with pytest.raises(ManifestError) as caught:
        check(manifests, Documents(), options)
    (problem,) = caught.value.problems
    assert problem.message == f'no matches for kind "PodGroup" in version "scheduling.k8s.io/{version}"'
    assert (problem.where.path, problem.where.line, problem.hint) == ("apiVersion", 2, there)


def of_group(spec: str, *more: str) -> Documents:
    text = GROUP.format(version="v1beta1").replace("{schedulingPolicy: {gang: {minCount: 1}}}", spec)
    return load("-", stdin=io.BytesIO("---".join((text, *more)).encode()))


def asked(spec: str, *more: str, **gates: bool) -> Check:
    options = CheckOptions(settings=Settings("1.37", {"GenericWorkload": True, **gates}))
    return check(of_group(spec, *more), Documents(), options)


CLASS = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("{}", "schedulingPolicy"),
        ("{schedulingPolicy: {gang: {minCount: 1}, basic: {}}}", "schedulingPolicy"),
        ("{schedulingPolicy: {gang: {minCount: 0}}}", "schedulingPolicy.gang.minCount"),
        ("{schedulingPolicy: {basic: {}}, priority: 1000000001}", "priority"),
        ("{schedulingPolicy: {basic: {}}, priorityClassName: low}", "priorityClassName"),
        (
            "{schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: a}, {key: b}]}}",
            "schedulingConstraints.topology",
        ),
        (
            "{schedulingPolicy: {basic: {}}, resourceClaims: ["
            + ", ".join(f"{{name: c{number}, resourceClaimName: c}}" for number in range(5))
            + "]}",
            "resourceClaims",
        ),
    ],
)
def test_a_group_that_the_api_refuses_is_bad_input(spec, path):
    on = {"DRAWorkloadResourceClaims": True, "TopologyAwareWorkloadScheduling": True}
    with pytest.raises(ManifestError) as caught:
        asked(spec, CLASS, **on)
    assert f"spec.{path}" in [each.where.path for each in caught.value.problems]


def test_groups_of_groups_are_not_modelled():
    spec = "{schedulingPolicy: {basic: {}}, parentCompositePodGroupName: all}"
    said = "CompositePodGroup is off, its parentCompositePodGroupName is dropped"
    assert any(said in each for each in asked(spec).notes)
    with pytest.raises(ManifestError, match="part of a CompositePodGroup: groups of groups are not modelled"):
        asked(spec, CompositePodGroup=True)
