"""
Names and docstrings: a module is called for what it knows, and what is public says what it is.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.public_names import PUBLIC
from tests.architecture.source_files import package_files, parse, python_files
from tests.paths import ROOT

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "shared"}


def test_no_module_is_named_for_nothing():
    parts = {part.lstrip("_").removesuffix(".py") for path in python_files() for part in path.relative_to(ROOT).parts}
    assert not parts & EMPTY_NAMES


def test_every_module_says_what_it_is():
    silent = [str(path.relative_to(ROOT)) for path in python_files() if path.stat().st_size and not _docstring(path)]
    assert not silent


def _docstring(path: Path) -> str | None:
    return ast.get_docstring(parse(path))


def test_public_classes_and_functions_have_docstrings():
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in package_files()
        for node in parse(path).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
        and not _is_overload(node)
    ]
    assert not silent


def _is_overload(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)


def test_names_are_listed_where_callers_may_rely_on_them():
    """Elsewhere an underscore says what is a module's own; the door of the rules names what stands behind it."""
    listing = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in package_files()
        if any(_lists_names(node) for node in parse(path).body)
    }
    assert listing == {*PUBLIC, "dra_alloc.rules"}


def _lists_names(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def test_a_public_class_name_means_one_thing():
    modules: dict[str, list[str]] = {}
    for path in package_files():
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in modules.items() if len(where) > 1}
