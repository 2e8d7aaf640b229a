"""The recorded answers in spec/vectors/cel, and the statements they stand for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dra_alloc import cel
from spec.case import yaml_of
from tests.paths import ROOT
from tests.unit.cel.devices import device

VECTORS = ROOT / "spec" / "vectors" / "cel"
FILES = sorted(VECTORS.glob("cel-*.yaml"))


def _answer(given: dict[str, Any]) -> dict[str, Any]:
    environment = cel.environment(given["release"], given["mode"], given["lists"])
    try:
        program = environment.compile(given["expression"])
    except cel.CompileError as error:
        return {"compileError": error.text}
    prepared = device(given["device"], environment.reading)
    found = {"type": str(program.output_type), "maxCost": program.max_cost, "cost": program.cost(prepared)}
    try:
        return found | {"match": program.matches(prepared)}
    except cel.EvaluationError as error:
        return found | {"error": error.text}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_recorded_answer(file: Any) -> None:
    case = yaml_of(file)
    expected, found = case["expected"], _answer(case["given"])
    if "cost" not in expected:
        found.pop("cost", None)
    if expected.get("compileError", "").endswith("Syntax error"):
        found["compileError"] = found["compileError"][: len(expected["compileError"])]
    assert found == expected


def test_every_vector_stands_for_a_statement_and_most_statements_have_one() -> None:
    text = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "spec" / "rules").glob("cel-*.md")))
    stated = set(re.findall(r"^- \*\*(CEL-\d+)\*\*", text, re.MULTILINE))
    shown = {each for file in FILES for each in yaml_of(file)["statements"]}
    assert shown <= stated
    # Immutability, ranges, the shortcut, the projections and other engines are shown by unit tests.
    ours = {"CEL-6", "CEL-30", "CEL-34", "CEL-70", "CEL-71", "CEL-72"}
    libraries = {each for each in stated if 50 <= int(each.removeprefix("CEL-")) < 70}
    assert stated - shown <= ours | libraries
