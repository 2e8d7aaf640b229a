"""Other CEL engines, on the part of the language that each gets right, say what we say."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import given, settings

from fuzz.cel.typed import ENGINES, devices, ill_typed, selectors
from fuzz.targets.cel_second_opinions import FAILS, check_texts, check_verdicts
from tests.conftest import NEEDS

PACKAGES = dict(zip(ENGINES, ("celpy", "cel_expr_python"), strict=True))


def _needed(engine: str) -> None:
    if find_spec(PACKAGES[engine]) is None:
        pytest.skip(NEEDS[engine])


@pytest.mark.parametrize("engine", ENGINES)
def test_verdicts(engine):
    _needed(engine)
    seen = set()

    @settings(max_examples=60)
    @given(selectors(engine), devices())
    def same(typed, document):
        seen.add(check_verdicts(engine, typed, document))

    same()
    assert seen == {True, False, FAILS}


def test_words_about_overloads():
    _needed("cel-expr-python")
    seen = set()

    @settings(max_examples=60)
    @given(ill_typed())
    def same(text):
        seen.add(check_texts(text))

    same()
    assert "same words" in seen
