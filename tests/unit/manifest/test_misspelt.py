"""
Misspelt fields of pods and workloads: what a strict server refuses and a lenient one drops in silence.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import load

POD = {"containers": [{"name": "c", "image": "i"}]}


def read(kind: str, version: str, spec: dict[str, Any]) -> list[str]:
    """Return what is said of an object of that spec."""
    whole = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}
    try:
        load("-", stdin=io.BytesIO(json.dumps(whole).encode()))
    except ManifestError as error:
        return [f"{each.where.path}: {each.hint}" for each in error.problems]
    return []


@pytest.mark.parametrize(
    ("kind", "version", "spec", "said"),
    [
        ("Pod", "v1", {**POD, "resourceClaim": []}, 'spec.resourceClaim: did you mean "resourceClaims"?'),
        ("Pod", "v1", {**POD, "nodeSelectors": {}}, 'spec.nodeSelectors: did you mean "nodeSelector"?'),
        (
            "Pod",
            "v1",
            {"containers": [{"name": "c", "resource": {}}]},
            'spec.containers[0].resource: did you mean "resources"?',
        ),
        (
            "Deployment",
            "apps/v1",
            {"replica": 5, "template": {"spec": POD}},
            'spec.replica: did you mean "replicas"?',
        ),
        (
            "StatefulSet",
            "apps/v1",
            {"template": {"spec": {**POD, "toleration": []}}},
            'spec.template.spec.toleration: did you mean "tolerations"?',
        ),
        (
            "CronJob",
            "batch/v1",
            {"jobTemplate": {"spec": {"paralelism": 2, "template": {"spec": POD}}}},
            'spec.jobTemplate.spec.paralelism: did you mean "parallelism"?',
        ),
        (
            "Pod",
            "v1",
            {**POD, "schedulingGroup": {"podGroup": "g"}},
            'spec.schedulingGroup.podGroup: did you mean "podGroupName"?',
        ),
        (
            "Job",
            "batch/v1",
            {"template": {"spec": {**POD, "schedulingGroup": {"podGroup": "g"}}}},
            'spec.template.spec.schedulingGroup.podGroup: did you mean "podGroupName"?',
        ),
        (
            "PodGroup",
            "scheduling.k8s.io/v1beta1",
            {"schedulingPolicy": {"gang": {"minCount": 2}}, "schedulingConstraint": {}},
            'spec.schedulingConstraint: did you mean "schedulingConstraints"?',
        ),
        (
            "PodGroup",
            "scheduling.k8s.io/v1alpha2",
            {"schedulingPolicy": {"gang": {"minCounts": 2}}},
            'spec.schedulingPolicy.gang.minCounts: did you mean "minCount"?',
        ),
        (
            "PodGroup",
            "scheduling.run.ai/v2alpha2",
            {"queue": "q", "minMembers": 9},
            'spec.minMembers: did you mean "minMember"?',
        ),
        (
            "PodGroup",
            "scheduling.run.ai/v2alpha2",
            {"subGroups": [{"name": "a"}, {"name": "b", "minMembr": 1}]},
            'spec.subGroups[1].minMembr: did you mean "minMember"?',
        ),
        (
            "PodGroup",
            "scheduling.run.ai/v2alpha2",
            {"topologyConstraints": {}},
            'spec.topologyConstraints: did you mean "topologyConstraint"?',
        ),
        (
            "Queue",
            "scheduling.run.ai/v2",
            {"resources": {"gpu": {"limits": 1}}},
            'spec.resources.gpu.limits: did you mean "limit"?',
        ),
        ("Queue", "scheduling.volcano.sh/v1beta1", {"capabilty": {}}, 'spec.capabilty: did you mean "capability"?'),
        ("ClusterQueue", "kueue.x-k8s.io/v1beta2", {"cohrot": "c"}, 'spec.cohrot: did you mean "cohort"?'),
        (
            "ClusterQueue",
            "kueue.x-k8s.io/v1beta2",
            {"resourceGroups": [{"flavors": [{"resources": [{"nominalQuotas": 1}]}]}]},
            'spec.resourceGroups[0].flavors[0].resources[0].nominalQuotas: did you mean "nominalQuota"?',
        ),
        (
            "Job",
            "batch.volcano.sh/v1alpha1",
            {"minAvailble": 2, "tasks": [{"template": {"spec": POD}}]},
            'spec.minAvailble: did you mean "minAvailable"?',
        ),
        (
            "PodCliqueSet",
            "grove.io/v1alpha1",
            {"template": {"cliques": [{"name": "a", "spec": {"minAvailble": 1, "podSpec": POD}}]}},
            'spec.template.cliques[0].spec.minAvailble: did you mean "minAvailable"?',
        ),
        (
            "PodCliqueSet",
            "grove.io/v1alpha1",
            {"template": {"cliques": [{"name": "a", "spec": {"podSpec": {**POD, "resourceClaim": []}}}]}},
            'spec.template.cliques[0].spec.podSpec.resourceClaim: did you mean "resourceClaims"?',
        ),
    ],
)
def test_a_field_that_is_nearly_one_is_named(kind: str, version: str, spec: dict[str, Any], said: str) -> None:
    assert read(kind, version, spec) == [said]


def test_other_fields_are_passed_over() -> None:
    """They may be of a release that is newer than this program."""
    assert read("Pod", "v1", {**POD, "somethingOfTomorrow": 1, "dnsPolicy": "Default"}) == []


@pytest.mark.parametrize("metadata", [[{"labels": {}}], "text", 3])
def test_metadata_of_a_template_that_is_no_object_is_a_problem(metadata: Any) -> None:
    (said,) = read("Deployment", "apps/v1", {"template": {"metadata": metadata, "spec": POD}})
    assert said.startswith("spec.template.metadata: ")


def test_a_pod_group_keeps_its_version_and_what_only_some_versions_have() -> None:
    text = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g}
spec:
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {basic: {}}
  disruptionMode: {all: {}}
"""
    (group,) = load("-", stdin=io.BytesIO(text.encode())).pod_groups
    assert group.api_version == "scheduling.k8s.io/v1beta1"
    assert group.to_wire()["spec"]["disruptionMode"] == {"all": {}}
