"""
JSON texts: splitting, lines, repeated keys, and what cannot be read.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.json_reader import header_of, plain_from_json, read_json, repeated_keys
from dra_alloc.manifest.read.raw import ListKind, TextError


def test_texts_that_follow_each_other():
    raws = list(read_json(b' {"a": 1}\n{"b":2}{"c":3}\n\n[4]\n'))
    assert [(raw.place, raw.line, bytes(raw.text or b"")) for raw in raws] == [
        ((0,), 1, b'{"a": 1}\n'),
        ((1,), 2, b'{"b":2}'),
        ((2,), 2, b'{"c":3}\n\n'),
        ((3,), 4, b"[4]\n"),
    ]
    assert [raw.line for raw in raws] == [1, 2, 2, 4]


def test_members_of_a_list_with_their_lines_and_what_the_list_says_of_them():
    text = b'{"apiVersion":"g/v1","kind":"FooList","metadata":{"x":{"a":1}},\n"items":[\n {"a":1},\n {"a":1}]}'
    raws = list(read_json(text))
    assert [(raw.place, raw.line, bytes(raw.text or b"")) for raw in raws] == [
        ((0, "items", 0), 3, b'{"a":1}'),
        ((0, "items", 1), 4, b'{"a":1}'),
    ]
    assert {raw.list_kind for raw in raws} == {ListKind("g/v1", "FooList")}


def test_items_that_are_no_list_make_no_list():
    assert [raw.place for raw in read_json(b'{"items": 5}{"items": null}')] == [(0,), (1,)]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (b'{"a": 1', "ends too early", 1),
        (b'{"a":\n 1,}', "trailing comma", 2),
        (b'{"a" 1}', "expected ':'", 1),
        (b'{"a": NaN}', "invalid", 1),
        (b'{"a":1}\n{"b":\n1,,}', "expected", 3),
        (b"[" * 100_000, "nested too deeply", 1),
    ],
)
def test_what_cannot_be_read_says_where(text, message, line):
    with pytest.raises(TextError, match=message) as caught:
        list(read_json(text))
    assert caught.value.line == line


def test_fractions_keep_their_text():
    assert plain_from_json(b'{"a": 1.50, "b": 1e3, "c": 2}') == {"a": JsonFloat("1.50"), "b": JsonFloat("1e3"), "c": 2}


def test_bad_utf8_has_its_line():
    with pytest.raises(TextError, match="not UTF-8") as caught:
        plain_from_json(b'{"a":\n"\xff"}')
    assert caught.value.line == 2


def test_headers():
    header = header_of(b'{"kind":"A","apiVersion":"v1","spec":{"kind":"B"}}')
    assert (header.api_version, header.kind) == ("v1", "A")
    assert header_of(b"[1]").kind is None
    assert header_of(b'{"kind": 5}').kind is None


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        (b'{"a":1,"b":{"c":1,\n "c" : 2}}', [(("b", "c"), 2)]),
        (b'{"a":[{"x":1},{"x":1,"x":2}]}', [(("a", "1", "x"), 1)]),
        (b'{"a":1,"\\u0061":2}', [(("a",), 1)]),
        (b'{"a":"\\u003a","a":1}', [(("a",), 1)]),
        (b'{"a\\":":1,"b":"x : y","c":"\\":"}', []),
    ],
)
def test_repeated_keys(text, repeated):
    assert repeated_keys(text, plain_from_json(text)) == repeated


keys: Any = st.sampled_from(["a", "b", 'q"', "c:", "\\", ":"])
pairs: Any = st.deferred(lambda: st.lists(st.tuples(keys, members), max_size=4))
members: Any = st.one_of(
    st.integers(0, 9), st.sampled_from(["x", ":", '":', "\\"]), st.builds(dict, pairs), st.lists(st.just("a:b"))
)


def _text(items):
    return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in items) + "}"


@given(st.lists(st.tuples(keys, members), max_size=6))
def test_repeated_keys_are_found_exactly(items):
    text = _text(items).encode()
    names = [key for key, _ in items]
    expected = [(name,) for position, name in enumerate(names) if name in names[:position]]
    assert [path for path, _ in repeated_keys(text, json.loads(text))] == expected
