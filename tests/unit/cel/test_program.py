"""Environments, programs, devices and errors as callers meet them."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from dra_alloc import cel
from dra_alloc.errors import InputError, SelectorError
from tests.threads import in_threads
from tests.unit.cel.devices import device

ENVIRONMENT = cel.environment("1.36")


def test_programs_are_shared_and_immutable() -> None:
    program = ENVIRONMENT.compile("true")
    assert ENVIRONMENT.compile("true") is program
    assert cel.compile("true") is program
    with pytest.raises(AttributeError):
        program.expression = "false"
    with pytest.raises(AttributeError):
        program.max_cost = 0  # type: ignore[misc]
    assert repr(program) == "Program('true', bool, max_cost=0)"


def test_old_programs_leave_the_cache() -> None:
    environment = cel.environment("1.35")
    first = environment.compile("1 == 1")
    for number in range(60):
        environment.compile(f"'{'x' * 9_000}' == '{number}'")
    assert environment.compile("1 == 1") is not first


def test_failures_are_raised_afresh() -> None:
    raised = []
    for _ in range(2):
        with pytest.raises(cel.CompileError) as caught:
            ENVIRONMENT.compile("foo")
        raised.append(caught.value)
    assert raised[0] is not raised[1]
    assert raised[0].text == raised[1].text


def test_an_error_has_text_places_and_hints() -> None:
    with pytest.raises(SelectorError) as caught:
        ENVIRONMENT.compile('device.attributes["uuid"] == "GPU"')
    error = caught.value
    assert isinstance(error, cel.CompileError)
    assert error.text.endswith('\n | device.attributes["uuid"] == "GPU"\n | ..........................^')
    assert [(issue.line, issue.column) for issue in error.issues] == [(1, 26)]
    assert "indexed by domain first" in error.hints[0]
    assert error.hints[0] not in error.text


def test_releases_and_modes() -> None:
    assert cel.environment("1.37") is cel.environment("1.37.0-rc.0") is not cel.environment("1.37.0-alpha.2")
    assert cel.environment("1.36.2") is cel.environment("1.36")
    assert cel.environment("1.37").settings.quoted_names
    assert not cel.environment("1.37.0-alpha.2").settings.quoted_names
    assert not cel.environment("1.36").reading.lists
    assert cel.environment("1.36", list_attributes=True).reading.lists
    assert not cel.environment("1.35", list_attributes=True).reading.lists
    assert cel.environment("1.37").reading.lists
    with pytest.raises(InputError):
        cel.environment("1.20")
    with pytest.raises(InputError):
        cel.environment("1.36", "old")


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("device.allowMultipleAllocations", False),
        ('device.attributes["d"].s.includes("a")', False),
        ("[1].distinct().size() == 1", True),
        ('semver("1.0.0").major() == 1', True),
        ('device.capacity["d"].all(k, v, true)', True),
    ],
)
def test_what_a_user_may_write_in_1_36(expression: str, known: bool) -> None:
    new = cel.environment("1.36", "new", list_attributes=True)
    try:
        new.compile(expression)
    except cel.CompileError:
        assert not known
    else:
        assert known
    cel.environment("1.36", list_attributes=True).compile(expression)


def test_the_lists_extension_is_not_new_in_1_34() -> None:
    with pytest.raises(cel.CompileError):
        cel.environment("1.34", "new").compile("[1].distinct().size() == 1")
    cel.environment("1.35", "new").compile("[1].distinct().size() == 1")


def test_multiple_allocations_need_the_gate_in_new_only() -> None:
    on = cel.environment("1.36", "new", consumable_capacity=True)
    assert on.compile("device.allowMultipleAllocations").matches(device({"multi": True}))


def test_of_two_spellings_the_qualified_one_wins() -> None:
    for names in (("memory", "d/memory"), ("d/memory", "memory")):
        value = {name: {"int": 1 if "/" in name else 2} for name in names}
        assert ENVIRONMENT.compile('device.attributes["d"].memory == 1').matches(device({"attributes": value}))


def test_the_first_broken_attribute_by_name_is_reported() -> None:
    value = {"z": {"version": "x"}, "a": {"version": "1"}, "o/b": {}}
    with pytest.raises(cel.EvaluationError, match="attribute a: parse semantic version"):
        ENVIRONMENT.compile("true").matches(device({"attributes": value}))


def test_maps_are_walked_in_order_of_names() -> None:
    value = {"b": {"int": 1}, "a": {"int": 2}, "a/z": {"int": 3}}
    program = ENVIRONMENT.compile('device.attributes.map(k, k) == ["a", "d"]')
    assert program.matches(device({"attributes": value}))
    program = ENVIRONMENT.compile('device.attributes["d"].map(k, k) == ["a", "b"]')
    assert program.matches(device({"attributes": value}))


def test_run_time_hints_know_the_device() -> None:
    program = ENVIRONMENT.compile('device.attributes["gpu"].memory >= 80 || device.attributes["gpu"].modle == "x"')
    one = device({"driver": "gpu", "capacity": {"memory": "80Gi"}, "attributes": {"model": {"string": "x"}}})
    assert cel.evaluation_hints("no such key: memory", program, one) == (
        "guard memory with has(), or read it with .?memory and orValue()",
        "gpu/memory is published as capacity",
    )
    assert "did you mean model?" in cel.evaluation_hints("no such key: modle", program, one)
    assert cel.evaluation_hints("no such overload", program, one) == ()
    assert cel.missing_hints(program, [one, one]) == (
        "memory is missing on 2 of 2 devices: guard it",
        "modle is missing on 2 of 2 devices: guard it",
    )


def test_counting_is_only_for_what_might_exceed_the_limit() -> None:
    cheap = ENVIRONMENT.compile('device.attributes["d"].x == 1')
    dear = ENVIRONMENT.compile("type(1) == int")
    assert cheap.max_cost < cel.COST_LIMIT < dear.max_cost
    assert not cheap._counts()
    assert dear._counts()
    assert dear.matches(device({}))
    assert dear.cost(device({})) == 1


@pytest.mark.parametrize(
    "expression",
    ['device.attributes["d"].x == 1', "true", "type(1) == int", '[1].all(x, x == device.attributes["d"].y)'],
)
def test_weighing_says_what_matching_and_counting_say(expression: str) -> None:
    program = ENVIRONMENT.compile(expression)
    for value in ({"x": {"int": 1}}, {"y": {"int": 1}}, {"v": {"version": "x"}}):
        one = device({"attributes": value})
        cost, said = program.weigh(one)
        assert cost == program.cost(one)
        if isinstance(said, cel.EvaluationError):
            with pytest.raises(cel.EvaluationError) as caught:
                program.matches(one)
            assert caught.value.text == said.text
        else:
            assert program.matches(one) is said


def test_threads_that_ask_first_at_the_same_time_learn_the_same() -> None:
    expression = '"d" in device.attributes && device.attributes["d"].x in [1, 2] && [1, 2].exists(n, n > 1)'
    one = device({"driver": "d", "attributes": {"x": {"int": 1}}})
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            program = cel.Program(expression, ENVIRONMENT.declared)
            found: list[tuple[bool, int, tuple[cel.Read, ...]]] = []
            in_threads(partial(_ask, program, one, found))
            assert len(found) == 4
            assert len(set(found)) == 1
            assert found[0][0]
    finally:
        sys.setswitchinterval(before)


def _ask(program: cel.Program, one: cel.CelDevice, found: list[tuple[bool, int, tuple[cel.Read, ...]]]) -> None:
    found.append((program.matches(one), program.max_cost, program.reads))
