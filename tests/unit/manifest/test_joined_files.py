"""
Files joined without a line of dashes between them: keys of one are repeated by the next, and nothing is lost unseen.
"""

from __future__ import annotations

import io

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import load
from dra_alloc.manifest.read.json_reader import read_json
from dra_alloc.manifest.read.raw import TextError
from tests.reading import read

LIST = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {name: %s}
"""
CLASS = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
DASHES = 'if another document begins there, put a line with "---" before it'


def problems(text):
    with pytest.raises(ManifestError) as caught:
        read(text)
    return [(each.where.line, each.message, each.hint) for each in caught.value.problems]


def test_lists_that_were_joined():
    assert problems(LIST % "a" + LIST % "b") == [
        (7, 'duplicate field "apiVersion"', DASHES),
        (8, 'duplicate field "kind"', DASHES),
        (9, 'duplicate field "items"', DASHES),
    ]


def test_an_object_that_was_joined_to_a_list():
    for text, line in ((LIST % "a" + CLASS, 7), (CLASS + LIST % "a", 4)):
        found = problems(text)
        assert found == [
            (line, 'duplicate field "apiVersion"', DASHES),
            (line + 1, 'duplicate field "kind"', DASHES),
        ]


def test_objects_that_were_joined():
    found = problems(CLASS + CLASS)
    assert [(line, hint) for line, _, hint in found] == [(4, DASHES), (5, DASHES), (6, "")]


def test_with_dashes_all_is_well():
    documents = load(["-"], stdin=io.BytesIO("---\n".join((LIST % "a", CLASS, LIST % "b")).encode()))
    assert len(documents.namespaces) == 2
    assert len(documents.classes) == 1


def test_repeated_keys_of_a_list_are_warnings_if_they_shall_be():
    documents = read((LIST % "a" + LIST % "b"), validate="warn")
    assert len(documents.warnings) == 3


@pytest.mark.parametrize("last", ['[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}}]', "[]"])
def test_a_json_list_that_has_its_members_twice_is_refused(last):
    member = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}'
    text = f'\n{{"apiVersion": "v1", "kind": "List", "items": [{member}],\n"items": {last}}}'
    (found,) = problems(text)
    assert found[:2] == (3, 'duplicate field "items"')
    with pytest.raises(TextError, match="of which only the last would count") as caught:
        list(read_json(text.encode()))
    assert caught.value.line == 3


def test_items_inside_of_members_are_no_repetition():
    member = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}, "items": [{"items": [1]}]}'
    text = f'{{"metadata": {{"x": {{"items": [1]}}}}, "kind": "List", "items": [{member}, {member}]}}'
    assert len(list(read_json(text.encode()))) == 2
