# ruff: noqa: E501 - a row is a line, and texts are as upstream has them
"""
The authorizer's functions, declared only. Spec: CEL-61

Each row is an expression, what upstream 1.36.2 makes of it, its estimate and its counted cost.
"""

from __future__ import annotations

import pytest

from tests.unit.cel.evaluator import answer, shown

ROWS: tuple[tuple[str, str, int | None, int | None], ...] = (
    ('dyn(1).check("a")', "! no such overload: check(int, string)", 350001, 350000),
    ('dyn(1).path("a")', "! no such overload: path(int, string)", 2, 1),
    ('dyn(1).group("a")', "! no such overload: group(int, string)", 2, 1),
    ('dyn(1).serviceAccount("a","b")', "! no such overload: serviceAccount(int, string, string)", 2, 1),
    ('dyn(1).resource("a")', "! no such overload: resource(int, string)", 2, 1),
    ('dyn(1).subresource("a")', "! no such overload: subresource(int, string)", 2, 1),
    ('dyn(1).namespace("a")', "! no such overload: namespace(int, string)", 2, 1),
    ('dyn(1).name("a")', "! no such overload: name(int, string)", 2, 1),
    ("dyn(1).allowed()", "! no such overload: allowed(int)", 2, 1),
    ("dyn(1).reason()", "! no such overload: reason(int)", 2, 1),
    ("dyn(1).errored()", "! no such overload: errored(int)", 2, 1),
    ("dyn(1).error()", "! no such overload: error(int)", 2, 1),
    ('dyn(1).fieldSelector("a")', "! no such overload: fieldSelector(int, string)", 62, 61),
    ('dyn(1).fieldSelector("")', "! no such overload: fieldSelector(int, string)", 11, 10),
    ('dyn(1).fieldSelector("aaaaaaaaaa")', "! no such overload: fieldSelector(int, string)", 262, 261),
    ('dyn(1).fieldSelector("aaaaaaaaaaa")', "! no such overload: fieldSelector(int, string)", 313, 312),
    ('dyn(1).fieldSelector("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")', "! no such overload: fieldSelector(int, string)", 2572, 2571),
    ('dyn(1).labelSelector("a")', "! no such overload: labelSelector(int, string)", 62, 61),
    ('dyn(1).labelSelector("")', "! no such overload: labelSelector(int, string)", 11, 10),
    ('dyn(1).labelSelector("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")', "! no such overload: labelSelector(int, string)", 2572, 2571),
)


@pytest.mark.parametrize(("expression", "expected", "max_cost", "cost"), ROWS, ids=[row[0] for row in ROWS])
def test_row(expression: str, expected: str, max_cost: int | None, cost: int | None) -> None:
    found = answer(expression)
    assert shown(found) == expected
    if max_cost is not None:
        assert (found.max_cost, found.cost) == (max_cost, cost)
