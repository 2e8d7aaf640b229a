"""
What becomes of the answer: readers that go away, and nothing to answer.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dra_alloc.cli.main import run
from dra_alloc.cli.reading import warn
from dra_alloc.errors import Problem
from tests.paths import EXAMPLES


@pytest.mark.parametrize(("workload", "code"), [("fits", 0), ("too-big", 1)])
def test_the_exit_code_is_the_answers_when_its_reader_has_gone(workload, code):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "dra_alloc", "check", str(EXAMPLES / "workloads" / f"{workload}.yaml")]
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [*command, "--cluster", str(EXAMPLES / "cluster")], stdout=gone, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == code
    assert done.stderr == b""


def test_without_arguments_there_is_help_on_standard_error(capsys):
    assert run([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "say which devices manifests would get" in told.err
    assert "exit codes:" in told.err


def test_warnings_have_an_end(capsys):
    warn(*(Problem(f"number {number}") for number in range(80)))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "warning: number 0"
    assert lines[49:] == ["warning: number 49", "warning: and 30 more of these"]
