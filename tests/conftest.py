"""
What every test can ask for: the reference folder, Go, and one Hypothesis profile.

A test that needs something this machine lacks is skipped with a reason that
starts with ``needs``; the closing lines count these skips per need. Where the
environment says that the thing is there (``DRA_ALLOC_REQUIRE=shared,go``, as CI
does), such a skip fails the run: a skip must not look like a pass.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.paths import GO, ROOT, SHARED

NEEDS = {
    "shared": "needs shared: the folder of recorded cases; set DRA_ALLOC_SHARED or put it beside the repository",
    "go": "needs go: no Go toolchain on PATH",
    "cel-expr-python": "needs cel-expr-python: it is not installed; pip install --group opinions",
    "browser": "needs browser: Chromium, or what drives it, is not installed; apt-get install chromium, "
    "pip install --group browser",
    "dask": "needs dask: dask.distributed is not installed; pip install --group fleet",
    "solver": "needs solver: OR-tools is not installed; pip install ortools",
}
_REQUIRED = tuple(name for name in os.environ.get("DRA_ALLOC_REQUIRE", "").split(",") if name)
_QUIET = (HealthCheck.too_slow,)

settings.register_profile("dev", deadline=None, max_examples=50, suppress_health_check=_QUIET)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None, print_blob=True)
settings.register_profile("deep", settings.get_profile("ci"), derandomize=False, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))

#: Some hundred tests start the command: without byte code each start would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
#: The collector walks all tests again and again, a tenth of the processor time of a run: it looks as seldom as in the
#: command.
gc.set_threshold(20_000)

_skipped: Counter[str] = Counter()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded cases and real samples; skips, counted, where it is absent."""
    if SHARED is None:
        pytest.skip(NEEDS["shared"])
    return SHARED


@pytest.fixture(scope="session")
def go() -> str:
    """The path of the Go command; skips, counted, where there is none."""
    if GO is None:
        pytest.skip(NEEDS["go"])
    return GO


@pytest.fixture(scope="session")
def solver() -> None:
    """OR-tools can be used; skips, counted, where it is not installed."""
    if find_spec("ortools") is None:
        pytest.skip(NEEDS["solver"])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium of the system; skips, counted, where it, or what drives it, is not installed."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None or find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        pytest.skip(NEEDS["browser"])
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it may not be there

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def dask() -> Any:
    """The package `distributed`; skips, counted, where it is not installed."""
    if find_spec("distributed") is None:
        pytest.skip(NEEDS["dask"])
    return import_module("distributed")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return ROOT


def pytest_make_parametrize_id(val: object) -> str | None:
    """
    Name a parameter of bytes by its length.

    Parallel workers must collect the same names, and gzip data holds the time at which it was made.
    """
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test whose need is not met; the marks are for tests that take no fixture."""
    if item.get_closest_marker("needs_go") and GO is None:
        pytest.skip(NEEDS["go"])
    if item.get_closest_marker("needs_shared") and SHARED is None:
        pytest.skip(NEEDS["shared"])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count a skip under the need that its reason names."""
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        need, colon, _ = reason.removeprefix("needs ").partition(":")
        _skipped[need.lower() if reason.startswith("needs ") and colon else "something else"] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests did not run, and for want of what."""
    for need, count in sorted(_skipped.items()):
        broken = " though DRA_ALLOC_REQUIRE promises it: the run fails" if need in _REQUIRED else ""
        terminalreporter.write_line(f"skipped for want of {need}: {count}{broken}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that skipped what its environment promised to have."""
    if session.exitstatus == 0 and any(_skipped[need] for need in _REQUIRED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
