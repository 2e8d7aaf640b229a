"""Closures, the counting evaluator and columns must give one answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc import cel
from dra_alloc.cel.columns import DeviceColumns, Interner
from dra_alloc.cel.errors import EvaluationError
from dra_alloc.cel.reads import WHOLE, Read
from tests.unit.cel.devices import device
from tests.unit.cel.expressions import devices, selectors

ENVIRONMENT = cel.environment("1.36")


def _program(expression: str) -> cel.Program | None:
    try:
        return ENVIRONMENT.compile(expression)
    except cel.CompileError:
        return None


def _said(program: cel.Program, prepared: cel.CelDevice) -> bool | str:
    try:
        return program.matches(prepared)
    except EvaluationError as error:
        return error.text


@given(selectors, devices)
def test_counting_changes_no_answer(expression: str, value: dict[str, Any]) -> None:
    program, prepared = _program(expression), device(value)
    if program is None or prepared.problem:
        return
    counted, cost = program.counted(prepared)
    try:
        answer: bool | str = program._decide(counted)
    except EvaluationError as error:
        answer = error.text
    assert answer == _said(program, prepared)
    assert 0 <= cost <= program.max_cost + 50


@given(selectors, st.lists(devices, min_size=1, max_size=6))
def test_columns_change_no_answer(expression: str, values: list[dict[str, Any]]) -> None:
    program = _program(expression)
    if program is None:
        return
    prepared = [device(value) for value in values]
    interner = Interner()
    for part in (prepared, prepared[::-1], prepared[:1]):
        outcomes = DeviceColumns(part, interner).outcomes(program)
        told = [each.text if isinstance(each, EvaluationError) else each for each in outcomes]
        assert told == [_said(program, each) for each in part]


@given(selectors, devices, devices)
def test_what_is_not_read_does_not_matter(expression: str, left: dict[str, Any], right: dict[str, Any]) -> None:
    program = _program(expression)
    if program is None or program.reads == WHOLE:
        return
    both = DeviceColumns([device(left), device(right)])
    if all(len(set(both.column(read))) == 1 for read in program.reads) and not any(d.problem for d in both.devices):
        assert _said(program, both.devices[0]) == _said(program, both.devices[1])


def test_reads_are_named() -> None:
    expression = (
        'cel.bind(a, device.attributes["d"], has(a.x) && a.?y.orValue(1) == 1) && "e" in device.attributes'
        ' && device.driver == "d" && device.capacity.d["mem"].isInteger() && device.allowMultipleAllocations'
    )
    assert ENVIRONMENT.compile(expression).reads == (
        Read("attribute", "d", "x"),
        Read("attribute", "d", "y"),
        Read("attribute domain", "e"),
        Read("capacity", "d", "mem"),
        Read("driver"),
        Read("multi"),
    )


def test_a_part_that_escapes_reads_everything() -> None:
    for expression in (
        "device.attributes.size() == 1",
        'device.attributes["d"].exists(k, k == "x")',
        'device.attributes["d"] == device.attributes["e"]',
        "device.attributes[device.driver].x == 1",
        "dyn(device) == 1",
        "[device].size() == 1",
        'cel.bind(a, device.attributes["d"], [a].size() == 1)',
        '(true ? device.attributes["d"] : device.attributes["e"]).x == 1',
    ):
        assert ENVIRONMENT.compile(expression).reads == WHOLE, expression
    assert ENVIRONMENT.compile("1 + 1 == 2").reads == ()
    assert ENVIRONMENT.compile("has(device.attributes.d)").reads == ()


def test_a_name_for_a_domain_is_read_as_the_domain_itself() -> None:
    one = device({"attributes": {"x": {"int": 1}}, "capacity": {"m": "1Gi"}})
    for expression, said in (
        ('cel.bind(a, device.attributes["d"], a.x == 1 && has(a.x) && !has(a.y) && a.?y.orValue(2) == 2)', True),
        ('cel.bind(a, device.capacity["d"], a.m.isInteger() && a["m"] == quantity("1Gi"))', True),
        ('cel.bind(a, device.attributes["e"], has(a.x) || a == {})', True),
        ('cel.bind(a, device.attributes["d"], a.y == 1)', "no such key: y"),
        ('[{"attributes": {"d": {"x": 2}}}].exists(device, cel.bind(a, device.attributes["d"], a.x == 2))', True),
        ('cel.bind(a, device.attributes["d"], [5].all(device, a.x == 1))', True),
        ('cel.bind(a, device.attributes["d"], cel.bind(a, device.attributes["e"], has(a.x)))', False),
    ):
        assert _said(ENVIRONMENT.compile(expression), one) == said, expression


def test_an_error_waits_until_its_device_is_asked_for() -> None:
    good, bad, broken = (
        device({"attributes": {"x": {"int": 1}}}),
        device({}),
        device({"attributes": {"x": {"int": 1}, "v": {"version": "1"}}}),
    )
    columns = DeviceColumns([good, bad, broken, good])
    program = ENVIRONMENT.compile('device.attributes["d"].x == 1')
    outcomes = columns.outcomes(program)
    assert outcomes[0] is True
    assert outcomes[3] is True
    assert [each.text for each in outcomes if isinstance(each, EvaluationError)] == [
        "no such key: x",
        "attribute v: parse semantic version: No Major.Minor.Patch elements found",
    ]
    assert columns.matches(program, 0)
    for index, text in ((1, "no such key: x"), (2, "attribute v: parse semantic version")):
        with pytest.raises(EvaluationError, match=text):
            columns.matches(program, index)


def test_values_of_different_kinds_are_different_rows() -> None:
    values = [{"int": 1}, {"bool": True}, {"string": "1"}, {"version": "1.0.0"}]
    columns = DeviceColumns([device({"attributes": {"x": value}}) for value in values])
    assert len(set(columns.column(Read("attribute", "d", "x")))) == len(values)
    program = ENVIRONMENT.compile('device.attributes["d"].x == 1')
    assert columns.outcomes(program)[:3] == [True, False, False]


def test_quantities_are_told_apart_by_representation() -> None:
    devices_ = [device({"capacity": {"m": text}}) for text in ("1Gi", "1.0Gi", "1073741824", "1073741824000m")]
    program = ENVIRONMENT.compile('device.capacity["d"].m.isInteger()')
    told = [program.matches(each) for each in devices_]
    assert DeviceColumns(devices_).outcomes(program) == told
    assert len(set(told)) == 2
