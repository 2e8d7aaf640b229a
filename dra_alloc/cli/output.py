"""
What the command prints: the answer on standard output, all else on standard error, neither able to steer its reader.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Final

from dra_alloc.report import rendered

if TYPE_CHECKING:
    from dra_alloc.errors import Problem
    from dra_alloc.report.records import Report

__all__ = ["show", "tell", "warn", "write", "write_to_nowhere"]

_MOST_WARNINGS: Final = 50


def show(options: Namespace, report: Report) -> None:
    """Print a report in the format that the options name, of those that the command has."""
    write(rendered(report, options.formats[options.format], options.verbose))


def write(answer: str) -> None:
    """
    Print an answer; one that stops reading, such as ``head``, has read enough.

    The exit code still says what the answer is. Raises: OSError, for a full disk.
    """
    try:
        sys.stdout.write(answer)
        sys.stdout.flush()
    except BrokenPipeError:
        write_to_nowhere()


def write_to_nowhere() -> None:
    """Give up standard output, so that the interpreter does not fail on it once more when it leaves."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """Print lines on standard error."""
    from dra_alloc.report.layout import inert, printable

    print(inert(printable(text)), file=sys.stderr)


def warn(*warnings: Problem) -> None:
    """Print warnings, never without end."""
    for warning in warnings[:_MOST_WARNINGS]:
        tell(f"warning: {warning}")
    left = len(warnings) - _MOST_WARNINGS
    if left > 0:
        tell(f"warning: and {left:,} more of these")
