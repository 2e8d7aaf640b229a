"""
Every problem is told at once, and nothing is called missing that may be in what could not be read.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.main import run
from tests.paths import ROOT

CLUSTER = str(ROOT / "docs" / "examples" / "cluster")
CLAIM = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}}}
spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: {device_class}, count: {count}}}}}]}}}}
"""
CLASS = """\
---
apiVersion: resource.k8s.io/{version}
kind: DeviceClass
metadata: {{name: mine}}
spec: {{{spec}}}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  resourceClaims:
  - {name: a, resourceClaimName: broken}
  - {name: b, resourceClaimName: nowhere}
  - {name: c, resourceClaimTemplateName: nowhere}
  containers: [{name: c, image: i}]
"""
BROKEN = CLAIM.format(name="broken", device_class="gpu.nvidia.com", count="many")
NO_CLASS = "there is no DeviceClass 'mine'"


@pytest.fixture
def told(tmp_path, capsys):
    def ask(*texts, options=()):
        files = []
        for number, text in enumerate(texts):
            file = tmp_path / f"{number}.yaml"
            file.write_text(text)
            files.append(str(file))
        assert run(["check", *files, "--cluster", CLUSTER, *options]) == 2
        return capsys.readouterr().err

    return ask


def test_names_are_looked_up_beside_an_object_with_a_wrong_type(told):
    said = told(BROKEN + CLAIM.format(name="other", device_class="mine", count=1) + POD, options=["--node", "h100-z"])
    assert 'expected a whole number, got the string "many"' in said
    assert NO_CLASS in said
    assert "there is no ResourceClaim default/nowhere" in said
    assert "there is no ResourceClaimTemplate default/nowhere" in said
    assert "there is no node 'h100-z'" in said
    assert "default/broken (it is neither" not in said
    assert "5 problems" in said


def test_a_missing_node_is_told_with_other_problems_of_manifests_that_can_be_read(told):
    said = told(CLAIM.format(name="other", device_class="mine", count=1), options=["--node", "h100-z"])
    assert NO_CLASS in said
    assert "there is no node 'h100-z'" in said


@pytest.mark.parametrize(
    "lost",
    [
        CLASS.format(version="v1", spec="selectors: 1"),
        CLASS.format(version="v1", spec="selector: []"),
        CLASS.format(version="v1alpha2", spec=""),
        CLASS.format(version="v1", spec="selectors: [{cel: {expression: .inf}}]"),
        CLASS.format(version="v1", spec="selectors: 1").replace("name: mine", "name: 5"),
        CLASS.format(version="v1", spec="").replace("kind: DeviceClass", "kind: DeviceClas"),
        CLASS.format(version="v1", spec="").replace("kind: DeviceClass", ""),
        "---\na: [\n",
        "---\nfoo\n",
        "---\napiVersion: v1\nkind: List\nitems: {}\n",
    ],
)
def test_what_may_be_among_the_lost_is_not_called_missing(told, lost):
    said = told(CLAIM.format(name="other", device_class="mine", count=-1), lost)
    assert "there is no DeviceClass" not in said
    assert "count: Invalid value: -1" in said


def test_a_lost_object_of_another_name_or_kind_hides_nothing(told):
    said = told(
        CLAIM.format(name="other", device_class="mine", count=1),
        CLASS.format(version="v1", spec="selectors: 1").replace("mine", "yours") + BROKEN.replace("broken", "mine"),
    )
    assert NO_CLASS in said


def test_files_of_options_are_told_with_the_manifests(told, tmp_path):
    prices = tmp_path / "prices.yaml"
    prices.write_text("devices: 5\n")
    said = told(BROKEN, options=["--objective", "cheapest", "--prices", str(prices)])
    assert "prices.yaml:1: devices: has to be a list" in said
    assert 'got the string "many"' in said


def test_problems_stand_file_by_file_in_the_order_of_the_text(told):
    said = told(CLAIM.format(name="other", device_class="mine", count=1) + BROKEN, BROKEN)
    lines = [line.split(": ")[0].rpartition("/")[2] for line in said.splitlines()[:3]]
    assert lines == ["0.yaml:5", "0.yaml:10", "1.yaml:5"]


@pytest.mark.parametrize("text", ["", "---\n", "# nothing\n", "null\n", "apiVersion: v1\nkind: List\nitems: []\n"])
def test_manifests_without_any_object_are_refused_as_kubectl_refuses_them(told, text):
    assert "there is no object in the manifests" in told(text)
