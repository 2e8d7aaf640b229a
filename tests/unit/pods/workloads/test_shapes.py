"""
Kinds that nobody described: found by their shape, taught, or misspelt.
"""

from __future__ import annotations

import pytest

from dra_alloc.errors import InputError
from dra_alloc.pods.workloads.shapes import taught_by
from tests.unit.pods.workloads.making import made, names

POD = "{spec: {containers: [{name: c, image: i}]}}"
MINE = f"apiVersion: example.com/v1\nkind: MyKind\nmetadata: {{name: w}}\nspec: {{replicas: 3, template: {POD}}}\n"
ROLES = f"""
apiVersion: example.com/v1
kind: MyKind
metadata: {{name: w}}
spec:
  roles: [{{count: 2, template: {POD}}}, {{count: 1, template: {POD}}}]
"""


def test_one_pod_is_assumed_for_each_pod_template():
    found = made(MINE)
    assert names(found) == ["w-00000"]
    assert found.problems == ()
    (note,) = found.notes
    assert "one pod is assumed for spec.template.spec; spec.replicas is not looked at" in note
    assert "--pod-template MyKind=spec.template:spec.replicas" in note
    assert names(made(ROLES)) == ["w-00000", "w-00001"]


def test_claims_alone_show_what_makes_a_pod():
    found = made(
        "apiVersion: a.b/v1\nkind: K\nmetadata: {name: w}\nspec: {resourceClaims: [{name: g, resourceClaimName: x}]}"
    )
    assert names(found) == ["w-00000"]
    (problem,) = found.problems
    assert (problem.where.path, problem.message) == (
        "spec.resourceClaims[0].resourceClaimName",
        "there is no ResourceClaim default/x",
    )


@pytest.mark.parametrize(
    ("text", "taught", "count"),
    [
        (MINE, "MyKind=spec.template", 1),
        (MINE, "MyKind=spec.template:spec.replicas", 3),
        (MINE, "MyKind.example.com=.spec.template:.spec.replicas", 3),
        (MINE, "MyKind=", 0),
        (MINE, "Other=spec.template:spec.replicas", 1),
        (ROLES, "MyKind=spec.roles[*].template:spec.roles[*].count", 3),
        (ROLES, "MyKind=spec.roles[0].template:spec.roles[0].count", 2),
        (
            MINE.replace("MyKind", "StatefulSet").replace("example.com", "apps"),
            "StatefulSet=spec.template:spec.replicas",
            3,
        ),
    ],
)
def test_kinds_can_be_taught(text, taught, count):
    found = made(text, "", taught)
    assert found.problems == ()
    assert len(found.pods) == count
    assert ("not known" in "".join(found.notes)) == taught.startswith("Other")


@pytest.mark.parametrize(
    ("taught", "words"),
    [
        ("MyKind=spec.pods", "there is no pod template"),
        ("MyKind=spec.replicas", "there is no pod template"),
        ("MyKind=spec.template:spec.template", "expected a whole number, got an object"),
    ],
)
def test_what_was_taught_wrongly_is_a_problem(taught, words):
    (problem,) = made(MINE, "", taught).problems
    assert words in problem.message


@pytest.mark.parametrize("text", ["MyKind", "=spec.template", ""])
def test_what_teaches_nothing_is_refused(text):
    with pytest.raises(InputError, match="KIND=PATH"):
        taught_by(text)


@pytest.mark.parametrize(
    ("api", "kind", "hint"),
    [
        ("apps/v1", "Deploymnet", "did you mean Deployment?"),
        ("apps/v1beta1", "Deployment", "its version is apps/v1"),
        ("extensions/v1beta1", "Deployment", "its group is apps"),
        ("v1", "Deployment", "its group is apps"),
        ("app/v1", "Deployment", "its group is apps"),
        ("v1", "Pdo", "did you mean Pod?"),
        ("batch/v1", "Jobs", "did you mean Job?"),
        ("jobset.x-k8s.io/v1alpha2", "Jobset", "did you mean JobSet?"),
        ("batch/v1", "Sandwich", ""),
        ("grove.io/v1", "PodCliqueSet", "its version is grove.io/v1alpha1"),
        ("grove.io/v1alpha1", "PodGangSet", "it is called PodCliqueSet"),
        ("batch.volcano.sh/v1", "Job", "its version is batch.volcano.sh/v1alpha1"),
        ("jobset.x-k8s.io/v1", "JobSet", "its version is jobset.x-k8s.io/v1alpha2"),
        ("leaderworkerset.x-k8s.io/v2", "LeaderWorkerSet", "its version is leaderworkerset.x-k8s.io/v1"),
        ("ray.io/v1beta1", "RayCluster", "its version is ray.io/v1"),
        ("argoproj.io/v1", "Rollout", "its version is argoproj.io/v1alpha1"),
        ("kubeflow.org/v1beta1", "MPIJob", "its version is kubeflow.org/v2beta1"),
    ],
)
@pytest.mark.parametrize("spec", [f"{{template: {POD}}}", "{}"])
def test_what_no_api_server_has_is_a_problem(api, kind, hint, spec):
    found = made(f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: w}}\nspec: {spec}\n")
    (problem,) = found.problems
    assert problem.message == f'no matches for kind "{kind}" in version "{api}"'
    assert problem.hint == hint
    assert found.pods == ()


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("v1", "ConfigMap"),
        ("v1", "PodTemplate"),
        ("apps/v1", "ControllerRevision"),
        ("kueue.x-k8s.io/v1beta2", "Workload"),
        ("scheduling.k8s.io/v1beta1", "Workload"),
        ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"),
        ("scheduling.run.ai/v2", "Queue"),
    ],
)
def test_what_makes_no_pods_is_left_alone(api, kind):
    found = made(f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: w}}\ntemplate: {POD}\n")
    assert (found.pods, found.problems) == ((), ()) or kind in ("ConfigMap", "Queue")
