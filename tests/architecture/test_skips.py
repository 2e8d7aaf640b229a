"""
A skip does not look like a pass: it is counted, and fails a run that was promised what the test lacks.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.paths import ROOT

MODULE = """
import pytest

def test_with_the_fixture(shared):
    pass

@pytest.mark.needs_shared
def test_with_the_mark():
    pass

def test_for_another_reason():
    pytest.skip("not today")

def test_that_passes():
    pass
"""


def _run(folder, workers: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the module above with the project's conftest as a plugin, where no shared folder is."""
    (folder / "test_needs.py").write_text(MODULE)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-n", workers, "-c", os.devnull, "--rootdir"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DRA_ALLOC_SHARED": str(folder), "DRA_ALLOC_REQUIRE": ""}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        [*command, str(folder), "-p", "no:cacheprovider", str(folder / "test_needs.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment | variables,
    )


def test_skips_are_counted_by_what_is_wanted(tmp_path):
    done = _run(tmp_path, "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped for want of shared: 2" in done.stdout
    assert "skipped for want of something else: 1" in done.stdout


def test_a_promised_need_may_not_be_skipped(tmp_path):
    done = _run(tmp_path, "0", DRA_ALLOC_REQUIRE="shared")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "skipped for want of shared: 2 though" in done.stdout
