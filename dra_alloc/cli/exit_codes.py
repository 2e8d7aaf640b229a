"""
What the command's exit code says.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """0 as expected, 1 something cannot be allocated, 2 bad input, 3 undecided, 70 our bug, 130 interrupted."""

    OK = 0
    UNSATISFIABLE = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERNAL = 70
    INTERRUPTED = 130
