"""
The bounded run for continuous integration: all of it is run, told in order, and what fails or lacks something is named.
"""

from __future__ import annotations

from subprocess import CompletedProcess

import pytest

from fuzz import run_ci
from fuzz.run_all import TOOLS, names


@pytest.mark.parametrize(
    ("codes", "code", "words"),
    [
        ({}, 0, "broken: none"),
        ({"fuzz.targets.determinism": 1, "fuzz.targets.control_plane": 3}, 1, "broken: determinism"),
        ({"fuzz.targets.engines": 0, "fuzz.engines": -9}, 1, "broken: engines"),
        ({"fuzz.targets.control_plane": 3}, 2, "not run for want of what they need: control_plane"),
    ],
)
def test_what_came_of_it_is_the_exit_code_and_said(codes, code, words, monkeypatch, capsys):
    monkeypatch.setattr(run_ci, "_run", lambda job: CompletedProcess(job, codes.get(job[0], 0), f"{' '.join(job)}\n"))
    assert run_ci.main() == code
    out = capsys.readouterr().out
    assert words in out
    ran = [line.split() for line in out.splitlines() if line.startswith("fuzz.")]
    assert {job[0].rpartition(".")[2] for job in ran} == {*names(), *TOOLS}
    assert [job[2] for job in ran if job[1] == "--release"] == list(run_ci.RELEASES)
    assert all(int(job[job.index("--cases") + 1]) for job in ran)


def test_what_fails_is_heard_with_what_it_wrote_to_standard_error():
    done = run_ci._run(("fuzz.engines", "--cases", "none"))
    assert done.returncode == 2
    assert "invalid int value: 'none'" in done.stdout
