"""
Every code has a page, finds what is wrong in its example, and nothing in the one that is right.
"""

from __future__ import annotations

import io
from functools import cache

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.linting.codes import RULES
from dra_alloc.linting.pages import RulePage, page_of, whole_page
from dra_alloc.linting.rules import FAMILIES
from dra_alloc.linting.running import LintAsked, Linted, linted
from dra_alloc.linting.selection import CodesAsked
from dra_alloc.manifest import Documents, Manner, load_readable
from dra_alloc.releases import DEFAULT_RELEASE
from tests.paths import ROOT

CODES = [rule.code for rule in RULES]


@cache
def cluster_of(text: str) -> Documents | None:
    return load_readable(["-"], stdin=io.BytesIO(text.encode()))[0] if text else None


def asked_of(page: RulePage, text: str) -> Linted:
    """What is found in an example of a page, for the code that is off by default, too."""
    extend = () if page.rule.by_default else (page.rule.code,)
    words = page.options.split()
    given = [*zip(words[::2], words[1::2], strict=True)]
    gates = {value.partition("=")[0]: value.endswith("=true") for name, value in given if name == "--gate"}
    asked = LintAsked(
        Settings(dict(given).get("--release", DEFAULT_RELEASE), gates),
        selection=CodesAsked(extend=extend),
        cluster=cluster_of(page.cluster),
        previous=cluster_of(page.previous),
    )
    manner = Manner("strict", "keep", asked.settings.profile().release)
    read = load_readable(["-"], stdin=io.BytesIO(text.encode()), manner=manner)
    return linted(read, asked)


def page(code: str) -> RulePage:
    found = page_of(code)
    assert found is not None
    return found


@pytest.mark.parametrize("code", CODES)
def test_the_example_that_is_wrong_has_this_code_alone(code):
    found = asked_of(page(code), page(code).bad)
    assert not found.unreadable
    assert {each.code for each in found.findings} - ({"R704"} if code != "R704" else set()) == {code}
    for each in found.findings:
        assert each.where.line
        assert each.where.column
        assert each.fingerprint


@pytest.mark.parametrize("code", CODES)
def test_the_example_that_is_right_has_none(code):
    found = asked_of(page(code), page(code).good)
    assert not found.unreadable
    assert [each for each in found.findings if each.code != "R704"] == []


def test_codes_are_numbered_in_their_families():
    assert sorted(set(CODES)) == CODES
    assert {code[:2] for code in CODES} == set(FAMILIES)
    assert all(rule.reason and len(rule.reason) < 100 for rule in RULES)


def test_the_page_of_the_documentation_is_that_of_the_codes():
    """To renew it: `python docs/build.py --write`."""
    assert (ROOT / "docs" / "reference" / "lint.md").read_text(encoding="utf-8") == whole_page()
