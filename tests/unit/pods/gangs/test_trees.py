"""
Gangs as trees: what they need, and which of their pods are tried together.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import PodGroup
from dra_alloc.pods.gangs.trees import GroupTree, SubGroup, core_group, fewest, has_enough, next_pods, tree_of

LEAVES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4)


def tree(sizes: list[tuple[int, int]], needs: int | None = None) -> GroupTree:
    """Groups of so many pods that need so many of them, one below another group each."""
    below = [SubGroup(f"g{number}", least=least) for number, (_, least) in enumerate(sizes)]
    pods, first = dict[str, list[int]](), 0
    for number, (count, _) in enumerate(sizes):
        pods[f"g{number}"] = list(range(first, first + count))
        first += count
    return tree_of(SubGroup("", least_groups=needs), below, pods)


def test_a_group_needs_pods_and_groups():
    group = tree([(2, 1), (3, 2)])
    assert [has_enough(group, placed) for placed in ((), (0,), (2, 3), (0, 2, 3))] == [False, False, False, True]
    assert fewest(group) == 3
    assert has_enough(GroupTree("g", 2, (1, 2, 3)), (1, 3))


def test_a_group_that_needs_some_of_its_groups():
    group = tree([(2, 2), (3, 1)], needs=1)
    assert fewest(group) == 1
    assert has_enough(group, (2,))
    assert not has_enough(group, (0,))


def test_what_a_group_needs_is_tried_at_once_and_the_rest_one_by_one():
    group = tree([(2, 1), (3, 2)])
    assert next_pods(group, ()) == (0, 2, 3)
    assert next_pods(group, (0, 2, 3)) == (1,)
    assert next_pods(group, (0, 1, 2, 3)) == (4,)
    assert next_pods(group, range(5)) == ()


def test_a_group_that_needs_nothing_comes_last():
    group = tree([(2, 0), (2, 1)], needs=2)
    assert next_pods(group, ()) == (2,)
    assert next_pods(group, (2,)) == (3,)


def test_leaders_first_where_one_group_is_enough():
    """The others have their pods at once, when the first has what it needs."""
    group = tree([(1, 1), (3, 3)], needs=1)
    assert next_pods(group, ()) == (0,)
    assert next_pods(group, (0,)) == (1, 2, 3)


def test_a_tree_leaves_out_what_is_below_no_root():
    below = [SubGroup("a"), SubGroup("b", "b"), SubGroup("c", "a", 2)]
    assert tree_of(SubGroup(""), below, {"c": [4, 5]}) == GroupTree(
        "", groups=(GroupTree("a", groups=(GroupTree("c", 2, (4, 5)),), least_groups=1),), least_groups=1
    )


def test_a_pod_group_of_kubernetes():
    wire = {"metadata": {"name": "g", "namespace": "ns"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    assert core_group(PodGroup.model_validate(wire), (7, 8)) == GroupTree("ns/g", 3, (7, 8))


@given(LEAVES, st.none() | st.integers(0, 3))
def test_turns_end_with_all_pods_and_satisfy_what_can_be(sizes, needs):
    group = tree(sizes, None if needs is None else min(needs, len(sizes)))
    every, placed = set(group.members()), set[int]()
    while pods := next_pods(group, placed):
        assert not placed & set(pods)
        placed |= set(pods)
    assert placed == every or not has_enough(group, every)


@given(LEAVES)
def test_the_first_turn_is_enough_wherever_all_pods_are(sizes):
    group = tree(sizes)
    if has_enough(group, set(group.members())):
        first = next_pods(group, ())
        assert has_enough(group, set(first))
        assert len(first) == fewest(group) or fewest(group) == 0
