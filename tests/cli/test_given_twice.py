"""
Objects of one kind, namespace and name with different content.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

CLUSTER = str(EXAMPLES / "admit" / "kai-cluster.yaml")
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml, annotations: {pod-group-name: g}}
spec: {schedulerName: kai-scheduler, containers: [{name: c, image: i}]}
"""
GROUP = """\
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g, namespace: ml}
spec: {queue: q, minMember: %d}
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: g, namespace: ml}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com, count: %d}}]}}
"""
COMMANDS = [("check",), ("admit",), ("gang",), ("what-if", "-f"), ("capacity",), ("expand",)]


def written(tmp_path, *texts):
    file = tmp_path / "m.yaml"
    file.write_text("---\n".join(texts), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("text", "name"), [(GROUP, "PodGroup ml/g"), (CLAIM, "ResourceClaim ml/g")])
def test_manifests_with_two_objects_of_one_name_are_bad_input(tmp_path, capsys, command, text, name):
    file = written(tmp_path, POD, text % 7, text % 1)
    assert run([*command, file, "--cluster", CLUSTER]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"m.yaml:11: {name}: given twice with different content; first at {file}:6" in said


def test_with_a_warning_or_in_a_dump_the_later_counts(tmp_path, capsys):
    file = written(tmp_path, POD, CLAIM % 7, CLAIM % 1)
    assert run(["check", file, "--cluster", CLUSTER, "--validate", "warn"]) != 2
    assert "given again, replaces the one at" in capsys.readouterr().err
    dump = tmp_path / "dump.yaml"
    dump.write_text(CLAIM % 7 + "---\n" + CLAIM % 1, encoding="utf-8")
    assert run(["check", written(tmp_path, POD), "--cluster", CLUSTER, str(dump)]) != 2
