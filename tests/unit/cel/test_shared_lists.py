"""Lists that hold themselves many times over: a few characters, 2**70 elements."""

from __future__ import annotations

import pytest

from dra_alloc import cel
from dra_alloc.cel.errors import CelAbort, EvaluationError
from dra_alloc.cel.values.equality import equal
from dra_alloc.cel.values.runtime import CelMap, ConcatList, Optional
from tests.unit.cel.devices import device

LIMIT = "operation cancelled: actual cost limit exceeded"
ENVIRONMENT = cel.environment("1.37", list_attributes=True)


def _said(expression: str) -> bool | str:
    program = ENVIRONMENT.compile(expression)
    try:
        answer: bool | str = program.matches(device({}))
    except EvaluationError as error:
        answer = error.text
    assert str(program.weigh(device({}))[1]) == str(answer)
    return answer


def _steps(seed: str, step: str, steps: int) -> str:
    return f"[1].map(x, {seed})" + f".map(x, {step})" * steps


def _joined(steps: int) -> str:
    """A list of 2**(steps + 1) ones."""
    return _steps("[x, x]", "x + x", steps) + "[0]"


def _nested(steps: int, innermost: str = "x") -> str:
    """Lists of two lists, `steps` levels deep."""
    return _steps(f"[{innermost}]", "[x, x]", steps)


_USES = (
    *("{0}.size() == 1", "size({0}) > 0", "2 in {0}", "{0} == {0}", "{0} != {0}", "{0}[3] == 1", "{0} in [{0}]"),
    *("{0}.exists(y, y == 1)", "{0}.map(y, y).size() == 1", "{{{0}: 1}}.size() == 1", "'%s'.format([{0}]) == 'a'"),
    *("{0}.sum() == 1", "{0}.indexOf(7) == -1", "{0}.slice(0, 2) == [1, 1]", "{0}.distinct() == [1]"),
    *("sets.contains({0}, [2])", "optional.of({0}) == optional.of({0})", "({0} + []).size() == 1", "{0}.includes(2)"),
)


@pytest.mark.parametrize("steps", [62, 90])
@pytest.mark.parametrize("use", _USES)
def test_more_elements_than_an_int_can_count_is_over_the_limit(use: str, steps: int) -> None:
    assert _said(use.format(_joined(steps))) == LIMIT


def test_as_many_as_an_int_can_count_are_answered() -> None:
    assert _said(f"{_joined(61)}.size() == 4611686018427387904 * 1") is True
    assert _said(f"{_joined(61)}[4611686018427387903] == 1") is True


def test_the_limit_is_not_absorbed() -> None:
    assert _said(f"{_joined(70)}.size() == 1 || {_joined(3)}.size() == 16") == LIMIT
    assert _said(f"{_joined(3)}.size() == 16 || {_joined(70)}.size() == 1") is True


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"{_nested(60)} == {_nested(60)}", True),
        (f"{_nested(60)} == {_nested(60, 'x + 1')}", False),
        (f"{_nested(60)} != {_nested(60)}", False),
        (f"sets.contains({_nested(60)}, {_nested(60)})", True),
        (f"{_nested(60)}.map(q, [q, q]).distinct().size() == 1", True),
        (f"{_joined(60)} in [{_joined(60)}]", True),
        (f"{_joined(60)} in [[1], {_joined(60)}.map(q, q)]", LIMIT),
        (f"{_nested(60, '')}.includes({_nested(60, '')}[0])", True),
        (_steps("['a', 'b']", "x + x", 40) + "[0].join('') == 'a'", LIMIT),
        (f"'%s'.format({_nested(60)}) == 'a'", LIMIT),
    ],
)
def test_what_occurs_many_times_over_is_looked_at_once(expression: str, expected: bool | str) -> None:
    assert _said(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        f"{_nested(25)}.indexOf({_nested(24)}) == -1",
        f"dyn({_nested(25)}).lastIndexOf(7) == -1",
        f"dyn({_nested(25)}).distinct().sum() == 2",
        f"[dyn(1), dyn({_nested(25)})].indexOf(5) == 1",
    ],
)
def test_what_lies_in_the_elements_is_charged_though_no_estimate_sees_it(expression: str) -> None:
    assert ENVIRONMENT.compile(expression).max_cost < cel.COST_LIMIT
    assert _said(expression) == LIMIT


@pytest.mark.parametrize(
    "expression",
    ['device.attributes["d"].name.indexOf("x") == 1', "[1, 2].sum() == 3", "[1, 2].max() == 2"],
)
def test_plain_lists_and_attributes_need_no_counting(expression: str) -> None:
    assert not ENVIRONMENT.compile(expression)._counts()


def test_maps_and_optionals_that_share_are_compared_once() -> None:
    left: object = 1
    right: object = 1
    for _ in range(60):
        left = CelMap.of([("a", Optional((left, left))), ("b", left)])
        right = CelMap.of([("a", Optional((right, right))), ("b", right)])
    assert equal(left, right)
    assert not equal(left, CelMap.of([("a", Optional((right, 1))), ("b", right)]))


def test_joined_in_other_places_they_are_equal_still() -> None:
    left = ConcatList(ConcatList((1,), (2,)), (3, (4,)))
    assert equal(left, ConcatList((1,), ConcatList((2, 3), ((4,),))))
    assert not equal(left, ConcatList((1,), ConcatList((2, 3), ((5,),))))


def test_a_value_that_is_not_itself_is_unequal_wherever_it_is_shared() -> None:
    one = (float("nan"),)
    assert not equal(ConcatList(one, one), ConcatList(one, one))


def test_a_comparison_that_goes_on_and_on_is_given_up() -> None:
    left, right = ConcatList(range(9_999_999), (1,)), ConcatList((1,), range(9_999_999))
    assert not equal(left, right)
    with pytest.raises(CelAbort, match=LIMIT):
        equal((ConcatList(range(10_000_000), (1,)),), (range(10_000_001),))
