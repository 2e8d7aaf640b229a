"""
Lint itself: what suppresses findings and does not say it right.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.linting.rules import LintRule

__all__ = ["RULES", "UNREASONED", "UNUSED"]

UNUSED: Final = LintRule("L901", "warning", "a suppression suppresses nothing")
UNREASONED: Final = LintRule("L902", "warning", "a suppression has no reason, or names no code")

RULES: Final = (UNUSED, UNREASONED)
