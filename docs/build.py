"""
Build the documentation: shown outputs are checked first, then pages, links and doctests, warnings as errors.

Each ``console`` block that starts with ``$ dra-alloc`` is run from the top of the
repository and has to show what the command prints. ``--write`` brings the
blocks up to date instead of failing where they differ.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from dra_alloc.linting.pages import whole_page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGES = (
    ROOT / "README.md",
    DOCS / "reference" / "cli.md",
    DOCS / "reference" / "versions.md",
    DOCS / "examples" / "README.md",
    DOCS / "explanation" / "objectives-and-gangs.md",
    DOCS / "explanation" / "stack.md",
)
BLOCK = re.compile(r"(```console\n\$ dra-alloc ([^\n]*)\n)(.*?)(```)", re.DOTALL)
BUG = 70


def output(arguments: str) -> str:
    """
    Return what the command prints for these arguments, at the width that the pages are written for.

    Raises: ValueError where the command found a bug of its own, so that no page shows one.
    """
    command = [sys.executable, "-m", "dra_alloc", *shlex.split(arguments)]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode >= BUG:
        raise ValueError(f"dra-alloc {arguments}: {done.stderr}")
    return done.stdout


def shown(page: Path, write: bool) -> int:
    """Return 1 where a page shows anything but what the command prints, or nothing at all."""
    text = page.read_text(encoding="utf-8")
    fresh, blocks = BLOCK.subn(lambda block: block[1] + output(block[2]) + block[4], text)
    name = page.relative_to(ROOT)
    if write:
        page.write_text(fresh, encoding="utf-8")
    elif fresh != text or not blocks:
        print(f"{name} differs from what the command prints: run python docs/build.py --write")
        sides = text.splitlines(), fresh.splitlines()
        print(*difflib.unified_diff(*sides, "shown", "printed", lineterm="", n=1), sep="\n")
        return 1
    print(f"{name}: {blocks} outputs as the command prints them")
    return 0


def lint_page(write: bool) -> int:
    """Return 1 where the page of lint's codes is not made of the codes there are."""
    page, fresh = DOCS / "reference" / "lint.md", whole_page()
    if write:
        page.write_text(fresh, encoding="utf-8")
    differs = page.read_text(encoding="utf-8") != fresh
    print(f"{page.relative_to(ROOT)}: {'differs from the codes: run with --write' if differs else 'as the codes are'}")
    return differs


def sphinx(builder: str) -> int:
    """Run one Sphinx builder over the pages; every warning is an error."""
    target = DOCS / "_build" / builder
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-b", builder]
    code = subprocess.run([*command, str(DOCS), str(target)], check=False).returncode
    print(f"sphinx {builder}: {'failed' if code else 'no warnings'}")
    return code


def main(arguments: list[str]) -> int:
    """Run every step, so that one run shows all that is wrong."""
    steps = [lint_page("--write" in arguments), sphinx("html"), sphinx("doctest")]
    if importlib.util.find_spec("dra_alloc.__main__") is None:
        print("absent: the command; what the pages show of it is not checked")
    else:
        steps += [shown(page, "--write" in arguments) for page in PAGES]
    return 1 if any(steps) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
