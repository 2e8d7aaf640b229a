"""
Without OR-tools everything but its engines works, and says what to install.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.paths import EXAMPLES, ROOT

CLUSTER = ["--cluster", str(EXAMPLES / "cluster")]
FITS = str(EXAMPLES / "workloads" / "fits.yaml")
GANG = EXAMPLES / "gang"
INSTALL = "pip install ortools"


#: Runs the command for each line of arguments, and answers with a line: exit code, standard output and error.
PROGRAM = """
import contextlib, io, json, sys
from dra_alloc.cli.main import run
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Ran]]:
    """Run the command in a process in which OR-tools cannot be imported; one for all questions."""
    folder = tmp_path_factory.mktemp("without")
    (folder / "ortools").mkdir()
    (folder / "ortools" / "__init__.py").write_text("raise ImportError('hidden')\n", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    command, pipe = [sys.executable, "-c", PROGRAM], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=folder) as process:
        assert process.stdin
        assert process.stdout
        reading, writing = process.stdout, process.stdin

        def asked(*arguments: str) -> Ran:
            print(json.dumps(arguments), file=writing, flush=True)
            return Ran(*json.loads(reading.readline()))

        yield asked


def test_check_and_explain_answer(run) -> None:
    done = run("check", FITS, *CLUSTER)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 allocated" in done.stdout
    refused = run("explain", str(EXAMPLES / "workloads" / "too-big.yaml"), *CLUSTER)
    assert refused.returncode == 1
    assert "fix in the manifest for h100-a: asking for 6 instead of 8 devices" in " ".join(refused.stdout.split())


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
