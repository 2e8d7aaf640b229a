"""
Versions of PodGroup: one that the release does not have is refused, as the API server does.
"""

from __future__ import annotations

import io

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import CheckOptions, check

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
