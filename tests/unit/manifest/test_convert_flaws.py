"""
Texts that cannot be converted: each flaw is told once, of the object that has it, and soon.
"""

from __future__ import annotations

import io

import pytest

from dra_alloc.manifest import load_readable
from dra_alloc.manifest.convert import texts
from dra_alloc.manifest.convert.objects import goal_of
from dra_alloc.manifest.convert.texts import convert_text
from dra_alloc.manifest.read.inputs import InputBytes
from tests.unit.manifest.test_convert_texts import HEAD, converted

TWICE = (
    '{"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "c"}, '
    '"spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "c", "%s": 1, "%s": 2}]}}}'
)
KEYS = ["\u00b2", "\u0663", "9" * 900]


@pytest.mark.parametrize("key", KEYS)
def test_keys_that_look_like_numbers_are_no_positions(key):
    text = HEAD.format("v1beta1") + f'    - {{name: a, deviceClassName: c, "{key}": 1, "{key}": 2}}\n'
    for given in (text, TWICE % (key, key)):
        shown = "9999" if key.startswith("9") else key
        assert f"requests[0].{shown}" in str(converted(given, "v1").problems)
        _, problems = load_readable(["-"], stdin=io.BytesIO(given.encode()))
        assert f'duplicate field "spec.devices.requests[0].{shown}' in str(problems)


def test_what_is_wrong_in_a_text_of_many_objects_is_found_by_halves(monkeypatch):
    requests = "    - name: a\n      selectors:\n      - cel:\n          expression: |\n            a{}b\n"
    good, bad = (HEAD.format("v1beta1") + requests.format(each) for each in (" ", "\u2028            "))
    proofs: list[str] = []
    proves = texts._Turning._proves

    def counted(turning, text):
        proofs.append(text)
        return proves(turning, text)

    monkeypatch.setattr(texts._Turning, "_proves", counted)
    found = converted("---\n".join([*[good] * 30, bad, *[good] * 33]), "v1")
    assert [each.where.line for each in found.problems] == [30 * (1 + good.count("\n")) + 1]
    assert "together" not in found.problems[0].message
    assert len(proofs) <= 16
    proofs.clear()
    assert len(converted("---\n".join([bad] * 64), "v1").problems) == 64
    assert len(proofs) <= 41


def test_a_list_that_changes_does_not_make_its_members_wrong():
    one = "- metadata: {name: %s}\n  spec: {devices: {requests: [{name: a, %s}]}}\n"
    members = one % ("c", "count: 2") + one % ("d", "exactly: {count: 1}")
    text = "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimList\nitems:\n" + members
    assert ["ResourceClaim d" in str(each) for each in converted(text, "v1").problems] == [True]


def test_text_that_is_not_utf_8_is_a_problem():
    for text in (b"a: b\nc: \xff\n", HEAD.format("v1beta1").encode() + b"  - name: \xff\n"):
        found = convert_text(InputBytes("f.yaml", text), goal_of("v1"))
        assert "UTF-8" in str(found.problems) or "utf-8" in str(found.problems)
        assert found.after == found.before


def test_each_object_has_the_keys_that_it_gives_twice():
    one = HEAD.format("v1beta1") + "    - name: a\n      name: b\n"
    found = converted("kind: x\nkind: y\n---\n" + "---\n".join([one] * 3), "v1")
    size = one.count("\n") + 1
    assert [each.where.line for each in found.problems] == [2 + size, 2 + 2 * size, 2 + 3 * size]
