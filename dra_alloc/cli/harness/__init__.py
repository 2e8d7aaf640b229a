"""
The command `harness`: the allocator for other programs, one JSON object a line.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description = (
        "Read one JSON request a line on standard input, write one JSON answer a line on\nstandard output."
    )
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from dra_alloc.cli.harness.reading import lines_of
    from dra_alloc.cli.harness.serve import serve

    for line in serve(lines_of(sys.stdin.buffer)):
        print(line, flush=True)
    return 0
