
"""
``find`` and ``findAll``. Spec: CEL-54

Each row is an expression, what upstream 1.36.2 makes of it, its estimate and its counted cost.
"""

from __future__ import annotations

import pytest

from dra_alloc.cel.values import regex
from dra_alloc.cel.values.regex import compiled
from dra_alloc.remembered import Remembered
from dra_alloc.work import Purse
from tests.unit.cel.evaluator import answer, shown

ROWS: tuple[tuple[str, str, int | None, int | None], ...] = (
    ('"a b c".find("b")', '"b"', 1, 1),
    ('"abc".find("x")', '""', 1, 1),
    ('"abc".find("")', '""', 0, 0),
    ('"abc".find("(b)(c)")', '"bc"', 2, 2),
    ('"abc".find("[")', "? error parsing regexp: missing closing ]: `[`", None, None),
    ('"abcabc".findAll("b.")', '["bc", "bc"]', 1, 1),
    ('"abcabc".findAll("b.",1)', '["bc"]', 1, 1),
    ('"abcabc".findAll("b.",0)', "[]", 1, 1),
    ('"abcabc".findAll("b.",-1)', '["bc", "bc"]', 1, 1),
    ('"abcabc".findAll("b.",-5)', '["bc", "bc"]', 1, 1),
    ('"abc".findAll("")', '["", "", "", ""]', 0, 0),
    ('"abc".findAll("x*")', '["", "", "", ""]', 1, 1),
    ('"ñbñ".findAll("")', '["", "", "", ""]', 0, 0),
    ('"abc".findAll("x")', "[]", 1, 1),
    ('"abc".findAll("[")', "? error parsing regexp: missing closing ]: `[`", None, None),
    ('"abaabaa".findAll("a*")', '["a", "aa", "aa"]', 1, 1),
    ('"baaac".findAll("a*|c")', '["", "aaa", ""]', 1, 1),
    ('"abc".findAll("b|")', '["", "b", ""]', 1, 1),
    ('"a1b22".findAll("[0-9]+")', '["1", "22"]', 2, 2),
    ('"foo bar".findAll("\\\\b")', '["", "", "", ""]', 1, 1),
    ('"aaa".findAll("a",9223372036854775807)', '["a", "a", "a"]', 1, 1),
    ('"aaa".findAll("a",2147483648)', '["a", "a", "a"]', 1, 1),
    ('"aaa".findAll("^a")', '["a"]', 1, 1),
    ('"aaa".findAll("a$")', '["a"]', 1, 1),
    ('"a\\na".findAll("(?m)^a")', '["a", "a"]', 2, 2),
    ('"".findAll("")', '[""]', 0, 0),
    ('"".findAll("a")', "[]", 1, 1),
    ('dyn(1).find("a")', "! no such overload", 2, 1),
    ('dyn("a").find(dyn(1))', "! no such overload: find(string, int)", 3, 1),
    ('dyn("a").findAll("a", dyn("b"))', "! no such overload", 3, 1),
    ('"abc".find("b"+"[")', "! Illegal regex: error parsing regexp: missing closing ]: `[`", 2, 2),
    ('"abc".find("b"+"c")', '"bc"', 2, 2),
    ('dyn(1).find("a"+"b")', "! no such overload: find(int, string)", 3, 2),
    ('dyn("a").findAll("a"+"b", dyn("b"))', "! no such overload: findAll(string, string, string)", 4, 2),
    ('("a"+string(1/0)).find("a")', "! division by zero", 3689348814741910530, 3),
    ('"a".find(string(1/0))', "! division by zero", 4611686018427387906, 3),
    ('dyn("ab".findAll(".")).isSorted()', "true", 3, 2),
)


@pytest.mark.parametrize(("expression", "expected", "max_cost", "cost"), ROWS, ids=[row[0] for row in ROWS])
def test_row(expression: str, expected: str, max_cost: int | None, cost: int | None) -> None:
    found = answer(expression)
    assert shown(found) == expected
    if max_cost is not None:
        assert (found.max_cost, found.cost) == (max_cost, cost)


def test_patterns_are_remembered_by_the_bytes_they_take(monkeypatch):
    """Eight characters make 64 MB; 128 of them were kept, 8 GB."""
    known = Remembered[str | bytes, object](1 << 27)
    monkeypatch.setattr(regex, "_KNOWN", known)
    with Purse(100_000_000) as purse:
        for count in range(100):
            compiled(f"gpu-[0-9]{{{count}}}")
        assert purse.left == purse.all
        for count in (999, 998, 997):
            assert compiled(rf"\pL{{{count}}}").search("a" * count)
        assert purse.all - purse.left > 3_000_000
    assert len(known) == 2


def test_what_is_found_does_not_depend_on_what_is_forgotten(monkeypatch):
    monkeypatch.setattr(regex, "_KNOWN", Remembered[str | bytes, object](1))
    asked = '["a1", "b22"].map(x, x.matches("[ab][0-9]+") ? x.find("[0-9]+") + x.findAll("[a-z]")[0] : "")'
    assert shown(answer(asked)) == '["1a", "22b"]'
