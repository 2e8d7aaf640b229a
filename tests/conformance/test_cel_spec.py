"""
cel-spec's simple conformance tests, all of what a selector's environment contains.

What is left out is named in `celspec_exclusions.yaml` with its reason, and has to fail: an exclusion that is no longer
needed is an error.
"""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.cel.celspec import load
from fuzz.oracle_build import OracleUnavailable
from spec.case import yaml_of
from tests.conformance.celspec import Case, cases, needs_messages, verdict
from tests.paths import ROOT

EXCLUSIONS = yaml_of(ROOT / "tests" / "conformance" / "celspec_exclusions.yaml")
WHOLE_FILES = tuple(each[:-1] for entry in EXCLUSIONS for each in entry["tests"] if each.endswith("/*"))
#: Tests run, tests about messages, tests excluded by name.
FIGURES = (1410, 598, 336)


@pytest.fixture(scope="module")
def everything(go: str) -> list[Case]:
    assert go
    try:
        return list(cases(load()))
    except OracleUnavailable as reason:
        pytest.skip(f"needs go: {reason}")


@pytest.fixture(scope="module")
def excluded(everything: list[Case]) -> dict[str, str]:
    """The reason of every test that is excluded by name."""
    reasons: dict[str, str] = {}
    for entry in EXCLUSIONS:
        for pattern in entry["tests"]:
            meant = [each.name for each in everything if _means(pattern, each.name)]
            assert meant, f"{pattern}: no such test"
            reasons |= dict.fromkeys(meant, entry["id"])
    return reasons


def _means(pattern: str, name: str) -> bool:
    return name == pattern or (pattern.endswith("/*") and name.startswith(pattern[:-1]))


def _kind(case: Case, excluded: dict[str, str]) -> str:
    if needs_messages(case.test):
        return "messages"
    return "excluded" if case.name in excluded else "run"


def test_every_test_that_is_not_excluded_passes(everything: list[Case], excluded: dict[str, str]) -> None:
    wrong = {
        case.name: problem for case in everything if _kind(case, excluded) == "run" and (problem := verdict(case.test))
    }
    assert not wrong


def test_what_is_excluded_by_name_fails(everything: list[Case], excluded: dict[str, str]) -> None:
    needless = [
        case.name
        for case in everything
        if _kind(case, excluded) == "excluded"
        and excluded[case.name] != "declared-functions"
        and not case.name.startswith(WHOLE_FILES)
        and not verdict(case.test)
    ]
    assert not needless


def test_files_that_are_excluded_whole_are_about_functions_we_lack(everything: list[Case]) -> None:
    for prefix in WHOLE_FILES:
        inside = [each for each in everything if each.name.startswith(prefix) and not needs_messages(each.test)]
        asking = [each for each in inside if "evalError" not in each.test]
        assert asking
        assert all(verdict(each.test) for each in asking), prefix


def test_nothing_disappears(everything: list[Case], excluded: dict[str, str]) -> None:
    kinds = Counter(_kind(case, excluded) for case in everything)
    assert (kinds["run"], kinds["messages"], kinds["excluded"]) == FIGURES
