"""
`dra-alloc conformance run`: ours conforms, broken implementations are shown with the rule that they break.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dra_alloc.cli.harness.serve import answer
from dra_alloc.cli.main import run
from dra_alloc.testing import client
from dra_alloc.testing.client import Client
from dra_alloc.testing.vectors import vector_questions
from tests.paths import ROOT

Json = dict[str, Any]
Damage = Callable[[Json], None]
OURS = f"{shlex.quote(sys.executable)} -m dra_alloc harness"
#: Ours as a program, with one thing done to each request before it is answered.
BROKEN = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    {}
    from dra_alloc.cli.harness.serve import answer  # not before one answer is wanted: crashes start it many times
    print(json.dumps(answer(json.dumps(request))), flush=True)
"""


def without_device_member(member: str) -> Damage:
    def damage(request: Json) -> None:
        for each in request.get("slices", []):
            for device in each["spec"].get("devices", []):
                device.pop(member, None)

    return damage


def without_match_attribute(request: Json) -> None:
    for each in request.get("claims", []):
        devices = each["spec"]["devices"]
        if any("matchAttribute" in constraint for constraint in devices.get("constraints", [])):
            devices["constraints"] = []


def not_as_selected(request: Json) -> None:
    if request.get("op") == "cel":
        request["expr"] = f"!({request['expr']})"


DAMAGE = {
    "taints": without_device_member("taints"),
    "counters": without_device_member("consumesCounters"),
    "match attribute": without_match_attribute,
    "cel": not_as_selected,
}


def broken(folder: Path, damage: str) -> str:
    path = folder / "broken.py"
    path.write_text(BROKEN.format(textwrap.dedent(damage)), encoding="utf-8")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@pytest.fixture
def damaged(monkeypatch):
    """Have ours answer in this process, with something done to each request; return what was asked."""

    def damaged_by(damage: Damage) -> list[Json]:
        asked: list[Json] = []

        class Damaged(Client):
            def ask_all(self, requests):
                for each in requests:
                    request = json.loads(json.dumps(each))
                    asked.append({**request})
                    damage(request)
                    yield answer(json.dumps(request))

        monkeypatch.setattr(client, "Client", Damaged)
        return asked

    return damaged_by


def conformance(*arguments: str) -> int:
    return run(["conformance", "run", *arguments])


def test_ours_conforms(capsys):
    assert conformance("--implementation", OURS, "--cases", "30") == 0
    out = capsys.readouterr().out
    assert "conformant: " in out
    assert max(map(len, out.splitlines())) <= 80
    rows = {line[:40].strip(): line[40:].split() for line in out.splitlines()[1:-2]}
    assert len(rows) > 12
    assert all(cases == equal and different == errors == "0" for cases, equal, different, errors in rows.values())


@pytest.mark.parametrize("rule", sorted(DAMAGE))
def test_a_broken_implementation_is_shown_with_the_rule_it_breaks(rule, damaged, capsys):
    damaged(DAMAGE[rule])
    assert conformance("--implementation", "broken", "--cases", "40", "--format", "json") == 1
    shown = json.loads(capsys.readouterr().out)
    assert not shown["conformant"]
    assert shown["rules"][rule]["different"] > 0
    # The first findings are made small: they show this rule, and mostly nothing else.
    small = shown["findings"][:5]
    assert all(rule in finding["rules"] for finding in small)
    assert sum(len(finding["rules"]) <= 2 for finding in small) > len(small) / 2
    assert small[0]["expected"] != small[0]["answer"]


def test_the_text_names_the_rule_and_the_junit_file_has_every_case(tmp_path, damaged, capsys):
    file = tmp_path / "out.xml"
    damaged(DAMAGE["taints"])
    assert conformance("--implementation", "broken", "--cases", "20", "--junit", str(file)) == 1
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "not conformant: " in out
    assert "  expected: " in out
    suite = ET.parse(file).getroot()
    assert suite.get("tests") == str(len(suite.findall("testcase")))
    failures = suite.findall("testcase/failure")
    assert suite.get("failures") == str(len(failures))
    assert failures
    assert json.loads(failures[0].text or "")["request"]


