"""
What is under version control: the agreed top level, no machine's paths, nobody else's data.
"""

from __future__ import annotations

import hashlib
import re

from tests.architecture.source_files import python_files, tracked_files
from tests.paths import ROOT

TOP_LEVEL = {
    "pyproject.toml",
    "action.yml",
    "templates",
    "dra_alloc",
    "spec",
    "tests",
    "fuzz",
    "docs",
    "benchmarks",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "justfile",
}
# Written so that this file does not hold what it looks for.
MACHINE_PATH = re.compile(r"(?<![\w./$}-])/(?:work|root|home|Users)/[\w.]")
REGISTRY_HOST = re.compile(r"pypi" r"\.org|pythonhosted" r"\.org|proxy\.golang" r"\.org")
LARGEST = 1_000_000


def _text_files() -> list[tuple[str, str]]:
    texts = []
    for path in tracked_files():
        content = path.read_bytes()
        if b"\0" not in content:
            texts.append((str(path.relative_to(ROOT)), content.decode("utf-8")))
    return texts


def test_the_top_level_is_as_agreed():
    names = {path.relative_to(ROOT).parts[0] for path in tracked_files()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_no_machine_paths():
    assert not [(name, found[0]) for name, text in _text_files() if (found := MACHINE_PATH.search(text))]


def test_no_registry_hosts():
    assert not [(name, found[0]) for name, text in _text_files() if (found := REGISTRY_HOST.search(text))]


def test_nothing_built_and_nothing_huge():
    wrong = [
        str(path.relative_to(ROOT))
        for path in tracked_files()
        if path.stat().st_size > LARGEST or {"_build", "__pycache__", "dist"} & set(path.parts)
    ]
    assert not wrong


def test_the_reference_folder_is_not_copied(shared):
    theirs = {
        hashlib.sha256(path.read_bytes()).digest()
        for path in shared.rglob("*")
        if path.is_file() and path.stat().st_size and path.suffix != ".md"
    }
    copied = [path.name for path in tracked_files() if hashlib.sha256(path.read_bytes()).digest() in theirs]
    assert not copied


def test_no_test_module_skips_itself():
    """Parallel runs do not report a skipped module, so nothing would count it."""
    module_skip = "allow_module" + "_level"
    assert not [path.name for path in python_files(("tests",)) if module_skip in path.read_text(encoding="utf-8")]
