"""
Lint itself: what suppresses findings and does not say it right.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.linting.rules import LintRule

UNUSED: Final = LintRule("L901", "warning", "a suppression suppresses nothing")
UNREASONED: Final = LintRule("L902", "warning", "a suppression has no reason, or names no code")
UNKNOWN: Final = LintRule("L903", "warning", "a suppression names a code that there is not")

RULES: Final = (UNUSED, UNREASONED, UNKNOWN)
