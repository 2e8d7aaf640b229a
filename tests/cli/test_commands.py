"""
The table of commands: a command is loaded when it is asked for, and every format that it offers renders.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import Any

import pytest

from dra_alloc.cli.commands import COMMANDS, parser
from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

CLUSTER = ["--cluster", str(EXAMPLES / "cluster")]
#: One pod is allocated, the other one refused.
PAIR = [str(EXAMPLES / "gang" / "pair.yaml"), "--cluster", str(EXAMPLES / "gang" / "one-gpu.yaml")]
OURS = f"{shlex.quote(sys.executable)} -m dra_alloc harness"
#: What is asked of each command that has formats; one that is added needs a line.
ASKED = {
    "check": ["check", *PAIR],
    "explain": ["explain", *PAIR],
    "expand": ["expand", str(EXAMPLES / "workloads" / "fits.yaml"), *CLUSTER],
    "gang": ["gang", *PAIR],
    "cel": ["cel", "device.driver == 'gpu.example.com'", "--device", str(EXAMPLES / "device.yaml")],
    "admit": [
        "admit",
        str(EXAMPLES / "admit" / "jobs.yaml"),
        "--cluster",
        str(EXAMPLES / "admit" / "cluster.yaml"),
    ],
    "what-if": [
        "what-if",
        str(EXAMPLES / "what-if" / "drain.yaml"),
        "--cluster",
        str(EXAMPLES / "what-if" / "cluster.yaml"),
    ],
    "capacity": [
        "capacity",
        str(EXAMPLES / "capacity" / "more.yaml"),
        "--cluster",
        str(EXAMPLES / "what-if" / "cluster.yaml"),
    ],
    "fleet": ["fleet", str(EXAMPLES / "fleet" / "shapes.yaml")],
    "validate": ["validate", str(EXAMPLES / "validate")],
    "lint": ["lint", str(EXAMPLES / "validate"), *CLUSTER],
    "convert": ["convert", str(EXAMPLES / "older.yaml"), "--to", "v1", "--check"],
    "conformance": ["conformance", "run", "--implementation", OURS, "--cases", "3"],
}
#: Loaded by none of these: models, and what has them.
HEAVY = ("pydantic", "dra_alloc.api", "dra_alloc.manifest", "dra_alloc.scenario", "dra_alloc.cel", "yaml", "re2")


def declared(command: str) -> list[Any]:
    """The actions of a command: its own and those of its verbs."""
    top: Any = parser([command])
    found, left = [], [top._subparsers._group_actions[0].choices[command]]
    for each in left:
        found += each._actions
        left += [inner for action in each._actions for inner in getattr(action, "_name_parser_map", {}).values()]
    return found


def formats() -> list[tuple[str, str]]:
    """Each command with each format that it offers."""
    return [
        (each.name, form)
        for each in COMMANDS
        for action in declared(each.name)
        if "--format" in action.option_strings
        for form in action.choices
    ]


def test_what_is_asked_of_each_command_is_known():
    assert {name for name, _ in formats()} == ASKED.keys()


@pytest.mark.parametrize("name", ASKED)
def test_every_format_of_every_command_renders(name, tmp_path, capsys):
    """Where a command writes reports, one run has all of them: the answer is the same."""
    forms = [form for each, form in formats() if each == name]
    if any("--report" in action.option_strings for action in declared(name)):
        first, *others = forms
        reports = [part for form in others for part in ("--report", f"{form}={tmp_path / form}")]
        texts = {first: told(name, first, reports, capsys)}
        texts |= {form: (tmp_path / form).read_text(encoding="utf-8") for form in others}
    else:
        texts = {form: told(name, form, [], capsys) for form in forms}
    assert all(text.strip() for text in texts.values())
    if "json" in texts:
        answer = json.loads(texts["json"])
        # What expand and fleet print is for kubectl, and of its version.
        assert answer["kind"] == "List" if name in ("expand", "fleet") else answer["schemaVersion"] == 1


def told(name: str, form: str, more: list[str], capsys: Any) -> str:
    """What a command prints in a format, when it is asked what is asked of it here."""
    assert run([*ASKED[name], "--format", form, *more]) in (0, 1)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return str(captured.out)


def loaded(*arguments: str) -> set[str]:
    """The modules that a run of the command loads."""
    program = "import sys; from dra_alloc.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"]])
def test_help_loads_no_command(arguments):
    found = loaded(*arguments)
    assert not found & {f"dra_alloc.cli.{each.module}" for each in COMMANDS}
    assert not found & {*HEAVY, "dra_alloc.cli.options", "dra_alloc.errors"}
    # What is wrong is told with more than help needs.
    assert arguments == ["no-such-command"] or "dataclasses" not in found


@pytest.mark.parametrize("command", ["check", "conformance"])
def test_help_of_a_command_loads_that_and_no_models(command):
    found = loaded(command, "--help")
    (module,) = [f"dra_alloc.cli.{each.module}" for each in COMMANDS if each.name == command]
    assert found & {f"dra_alloc.cli.{each.module}" for each in COMMANDS} == {module}
    assert not found & {*HEAVY}
