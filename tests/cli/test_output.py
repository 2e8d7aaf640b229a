"""
What becomes of the answer: readers that go away, and nothing to answer.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from dra_alloc.cli.main import run
from dra_alloc.cli.output import warn
from dra_alloc.errors import ManifestError, Problem, Where
from dra_alloc.report import FORMATS, rendered
from dra_alloc.report.formats import text
from dra_alloc.report.formats.annotations import problem_report
from dra_alloc.report.layout import json_text
from dra_alloc.report.records import Report, Section
from dra_alloc.report.yaml_text import documents_text
from tests.paths import EXAMPLES


@pytest.mark.parametrize(("workload", "code"), [("fits", 0), ("too-big", 1)])
def test_the_exit_code_is_the_answers_when_its_reader_has_gone(workload, code):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "dra_alloc", "check", str(EXAMPLES / "workloads" / f"{workload}.yaml")]
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [*command, "--cluster", str(EXAMPLES / "cluster")], stdout=gone, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == code
    assert done.stderr == b""


def test_without_arguments_there_is_help_on_standard_error(capsys):
    assert run([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "say which devices manifests would get" in told.err
    assert "exit codes:" in told.err


def test_warnings_have_an_end(capsys):
    warn(*(Problem(f"number {number}") for number in range(80)))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "warning: number 0"
    assert lines[49:] == ["warning: number 49", "warning: and 30 more of these"]


COMMANDS = ("::error file=x::bad", "##vso[task.setvariable]x", "##[error]x", "##teamcity[x]")
STEERING = ("\x1b[31m", "\u202e", "\x08")


@pytest.mark.parametrize("name", [*COMMANDS, *(f"a\n{each}" for each in COMMANDS), *STEERING, "\n  ::error::x"])
def test_a_name_never_steers_a_terminal_or_a_build_server(name, capsys):
    assert run(["check", name, "--cluster", name]) == 2
    assert run(["cel", f"true {name}"]) == 2
    assert run(["cel", "true", name]) == 2
    assert run(["cel", "true", "--format", name]) == 2
    warn(Problem(f"in {name}"))
    inert_lines(capsys.readouterr().err)


@pytest.mark.parametrize("each", COMMANDS)
def test_texts_in_answers_stay_texts(each, capsys):
    selector = f"device.driver == {each!r} || true"
    assert run(["cel", selector]) == 0
    inert_lines(capsys.readouterr().out)
    assert run(["cel", selector, "--format", "json"]) == 0
    out = capsys.readouterr().out
    inert_lines(out)
    assert json.loads(out)["expression"] == selector


@pytest.mark.parametrize("name", [*COMMANDS, *STEERING, "\u2028::error::x", "a\n::error::x", "\r##[x]", 'a"b\\c'])
def test_neither_a_diff_nor_yaml_lets_a_name_steer(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\nspec: {}\n")
    assert run(["convert", "--to", "v1beta1", "--diff", name]) == 0
    told = capsys.readouterr().out
    inert_lines(told)
    subprocess.run(["git", "apply", "-p0", "--unsafe-paths", "-"], input=told, text=True, check=True)
    assert "v1beta1" in Path(name).read_text(encoding="utf-8")
    item = {"metadata": {"name": name, "labels": {name: name}}}
    told = documents_text([(name, item)])
    inert_lines(told)
    assert yaml.safe_load(told) == item


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "name", [*COMMANDS, *STEERING, "\u2028::error::x", "a\n  ::error::x", "\r##[x]", "%0A::x", "]]>"]
)
def test_no_format_lets_a_name_steer(form, name):
    """Neither as the name of a file nor as what is said of it; GitHub's own commands are ours alone."""
    where = Where(name, name, name, 3)
    found = ManifestError([Problem(f"{name} is wrong", where, name), Problem(f"x\n{name}", where)])
    told = rendered(problem_report(found), FORMATS[form], verbose=True)
    if form == "github":
        told = re.sub("^::(error|warning|notice) ", "", told, flags=re.MULTILINE)
    inert_lines(told)
    if form in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(told)
    elif form == "junit":
        assert "is wrong" in "".join(ET.fromstring(told).itertext())


def test_a_line_that_wrapping_begins_is_no_command():
    lines = text.render(Report((), Section("test", None, lambda *_: ["a" * 78 + " ::error::b"])), verbose=False)
    assert lines == f"{'a' * 78}\n    \\x3a:error::b\n"


@pytest.mark.parametrize(
    "value",
    [
        {"empty": [{}, [], ""], "nested": [[1, -2.5, 1e22], {"b": None, "a": True}]},
        ["\x00\x7f\u2028\u00e9\U0001f600", 'say "[1, 2]"', "a:b", "{", "\\"],
        {"half a character": "\ud800", "no end": float("inf")},
        [],
    ],
)
def test_json_is_laid_out_as_python_lays_it_out(value):
    assert json_text(value) == json.dumps(value, indent=2) + "\n"


def inert_lines(told: str) -> None:
    """Hold that no line is a command, and none carries characters that steer."""
    assert told
    for line in told.removesuffix("\n").split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert not any(each in line for each in ("##vso[", "##[", "##teamcity["))
