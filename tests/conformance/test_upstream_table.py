"""
Upstream's own allocator test table, extracted at test time, release by release.
"""

from __future__ import annotations

import os

import pytest

from fuzz.oracle_build import OracleUnavailable
from fuzz.upstream_table import hold_ours, known, rows

#: Each table is a large build of its own: every release with DRA_ALLOC_TABLES=all, else that of the main line.
ALL = ("1.34.13", "1.35.10", "1.36.2", "1.36.6", "1.37.0-alpha.2", "1.37.2", "1.38.0-beta.0")
RELEASES = ALL if os.environ.get("DRA_ALLOC_TABLES") == "all" else ("1.36.6",)
#: Fewer rows than this were never extracted from any of them.
LEAST = 300


@pytest.mark.needs_go
@pytest.mark.parametrize("release", RELEASES)
def test_every_case_is_answered_as_upstream_answers_it(release):
    """What is equal and still listed as different is taken off `fuzz/upstream/table/known.yaml`."""
    try:
        counts, different = hold_ours(release)
    except OracleUnavailable as reason:
        pytest.skip(f"needs upstream's table: {reason}")
    names = {name for name, _ in different}
    assert counts.total() + len(names) >= LEAST
    assert sorted(names ^ known("open", release).keys()) == []


@pytest.mark.needs_go
def test_the_weak_cases_are_there():
    try:
        names = {str(row["name"]).partition("/")[2] for row in rows(RELEASES[-1])}
    except OracleUnavailable as reason:
        pytest.skip(f"needs upstream's table: {reason}")
    assert known("weak", RELEASES[-1]).keys() <= names
