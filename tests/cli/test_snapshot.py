"""
The command `snapshot` as a user meets it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

CLUSTER = str(EXAMPLES / "cluster")
ASKED = str(EXAMPLES / "workloads" / "too-big.yaml")


def test_a_snapshot_is_taken_for_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "cluster.snapshot"
    assert run(["snapshot", "pack", CLUSTER, "-o", str(target)]) == 0
    assert "18 slices" in capsys.readouterr().out
    answers = []
    for dump in (CLUSTER, str(target)):
        assert run(["check", ASKED, "--cluster", dump]) == 1
        answers.append(capsys.readouterr())
    assert answers[0] == answers[1]
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize(
    ("files", "output", "said"),
    [
        (["{tmp}/absent.json"], "{tmp}/s", "absent.json: cannot be read"),
        (["{tmp}/dump.yaml"], "{tmp}/dump.yaml", "is one of the files to read"),
        (["{tmp}/dump.yaml"], "{tmp}/no/such/folder", "cannot be written"),
        (["-", "-"], "{tmp}/s", "standard input can be read only once"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: list[str], output: str, said: str
) -> None:
    dump = tmp_path / "dump.yaml"
    dump.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n", encoding="utf-8")
    named = [each.format(tmp=tmp_path) for each in files]
    assert run(["snapshot", "pack", *named, "-o", output.format(tmp=tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert dump.read_text(encoding="utf-8").startswith("apiVersion")


def test_a_changed_dump_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump, target = tmp_path / "dump.yaml", tmp_path / "s"
    dump.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n", encoding="utf-8")
    assert run(["snapshot", "pack", str(dump), "-o", str(target)]) == 0
    dump.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n", encoding="utf-8")
    assert run(["check", ASKED, "--cluster", str(target)]) == 2
    assert "which changed since" in capsys.readouterr().err
