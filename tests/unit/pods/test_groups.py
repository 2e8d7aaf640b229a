"""
One attempt of a group of pods: in order, passing over what does not fit.
"""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import PodResourceClaim
from dra_alloc.pods.groups import attempt_group, is_of_group


def on(*rooms: int):
    """Place pods, which are the room they need, first fit into some rooms."""
    left = list(rooms)

    def place(pod):
        number = next((number for number, room in enumerate(left) if room >= pod), None)
        if number is not None:
            left[number] -= pod
        return number

    return place


def test_a_pod_without_a_place_is_passed_over():
    found = attempt_group([2, 5, 1], on(3), least=2)
    assert found.succeeded
    assert found.placed == ((2, 0), (1, 0))
    assert found.failed == (5,)
    assert not attempt_group([2, 5, 1], on(3), least=3).succeeded
    assert not attempt_group([5], on(3), least=1, running=1).succeeded


def test_an_earlier_choice_is_never_revised():
    assert not attempt_group([1, 3], on(3, 1), least=2).succeeded
    assert attempt_group([3, 1], on(3, 1), least=2).succeeded


def test_an_attempt_ends_when_it_cannot_succeed_any_more():
    tried = []

    def place(pod):
        tried.append(pod)

    found = attempt_group("abcd", place, least=3)
    assert (found.failed, found.untried) == (("a", "b"), ("c", "d"))
    found = attempt_group("abcd", place, least=3, stops_early=False)
    assert found.failed == tuple("abcd")
    assert not found.succeeded
    assert attempt_group("ab", place, least=3, stops_early=False).failed == ("a", "b")
    tried.clear()
    assert attempt_group("ab", place, least=4, running=1).untried == ("a", "b")
    assert not tried


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=5)


@given(SIZES, st.lists(st.integers(1, 5), max_size=3), st.integers(1, 5), st.integers(0, 2))
def test_a_smaller_minimum_succeeds_too(pods, rooms, least, running):
    if attempt_group(pods, on(*rooms), least=least, running=running).succeeded:
        assert attempt_group(pods, on(*rooms), least=least - 1, running=running).succeeded


@given(SIZES, st.lists(st.integers(1, 5), max_size=3))
def test_who_succeeds_in_order_could_succeed_in_some_order(pods, rooms):
    least = len(pods)
    found = attempt_group(pods, on(*rooms), least=least)
    orders = [attempt_group(each, on(*rooms), least=least).succeeded for each in permutations(pods)]
    assert any(orders) or not found.succeeded
    same = attempt_group(sorted(pods), on(*rooms), least=least)
    assert same.succeeded is attempt_group(sorted(pods), on(*rooms), least=least, stops_early=False).succeeded


@given(SIZES, st.lists(st.integers(1, 5), max_size=3), st.integers(1, 5))
def test_stopping_early_changes_no_success(pods, rooms, least):
    early, late = (attempt_group(pods, on(*rooms), least=least, stops_early=each) for each in (True, False))
    assert early.succeeded is late.succeeded
    assert early.placed == late.placed or not early.succeeded


@pytest.mark.parametrize(
    ("entry", "is_the_groups"),
    [
        ({"name": "d", "resourceClaimTemplateName": "t"}, True),
        ({"name": "e", "resourceClaimTemplateName": "t"}, False),
        ({"name": "d", "resourceClaimTemplateName": "u"}, False),
        ({"name": "d", "resourceClaimName": "t"}, False),
        ({"name": "s", "resourceClaimName": "c"}, True),
    ],
)
def test_a_claim_of_the_group_equals_it_in_all(entry, is_the_groups):
    group = [{"name": "d", "resourceClaimTemplateName": "t"}, {"name": "s", "resourceClaimName": "c"}]
    made = [PodResourceClaim.from_wire(each) for each in group]
    assert is_of_group(PodResourceClaim.from_wire(entry), made) is is_the_groups
