# ruff: noqa: E501 - a row is a line, and texts are as upstream has them
"""
The sets extension. Spec: CEL-56

Each row is an expression, what upstream 1.36.2 makes of it, its estimate and its counted cost.
"""

from __future__ import annotations

import pytest

from tests.unit.cel.evaluator import answer, shown

ROWS: tuple[tuple[str, str, int | None, int | None], ...] = (
    ('sets.intersects(["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],["b"])', "false", 22, 2),
    ('sets.intersects([["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],["b","c"]],[["b"]])', "false", 53, 3),
    ("sets.contains([1/0],[1])", "! division by zero", 23, 13),
    ("sets.contains([1],[1/0])", "! division by zero", 23, 13),
    ("sets.equivalent([1/0],[1])", "! division by zero", 24, 14),
    ("sets.equivalent([1],[1/0])", "! division by zero", 24, 14),
    ("sets.intersects([1],[1/0])", "! division by zero", 23, 13),
    ("sets.contains(dyn(1),[1])", "! no such overload: sets.contains(int, list)", 13, 2),
    ("sets.contains([1],dyn(1))", "! no such overload: sets.contains(list, int)", 13, 2),
    ("sets.equivalent(dyn(1),[1])", "! no such overload: sets.equivalent(int, list)", 14, 3),
    ('sets.intersects([1],dyn("a"))', "! no such overload: sets.intersects(list, string)", 13, 2),
    ("sets.contains(dyn({1:2}),[1])", "! no such overload: sets.contains(map, list)", 43, 2),
    ("sets.contains([1,2,3],[2])", "true", 24, 4),
    ("sets.contains([1,2,3],[])", "true", 21, 1),
    ("sets.contains([],[1])", "false", 21, 1),
    ("sets.contains([1,2],[1.0])", "? ERROR: <input>:1:14: found no matching overload for 'sets.contains' applied to '(list(int), list(double))'", None, None),
    ('sets.contains([dyn(1),dyn("a")],[dyn("a"), dyn(1u)])', "true", 29, 5),
    ('sets.contains([1],["a"])', "? ERROR: <input>:1:14: found no matching overload for 'sets.contains' applied to '(list(int), list(string))'", None, None),
    ('sets.contains([quantity("1")],[quantity("1000m")])', "true", 24, 24),
    ('sets.contains([dyn(quantity("1"))],[dyn("a")])', "false", 25, 14),
    ('sets.contains([dyn("a")],[dyn(quantity("1"))])', "false", 25, 14),
    ("sets.equivalent([1,1,2],[2,1])", "true", 33, 13),
    ("sets.equivalent([],[])", "true", 21, 1),
    ("sets.equivalent([1],[1,2])", "false", 25, 5),
    ("sets.intersects([1,2],[2,3])", "true", 25, 5),
    ("sets.intersects([],[1])", "false", 21, 1),
    ("sets.intersects([1,2],[3])", "false", 23, 3),
    ('sets.intersects([dyn(quantity("1"))],[dyn("a")])', "false", 25, 14),
    ('sets.intersects([dyn("a")],[dyn(quantity("1"))])', "false", 25, 14),
    ('sets.equivalent([dyn(quantity("1"))],[dyn("a")])', "false", 26, 15),
    ('sets.contains(["aaaaaaaaaaaaaaaaaaaaaaa","b"],["b"])', "true", 23, 3),
    ("sets.foo([1],[2])", "? ERROR: <input>:1:1: undeclared reference to 'sets' (in container '')", None, None),
    ('sets.contains([double("NaN")],[double("NaN")])', "false", 24, 2),
    ('sets.contains(dyn(["a"]).distinct(),["a"])', "true", 36, 15),
    ('sets.contains([1,2],dyn("abcdef"))', "! no such overload: sets.contains(list, string)", 24, 13),
    ('sets.contains([1,2],dyn(ip("1.2.3.4")))', "! no such overload: sets.contains(list, net.IP)", 18446744073709551615, 11),
    ('sets.contains([1,2],dyn(ip("::")))', "! no such overload: sets.contains(list, net.IP)", 18446744073709551615, 35),
    ('sets.contains([1,2],dyn(url("http://abcd")))', "! no such overload: sets.contains(list, kubernetes.URL)", 36, 6),
    ("sets.contains([1,2],dyn({1:2,3:4}))", "! no such overload: sets.contains(list, map)", 46, 5),
    ('sets.contains([1,2],dyn(quantity("1")))', "! no such overload: sets.contains(list, kubernetes.Quantity)", 18446744073709551615, 5),
    ('sets.contains([1,2],dyn(b"abc"))', "! no such overload: sets.contains(list, bytes)", 18, 7),
    ("sets.contains([1,2],dyn(optional.of([1,2,3])))", "! no such overload: sets.contains(list, optional_type)", 18446744073709551615, 5),
    ('sets.contains([1,2],dyn(optional.of("abc")))', "! no such overload: sets.contains(list, optional_type)", 18446744073709551615, 5),
    ('sets.contains([1,2],dyn("ñbc"))', "! no such overload: sets.contains(list, string)", 18, 7),
)


@pytest.mark.parametrize(("expression", "expected", "max_cost", "cost"), ROWS, ids=[row[0] for row in ROWS])
def test_row(expression: str, expected: str, max_cost: int | None, cost: int | None) -> None:
    found = answer(expression)
    assert shown(found) == expected
    if max_cost is not None:
        assert (found.max_cost, found.cost) == (max_cost, cost)
