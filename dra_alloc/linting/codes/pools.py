"""
Slices and pools: what drivers publish.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.linting.codes.takes import said
from dra_alloc.linting.rules import LintRule

__all__ = ["RULES"]

RULES: Final = (
    LintRule(
        "P501",
        "error",
        "a slice has devices or counter sets, not both",
        takes=said("only one of `sharedCounters` or `devices`"),
        instead="since 1.35 counter sets stand in slices of their own in the same pool; count these, too, in "
        "resourceSliceCount",
    ),
)
