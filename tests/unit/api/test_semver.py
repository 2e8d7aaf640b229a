"""Laws of versions that no single vector can show."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import Semver, SemverError
from dra_alloc.api.semver import admits_version

_NUMBER = st.integers(0, 2**64 - 1).map(str) | st.integers(0, 3).map(str)
_WORD = st.from_regex(r"[0-9]{0,3}[a-zA-Z-][0-9a-zA-Z-]{0,4}", fullmatch=True)
_CORE = st.tuples(_NUMBER, _NUMBER, _NUMBER).map(".".join)
_PRERELEASE = st.lists(_NUMBER | _WORD, max_size=3).map(lambda parts: "-" + ".".join(parts) if parts else "")
_BUILD = st.lists(_WORD | st.just("007"), max_size=2).map(lambda parts: "+" + ".".join(parts) if parts else "")
texts = st.tuples(_CORE, _PRERELEASE, _BUILD).map("".join)
versions = texts.map(Semver.parse)


@given(texts)
def test_printing_gives_the_text_back(text: str) -> None:
    assert str(Semver.parse(text)) == text
    assert Semver.parse_tolerant(text) == Semver.parse_tolerant("v" + text) == Semver.parse(text)


@given(texts | st.text("0123.-+va_ ", max_size=10))
def test_what_parses_is_admitted(text: str) -> None:
    problem = _problem(text)
    assert admits_version(text) == (not problem or "out of range" in problem)


def _problem(text: str) -> str:
    try:
        Semver.parse(text)
    except SemverError as problem:
        return problem.message
    return ""


@given(versions, versions, versions)
def test_order_is_total(a: Semver, b: Semver, c: Semver) -> None:
    assert a.compare(b) == -b.compare(a)
    assert (a < b) == (a.compare(b) < 0)
    assert (a == b) == (a.compare(b) == 0)
    if a <= b <= c:
        assert a <= c


@given(versions)
def test_build_metadata_is_not_compared(version: Semver) -> None:
    twin = Semver((version.major, version.minor, version.patch), version.prerelease, ("other",))
    assert twin == version
    assert hash(twin) == hash(version)


@given(versions)
def test_copies_are_equal(version: Semver) -> None:
    assert str(pickle.loads(pickle.dumps(version))) == str(version)
    assert copy.copy(version) is copy.deepcopy(version) is version
    assert repr(version) == f"Semver.parse({str(version)!r})"


def test_nothing_can_be_set_or_deleted() -> None:
    version = Semver.parse("1.2.3")
    with pytest.raises(AttributeError, match="immutable"):
        version.major = 2
    with pytest.raises(AttributeError, match="immutable"):
        del version.major


def test_other_types_do_not_compare() -> None:
    version = Semver.parse("1.2.3")
    assert version != "1.2.3"
    assert version.__lt__("1.2.3") is NotImplemented
