"""
What makes nodes alike to a reader.
"""

from __future__ import annotations

import pytest

from dra_alloc.explain.counts import Group, PoolTally


def shape(*holders: str, amount: str = "1Gi") -> object:
    held = ", ".join(f"{each} holds {amount}" for each in holders)
    group = Group("counter-exhausted", f"2 of counter m needed, 1 of 3 left in set ({held})", ("a",), holders)
    return PoolTally("d", "p", 1, (), (group,)).shape


@pytest.mark.parametrize("other", [("ml/c", "ml/cd"), ("ml/cd", "ml/c"), ("a", "holds-much")])
def test_holders_of_other_names_make_no_difference(other: tuple[str, str]) -> None:
    """Also where the name of one is the beginning of another's, or a part of a word."""
    assert shape("ml/a", "ml/ab") == shape(*other)


def test_what_is_held_makes_a_difference() -> None:
    assert shape("ml/a") != shape("ml/a", amount="2Gi")
    assert shape("ml/a") != shape("ml/a", "ml/ab")
