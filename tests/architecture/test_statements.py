"""
Every statement of the rules is shown by a vector, or names the test that holds it; what is cited exists.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from spec.case import KINDS, RULES, VECTORS, AllocationCase, VectorError, cases, load_case, stated
from spec.schema import SCHEMA, schema
from tests.architecture.source_files import nodes, package_files
from tests.paths import ROOT

REFERENCE = re.compile(r"`((?:tests|fuzz)/[\w/]+\.py)(?:::(\w+))?`")


@cache
def cited() -> dict[str, list[str]]:
    """Statements that vectors cite, with the files."""
    found: dict[str, list[str]] = {}
    for path, case in chain.from_iterable(map(cases, KINDS)):
        for name in case.statements:
            found.setdefault(name, []).append(path.name)
    return found


def references(text: str) -> list[tuple[str, str]]:
    """The tests that a statement names behind `Checked by`."""
    _, found, rest = text.partition("Checked by ")
    return REFERENCE.findall(rest) if found else []


def test_statements_are_numbered_once():
    lines = [line for page in RULES.glob("*.md") for line in page.read_text(encoding="utf-8").splitlines()]
    names = [match[1] for line in lines if (match := re.match(r"(?:- )?\*\*([A-Z]+-\d+)\*\*", line))]
    assert len(names) > 300
    assert sorted(names) == sorted(set(names))


#: Pages whose statements the recorded cases show together; the cases do not say which they show.
HELD_AS_A_WHOLE = ("validation", "names")


def test_every_statement_is_shown_or_checked():
    together = {name for page in HELD_AS_A_WHOLE for name in stated(page)}
    lacking = [name for name, text in stated().items() if name not in cited() and not references(text)]
    assert not set(lacking) - together


@pytest.mark.parametrize("page", HELD_AS_A_WHOLE)
def test_a_page_names_the_test_that_holds_it_as_a_whole(page):
    _, found, rest = (RULES / f"{page}.md").read_text(encoding="utf-8").partition("Held as a whole by ")
    assert found
    ((file, test),) = REFERENCE.findall(rest.partition("\n")[0])
    assert _has(ROOT / file, test)


def test_checks_that_statements_name_exist():
    named = [each for text in stated().values() for each in references(text)]
    assert named
    assert not [(file, test) for file, test in named if not _has(ROOT / file, test)]


def _has(path: Path, name: str) -> bool:
    if not path.is_file():
        return False
    defined = {node.name for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return not name or name in defined


def test_vectors_cite_statements_that_exist():
    assert not set(cited()) - set(stated())


def test_the_code_cites_statements_that_exist():
    """Docstrings say `Spec: TAKE-1, CAP-1..CAP-3.`"""
    wrong, known = [], set(stated())
    for path in package_files():
        for node in nodes(path):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                said = re.findall(r"Spec: (.*?)(?:\n\s*\n|\n\s*Raises|\Z)", ast.get_docstring(node) or "", re.DOTALL)
                names = {name for each in said for name in re.findall(r"\b[A-Z]+-\d+\b", each)}
                wrong += [(path.name, name) for name in names - known]
    assert not wrong


def test_the_schema_is_that_of_the_model():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()


def test_every_folder_of_vectors_has_a_kind():
    folders = {path.name for path in VECTORS.iterdir() if path.is_dir()}
    assert folders == set(KINDS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("statements: [USE-1]\n", "shows: Field required"),
        ("statements: [USE-1\n", "while parsing"),
        ("statements: [use]\nsource: x\n", "statements.0: String should match pattern"),
        ("- a list\n", "the file: Input should be an object"),
    ],
)
def test_what_is_no_vector_is_refused_with_its_place(tmp_path, monkeypatch, text, words):
    monkeypatch.setattr("spec.case.VECTORS", tmp_path)
    path = tmp_path / "allocation" / "odd.yaml"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VectorError, match="odd") as caught:
        load_case(path)
    assert words in str(caught.value)


def test_objects_of_vectors_are_of_the_api():
    path = next((VECTORS / "allocation").rglob("*.yaml"))
    case = load_case(path)
    assert isinstance(case, AllocationCase)
    wrong = case.given.model_dump(mode="json", by_alias=True) | {"slices": [{"metadata": {"name": "s"}, "spce": {}}]}
    with pytest.raises(ValueError, match=r"slices\[0\]\.spce"):
        type(case.given).model_validate_json(json.dumps(wrong))
