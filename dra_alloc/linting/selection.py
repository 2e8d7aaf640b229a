"""
Which codes are looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dra_alloc.errors import InputError, did_you_mean, in_brief
from dra_alloc.linting.rules import LintRule


@dataclass(frozen=True, slots=True)
class CodesAsked:
    """
    Codes, or beginnings of codes: all that are on by default, or those of `select`, more by `extend`, less by `ignore`.
    """

    select: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def of(self, rules: Sequence[LintRule]) -> tuple[LintRule, ...]:
        """Return the rules that are selected. Raises: InputError, for what begins no code."""
        codes = [rule.code for rule in rules]
        for each in (*self.select, *self.extend, *self.ignore):
            if not _begins(codes, each):
                raise InputError(f"no code begins with {in_brief(each)!r}", hint=did_you_mean(each, codes))
        return tuple(rule for rule in rules if self._has(rule))

    def _has(self, rule: LintRule) -> bool:
        chosen = _fits(rule, self.select) if self.select else rule.by_default
        return (chosen or _fits(rule, self.extend)) and not _fits(rule, self.ignore)


def _begins(codes: Iterable[str], start: str) -> bool:
    return bool(start) and any(code.startswith(start) for code in codes)


def _fits(rule: LintRule, starts: Iterable[str]) -> bool:
    return any(rule.code.startswith(each) for each in starts)