def test_only_what_the_page_of_the_protocol_has_is_asked(damaged, capsys):
    """A wrong answer has more questions asked, about orders of pools and smaller cases: those, too."""
    page = (ROOT / "docs" / "reference" / "testing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page, re.MULTILINE)
    documented = {op: {"op", "name", *re.findall(r"`(\w+)`", keys)} for op, keys in rows}
    requests = damaged(DAMAGE["taints"])
    conformance("--implementation", "broken", "--cases", "20", "--release", "1.36", "--channel", "stable")
    assert "not conformant: " in capsys.readouterr().out
    requests += [question.request for question in vector_questions("1.36", "experimental")]
    assert {each["op"] for each in requests} == {"allocate", "cel", "quantity"}
    assert not [each for each in requests if not each.keys() <= documented[each["op"]]]


def test_one_that_does_not_answer_is_left_alone(capsys):
    crash = f"{shlex.quote(sys.executable)} -c 'import sys; sys.exit(9)'"
    assert conformance("--implementation", crash) == 1
    out = capsys.readouterr().out
    assert "exited with code 9" in out
    assert "stopped early: 20 questions in a row have no answer" in out


def test_a_crash_is_told_in_full_once_and_by_its_last_line_after_that(tmp_path, capsys):
    crash = """if request["op"] == "cel": sys.exit("one line\\nno selectors")
    if "claims" in request: raise LookupError(f"claim {len(request['claims'])}")"""
    assert conformance("--implementation", broken(tmp_path, crash), "--cases", "30") == 1
    out = capsys.readouterr().out
    assert all(len(line) <= 80 or str(tmp_path) in line for line in out.splitlines())  # a path is never broken
    assert out.count("Traceback (most recent call last)") == 1
    assert len(re.findall("no answer: .*[: ]", out)) > 1
    assert "LookupError: claim 1" in out
    assert "one line" not in out
    assert re.search(r"^  the same for \d+ more$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--implementation", "no-such-program"], "cannot start the implementation"),
        (["--implementation", "'unbalanced", "--cases", "3"], "'unbalanced\": No closing quotation"),
        (["--implementation", OURS, "--cases", "0"], "nothing to ask"),
        (["--implementation", OURS, "--release", "9.9"], "unknown release"),
        (["--implementation", OURS, "--cases", "5", "--junit", "/no/such/folder/x.xml"], "cannot be written"),
        (["--implementation", OURS, "--junit", "-"], "--junit writes to a file"),
        (["--implementation", OURS, "--junit", "x", "--report", "json=./x"], "--junit and --report both name x"),
        (["--implementation", OURS, "--cases", "-1"], "has to be at least 0"),
        ([], "--implementation"),
    ],
)
def test_what_cannot_be_run_is_bad_input(arguments, why, capsys):
    assert conformance(*arguments) == 2
    err = capsys.readouterr().err
    assert why in err
    assert "Traceback" not in err


def test_vectors_of_a_release_and_channel(damaged, capsys):
    """Which vectors ours does not answer as upstream does is held in tests/conformance; here, that they are asked."""
    damaged(lambda request: None)
    arguments = ["--cases", "0", "--vectors", "--release", "1.36", "--channel", "experimental", "--format", "json"]
    code = conformance("--implementation", "ours", *arguments)
    shown = json.loads(capsys.readouterr().out)
    rules = shown["rules"]
    assert code == int(bool(shown["findings"]))
    assert len(shown["findings"]) < shown["asked"] / 50
    assert shown["asked"] > 400
    assert {"vectors cel", "vectors quantity", "vectors allocation TAINT"} <= rules.keys()
    assert rules["vectors quantity"]["equal"] == rules["vectors quantity"]["cases"]


def test_an_implementation_that_answers_anything_is_wrong_row_by_row(tmp_path, capsys):
    odd = """print(json.dumps({"name": request.get("name"), "bad": [], "results": 1, "err": ["\\ud800"]}), flush=True)
    continue"""
    arguments = ("--implementation", broken(tmp_path, odd), "--cases", "2", "--junit", str(tmp_path / "junit.xml"))
    assert conformance(*arguments) == 1
    assert "4 of 4 answers are wrong" in re.sub(r"\b\d+ of \d+", "4 of 4", capsys.readouterr().out)
    assert ET.parse(tmp_path / "junit.xml").getroot().tag == "testsuite"


def test_wrong_answers_are_kept_to_a_bound(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dra_alloc.testing.conformance._KEPT", 3_000)
    odd = """print(json.dumps({"name": request.get("name"), "err": "x" * 4000}), flush=True)
    continue"""
    assert conformance("--implementation", broken(tmp_path, odd), "--cases", "40") == 1
    assert "stopped early: wrong answers of more than 3,000 bytes" in capsys.readouterr().out
