"""
An overlay behaves as the dict that its changes would make.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.problem.overlay import Findings, Overlay

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


@given(st.dictionaries(KEYS, st.integers()), STEPS)
def test_keys_differ_whose_values_are_not_the_same(start, steps):
    states = [Overlay(start)]
    for items, gone in steps:
        states.append(states[-1].changed(items, gone))
    for one in (states[0], Overlay(start), Overlay[int, int]()):
        assert states[-1].differing(one) == {key for key in range(13) if states[-1].get(key) is not one.get(key)}


def test_many_changes_become_a_base():
    overlay: Overlay[int, int] = Overlay()
    for number in range(1_000):
        overlay = overlay.changed({number: number})
    assert list(overlay) == list(range(1_000))
    assert overlay == {number: number for number in range(1_000)}
    assert hash(overlay) == hash(Overlay((number, number) for number in range(1_000)))


@given(st.lists(st.tuples(st.integers(0, 5), KEYS, st.booleans()), max_size=60))
def test_findings_know_what_was_found_by_any_that_did_not_forget(steps):
    copies = [Findings[int, tuple[int, int]]()]
    forgot: list[set[int]] = [set()]
    for number, (drawn, key, forget) in enumerate(steps):
        which = drawn % len(copies)
        if forget:
            copies.append(copies[which].without([key]))
            forgot.append(forgot[which] | {key})
            assert copies[-1].get(key) is None
        else:
            copies[which].put(key, (which, number))
            assert copies[which].get(key) == (which, number)
        for each, gone in zip(copies, forgot, strict=True):
            for other in range(13):
                found = each.get(other)
                # What was found by one that forgot the key since is of another state.
                assert found is None or (other in gone) <= (other in forgot[found[0]])


def test_findings_that_forgot_much_stand_alone():
    first = Findings[int, int]()
    for key in range(1_000):
        first.put(key, key)
    second = first.without(range(500))
    assert [second.get(key) for key in (0, 499, 500, 999)] == [None, None, 500, 999]
    second.put(0, -1)
    second.put(2_000, -2)
    assert (first.get(0), first.get(2_000)) == (0, None)
