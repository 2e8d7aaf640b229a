"""
The smallest set of facts that a refusal rests on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from dra_alloc.explain.facts import Fact
from dra_alloc.explain.trials import GLANCE, INSIST, USUAL, Trials

#: The part of the work after which no more facts of the refusal itself are tried.
FOR_FACTS: Final = 2 / 3
#: After so many tries in a row that tell nothing, by effort, the next are not expected to.
_IN_VAIN: Final = {GLANCE: 3, USUAL: inf, INSIST: inf}


@dataclass(frozen=True, slots=True)
class Core:
    """
    Facts that suffice for a refusal.

    `proven` says that each of them is known to be needed.
    """

    facts: tuple[Fact, ...]
    proven: bool


def core_of(facts: Sequence[Fact], trials: Trials, gone: Sequence[Fact] = (), part: float = FOR_FACTS) -> Core:
    """
    Return facts that suffice for the refusal and are all needed for it.

    With `gone` it is the refusal that is left once these facts are changed. No more than a `part` of the work allowed
    is used up by then.

    Facts are given up as long as the claims still are refused, and for want of
    devices if they were; that is repeated until nothing more can be given up,
    since a fact that was needed need not be once others are gone: the claims
    may then end with an error, or meet a defect of upstream. Those go first
    without which a glance tells that the claims are refused: what is left is
    then told at a glance, too.

    Spec: EXPLAIN-1, EXPLAIN-5.
    """
    shrinking, effort = _Shrinking(facts, trials, gone, part), GLANCE
    while effort <= INSIST:
        effort = min(effort, USUAL) if shrinking.shrink(effort) else effort + 1
    return Core(tuple(shrinking.kept), shrinking.proven())


class _Shrinking:
    """Facts kept and facts given up so far; without the latter the claims are refused alike."""

    def __init__(self, facts: Sequence[Fact], trials: Trials, gone: Sequence[Fact], part: float) -> None:
        self.kept = list(facts)
        self._gone = list(gone)
        self._trials = trials
        self._part = part

    def shrink(self, effort: int) -> bool:
        """Give up what can be at such an effort, and return whether anything was."""
        return self._sweep(effort) or self._guards(effort)

    def proven(self) -> bool:
        """Return whether each fact that is left is known to be needed."""
        return all(self._alike([fact], USUAL) is False for fact in self.kept)

    def _sweep(self, effort: int) -> bool:
        """
        Give up one fact after the other.

        Twice as many at once after each success, half as many after a failure:
        most facts play no part, and those that do stand together. One success
        that took the longest try is enough: the next may take less.
        """
        before, at, size, in_vain = len(self.kept), 0, 1, 0
        while at < len(self.kept) and in_vain < _IN_VAIN[effort]:
            several = self.kept[at : at + size]
            alike = self._give_up(several, effort)
            in_vain = in_vain + 1 if alike is None else 0
            if alike:
                size *= 2
                if effort == INSIST:
                    break
            elif len(several) > 1:
                size = len(several) // 2
            else:
                at += 1
        return len(self.kept) < before

    def _guards(self, effort: int) -> bool:
        """
        Give up all classes and selectors at once.

        A class can keep selectors from devices they fail on: neither can go
        before the other, both can.
        """
        guards = [fact for fact in self.kept if fact.code in ("class", "selector")]
        return len(guards) > 1 and self._give_up(guards, effort) is True

    def _give_up(self, several: Sequence[Fact], effort: int) -> bool | None:
        """Give up facts without which the claims are refused alike, and return whether they are."""
        alike = self._alike(several, effort)
        if alike:
            self._gone += several
            self.kept = [fact for fact in self.kept if fact not in several]
        return alike

    def _alike(self, more: Sequence[Fact], effort: int) -> bool | None:
        return self._trials.refused_alike([*self._gone, *more], effort, self._part)
