"""Nothing changes a FrozenMap."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import FrozenMap

maps = st.dictionaries(st.text(max_size=3), st.integers(), max_size=5)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.__setitem__("a", 2),
        lambda one: one.__delitem__("a"),
        lambda one: one.update(b=1),
        lambda one: one.setdefault("b", 1),
        lambda one: one.pop("a"),
        lambda one: one.popitem(),
        lambda one: one.clear(),
        lambda one: one.__ior__({"b": 1}),
    ],
)
def test_every_mutator_is_refused(change) -> None:
    one = FrozenMap({"a": 1})
    with pytest.raises(TypeError, match="cannot be changed"):
        change(one)
    assert one == {"a": 1}


def test_a_second_construction_changes_nothing() -> None:
    one = FrozenMap({"a": 1})
    one.__init__({"b": 2})  # type: ignore[misc]
    assert one == {"a": 1}


@given(maps)
def test_it_is_a_dict_with_a_hash(items: dict[str, int]) -> None:
    frozen = FrozenMap(items)
    assert frozen == items
    assert json.loads(json.dumps(frozen)) == items
    assert hash(frozen) == hash(FrozenMap(reversed(items.items())))
    for twin in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen), frozen.copy()):
        assert twin == frozen
        assert isinstance(twin, FrozenMap)
    before = dict(items)
    items["new"] = items.get("new", 0) + 1
    assert frozen == before


@given(maps, maps)
def test_a_union_is_a_new_frozen_map(left: dict[str, int], right: dict[str, int]) -> None:
    for union in (FrozenMap(left) | right, left | FrozenMap(right)):
        assert union == left | right
        assert isinstance(union, FrozenMap)


def test_keys_can_share_a_value() -> None:
    assert FrozenMap.fromkeys("ab", 1) == {"a": 1, "b": 1}
    assert repr(FrozenMap({"a": 1})) == "FrozenMap({'a': 1})"
