"""
How much input one load may read before it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_BUDGET", "ReadBudget"]


@dataclass(frozen=True, slots=True)
class ReadBudget:
    """
    Deterministic bounds: bytes, levels and counts, never seconds.

    `file_bytes` counts after unpacking, so that a small gzip file cannot become
    a large one unseen; beyond 16 MiB it may unpack to `gzip_ratio` times its
    size, where the most repetitive dumps come to a hundred times. `aliased_nodes` counts what YAML aliases of one file
    stand for when written out; 400,000 is about what kubectl's reader allows.
    """

    file_bytes: int = 1 << 30
    gzip_ratio: int = 200
    files: int = 100_000
    nesting: int = 200
    aliased_nodes: int = 400_000
    problems_per_file: int = 100


DEFAULT_BUDGET = ReadBudget()
