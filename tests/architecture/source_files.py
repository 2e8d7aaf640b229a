"""
The project's own Python files, parsed, and the tracked files of every kind.
"""

from __future__ import annotations

import ast
import gc
import io
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.paths import ROOT

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FOLDERS = ("dra_alloc", "spec", "tests", "fuzz", "benchmarks", "docs", ".ci")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@cache
def python_files(folders: tuple[str, ...] = _FOLDERS) -> tuple[Path, ...]:
    """Every Python file below these folders, generated and hidden ones left out."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return tuple(path for path in found if not {"_build", ".cache", "__pycache__"} & set(path.parts))


def package_files() -> tuple[Path, ...]:
    """The files that are installed."""
    return python_files(("dra_alloc",))


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file under version control that is still there; in an unpacked archive, every file."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        return tuple(path for path in sorted(ROOT.rglob("*")) if path.is_file())
    names = listed.stdout.decode().split("\0")
    return tuple(path for name in names if name and (path := ROOT / name).is_file())


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a file; kept for good, so that Python's collector need not walk half a million nodes."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        gc.freeze()
        gc.enable()


@cache
def code_lines(path: Path) -> frozenset[int]:
    """The numbers of the lines that hold code: not blank, not comment."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    spans = ((token.start[0], token.end[0]) for token in tokens if token.type not in _NO_CODE)
    return frozenset(line for first, last in spans for line in range(first, last + 1))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's syntax tree: tests ask for them again and again."""
    return tuple(ast.walk(parse(path)))


def functions(path: Path) -> Iterator[Function]:
    """Every function of a file, inner ones too."""
    return (node for node in nodes(path) if isinstance(node, Function))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every absolute module name that a file imports, anywhere in it, with the line."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
