"""The recorded answers in spec/vectors/quantity and spec/vectors/semver, and the statements they stand for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.api import DeviceCapacity, Quantity, QuantityError, Semver, SemverError
from dra_alloc.api.amounts.text import Format
from dra_alloc.api.semver import admits_version
from spec.case import yaml_of
from tests.paths import ROOT

VECTORS = ROOT / "spec" / "vectors"
AREAS = {"quantity": "QTY", "semver": "SEM"}


def _cases(area: str) -> list[Any]:
    files = sorted((VECTORS / area).glob("*.yaml"))
    return [pytest.param(yaml_of(file), id=file.stem) for file in files]


def _views(quantity: Quantity, expected: dict[str, Any]) -> dict[str, Any]:
    views = {
        "text": str(quantity),
        "format": str(quantity.format),
        "value": quantity.value(),
        "milliValue": quantity.milli_value(),
        "int64": quantity.as_int64(),
    }
    return views | ({"float": quantity.as_approximate_float()} if "float" in expected else {})


def _is_one_json_value(case: Any) -> bool:
    """A text with blanks around is another one in JSON, where it is trimmed."""
    given = case["given"]
    return "json" in given or ("text" in given and "repeat" not in given and given["text"].strip() == given["text"])


def _read(given: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    try:
        if "json" in given:
            return _views(Quantity.from_wire(given["json"]), expected)
        return _views(Quantity.parse(given["text"] * given.get("repeat", 1)), expected)
    except QuantityError as problem:
        return {"error": problem.message}


@pytest.mark.parametrize("case", _cases("quantity"))
def test_quantity(case: dict[str, Any]) -> None:
    given, expected = case["given"], case["expected"]
    if "of" in given:
        assert {"text": str(Quantity.of(given["of"], Format(given["format"])))} == expected
        return
    if "left" not in given:
        assert _read(given, expected) == expected
        return
    left, right = Quantity.parse(given["left"]), Quantity.parse(given["right"])
    assert {
        "compare": (left > right) - (left < right),
        "sameRepresentation": left.same_representation(right),
        "sum": _views(left + right, expected["sum"]),
        "difference": _views(left - right, expected["difference"]),
    } == expected


@pytest.mark.parametrize("case", [case for case in _cases("quantity") if _is_one_json_value(case.values[0])])
def test_quantity_in_a_model(case: dict[str, Any]) -> None:
    """A model reads what the value type reads, and writes what it prints."""
    given, expected = case["given"], case["expected"]
    wire = {"value": given["json"] if "json" in given else given["text"]}
    for read in (DeviceCapacity.from_wire, lambda value: DeviceCapacity.from_json(json.dumps(value))):
        if "error" in expected:
            with pytest.raises(ValueError, match="quantit"):
                read(wire)
        else:
            assert read(wire).to_wire() == {"value": expected["text"]}


@pytest.mark.parametrize("case", _cases("semver"))
def test_semver(case: dict[str, Any]) -> None:
    given, expected = case["given"], case["expected"]
    if "left" in given:
        assert {"compare": Semver.parse(given["left"]).compare(Semver.parse(given["right"]))} == expected
        return
    parse = Semver.parse_tolerant if given.get("tolerant") else Semver.parse
    try:
        answer = {"text": str(parse(given["text"]))}
    except SemverError as problem:
        answer = {"error": problem.message}
    if "admitted" in expected:
        assert admits_version(given["text"]) == expected["admitted"]
    assert answer == {key: value for key, value in expected.items() if key != "admitted"}


@pytest.mark.parametrize("area", AREAS)
def test_every_statement_has_a_vector_and_every_vector_a_statement(area: str) -> None:
    rules = (ROOT / "spec" / "rules" / f"{area}.md").read_text("utf-8")
    stated = re.findall(rf"^- \*\*({AREAS[area]}-\d+)\*\*", rules, re.MULTILINE)
    assert len(stated) == len(set(stated))
    cited = {statement for file in (VECTORS / area).glob("*.yaml") for statement in _statements(file)}
    assert cited == set(stated)


def _statements(file: Path) -> list[str]:
    statements: list[str] = yaml_of(file)["statements"]
    assert statements, file
    return statements
