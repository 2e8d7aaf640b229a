"""
Comments and annotations that suppress findings.
"""

from __future__ import annotations

import io

import pytest

from dra_alloc.linting.rules import LintFinding
from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.linting.selection import CodesAsked
from dra_alloc.manifest import Manner, load_readable

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: one
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
        count: -1
    - name: other
      exactly:
        deviceClassName: gpu.example.com
        count: -1
"""
IGNORE = "# dra-alloc: ignore[S121] an older server takes it"


def found_in(text: str, *select: str) -> tuple[LintFinding, ...]:
    asked = LintAsked(selection=CodesAsked(select))
    manner = Manner("strict", "keep", asked.settings.profile().release)
    return linted(load_readable(["-"], stdin=io.BytesIO(text.encode()), manner=manner), asked).findings


def told(text: str, *select: str) -> list[tuple[str, int | None]]:
    return [(each.code, each.where.line) for each in found_in(text, *select)]


def with_line(number: int, line: str) -> str:
    lines = CLAIM.splitlines()
    return "\n".join([*lines[: number - 1], line, *lines[number - 1 :]]) + "\n"


def test_a_comment_suppresses_a_code():
    assert told(CLAIM) == [("S121", 11), ("S121", 15)]
    assert told(CLAIM.replace("count: -1\n    -", f"count: -1  {IGNORE}\n    -")) == [("S121", 15)]


@pytest.mark.parametrize(
    ("line", "indent", "left"),
    [
        (1, "", []),
        (5, "", []),
        (8, "    ", [16]),
        (9, "      ", [16]),
        (11, "        ", [16]),
        (12, "    ", [11]),
    ],
)
def test_a_comment_of_its_own_is_about_what_begins_below(line, indent, left):
    assert told(with_line(line, indent + IGNORE)) == [("S121", each) for each in left]


def test_a_comment_is_about_its_own_document():
    assert told(f"{IGNORE}\n{CLAIM}---\n{CLAIM}") == [("S121", 28), ("S121", 32)]


def test_what_only_looks_like_a_comment_is_none():
    text = CLAIM.replace("  name: one\n", f"  name: one\n  annotations:\n    note: |\n      {IGNORE}\n")
    assert len(told(text)) == 2


@pytest.mark.parametrize("said", ["S121 an older server", "C302,S121 an older server"])
def test_an_annotation_suppresses_a_code(said):
    text = CLAIM.replace("  name: one\n", f"  name: one\n  annotations:\n    dra-alloc/ignore: {said}\n")
    assert told(text, "S", "L") == []


def test_suppressions_themselves_are_looked_at():
    assert told(with_line(1, "# dra-alloc: ignore[S119,S121] why")) == [("L901", 1)]
    assert told(with_line(1, "# dra-alloc: ignore[E201,S121] why"), "S", "L") == []
    assert told(with_line(11, "        # dra-alloc: ignore[S121]")) == [("L902", 11), ("S121", 12), ("S121", 16)]
    assert told(with_line(11, "        # dra-alloc: ignore why not")) == [("L902", 11), ("S121", 12), ("S121", 16)]
    bare = CLAIM.replace("  name: one\n", "  name: one\n  annotations:\n    dra-alloc/ignore: S121\n")
    assert [code for code, _ in told(bare)] == ["L902", "S121", "S121"]


def test_a_list_at_the_indent_of_its_key_belongs_to_it():
    head = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec:\n  devices:\n"
    comment = "    # dra-alloc: ignore[S101] wanted\n"
    wrong = "    requests:\n    - name: a\n      deviceClassName: x\n    - name: b\n      deviceClassName: x\n"
    assert [code for code, _ in told(head + wrong)] == ["S101", "S101"]
    assert told(head + comment + wrong) == []
    last = wrong.replace("    - name: b", f"{comment}    - name: b")
    assert told(head + last) == [("S101", 8)]
    first = wrong.replace("    - name: a", f"{comment}    - name: a")
    assert told(head + first) == [("S101", 11)]


def test_a_comment_behind_a_dash_is_about_what_begins_below():
    head = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec:\n  devices:\n    requests:\n"
    )
    text = f"{head}    - # dra-alloc: ignore[S101] wanted\n      deviceClassName: x\n      name: a\n"
    assert told(text) == []
    assert told("--- # dra-alloc: ignore[S101] wanted\n" + text.replace(" # dra-alloc: ignore[S101] wanted", "")) == []


def test_comments_that_follow_each_other_are_about_the_same():
    head = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec:\n  devices:\n    requests:\n"
    )
    comments = "    # dra-alloc: ignore[S101] wanted\n    # dra-alloc: ignore[S119] wanted\n\n"
    assert told(f"{head}{comments}    - name: a\n      deviceClassName: x\n      wrong: 1\n") == []


def test_what_an_error_may_hide_is_not_called_unused():
    hidden = with_line(1, "# dra-alloc: ignore[S121] an older server takes it")
    undecoded = hidden.replace("deviceClassName", "deviceclass", 1)
    assert [code for code, _ in told(undecoded)] == ["S119"]
    assert [code for code, _ in told(f"{undecoded}---\n{hidden.replace('-1', '1')}")] == ["S119", "L901"]
    annotated = CLAIM.replace("  name: one\n", "  name: one\n  annotations:\n    dra-alloc/ignore: S123 why\n")
    assert [code for code, _ in told(annotated)] == ["S121", "S121"]
    assert [code for code, _ in told(annotated.replace("-1", "1"))] == ["L901"]


def test_a_code_that_was_not_held_against_devices_is_not_called_unused():
    good = CLAIM.replace("-1", "1")
    comment = "# dra-alloc: ignore[E203,E201,P509] why\n"
    assert told(f"{comment}{good}") == [("L901", 1)]


@pytest.mark.parametrize(("code", "hint"), [("S191", "did you mean S1"), ("E2", "did you mean"), ("nothing", "lists")])
def test_a_code_that_there_is_not_is_told_with_the_nearest_one(code, hint):
    found = found_in(f"# dra-alloc: ignore[S121,{code}] why\n{CLAIM}")
    assert [(each.code, each.where.line, each.message.split()[4]) for each in found] == [("L903", 1, f"{code}:")]
    assert hint in found[0].hint
