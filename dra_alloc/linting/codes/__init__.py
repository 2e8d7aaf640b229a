"""
The codes, a file a family: a new code is an entry there, and a section of its page.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.linting.codes import (
    amounts,
    constraints,
    gangs,
    own,
    pods,
    pools,
    queues,
    releases,
    selectors,
    shape,
    taints,
)
from dra_alloc.linting.rules import LintRule

#: All codes in their order.
RULES: Final[tuple[LintRule, ...]] = tuple(
    sorted(
        (
            *shape.RULES,
            *selectors.RULES,
            *constraints.RULES,
            *amounts.RULES,
            *pools.RULES,
            *taints.RULES,
            *releases.RULES,
            *gangs.RULES,
            *pods.RULES,
            *queues.RULES,
            *own.RULES,
        ),
        key=lambda rule: rule.code,
    )
)
_BY_CODE: Final = {rule.code: rule for rule in RULES}


def rule_named(code: str) -> LintRule | None:
    """Return the rule of a code, or None."""
    return _BY_CODE.get(code)
