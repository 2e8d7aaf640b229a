"""
Ctrl-C ends a command with 130, without a traceback and without half a file.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz import differential

#: More than a pipe holds: written at once it says that the other side has begun to read.
MUCH = b"#" * 1_000_000
SECONDS = 60.0
#: Says that it was asked, and never answers.
SILENT = "import pathlib, sys, time; sys.stdin.readline(); pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"


def started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dra_alloc", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def interrupt(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Send what Ctrl-C sends, to the whole group, as a terminal does."""
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out.decode(), err.decode()


def test_next_to_nothing_is_loaded_before_a_command_can_hear():
    program = "import sys; there = set(sys.modules); import dra_alloc.__main__; print(*set(sys.modules) - there)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    own = {"__future__", "dra_alloc", "importlib", "warnings"}
    assert {each for each in done.stdout.split() if "." not in each} <= own


@pytest.mark.parametrize(
    "module",
    ["dra_alloc.cli.main", "argparse", "dra_alloc.cli.options", "pydantic", "dra_alloc.api", "dra_alloc.report"],
)
def test_a_command_that_is_being_loaded_is_interrupted(module: str):
    """A line on standard error for each module tells how far it is."""
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "dra_alloc",
        "check",
        "-",
        "--cluster",
        "docs/examples/cluster",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.decode().split()[-1] == module:
            break
    code, out, err = interrupt(process)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_ctrl_c_that_is_not_to_be_heard_is_not():
    program = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); from dra_alloc.cli import interrupts; "
    program += "interrupts.hear(); assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_check_is_interrupted():
    process = started("check", "-", "--cluster", "docs/examples/cluster")
    assert process.stdin is not None
    process.stdin.write(MUCH)
    process.stdin.flush()
    code, out, err = interrupt(process)
    assert (code, out) == (130, "")
    assert "Traceback" not in err


def test_a_conformance_run_is_interrupted(tmp_path: Path):
    asked, report = tmp_path / "asked", tmp_path / "report.xml"
    script = tmp_path / "silent.py"
    script.write_text(SILENT, encoding="utf-8")
    command = f"{sys.executable} {script} {asked}"
    process = started("conformance", "run", "--implementation", command, "--junit", str(report))
    end = time.monotonic() + SECONDS
    while not asked.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert asked.exists()
    code, out, err = interrupt(process)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert not report.exists()


def test_a_comparison_is_interrupted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def stopped(channel: str, options: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(differential, "_channel", stopped)
    assert differential.main(["--cases", "10", "--record", str(tmp_path / "runs.jsonl")]) == 130
    assert not (tmp_path / "runs.jsonl").exists()
