"""
Fewer devices that a request could ask for: alone, or together with other changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dra_alloc.explain.core import core_of
from dra_alloc.explain.counting import Counting, countable
from dra_alloc.explain.facts import Fact, Whose
from dra_alloc.explain.fix import Fix
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World

#: Counts that are tried one by one: defects can let more devices fit where fewer do not.
_FEW: Final = 8
#: The part of the work after which it is not looked any more for what a first change leaves in the way.
FOR_SECOND: Final = 0.85
#: Changes of which each is looked at for whether a request still lacks devices after it; of more none is.
_MOST_LOOKS: Final = 16
#: Changes that are tried each as the second; of more those are that the refusal rests on once the first is made.
FEW_OTHERS: Final = 3
#: What it costs to ask for less, or for the same in several claims.
LESS_COST: Final = 30
#: How pairs of changes are called where they were not tried.
TWO_CHANGES: Final = "two changes together"


class Fewer:
    """Smaller numbers of devices, tried; `worse` is what need not be done where one of those is enough."""

    def __init__(self, world: World, trials: Trials) -> None:
        self._world = world
        self._trials = trials
        # Trials of worlds in which a request is for one device.
        self._of_one: dict[tuple[int, str], Trials] = {}
        self.worse: set[tuple[str, ...]] = set()
        self.untried: list[str] = []

    def alone(self, facts: Sequence[Fact]) -> list[Fix]:
        """Return, per request, the largest smaller count with which the claims fit."""
        fixes = []
        for counting in countable(self._world):
            whole = self._whole(counting, facts)
            if self._trials.known_refused([whole]):
                continue
            found, certain = self._largest(counting)
            if found is not None:
                fixes.append(found)
                self.worse.add((whole.fix,))
            elif not certain:
                self.untried.append(f"asking for fewer devices in {counting.which}")
        return fixes

    def _whole(self, counting: Counting, facts: Sequence[Fact]) -> Fact:
        """Return what it is to drop the request of which devices are counted."""
        claims, dropped = enumerate(self._world.claims), [fact for fact in facts if fact.code == "request"]
        named = [(index, each.name) for index, claim in claims for each in claim.spec.devices.requests]
        return dict(zip(named, dropped, strict=True))[counting.claim, counting.name.partition("/")[0]]

    def with_another(self, facts: Sequence[Fact], *, paired: bool) -> list[Fix]:
        """Return, per request, asking for fewer devices and the cheapest other change that are enough together."""
        fixes = []
        # To drop that request instead would be enough as well, and is not, if another request is left then.
        hopeless = self._trials.only_adds and paired and sum(fact.code == "request" for fact in facts) > 2
        for counting in () if hopeless else countable(self._world):
            trials = self._asking_for_one(counting)
            others = besides(self._others(counting, facts), trials, ())
            if len(others) > FEW_OTHERS:
                core = core_of(facts, trials).facts
                others = [fact for fact in others if fact in core]
            for fact in [each for each in others if trials.fits_without([each]) is not False]:
                found, certain = self._largest(replace(counting, others=(fact,)))
                if found is not None:
                    fixes.append(found)
                    break
                if not certain:
                    self.untried.append(TWO_CHANGES)
        return fixes

    def with_two_others(self, facts: Sequence[Fact]) -> list[Fix]:
        """Return fewer devices of a request and two other changes that are enough, if no pair is: what is behind it."""
        found: list[Fix] = []
        for counting in () if self.untried else countable(self._world):
            trials, changes = self._asking_for_one(counting), self._others(counting, facts)
            core = core_of(facts, trials, (), FOR_SECOND).facts
            first = next((fact for fact in changes if fact in core), None)
            if first is None:
                continue
            others = besides([fact for fact in changes if fact is not first], trials, (first,))
            if len(others) > FEW_OTHERS:
                core = core_of([fact for fact in facts if fact is not first], trials, (first,), FOR_SECOND).facts
                others = [fact for fact in others if fact in core][:1]
            second = next((fact for fact in others if trials.fits_without([first, fact]) is not False), None)
            if second and (fix := self._largest(replace(counting, others=(first, second)))[0]):
                found.append(fix)
                if fix.whose is Whose.MANIFEST:
                    break
        return sorted(found, key=lambda fix: fix.order)[:1]

    def _asking_for_one(self, counting: Counting) -> Trials:
        """Return trials of the world in which a request is for one device."""
        key = counting.claim, counting.name
        if key not in self._of_one:
            self._of_one[key] = self._trials.of(counting.asking_for(1)(self._world))
        return self._of_one[key]

    def _others(self, counting: Counting, facts: Sequence[Fact]) -> list[Fact]:
        """Return what can be changed beside asking for fewer devices of a request, cheapest first; that one stays."""
        own = self._whole(counting, facts)
        return sorted((fact for fact in facts if fact.fix and fact is not own), key=lambda fact: fact.cost)

    def _largest(self, counting: Counting) -> tuple[Fix | None, bool]:
        """Return asking for the largest smaller number known to fit, and whether all that was asked was answered."""
        low, high, certain = 0, counting.wanted, True
        least = self._trials.outcome(counting.asking_for(1)(self._world))
        while high - low > 1 and not least.plain:
            middle = high - 1 if high - low <= _FEW else (low + high) // 2
            change = counting.asking_for(middle)
            fits = self._trials.fits(change(self._world)) if middle > 1 else least.fits
            answer = self._trials.unspoilt(fits, counting.steps(middle), change)
            certain = certain and answer is not None
            if answer:
                low = middle
            else:
                high = middle
        return self._counted(counting, low) if low else None, certain

    def _counted(self, counting: Counting, count: int) -> Fix:
        """Return asking for another number as a fix."""
        cost = LESS_COST + sum(each.cost for each in counting.others)
        parties = (Whose.MANIFEST, *(each.whose for each in counting.others))
        return Fix(counting.steps(count), cost, counting.asking_for(count), whose=max(parties), parties=parties)


def besides(facts: Sequence[Fact], trials: Trials, gone: Sequence[Fact]) -> list[Fact]:
    """Return the changes that could be enough together with others: no request lacks devices after them."""
    fixable = [fact for fact in facts if fact.fix]
    return fixable if len(fixable) > _MOST_LOOKS else [fact for fact in fixable if not trials.lacks((*gone, fact))]
