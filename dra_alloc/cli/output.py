"""
The answer on standard output.
"""

from __future__ import annotations

import os
import sys

__all__ = ["show", "write_to_nowhere"]


def show(answer: str) -> None:
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
