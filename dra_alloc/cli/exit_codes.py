"""
What the command's exit code says.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """0 as expected, 1 something cannot be allocated, 2 bad input, 3 undecided, 70 our bug, 130 interrupted."""

    OK = 0
    UNSATISFIABLE = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERNAL = 70
    INTERRUPTED = 130


#: The same at the end of a help text.
SAID: Final = """\
exit codes:
  0  as expected: everything can be allocated
  1  something cannot be allocated
  2  bad input or usage
  3  undecided: not modelled, or the budget ran out
  70 a bug of dra-alloc
  130 interrupted, as by Ctrl-C"""
