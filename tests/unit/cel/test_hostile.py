"""Nothing a selector can hold may hang, run out of stack, eat memory or reach our insides."""

from __future__ import annotations

import itertools
import sys
import time
import tracemalloc

import pytest

from dra_alloc import cel
from dra_alloc.cel.errors import CompileError, EvaluationError
from tests.threads import in_threads
from tests.unit.cel.devices import device

ENVIRONMENT = cel.environment("1.36", list_attributes=True)
#: Generous: a busy machine is no hang.
SECONDS = 30


def _said(expression: str) -> bool | str:
    try:
        return ENVIRONMENT.compile(expression).matches(device({"attributes": {"s": {"string": "a" * 64}}}))
    except (CompileError, EvaluationError) as error:
        return error.text


def _doubled(start: str, use: str, steps: int = 40) -> str:
    """`start` added to itself over and over: 2**steps of it."""
    names = [f"a{index}" for index in range(steps + 1)]
    text = f"cel.bind(a0, {start}, "
    for before, name in itertools.pairwise(names):
        text += f"cel.bind({name}, {before} + {before}, "
    return text + use.format(names[-1]) + ")" * (steps + 1)


LIMIT = "operation cancelled: actual cost limit exceeded"
RULES = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
DEPTH = "compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("(" * 10_000 + "true" + ")" * 10_000, RULES, id="parentheses"),
        pytest.param("[" * 10_000 + "]" * 10_000, RULES, id="lists"),
        pytest.param("!(" * 10_000 + "true" + ")" * 10_000, RULES, id="negations"),
        pytest.param("dyn(" * 249 + "true" + ")" * 249, True, id="calls"),
        pytest.param("!" * 99_000 + "true", True, id="signs"),
        pytest.param("1" + "+1" * 49_000 + " > 0", DEPTH, id="sums"),
        pytest.param("dyn(1)" + ".a" * 30_000, DEPTH, id="selections"),
        pytest.param("true" + "&&true" * 16_000, True, id="conjunction"),
        pytest.param("false" + "||false" * 14_000, False, id="disjunction"),
        pytest.param("!(false || true && " * 120 + "true" + ")" * 120, True, id="mixed"),
        pytest.param(
            "".join(f"[1].all(x{n}, " for n in range(40)) + "true" + ")" * 40, True, id="forty comprehensions"
        ),
        pytest.param(
            "".join(f"[1, 2, 3].all(x{n}, " for n in range(40)) + "true" + ")" * 40, LIMIT, id="forty that multiply"
        ),
        pytest.param(_doubled("[1]", "{0}.size() > 1000"), True, id="list doubled, only counted"),
        pytest.param(_doubled("[1]", "{0} == {0}"), LIMIT, id="list doubled and compared"),
        pytest.param(_doubled("[1]", "{0}.exists(x, x == 2)"), LIMIT, id="list doubled and searched"),
        pytest.param(_doubled("[1]", "2 in {0}"), LIMIT, id="list doubled and membership"),
        pytest.param(_doubled('"aaaaaaaaaa"', "{0}.size() > 0"), LIMIT, id="string doubled"),
        pytest.param("lists.range(1000000000).size() > 0", LIMIT, id="a long range"),
        pytest.param('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("(a+)+$")', False, id="exponential pattern"),
        pytest.param('device.attributes["d"].s.matches("(a|a)*b")', False, id="ambiguous pattern"),
        pytest.param('"' + "a" * 100_001 + '" == ""', "expression code point size exceeds limit", id="100 KB"),
        pytest.param('"' + "a" * 5_000_000 + '" == ""', "expression code point size exceeds limit", id="megabytes"),
        pytest.param("9" * 90_000 + " == 1", "invalid int literal", id="a long number"),
        pytest.param('int("' + "9" * 90_000 + '") == 1', "type conversion error", id="a long number in text"),
        pytest.param("1." + "9" * 90_000 + " == 2.0", True, id="a long fraction"),
        pytest.param('"a".matches("' + "(" * 2_000 + ")" * 2_000 + '")', "invalid matches argument", id="deep pattern"),
        pytest.param("optional.of(1)" + ".optMap(x, x)" * 60 + ".hasValue()", LIMIT, id="doubling macro"),
        pytest.param("foo(" * 200 + ")" * 200, "undeclared reference", id="many errors"),
    ],
)
def test_bounded_and_answered_as_upstream_would(expression: str, expected: bool | str) -> None:
    started = time.monotonic()
    found = _said(expression)
    assert time.monotonic() - started < SECONDS
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert expected in found
    else:
        assert found is expected


@pytest.mark.parametrize(
    "expression",
    [
        *("__class__", "device.__class__", "__import__('os')", "device.attributes.__dict__", "().__class__", "self"),
        *("frame", "device.value", "lambda: 1", "import os", "eval('1')", "{}.__class__.__mro__", "{x: x for x in y}"),
        *("f'{device}'", "device.attributes['d'].s.format", "'{0.__class__}'.format([device])", "None", "True"),
    ],
)
def test_names_of_the_interpreter_mean_nothing(expression: str) -> None:
    found = _said(expression)
    assert isinstance(found, str)
    assert "object at 0x" not in found
    assert "<class" not in found


@pytest.mark.parametrize(
    "expression",
    ["\x00", "\ud800 == 1", '"\ud800" == "a"', "\u202e", '"\u202e" == ""', "\U0001f600", "é == 1", "\ufeff", "\x7f"],
)
def test_odd_characters_are_an_error_or_a_value(expression: str) -> None:
    assert _said(expression) is not True


def test_a_deep_program_needs_little_of_the_callers_stack() -> None:
    expression = "!(" * 240 + "true" + ")" * 240
    program = ENVIRONMENT.compile(expression)
    assert program.matches(device({})) is True

    def nested(depth: int) -> bool:
        return nested(depth - 1) if depth else program.matches(device({}))

    assert nested(sys.getrecursionlimit() // 2) is True


def test_the_limit_of_recursion_is_left_alone() -> None:
    before = sys.getrecursionlimit()
    _said("(" * 249 + "true" + ")" * 249)
    assert sys.getrecursionlimit() == before


def test_memory_stays_small() -> None:
    tracemalloc.start()
    try:
        assert _said(_doubled("[1]", "{0} == {0}")) == LIMIT
        assert _said(_doubled('"aaaaaaaaaa"', "{0}.size() > 0")) == LIMIT
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()


def test_one_program_serves_many_threads() -> None:
    expressions = [
        'cel.bind(a, device.attributes["d"], a.x == 1 || a.y.startsWith("a"))',
        '[1, 2, 3].filter(x, x > device.attributes["d"].x).size() == 2',
        'semver("1.2.3") == semver("1.2.3") && device.attributes["d"].y.matches("^a")',
    ]
    programs = [ENVIRONMENT.compile(each) for each in expressions]
    devices = [
        device({"attributes": {"x": {"int": number % 3}, "y": {"string": "abc"[number % 3 :]}}}) for number in range(6)
    ]
    wanted = [[program.matches(each) for each in devices] for program in programs]
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(200):
            found = [[program.matches(each) for each in devices] for program in programs]
            if found != wanted:
                wrong.append(found)

    in_threads(ask)
    assert wrong == []
