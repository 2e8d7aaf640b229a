"""
`python -m dra_alloc`, and the command `dra-alloc`.
"""

from __future__ import annotations

import contextlib
import os
import sys

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.main import run


def main() -> None:
    """Run the command and leave with its exit code."""
    code = run(sys.argv[1:])
    if code == ExitCode.INTERRUPTED:
        _leave_at_once(code)
    sys.exit(code)


def _leave_at_once(code: int) -> None:
    """
    Leave without taking the interpreter apart.

    What pydantic was validating when it was interrupted is counted wrongly: with
    Python 3.12 the collector crashes on it at the end.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
