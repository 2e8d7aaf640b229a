"""
Lists of objects with members that are none: each is told by its position, at its line.
"""

from __future__ import annotations

import json

import pytest
import yaml

from dra_alloc.errors import ManifestError
from tests.reading import read

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}


def told(text: str) -> list[tuple[int | None, str, str, str]]:
    with pytest.raises(ManifestError) as caught:
        read(text)
    return [(each.where.line, each.where.object, each.where.path, each.message) for each in caught.value.problems]


BAD = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: a}
- null
- 5

- []
- {}
- kind: X
- apiVersion: v1
  kind: List
  items:
  - null
"""
SAID = "expected an object with apiVersion and kind, got "
MISSING = "apiVersion is missing or no string"
EXPECTED = [
    (7, "items[1]", "", SAID + "null"),
    (8, "items[2]", "", SAID + "the number 5"),
    (10, "items[3]", "", SAID + "a list"),
    (11, "object in items[4]", "apiVersion", MISSING),
    (11, "object in items[4]", "kind", "kind is missing or no string"),
    (12, "X in items[5]", "apiVersion", MISSING),
    (16, "items[6].items[0]", "", SAID + "null"),
]


def test_every_member_that_is_no_object_is_told_in_yaml():
    assert told(BAD) == EXPECTED


def test_and_in_json():
    inner = {"apiVersion": "v1", "kind": "List", "items": [None]}
    items: list[object] = [NODE, None, 5, [], {}, {"kind": "X"}, inner]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    found = told(text)
    assert [each[1:] for each in found] == [each[1:] for each in EXPECTED]
    lines = text.splitlines()
    assert [lines[(number or 0) - 1].strip(" ,") for number, *_ in found[:3]] == ["null", "5", "[]"]


@pytest.mark.parametrize("kind", ["v1 List", "v1 NodeList", "resource.k8s.io/v1 ResourceSliceList"])
@pytest.mark.parametrize("items", ["{a: b}", "5", "text", "{}", '""'])
def test_items_that_are_no_list_are_a_problem(kind, items):
    version, name = kind.split()
    (found,) = told(f"apiVersion: {version}\nkind: {name}\nitems: {items}\n")
    assert found[0] == 3
    assert found[1:3] == (name, "items")
    assert found[3].startswith("expected a list, got ")
    (found,) = told(json.dumps({"apiVersion": version, "kind": name, "items": {"a": "b"}}))
    assert found[3] == "expected a list, got an object"


@pytest.mark.parametrize("items", ["null", "[]", ""])
def test_a_list_may_have_no_members(items):
    for kind in ("List", "NodeList"):
        documents = read(f"apiVersion: v1\nkind: {kind}\nitems: {items}\n")
        assert documents.nodes == ()
        assert documents.unknown == {}


def test_a_kind_of_others_may_be_called_a_list():
    documents = read(b"apiVersion: a.io/v1\nkind: AllowList\nitems: {a: b}\n")
    assert documents.unknown == {"a.io/v1 AllowList": 1}


def test_the_line_of_a_member_is_known_later_too():
    text = (
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClassList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"
    )
    documents = read(text)
    assert [documents.where(each).line for each in documents.classes] == [4, 5]


@pytest.mark.parametrize(("left", "told"), [("", "more are"), (', "remainingItemCount": 1200', "1,200 more are")])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", ["NodeList", "List"])
def test_a_list_that_was_cut_is_said_to_be(left: str, told: str, nested: bool, kind: str) -> None:
    head = f'{{"apiVersion": "v1", "kind": "{kind}", "metadata": {{"continue": "abc"{left}}}, "items": '
    text = f"{head}[{json.dumps(NODE)}]}}"
    if nested:
        text = f'{{"apiVersion": "v1", "kind": "List", "items": [{text}]}}'
    as_yaml = yaml.safe_dump(json.loads(text), sort_keys=True)
    for written in (text, json.dumps(json.loads(text), indent=2), as_yaml, text + text.replace('"a"', '"b"')):
        found = read(written)
        lists = 2 if '"b"' in written else 1
        assert len(found.nodes) == lists
        assert [each.message for each in found.warnings] == [
            f"the list is cut: metadata.continue is set, and {told} on the server"
        ] * lists
    whole = written.replace('"abc"', '""')
    assert read(whole).warnings == ()
