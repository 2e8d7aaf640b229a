"""
The page of divergences is what the traits and the vectors say, in both directions.
"""

from __future__ import annotations

import pytest

from dra_alloc.traits import TRAITS
from spec.case import stated
from spec.divergences import Divergence, made, read

PAGE = read()


def test_there_is_one_for_each_trait_and_none_besides():
    assert set(PAGE) == {str(trait) for trait in TRAITS}


def test_it_says_what_the_traits_and_the_vectors_say():
    now = made(PAGE)
    assert {name: Divergence.model_validate(each) for name, each in now.items()} == PAGE


@pytest.mark.parametrize("name", PAGE)
def test_each_has_statements_and_vectors(name):
    assert PAGE[name].vectors
    assert PAGE[name].statements
    assert set(PAGE[name].statements) <= set(stated())
