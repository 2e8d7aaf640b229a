"""
The recorded answers in spec/vectors/yaml, conversion and defaults, and the statements they stand for.
"""

from __future__ import annotations

import json
import re
from itertools import filterfalse
from typing import Any

import pytest
import yaml

from dra_alloc import convert
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import ReadBudget
from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.raw import Noticed, TextError
from dra_alloc.manifest.read.yaml_reader import read_yaml
from spec.case import yaml_of
from tests.paths import ROOT
from tests.reading import read

VECTORS = ROOT / "spec" / "vectors"
RULES = ROOT / "spec" / "rules"
MEMBERS = ("slices", "classes", "claims", "templates", "taint_rules")
UNKNOWN = re.compile(r'unknown field "([^"]*)"')


def _cases(area: str) -> list[Any]:
    files = sorted((VECTORS / area).glob("*.yaml"))
    assert files
    return [pytest.param(yaml_of(file), id=file.stem) for file in files]


def _json(value: object) -> str:
    """Write plain values as Go does: keys sorted, no blanks, fractions as they stand."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_json(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return value.text if isinstance(value, JsonFloat) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("case", _cases("yaml"))
def test_yaml(case: dict[str, Any]) -> None:
    findings = Noticed()
    try:
        documents = list(read_yaml(case["given"]["text"].encode(), ReadBudget(), findings))
    except TextError:
        documents = None
    refused = documents is None or bool(findings.faults)
    assert refused is case["expected"].get("refused", False)
    if not refused:
        assert _json(documents[0].value if documents else None) == case["expected"]["json"]
        assert bool(findings.duplicates) is ("YAML-24" in case["statements"])


def _without_nothing(value: Any, *nothing: Any) -> Any:
    """Drop null and empty members, which Go writes or leaves out by the field's tags."""
    if isinstance(value, dict):
        kept = {key: _without_nothing(member, *nothing) for key, member in value.items()}
        return {key: member for key, member in kept.items() if member not in (None, {}, [], *nothing)}
    return [_without_nothing(member, *nothing) for member in value] if isinstance(value, list) else value


def _goes_elsewhere(case: Any) -> bool:
    return "to" in case.values[0]["given"]


@pytest.mark.parametrize("case", [*filter(_goes_elsewhere, _cases("conversion"))])
def test_versions(case: dict[str, Any]) -> None:
    made = convert(yaml.safe_load(case["given"]["document"]), case["given"]["to"])
    assert _without_nothing(made, "") == _without_nothing(case["expected"]["converted"], "")


@pytest.mark.parametrize("case", [*filterfalse(_goes_elsewhere, _cases("conversion")), *_cases("defaults")])
def test_documents(case: dict[str, Any]) -> None:
    text, expected = case["given"]["document"], case["expected"]
    try:
        documents = read(text)
    except ManifestError as error:
        assert "refused" in expected
        said = {path for problem in error.problems for path in UNKNOWN.findall(problem.message)}
        assert said == set(UNKNOWN.findall(expected["refused"]))
        return
    (item,) = (item for member in MEMBERS for item in getattr(documents, member))
    assert _without_nothing(item.to_wire()) == _without_nothing(expected["v1"])


@pytest.mark.parametrize(("area", "rules"), [("yaml", "yaml"), ("conversion", "conversion"), ("defaults", "defaults")])
def test_vectors_name_statements_that_exist(area: str, rules: str) -> None:
    stated = set(re.findall(r"\*\*([A-Z]+-\d+)\*\*", (RULES / f"{rules}.md").read_text("utf-8")))
    named = {one for case in _cases(area) for one in case.values[0]["statements"]}
    assert named <= stated


def test_statements_that_the_code_names_exist() -> None:
    stated = {
        one for page in RULES.glob("*.md") for one in re.findall(r"\*\*([A-Z]+-\d+)\*\*", page.read_text("utf-8"))
    }
    sources = (ROOT / "dra_alloc" / "manifest").rglob("*.py")
    lines = [line for source in sources for line in re.findall(r"Spec: (.*)", source.read_text("utf-8"))]
    named = {one for line in lines for one in re.findall(r"\b(?:YAML|JSON|CONV|DEF|VAL)-\d+", line)}
    assert len(named) > 60
    assert named <= stated
