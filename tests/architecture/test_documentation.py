"""
The pages say what is so: commands exist, links lead somewhere, tasks are described.
"""

from __future__ import annotations

import doctest
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from dra_alloc.cli.commands import COMMANDS
from dra_alloc.manifest.kinds import KINDS
from tests.architecture.source_files import tracked_files
from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PAGES = [path for path in tracked_files() if path.suffix == ".md"]
command = runpy.run_path(str(ROOT / ".ci" / "readme_command.py"))["command"]


@pytest.mark.parametrize("name", ["run", "test"])
def test_the_readme_has_one_command_that_starts_from_nothing(name):
    lines = command(name, README).splitlines()
    assert lines[0] == "python3 -m venv .venv &&"
    assert all(line.endswith(" &&") for line in lines[:-1])


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/in-a-scheduler.md"])
def test_pages_tell_the_truth_about_python(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)
    assert tried
    assert not failed


def test_the_dump_of_the_readme_has_all_that_is_read():
    found = re.search(r"kubectl get -A -o json (.*?) > cluster\.json\n(.*?)\n\nRead", README, re.DOTALL)
    assert found is not None
    listed, more = found.groups()
    named = {*listed.replace("\\\n", "").split(","), *re.findall(r"`(\w+)[.\w]*`", more)}
    assert {f"{name.lower()}{'es' if name.endswith('s') else 's'}" for name in KINDS} <= named


def test_every_command_has_its_help_on_the_page():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert not [each.name for each in COMMANDS if f"$ dra-alloc {each.name} --help" not in page]


def test_every_task_is_described():
    page = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
    assert not [task for task in PROJECT["tool"]["poe"]["tasks"] if f"`poe {task}`" not in page]


def test_every_decision_is_listed():
    listed = (ROOT / "docs" / "adr" / "index.md").read_text(encoding="utf-8")
    decisions = [path for path in PAGES if path.parent.name == "adr" and path.name != "index.md"]
    assert decisions
    assert not [path.stem for path in decisions if f"\n{path.stem}\n" not in listed]


def _prose(page: Path) -> str:
    """The text of a page without code, in which brackets mean other things."""
    return re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_links_between_files_lead_somewhere():
    broken = [
        (str(page.relative_to(ROOT)), target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", _prose(page))
        if not (page.parent / target).exists()
    ]
    assert not broken


def test_pages_that_are_named_without_a_link_exist():
    """In pages and in the text of modules: `docs/reference/cli.md`, from the repository or from the page."""
    named = [
        (path, page)
        for path in tracked_files()
        if path.suffix in (".md", ".py") and path.name != "CHANGELOG.md"
        for page in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.md)`", path.read_text(encoding="utf-8"))
    ]
    assert named
    assert not [
        (str(path.relative_to(ROOT)), page)
        for path, page in named
        if not (ROOT / page).exists() and not (path.parent / page).exists()
    ]


def test_files_that_pages_name_in_the_examples_exist():
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    named = {name for text in texts for name in re.findall(r"docs/examples/[\w./-]*\w", text)}
    assert named
    assert not {name for name in named if not (ROOT / name).exists()}


def test_every_linter_exception_has_a_reason():
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    start = lines.index("ignore = [") + 1
    ignored = lines[start : lines.index("]", start)]
    assert ignored
    assert not [line for line in ignored if not re.search(r'",\s+# \w', line)]


def test_every_type_ignore_says_which_error():
    bare = re.compile(r"# (?:type: ignore|noqa)(?![\[:])")
    python = [path for path in tracked_files() if path.suffix == ".py" and path.parent.name != "architecture"]
    assert not [str(path.relative_to(ROOT)) for path in python if bare.search(path.read_text(encoding="utf-8"))]
