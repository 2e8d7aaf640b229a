"""
First fit as releases of upstream run it: some in every order, some with defects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules import About, Rule, RuleSet
from dra_alloc.solve.search.first_fit import ALL_DEVICE, FirstFit, Frame
from dra_alloc.solve.stops import misfit

_TRAITS: Final = frozenset(
    (
        Trait.PERMUTATIONS,
        Trait.ALL_SLIPS,
        Trait.ALL_MISFIT_FATAL,
        Trait.REFUSAL_LEAKS,
        Trait.REFUSAL_KEEPS_USE,
    )
)


class _OfUpstream(FirstFit):
    """The search with what the profile's traits say of it."""

    def __init__(
        self,
        claims: Sequence[ClaimRow],
        candidates: Sequence[DeviceRow],
        rules: RuleSet,
        *,
        tick: Callable[[int], None],
    ) -> None:
        super().__init__(claims, candidates, rules, tick=tick)
        shows = rules.profile.shows
        self._permutations = shows(Trait.PERMUTATIONS)
        self._slips = shows(Trait.ALL_SLIPS)
        self._misfit_stops = shows(Trait.ALL_MISFIT_FATAL)
        self._leaks = shows(Trait.REFUSAL_LEAKS)
        self._keeps_use = shows(Trait.REFUSAL_KEEPS_USE)

    def _start_after(self, index: int) -> int:
        return 0 if self._permutations else index + 1

    def _going_on(self, frame: Frame, ask: Ask) -> Ask:
        """Return the first alternative after a device of another that asks for all, where that slips."""
        if self._slips and frame.kind == ALL_DEVICE:
            return self._claims[frame.claim].requests[frame.request].asks[0]
        return ask

    def _given_back(self, ask: Ask, device: DeviceRow, asked: Sequence[Rule]) -> Sequence[Rule]:
        """
        Return the rules to undo.

        With the leak, a taint or constraint gives back constraints but not
        counters, and the capacity check gives back nothing but the use of the
        device, if that.

        Spec: TAKE-2, TAKE-3, OLD-8.
        Raises: SearchStopped where a constraint refuses a device that All has to take.
        """
        about = asked[-1].about
        if self._misfit_stops and ask.all_devices and about is About.CONSTRAINT:
            raise misfit(self._claims[ask.claim].name, ask, device)
        before = super()._given_back(ask, device, asked)
        if not self._leaks:
            return before
        if about is About.CAPACITY:
            return [rule for rule in before if rule.about is About.USE and not self._keeps_use]
        return [rule for rule in before if rule.about is not About.COUNTERS]


def first_fit(
    claims: Sequence[ClaimRow],
    candidates: Sequence[DeviceRow],
    rules: RuleSet,
    *,
    tick: Callable[[int], None],
) -> FirstFit:
    """Return the search as the allocator in use runs it; it is in its first state, as the rules have to be."""
    kind = FirstFit if rules.profile.traits.isdisjoint(_TRAITS) else _OfUpstream
    return kind(claims, candidates, rules, tick=tick)
