"""
Hints about other schedulers, and those that could not be asked.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from dra_alloc.explain.hints import Hints
from dra_alloc.explain.reasons import reasons
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import Tried, World
from dra_alloc.profiles import Feature, Profile
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget
from fuzz.targets.reasons_hold import world_of
from tests.unit.solve.questions import ask, claim, device, request

REFUSED = request([device("a")], claim(ask(2)))


class Slow(World, frozen=True, eq=False):
    """A world of which only so many steps tell what becomes of it elsewhere."""

    needed: ClassVar[int] = 0
    home: ClassVar[Profile]

    def tried(self, budget: Budget = DEFAULT_BUDGET) -> Tried:
        if self.profile is self.home:
            return Tried(fits=False, work=1)
        return Tried(fits=True if (budget.steps or 0) >= self.needed else None, work=1)


#: Somebody else may answer otherwise: devices draw on counters.
COUNTED = request([device("a", counters=1)], claim(ask(2)))


def slow(needed: int) -> World:
    plain = world_of(COUNTED)
    made = Slow(
        plain.node, plain.claims, plain.allocations, plain.classes, plain.slices, plain.taint_rules, plain.profile
    )
    Slow.needed, Slow.home = needed, plain.profile
    return cast(World, made)


def test_a_scheduler_of_which_it_is_not_known_is_named() -> None:
    hints = Hints(slow(10**9), Trials(slow(10**9), 1_000))
    hints.insist()
    assert hints.told == []
    assert "Kubernetes 1.37 with its default gates" in hints.untried


def test_a_scheduler_that_did_not_tell_is_asked_for_longer() -> None:
    hints = Hints(slow(10_000), Trials(slow(10_000), 1_000))
    assert "Kubernetes 1.37 with its default gates" in hints.untried
    hints.insist()
    assert hints.untried == []
    assert "Kubernetes 1.37 with its default gates would allocate this" in hints.told


def test_facts_are_exact_though_a_hint_is_undecided() -> None:
    """The facts were all tried; only of other schedulers nothing is known."""
    found = reasons(slow(10**9))
    assert found.exact
    assert "Kubernetes 1.37 with its default gates" in found.untried


def test_nobody_is_sent_back_to_an_older_release() -> None:
    """What an older release does not know, it does not keep to: that it would allocate is no advice."""
    hints = Hints(slow(0), Trials(slow(0), 1_000))
    assert not [hint for hint in hints.told if "1.34" in hint or "1.35" in hint]
    assert hints.told.index("Kubernetes 1.37 with its default gates would allocate this") > 0


def test_nobody_is_asked_about_what_all_do_alike() -> None:
    tries: list[Profile] = []

    class Counted(World, frozen=True, eq=False):
        def tried(self, budget: Budget = DEFAULT_BUDGET) -> Tried:
            tries.append(self.profile)
            return super().tried(budget)

    def hints_of(asked: dict[str, Any]) -> Hints:
        plain = world_of(asked)
        made = Counted(**{name: getattr(plain, name) for name in World.__struct_fields__})
        return Hints(made, Trials(made, 10_000, refused=True))

    assert not hints_of(REFUSED).untried
    assert not tries
    hints_of(COUNTED)
    assert tries


def test_no_gate_is_asked_about_of_whose_feature_there_is_nothing() -> None:
    """Counters can have groups, and are no lists; neither a request nor a slice has what the other gates are about."""
    home = world_of({**COUNTED, "release": "1.37.2", "channel": "experimental"})
    tried: list[Profile] = []

    class Counted(World, frozen=True, eq=False):
        def tried(self, budget: Budget = DEFAULT_BUDGET) -> Tried:
            tried.append(self.profile)
            return super().tried(budget)

    made = Counted(**{name: getattr(home, name) for name in World.__struct_fields__})
    Hints(made, Trials(made, 10_000, refused=True))
    more = {feature for each in tried if each.release == home.profile.release for feature in each.features}
    assert Feature.COMPATIBILITY_GROUPS in more - home.profile.features
    assert more.isdisjoint({Feature.DERIVED_ATTRIBUTES, Feature.LIST_ATTRIBUTES, Feature.OPTIONAL_NODE_OPERATIONS})
