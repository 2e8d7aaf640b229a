"""
One cause is one problem, and no cause hides another; their number is the true one.
"""

from __future__ import annotations

import pytest

from dra_alloc.errors import ManifestError
from tests.reading import read

CLAIM = """\
apiVersion: VERSION
kind: ResourceClaim
metadata: {name: a}
spec:
  devices:
    requests:
    - name: g
EXACTLY
"""
EXACTLY = """\
      exactly:
        deviceClassName: gpu
        allocationMode: Foo
        tolerations: [{operator: Wat}]
        adminAccess: "x"
"""
FLAT = "\n".join(line[2:] for line in EXACTLY.splitlines()[1:]) + "\n"


def problems(text: str | bytes):
    with pytest.raises(ManifestError) as caught:
        read(text.encode() if isinstance(text, str) else text)
    return caught.value.problems


def claim(exactly: str = EXACTLY, version: str = "v1") -> str:
    return CLAIM.replace("VERSION", f"resource.k8s.io/{version}").replace("EXACTLY\n", exactly)


@pytest.mark.parametrize(("version", "exactly", "first"), [("v1", EXACTLY, 10), ("v1beta1", FLAT, 9)])
def test_a_wrong_type_does_not_hide_wrong_values(version, exactly, first):
    found = problems(claim(exactly, version))
    assert [(each.where.line, each.message.partition(":")[0]) for each in found] == [
        (first, "Unsupported value"),
        (first + 1, "Unsupported value"),
        (first + 2, 'expected true or false, got the string "x"'),
    ]


@pytest.mark.parametrize(
    "exactly",
    [
        "      exactly: {deviceClassName: [gpu]}\n",
        "      exactly: {deviceClassName: gpu, tolerations: [{operator: 5}]}\n",
        "      exactly: {deviceClassName: gpu, count: '0'}\n",
        "      exactly: [5]\n",
    ],
)
def test_what_follows_from_a_wrong_type_is_not_told(exactly):
    (found,) = problems(claim(exactly))
    assert found.message.startswith("expected ")


@pytest.mark.parametrize("count", [".nan", "-.inf", "!!int x", "!!binary ä"])
def test_a_word_that_cannot_be_read_is_one_problem(count):
    (found,) = problems(claim(f"      exactly: {{deviceClassName: gpu, count: {count}}}\n"))
    assert found.where.line == 8
    assert "expected" not in found.message


def test_apiversion_and_kind_are_both_told():
    assert [each.where.path for each in problems("apiVersion: 1\nkind: 5\n")] == ["apiVersion", "kind"]
    assert [each.where.path for each in problems("metadata: {name: a}\n")] == ["apiVersion", "kind"]


@pytest.mark.parametrize(
    "text",
    [
        claim("      exactly: {deviceClassName: {{ .Values.class }}}\n"),
        claim().replace("name: g\n", "name: {{ .Values.name }}\n").replace('"x"', "true").replace("Foo", "All"),
        "{{- if .Values.claims }}\n" + claim() + "{{- end }}\n",
        claim("      {{- toYaml .Values.exactly | nindent 6 }}\n"),
        'metadata:\n  labels:\n    {{- include "labels" . | nindent 4 }}\n' + claim(),
    ],
)
def test_a_template_has_one_problem_with_a_hint(text):
    templated = [each for each in problems(text) if each.hint.startswith("this looks like a template")]
    assert len(templated) == 1
    assert "{{" not in claim()


def test_what_is_no_template_has_no_such_hint():
    (found,) = problems("a: [1\n\n\n\nb: {{}\n".replace("{{}", "x"))
    assert found.hint == ""
    found = problems("a: {{ b }}\n---\nx: 1\n")
    assert [bool(each.hint) for each in found if "key" in each.message] == [True]


@pytest.mark.parametrize(("count", "told"), [(100, 100), (101, 101), (5_000, 101)])
def test_the_number_of_problems_is_the_true_one(count, told):
    with pytest.raises(ManifestError) as caught:
        read(b"---\n5\n" * count)
    assert caught.value.count == count
    assert len(caught.value.problems) == told
    if count > 100:
        assert caught.value.problems[-1].message.startswith(f"and {count - 100:,} more problem")
