"""
What a release knows of the libraries, and what changed between releases.
"""

from __future__ import annotations

import pytest

from dra_alloc import cel
from tests.unit.cel.devices import device
from tests.unit.cel.evaluator import answer, shown

NEW_SINCE_135 = (
    "lists.range(1)",
    "[1].reverse()",
    "[[1]].flatten()",
    "[1].sortBy(x, x)",
    "[1].distinct()",
    "[1].slice(0, 1)",
)
CHANGES = (
    ('"abc".indexOf("", 7)', "7", "3"),
    ('"abc".lastIndexOf("", -1)', "-1", "! index out of range: -1"),
    ("lists.range(-1)", "[]", "! lists.range: size must be non-negative, got -1"),
    (
        "dyn(optional.none()).flatten()",
        "! no such overload: optional_type.flatten()",
        "! no such overload: optional_type(dyn).flatten()",
    ),
    ("cel.bind(v, optional.of(optional.of(1)), v.value())", "1", "some(1)"),
    ("cel.bind(v, optional.of(int), v.value())", '"int"', "int"),
    (
        'cel.bind(v, optional.of(semver("1.2.3")), v.value().major())',
        "! unsupported conversion to ref.Val: (semver.Version)1.2.3",
        "1",
    ),
    (
        "duration(1 + 1)",
        "! type conversion error from 'int' to 'google.protobuf.Duration'",
        "? ERROR: <input>:1:9: found no matching overload for 'duration' applied to '(int)'",
    ),
)
LONG = "a" * 70


@pytest.mark.parametrize("expression", NEW_SINCE_135)
def test_the_lists_extension_is_new_in_135_and_stored_everywhere(expression: str) -> None:
    selector = f"{expression}.size() == 1"
    with pytest.raises(cel.CompileError, match="undeclared reference"):
        cel.environment("1.34", "new").compile(selector)
    for release, mode in (("1.35", "new"), ("1.34", "stored")):
        environment = cel.environment(release, mode)
        assert environment.compile(selector).matches(device({"driver": "d"}, environment.reading))


@pytest.mark.parametrize(("expression", "before", "after"), CHANGES, ids=[row[0] for row in CHANGES])
def test_what_cel_go_029_changed(expression: str, before: str, after: str) -> None:
    assert shown(answer(expression, "1.36")) == before
    assert shown(answer(expression, "1.37.0-alpha.2")) == before
    assert shown(answer(expression, "1.37")) == after


@pytest.mark.parametrize(("release", "unit"), [("1.34", "characters"), ("1.35", "bytes"), ("1.37", "bytes")])
def test_label_lengths_are_in_bytes_since_135(release: str, unit: str) -> None:
    found = answer(f'format.labelValue().validate("{LONG}")', release)
    assert shown(found) == f'some(["must be no more than 63 {unit}"])'
