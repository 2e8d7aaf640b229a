"""Another CEL engine, on the part of the language that it gets right, says what we say."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import given, settings

from fuzz.cel.typed import devices, ill_typed, selectors
from fuzz.targets.cel_second_opinions import FAILS, check_texts, check_verdicts
from tests.conftest import NEEDS


@pytest.fixture(autouse=True)
def _needed():
    if find_spec("cel_expr_python") is None:
        pytest.skip(NEEDS["cel-expr-python"])


def test_verdicts():
    seen = set()

    @settings(max_examples=60)
    @given(selectors(), devices())
    def same(text, document):
        seen.add(check_verdicts(text, document))

    same()
    assert seen == {True, False, FAILS}


def test_words_about_overloads():
    seen = set()

    @settings(max_examples=60)
    @given(ill_typed())
    def same(text):
        seen.add(check_texts(text))

    same()
    assert "same words" in seen
