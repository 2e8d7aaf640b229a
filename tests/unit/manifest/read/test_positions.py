"""
Where paths stand: both readers agree with the text, and with each other.
"""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.manifest.read.paths import MapKey, render, tokens
from dra_alloc.manifest.read.positions import duplicates_in_json, positions_in_json, positions_in_yaml

YAML = b"a: 1\nb:\n - c: 1\n   d: [1, 2]\n---\n? [k]\n: v\nx: {y: z}\n"


def test_yaml_places():
    wanted = [("0", "b", "0", "d", "1"), ("1", "x", "y"), ("1", "x", "q", "r"), ("0",), ("2", "a")]
    assert positions_in_yaml(YAML, wanted) == {
        ("0", "b", "0", "d", "1"): (4, 11),
        ("1", "x", "y"): (8, 5),
        ("1", "x", "q", "r"): (8, 1),  # what there is of it
        ("0",): (1, 1),
    }


def test_json_places():
    text = b'{"a": 1,\n"b":\n [{"c":1,\n"d":[1,"\\"]"]}]}{"x":1}'
    wanted = [("0", "b", "0", "d", "1"), ("1", "x"), ("0", "b", "7", "d", "1")]
    assert positions_in_json(text, wanted) == {
        ("0", "b", "0", "d", "1"): (4, 8),
        ("1", "x"): (4, 18),
        ("0", "b", "7", "d", "1"): (2, 1),
    }


def test_broken_text_ends_the_search():
    assert positions_in_yaml(b"a: 1\nb: [\n", [("0", "a"), ("0", "c")]) == {("0", "a"): (1, 1), ("0", "c"): (1, 1)}
    assert positions_in_json(b'}]{"a":', [("1", "a")]) is not None


def test_paths_are_written_and_read():
    path = ("spec", "devices", 0, "attributes", MapKey("example.com/model"), "string")
    assert render(path) == "spec.devices[0].attributes[example.com/model].string"
    assert tokens(render(path)) == tokens(path) == ("spec", "devices", "0", "attributes", "example.com/model", "string")


contents = st.recursive(
    st.integers(0, 9) | st.sampled_from(["x", "y z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c d"]), inner, max_size=3),
    max_leaves=10,
)


def _paths(value, path=("0",)):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from _paths(child, (*path, str(step)))


@given(contents)
def test_json_read_as_yaml_has_the_same_places(content):
    text = json.dumps(content, indent=1).encode()
    wanted = list(_paths(content))
    assert positions_in_json(text, wanted) == positions_in_yaml(text, wanted)


@given(contents, st.data())
def test_what_nobody_asks_for_is_passed_over(content, data):
    text = json.dumps([content, {"é": "x\u2028", "a": content}], indent=1, ensure_ascii=False).encode()
    paths = list(_paths([content, {"é": "x", "a": content}]))
    wanted = data.draw(st.lists(st.sampled_from(paths), min_size=1))
    every = positions_in_json(text, paths)
    assert positions_in_json(text, wanted) == {path: every[path] for path in wanted}


def test_what_cannot_be_read_is_looked_through_token_by_token():
    text = b'[{"a": nonsense, "b": [1}, {"c": 1}]'
    deeper = positions_in_json(text, [("0", "1"), ("0", "0", "a", "x", "y")])
    assert positions_in_json(text, [("0", "1")]) == {("0", "1"): deeper["0", "1"]}


@pytest.mark.parametrize("between", [b"", b"\n"])
def test_many_places_cost_one_look_at_the_text(between: bytes) -> None:
    """Counted from the beginning for each of them this took minutes: a few megabytes could hold up a check."""
    count = 60_000
    data = b"{" + b",".join([b'"a":"' + bytes(20).replace(b"\0", b"x") + b'"' + between] * count) + b"}"
    started = time.process_time()
    repeated = duplicates_in_json(data)
    places = positions_in_json(b"[" + b",".join([b"1" + between] * count) + b"]", [("0", str(n)) for n in range(count)])
    assert time.process_time() - started < 10
    assert [line for _, line in repeated] == [n + 2 if between else 1 for n in range(count - 1)]
    assert places["0", "7"] == ((8, 2) if between else (1, 16))
    assert len(places) == count
