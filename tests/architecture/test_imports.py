"""
Imports that the contracts in pyproject.toml cannot state, and what the door and the wire models load.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.architecture.source_files import imports, nodes, package_files, python_files
from tests.paths import ROOT

# What the wire models need; anything else waits until it is used.
LOADED = {"dra_alloc", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
JUDGED = ("dra_alloc.problem", "dra_alloc.rules", "dra_alloc.solve", "dra_alloc.explain", "dra_alloc.scenario")


def _importing(paths: tuple[Path, ...], *roots: str) -> set[str]:
    """The files that import one of these modules or something below it, at any depth of the code."""
    return {
        str(path.relative_to(ROOT))
        for path in paths
        for name, _ in imports(path)
        if any(name == root or name.startswith(f"{root}.") for root in roots)
    }


def test_only_cpsat_knows_ortools():
    """Imports by statement, and by a name handed to import_module."""
    named = {
        str(path.relative_to(ROOT))
        for path in package_files()
        for node in nodes(path)
        if isinstance(node, ast.Constant) and str(node.value).startswith("ortools.")
    }
    knowing = named | _importing(package_files(), "ortools")
    assert not {name for name in knowing if not name.startswith("dra_alloc/solve/cpsat")}


def test_only_the_public_strategies_know_hypothesis():
    wrong = {name for name in _importing(package_files(), "hypothesis") if not name.startswith("dra_alloc/testing/")}
    assert not wrong


def test_nothing_installed_needs_numpy_pandas_or_the_tests():
    assert not _importing(package_files(), "numpy", "pandas", "pytest", "tests", "fuzz", "spec", "benchmarks")


def test_the_reference_does_not_import_what_it_judges():
    assert not _importing(python_files(("spec",)), *JUDGED)


def test_nothing_inside_goes_through_the_door():
    """`dra_alloc` itself names everything, so a module below that imports from it would see every floor."""
    inside = {path.relative_to(ROOT / "dra_alloc").parts[0].removesuffix(".py") for path in package_files()}
    names = {(path, name) for path in package_files() for name, _ in imports(path) if name.startswith("dra_alloc")}
    through = {path for path, name in names if name.count(".") == 1 and name.partition(".")[2] not in inside}
    through |= {path for path in package_files() for node in nodes(path) if _imports_the_door(node)}
    assert not through


def _imports_the_door(node: ast.AST) -> bool:
    return isinstance(node, ast.Import) and any(alias.name == "dra_alloc" for alias in node.names)


def _loaded(module: str) -> set[str]:
    program = f"import sys; before = set(sys.modules); import {module}; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    roots = {name.partition(".")[0] for name in loaded if not name.startswith("_sysconfigdata")}
    return roots - set(sys.stdlib_module_names)


def test_the_door_loads_nothing_and_the_models_only_what_they_need():
    assert _loaded("dra_alloc") == {"dra_alloc"}
    assert _loaded("dra_alloc.api") <= LOADED
