"""
Manifests in which nothing is that is looked at: no green where it is not known what they make.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

CUSTOM = "apiVersion: example.com/v1\nkind: Fancy\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 2}\n"
PLAIN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
SPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n"
QUEUE = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q}\nspec: {}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {containers: [{name: c, image: i}]}\n"
COMMANDS = ("check", "admit", "gang", "expand")


def asked(tmp_path, command, *texts):
    (tmp_path / "m.yaml").write_text("---\n".join(texts), encoding="utf-8")
    dump = ("--cluster", str(EXAMPLES / "admit" / "kai-cluster.yaml"))
    return run([command, str(tmp_path / "m.yaml"), *dump])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("more", [(), (PLAIN,), (SPACE,), (QUEUE,)])
def test_kinds_that_nobody_knows_are_not_said_to_fit(tmp_path, capsys, command, more):
    assert asked(tmp_path, command, CUSTOM, *more) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "what these make is not known: 1 example.com/v1 Fancy" in said
    assert "ConfigMap" not in said


@pytest.mark.parametrize("texts", [(PLAIN,), (SPACE, PLAIN), (QUEUE,)])
def test_what_makes_no_pods_asks_for_nothing(tmp_path, capsys, texts):
    assert [asked(tmp_path, command, *texts) for command in ("check", "admit")] == [0, 0]
    assert "nothing to" in capsys.readouterr().out


def test_templates_that_no_pod_uses_are_nothing_to_admit(tmp_path, capsys):
    """A PodGang given alone: what it makes is not known, and queues have nothing else to say yes to."""
    gang = "apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: g, namespace: ml}\nspec: {}\n"
    devices = "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}}"
    template = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t, namespace: ml}\n"
        f"spec: {{spec: {devices}}}\n"
    )
    assert asked(tmp_path, "admit", gang, template) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "what these make is not known: 1 scheduler.grove.io/v1alpha1 PodGang" in said


def test_a_kind_may_be_said_to_make_no_pods(tmp_path):
    (tmp_path / "m.yaml").write_text(CUSTOM, encoding="utf-8")
    assert run(["check", str(tmp_path / "m.yaml"), "--pod-template", "Fancy="]) == 0
    assert run(["check", str(tmp_path / "m.yaml"), "--pod-template", "Fancy.example.com="]) == 0
    assert run(["check", str(tmp_path / "m.yaml"), "--pod-template", "Other="]) == 2


def test_beside_pods_other_kinds_are_left_alone(tmp_path, capsys):
    assert asked(tmp_path, "check", CUSTOM, POD) == 0
    assert "left alone: 1 example.com/v1 Fancy" in capsys.readouterr().out


@pytest.mark.parametrize("command", [("check",), ("explain",), ("capacity",), ("what-if", "-f")])
def test_that_queues_are_not_asked_is_said_where_they_are_not(tmp_path, capsys, command):
    (tmp_path / "m.yaml").write_text(f"{QUEUE}---\n{POD}", encoding="utf-8")
    run([*command, str(tmp_path / "m.yaml"), "--cluster", str(EXAMPLES / "admit" / "kai-cluster.yaml")])
    said = " ".join(capsys.readouterr().out.split())
    assert "queues, gangs and topologies of KAI are not asked here: see dra-alloc admit" in said


def test_what_is_asked_of_queues_is_not_called_left_out(tmp_path, capsys):
    asked(tmp_path, "admit", QUEUE, POD)
    assert "not asked here" not in capsys.readouterr().out
