"""
What the command's exit code says.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """0 as expected, 1 something cannot be allocated, 2 bad input or usage, 3 undecided, 70 our bug."""

    OK = 0
    UNSATISFIABLE = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERNAL = 70
