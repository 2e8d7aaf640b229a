"""
Names and docstrings: a module is called for what it knows, and what is public says what it is.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.source_files import package_files, parse, python_files
from tests.paths import ROOT

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "shared"}


def _listed(tree: ast.Module) -> list[str] | None:
    """The names of a literal `__all__`, or None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(at, ast.Name) and at.id == "__all__" for at in node.targets):
            return list(ast.literal_eval(node.value))
    return None


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
        and node.name in (_listed(parse(path)) or ())
        and not ast.get_docstring(node)
        and not _is_overload(node)
    ]
    assert not silent


def _is_overload(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)


def test_public_modules_list_their_names():
    unlisted = [
        str(path.relative_to(ROOT))
        for path in package_files()
        if not path.name.startswith("_") and _listed(parse(path)) is None
    ]
    assert not unlisted


def test_listed_names_are_unique():
    repeated = [
        str(path.relative_to(ROOT))
        for path in package_files()
        if len(set(names := _listed(parse(path)) or [])) != len(names)
    ]
    assert not repeated


def test_a_public_class_name_means_one_thing():
    modules: dict[str, list[str]] = {}
    for path in package_files():
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in modules.items() if len(where) > 1}
