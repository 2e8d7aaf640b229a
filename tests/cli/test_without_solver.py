"""
Without OR-tools everything but its engines works, and says what to install.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import EXAMPLES, ROOT

CLUSTER = ["--cluster", str(EXAMPLES / "cluster")]
FITS = str(EXAMPLES / "workloads" / "fits.yaml")
GANG = EXAMPLES / "gang"
INSTALL = "pip install ortools"


@pytest.fixture
def run(tmp_path: Path):
    """Run the command in a process in which OR-tools cannot be imported."""
    hidden = tmp_path / "ortools"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('hidden')\n", encoding="utf-8")

    def started(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
        command = [sys.executable, "-m", "dra_alloc", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)

    return started


def test_check_and_explain_answer(run) -> None:
    done = run("check", FITS, *CLUSTER)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 allocated" in done.stdout
    refused = run("explain", str(EXAMPLES / "workloads" / "too-big.yaml"), *CLUSTER)
    assert refused.returncode == 1
    assert "would be enough" in " ".join(refused.stdout.split())


def test_objectives_say_what_to_install(run) -> None:
    done = run("check", FITS, *CLUSTER, "--objective", "least-fragmented")
    assert (done.returncode, done.stdout) == (2, "")
    assert INSTALL in done.stderr
    assert "Traceback" not in done.stderr


def test_a_gang_of_pods_that_ask_for_the_same_needs_no_solver(run) -> None:
    done = run("gang", str(GANG / "pair.yaml"), "--cluster", str(GANG / "one-gpu.yaml"))
    assert done.returncode == 0
    assert "placed jointly: 2 of 2 pods" in done.stdout


def test_unlike_pods_are_undecided_and_say_what_to_install(run, tmp_path: Path) -> None:
    one = (GANG / "replica.yaml").read_text(encoding="utf-8").replace("name: server", "name: NAME")
    many = tmp_path / "many.yaml"
    wants = [one.replace("NAME", "one"), one.replace("NAME", "both").rstrip() + "\n          count: 2\n"]
    many.write_text("---\n".join(wants), encoding="utf-8")
    done = run("gang", str(many), "--cluster", str(GANG / "two-devices.yaml"))
    assert done.returncode == 3
    assert INSTALL in " ".join(done.stdout.split())
