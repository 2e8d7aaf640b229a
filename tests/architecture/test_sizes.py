"""
What a reader can hold at once: file, function and parameter budgets.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from tests.architecture.source_files import Function, code_lines, functions, package_files, python_files
from tests.paths import ROOT

FILE_LINES = 400
FUNCTION_LINES = 40
PARAMETERS = 5
FOLDER_FILES = 20
#: A file is a family of CEL's functions: more of them are not harder to find.
FAMILIES = "dra_alloc/cel/library"
#: Tables of inputs written as functions: a case is a row, and splitting them would only scatter the rows.
TABLES = {"fuzz/observed/cases.py", "fuzz/observed/history.py"}


def _body_lines(path: Path, function: Function) -> int:
    """Lines of code in a body that may be too long; a docstring is not code."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not body or (function.end_lineno or 0) - body[0].lineno < FUNCTION_LINES:
        return 0  # too few lines of any kind: which of them are code need not be found out
    return len(code_lines(path) & set(range(body[0].lineno, (function.end_lineno or 0) + 1)))


def _parameters(function: Function) -> int:
    """Parameters that a caller can give by name or place; `self` and `cls` are not given."""
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len(named) - (bool(named) and named[0].arg in {"self", "cls"})


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in python_files()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES
    }
    assert not long


def test_functions_are_short():
    long = {
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}": lines
        for path in python_files()
        for function in functions(path)
        if str(path.relative_to(ROOT)) not in TABLES
        if (lines := _body_lines(path, function)) > FUNCTION_LINES
    }
    assert not long


def test_functions_take_few_parameters():
    many = {
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}": count
        for path in package_files()
        for function in functions(path)
        if (count := _parameters(function)) > PARAMETERS
    }
    assert not many


def test_folders_hold_few_files():
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in package_files())
    many = {folder: count for folder, count in counts.items() if count > FOLDER_FILES and folder != FAMILIES}
    assert not many
