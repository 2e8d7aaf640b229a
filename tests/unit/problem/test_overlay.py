"""
An overlay behaves as the dict that its changes would make.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.problem.overlay import Overlay

KEYS = st.integers(0, 12)
STEPS = st.lists(st.tuples(st.dictionaries(KEYS, st.integers(), max_size=4), st.lists(KEYS, max_size=3)), max_size=30)


@given(st.dictionaries(KEYS, st.integers()), STEPS)
def test_changes_are_those_of_a_dict(start, steps):
    overlay, plain = Overlay(start), dict(start)
    for items, gone in steps:
        before = dict(overlay)
        changed = overlay.changed(items, gone)
        assert dict(overlay) == before
        plain = {**{key: value for key, value in plain.items() if key not in gone}, **items}
        overlay = changed
        assert dict(overlay.items()) == plain
        assert len(overlay) == len(plain)
        assert all((key in overlay) == (key in plain) and overlay.get(key) == plain.get(key) for key in range(14))


def test_many_changes_become_a_base():
    overlay: Overlay[int, int] = Overlay()
    for number in range(1_000):
        overlay = overlay.changed({number: number})
    assert list(overlay) == list(range(1_000))
    assert overlay == {number: number for number in range(1_000)}
    assert hash(overlay) == hash(Overlay((number, number) for number in range(1_000)))
