"""
How much input one load may read before it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Bytes up to which a text that begins as JSON, and is none, is read as YAML instead.
YAML_INSTEAD: Final = 1 << 20
_ANY_RATIO: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class ReadBudget:
    """
    Deterministic bounds: bytes, levels and counts, never seconds.

    `file_bytes` counts after unpacking, so that a small file cannot become a
    large one unseen, and bounds what all files of a load unpack to together;
    beyond 16 MiB they may unpack to `ratio` times their size, where the most
    repetitive dumps come to a hundred times. What is packed within what was
    packed, as slices of a snapshot are, counts for the file. `aliased_nodes`
    counts what YAML aliases of one file stand for when written out; 400,000 is
    about what kubectl's reader allows. A file with more problems than are
    counted is read no further.
    """

    file_bytes: int = 1 << 30
    ratio: int = 200
    files: int = 100_000
    nesting: int = 200
    aliased_nodes: int = 400_000
    problems_per_file: int = 100
    problems_counted: int = 25_000


DEFAULT_BUDGET = ReadBudget()


class TooMuchUnpacked(Exception):
    """Something unpacks to more than the limit that it says."""


@dataclass(slots=True)
class Unpacking:
    """What the packed files of one load had, and what came of it."""

    budget: ReadBudget
    packed: int = 0
    unpacked: int = 0

    def take(self, packed: int, unpacked: int) -> None:
        """
        Count bytes of a file and what they unpack to: so far, so that what has no end is refused early.

        Raises: TooMuchUnpacked.
        """
        self.packed += packed
        self.unpacked += unpacked
        if self.unpacked > max(_ANY_RATIO, self.packed * self.budget.ratio):
            raise TooMuchUnpacked(f"unpacks to more than {self.budget.ratio} times its size, the limit")
        if self.unpacked > self.budget.file_bytes:
            raise TooMuchUnpacked(
                f"unpacks to more than {self.budget.file_bytes} bytes, the limit for all files together"
            )
