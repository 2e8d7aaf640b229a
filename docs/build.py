"""
Build the documentation: the command reference is checked first, then pages, links and doctests, warnings as errors.

``--write`` brings the help blocks of ``reference/cli.md`` up to date instead of
failing where they differ from what the command prints.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference" / "cli.md"
BLOCK = re.compile(r"(```console\n\$ dra-alloc ([^\n]*--help)\n)(.*?)(```)", re.DOTALL)


def help_text(arguments: str) -> str:
    """Return what the command prints for these arguments, at the width that the page is written for."""
    command = [sys.executable, "-m", "dra_alloc", *arguments.split()]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def reference(write: bool) -> int:
    """Return 1 where a help block is not what the command prints, or there is none."""
    if importlib.util.find_spec("dra_alloc.__main__") is None:
        print("absent: the command; its reference is not checked")
        return 0
    text = REFERENCE.read_text(encoding="utf-8")
    fresh, blocks = BLOCK.subn(lambda block: block[1] + help_text(block[2]) + block[4], text)
    if write:
        REFERENCE.write_text(fresh, encoding="utf-8")
    elif fresh != text or not blocks:
        print(f"{REFERENCE.name} differs from --help: run python docs/build.py --write")
        return 1
    print(f"{REFERENCE.name}: {blocks} help texts as the command prints them")
    return 0


def sphinx(builder: str) -> int:
    """Run one Sphinx builder over the pages; every warning is an error."""
    target = DOCS / "_build" / builder
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-b", builder]
    code = subprocess.run([*command, str(DOCS), str(target)], check=False).returncode
    print(f"sphinx {builder}: {'failed' if code else 'no warnings'}")
    return code


def main(arguments: list[str]) -> int:
    """Run every step, so that one run shows all that is wrong."""
    steps = [reference("--write" in arguments), sphinx("html"), sphinx("doctest")]
    return 1 if any(steps) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
