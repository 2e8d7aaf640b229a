"""
Cases of a benchmark, each measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def each_apart(
    script: str,
    doc: str | None,
    cases: Iterable[str],
    written: Callable[[str, Path], None],
    measure: Callable[[str, Path], dict[str, Any]],
) -> None:
    """
    Print what a script measures of each of its cases, or of the one that is asked for, one JSON object a line.

    `written` puts a case's files into a folder, and `measure` is called in a fresh process of the same script, which
    finds them there.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=tuple(cases))
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.case, options.measure)))
        return
    for name in cases if options.case is None else (options.case,):
        with tempfile.TemporaryDirectory() as folder:
            written(name, Path(folder))
            subprocess.run([sys.executable, script, "--case", name, "--measure", folder], check=True)
