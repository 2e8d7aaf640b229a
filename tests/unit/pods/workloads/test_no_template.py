"""
Kinds that are known to make pods, without any pod template.
"""

from __future__ import annotations

import pytest

from dra_alloc.manifest.kinds import HIDDEN_TEMPLATES, KINDS, SHOWN_TEMPLATES
from dra_alloc.pods.workloads.table import MAKERS
from tests.unit.pods.workloads.making import made

MANIFEST = """\
apiVersion: {api}
kind: {kind}
metadata: {{name: w}}
spec: {{{spec}}}
"""


@pytest.mark.parametrize(
    ("api", "kind", "spec"),
    [
        ("jobset.x-k8s.io/v1alpha2", "JobSet", "replicatedJobs: [{name: a}]"),
        ("batch.volcano.sh/v1alpha1", "Job", "minAvailable: 1"),
        ("ray.io/v1", "RayCluster", "headGroupSpec: {}"),
    ],
)
def test_a_known_kind_without_any_pod_template_is_a_problem_with_its_place(api, kind, spec):
    (problem,) = made(MANIFEST.format(api=api, kind=kind, spec=spec)).problems
    assert problem.message == f"there is no pod template in a {kind} of {api}"
    assert (problem.where.path, problem.where.line is not None) == ("spec", True)
    assert problem.where.object.startswith(f"{kind} ")


def test_every_kind_that_makes_pods_is_kept_without_a_template():
    """What is not in one of these lists is only counted where no pod spec is seen in it, and cannot be told of."""
    shaped = {(each.group, each.name) for each in KINDS.values() if each.template}
    assert {(each.group, each.kind) for each in MAKERS} <= shaped | HIDDEN_TEMPLATES | SHOWN_TEMPLATES
