"""
The lines that `check` names for what is wrong with manifests that could be read.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

CLUSTER = str(EXAMPLES / "cluster")

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec:
  devices:
    requests:
    - name: g
      exactly:
        deviceClassName: gpu.nvidia.com
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, image: x}]
  resourceClaims:
  - name: x
    MEMBER
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 3
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers: [{name: c, image: x}]
      resourceClaims:
      - name: x
        resourceClaimTemplateName: nope
"""
SELECTOR = CLAIM + '        selectors:\n        - cel:\n            expression: "device.driver"\n'
IN_CLAIM = "spec.devices.requests[0].exactly"


@pytest.mark.parametrize(
    ("text", "line", "path"),
    [
        (SELECTOR, 12, f"{IN_CLAIM}.selectors[0].cel.expression"),
        (CLAIM.replace("gpu.nvidia.com", "nope"), 9, f"{IN_CLAIM}.deviceClassName"),
        (CLAIM.replace("a}", "a,\n annotations: {x: " + "y" * 262_145 + "}}"), 4, "metadata.annotations"),
        (POD.replace("MEMBER", "resourceClaimName: nope"), 8, "spec.resourceClaims[0].resourceClaimName"),
        (
            POD.replace("MEMBER", "resourceClaimTemplateName: nope"),
            8,
            "spec.resourceClaims[0].resourceClaimTemplateName",
        ),
        (POD.replace("    MEMBER\n", ""), 7, "spec.resourceClaims[0]"),
        (DEPLOYMENT, 13, "spec.template.spec.resourceClaims[0].resourceClaimTemplateName"),
    ],
)
def test_one_cause_is_one_problem_at_its_line(text, line, path, tmp_path, capsys):
    file = tmp_path / "m.yaml"
    file.write_text(text)
    assert run(["check", str(file), "--cluster", CLUSTER]) == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{file}:{line}: ")
    assert f": {path}: " in first
    assert rest == ["dra-alloc: 1 problem in the input, nothing was checked"]


def test_the_number_of_problems_is_the_true_one(tmp_path, capsys):
    many, few = tmp_path / "many.yaml", tmp_path / "some.yaml"
    many.write_text("---\n".join(CLAIM.replace("name: a", f"name: a{n}") + "        bogus: 1\n" for n in range(1_234)))
    few.write_text(CLAIM.replace("name: a", "name: b") + "        bogus: 1\n")
    assert run(["check", str(many), str(few), "--cluster", CLUSTER]) == 2
    *told, left, total = capsys.readouterr().err.splitlines()
    assert all(f"many.yaml:{11 * n + 10}: " in line for n, line in enumerate(told))
    assert len(told) == 50
    assert left == "... and 1,185 more"
    assert total == "dra-alloc: 1,235 problems in the input, nothing was checked"
