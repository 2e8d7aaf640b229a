"""
YAML documents: structure, aliases, merges, lines, and what cannot be read.
"""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.manifest.budget import ReadBudget
from dra_alloc.manifest.read.raw import Noticed, TextError
from dra_alloc.manifest.read.yaml_reader import EMITTED, read_yaml


def read(text, **limits):
    findings = Noticed()
    return list(read_yaml(text.encode(), ReadBudget(**limits), findings)), findings


def value(text):
    documents, findings = read(text)
    assert not findings.faults
    return documents[0].value


def test_structure():
    assert value("a: {b: [1, '2', x], c: ~}\nd: |\n  x\n  y\n") == {"a": {"b": [1, "2", "x"], "c": None}, "d": "x\ny\n"}


def test_keys_are_read_as_values_and_then_written():
    assert value("y: 1\n1: 2\n0x10: 3\n") == {"true": 1, "1": 2, "16": 3}


def test_documents_have_places_and_lines():
    documents, _ = read("# first\na: 1\n---\n\nb: 2\n---\n")
    assert [(document.place, document.line, document.value) for document in documents] == [
        ((0,), 2, {"a": 1}),
        ((1,), 5, {"b": 2}),
        ((2,), 6, None),
    ]


def test_members_of_a_list_are_handed_out_one_by_one():
    documents, _ = read("items:\n- {apiVersion: v1, kind: A}\n- {x: 1}\n- {apiVersion: v1, kind: B}\nkind: List\n")
    assert [document.place for document in documents] == [(0, "items", 0), (0, "items", 2), (0,)]
    assert [document.line for document in documents[:2]] == [2, 4]
    assert documents[2].value == {"items": [EMITTED, {"x": 1}, EMITTED], "kind": "List"}


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("x: &x {a: 1, b: 2}\nz: {<<: *x, a: 3}", {"a": 3, "b": 2}),
        ("x: &x {a: 1, b: 2}\nz: {a: 3, <<: *x}", {"a": 1, "b": 2}),  # as kubectl's reader: where it stands
        ("x: &x {a: 1}\nw: &w {a: 2, c: 3}\nz: {<<: [*x, *w], d: 1}", {"a": 1, "c": 3, "d": 1}),
        ("z: {'<<': {a: 1}}", {"<<": {"a": 1}}),
        ("z: {!!str <<: {a: 1}}", {"<<": {"a": 1}}),
        ("z: {a: <<}", {"a": "<<"}),
    ],
)
def test_merges(text, merged):
    documents, findings = read(text)
    assert documents[0].value["z"] == merged
    assert not findings.duplicates
    assert not findings.faults


def test_a_merge_of_something_else_is_a_fault():
    _, findings = read("a: 1\nz:\n  <<: 5\n")
    assert [(fault.message, fault.line) for fault in findings.faults] == [
        ("map merge requires map or sequence of maps as the value", 3)
    ]


def test_repeated_keys_are_noted_with_their_place():
    documents, findings = read("a:\n- b: 1\n  c: 2\n  b: 3\n---\nx: 1\nx: 2\n")
    assert documents[0].value == {"a": [{"b": 3, "c": 2}]}
    assert [(double.place, double.line) for double in findings.duplicates] == [((0, "a", 0, "b"), 4), ((1, "x"), 7)]


def test_aliases_share_what_they_name():
    assert value("a: &a [1]\nb: *a\nc: &a 5\nd: *a") == {"a": [1], "b": [1], "c": 5, "d": 5}


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: &a [*a]", "anchor 'a' value contains itself", 1),
        ("b: 1\na: &a {b: {c: *a}}", "anchor 'a' value contains itself", 2),
        ("a: *x", "unknown anchor 'x' referenced", 1),
        (BOMB, "document contains excessive aliasing", 6),
        ("a: [1", "did not find expected", 2),
        ("a: b: c", "mapping values are not allowed in this context", 1),
        ("a:\n\tb: 2", "cannot start any token", 2),
        ("a: 1\nb: \x07", "control characters are not allowed", 2),
        ("- " * 10_000 + "a", "nest", 1),
        ("[" * 10_000 + "]" * 10_000, "nest", 1),
        ("".join(" " * depth + "a:\n" for depth in range(1_000)), "nested deeper than 200 levels", 200),
    ],
)
def test_what_cannot_be_read_says_where(text, message, line):
    with pytest.raises(TextError, match=message) as caught:
        read(text)
    assert abs(caught.value.line - line) <= 1


def test_the_size_of_aliases_is_counted_once_for_each_use():
    text = "a: &a [1, 2, [3]]\nb: [*a, *a]\n"  # five nodes twice
    assert value(text)["b"][1] == [1, 2, [3]]
    read(text, aliased_nodes=10)
    with pytest.raises(TextError, match="excessive aliasing"):
        read(text, aliased_nodes=9)


def test_bad_utf8_has_its_line():
    with pytest.raises(TextError) as caught:
        list(read_yaml(b"a: 1\nb: \xff\n", ReadBudget(), Noticed()))
    assert caught.value.line == 2


plain_words = st.sampled_from(
    ["a", "b c", "x-y", "0000:53:00.0", "", "é", "y", "1e3", "010", "null", "a: b", "#", "'\n"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | plain_words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_words, inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_what_is_written_is_read_back(content):
    class Dumper(yaml.CSafeDumper):
        """Quotes every string, and repeats instead of naming."""

        def ignore_aliases(self, data):
            return True

    Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
    documents, findings = read(yaml.dump({"content": content}, Dumper=Dumper))
    assert documents[0].value == {"content": content}
    assert not findings.duplicates
    assert not findings.faults
