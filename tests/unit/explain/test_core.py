"""
Which facts are kept, and what finding them costs, on worlds that only count what is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

from dra_alloc.explain.core import Core, core_of
from dra_alloc.explain.facts import Fact
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import Tried, World
from dra_alloc.solve.ladder import Budget

#: Steps that a budget must allow to tell: more than a glance does, and more than is usual.
HARD, VERY_HARD = 1_000, 10_000


@dataclass(frozen=True)
class Toy:
    """A world of names that are given up; `answer` says what becomes of it and how many steps that takes to know."""

    answer: Callable[[frozenset[str]], tuple[bool, str, int]]
    gone: frozenset[str] = frozenset()
    tries: list[frozenset[str]] = field(default_factory=list)

    def only_gains(self) -> bool:
        return False

    def edited(self, change: object, edit: Callable[[World], World]) -> World:
        return edit(cast(World, self))

    def tried(self, budget: Budget) -> Tried:
        self.tries.append(self.gone)
        fits, error, steps = self.answer(self.gone)
        most = budget.steps or 0
        return Tried(None, most) if steps > most else Tried(fits, steps + 1, error)


def facts_named(names: Iterable[str], code: str = "holder") -> list[Fact]:
    return [Fact(code, name, _without(name)) for name in names]


def _without(name: str) -> Callable[[World], World]:
    def without(world: World) -> World:
        toy = cast(Toy, world)
        return cast(World, Toy(toy.answer, toy.gone | {name}, toy.tries))

    return without


def core(toy: Toy, facts: list[Fact], work: int = 1_000_000) -> Core:
    return core_of(facts, Trials(cast(World, toy), work))


def names(found: Core) -> list[str]:
    return [fact.text for fact in found.facts]


def needing(*needed: str, steps: int = 10) -> Toy:
    """Return a world that fits once any of the needed facts is gone."""
    return Toy(lambda gone: (bool(gone & set(needed)), "", steps))


HUNDRED = [f"f{number}" for number in range(100)]


def test_facts_that_play_no_part_are_given_up_several_at_once() -> None:
    toy = needing("f17", "f80")
    found = core(toy, facts_named(HUNDRED))
    assert (names(found), found.proven) == (["f17", "f80"], True)
    assert len(toy.tries) < 45


def test_needed_facts_cost_hardly_more_than_one_try_each() -> None:
    toy = needing(*HUNDRED)
    found = core(toy, facts_named(HUNDRED))
    assert (names(found), found.proven) == (HUNDRED, True)
    assert len(toy.tries) == 1 + len(HUNDRED)


def test_nothing_is_tried_twice_at_one_effort() -> None:
    toy = needing("f3", "f4", "f50")
    core(toy, facts_named(HUNDRED))
    assert len(toy.tries) == len(set(toy.tries))


def test_what_a_glance_does_not_tell_is_told_by_more_effort() -> None:
    found = core(needing("f1", steps=HARD), facts_named(HUNDRED[:4]))
    assert (names(found), found.proven) == (["f1"], True)
    found = core(Toy(lambda gone: ("f1" in gone, "", VERY_HARD if gone else 1)), facts_named(HUNDRED[:4]))
    assert (names(found), found.proven) == (["f1"], True)


def test_what_is_undecided_on_the_way_does_not_matter_once_all_that_is_kept_is_known_to_be_needed() -> None:
    """Without f0 the question is beyond every budget, until f2 is gone, too."""

    def answer(gone: frozenset[str]) -> tuple[bool, str, int]:
        return "f1" in gone, "", 10**9 if "f0" in gone and "f2" not in gone else 1

    found = core(Toy(answer), facts_named(HUNDRED[:3]))
    assert (names(found), found.proven) == (["f1"], True)


def test_a_fact_of_which_nothing_can_be_told_is_kept_and_not_called_proven() -> None:
    found = core(Toy(lambda gone: (False, "", 10**9 if "f0" in gone else 1)), facts_named(HUNDRED[:3]))
    assert (names(found), found.proven) == (["f0"], False)


def test_an_easy_refusal_is_preferred_to_one_that_takes_long_to_tell() -> None:
    """Either f0 or f1 is enough; without f0 it takes long to know."""

    def answer(gone: frozenset[str]) -> tuple[bool, str, int]:
        return gone >= {"f0", "f1"}, "", HARD if "f0" in gone else 1

    assert names(core(Toy(answer), facts_named(HUNDRED[:2]))) == ["f0"]


def test_a_fact_needed_at_first_goes_when_another_has_gone() -> None:
    """Without f0 the claims fit, unless f1 is gone: a defect does so."""
    found = core(Toy(lambda gone: ("f2" in gone or gone & {"f0", "f1"} == {"f0"}, "", 1)), facts_named(HUNDRED[:3]))
    assert (names(found), found.proven) == (["f2"], True)


def test_another_error_is_no_refusal_alike_and_guards_go_together() -> None:
    """Without the class alone the selector fails, without the selector alone another does; without both neither."""

    def answer(gone: frozenset[str]) -> tuple[bool, str, int]:
        return "r" in gone, "failed" if len(gone & {"c", "s"}) == 1 else "", 1

    facts = [*facts_named("c", "class"), *facts_named("s", "selector"), *facts_named("r", "request")]
    found = core(Toy(lambda gone: answer(gone) if "r" not in gone else (True, "", 1)), facts)
    assert (names(found), found.proven) == (["r"], True)


def test_a_refusal_that_takes_long_to_tell_is_told_all_the_same() -> None:
    trials = Trials(cast(World, Toy(lambda gone: ("f1" in gone, "", 1 if gone else VERY_HARD))), 1_000_000)
    assert trials.fits_without(()) is False
    assert names(core_of(facts_named(HUNDRED[:3]), trials)) == ["f1"]


def test_no_more_than_the_work_allowed_is_done() -> None:
    toy = needing("f17", "f80")
    trials = Trials(cast(World, toy), 60)
    found = core_of(facts_named(HUNDRED), trials)
    assert not found.proven
    assert trials.work < 60
