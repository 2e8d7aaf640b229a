"""
The smallest set of facts a refusal rests on, and the nearest changes that would lift it.

Nothing here is guessed: a fact is kept because the claims fit without it, and
a fix is proposed because the claims fit with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Final

from dra_alloc.explain.facts import Fact, facts_of
from dra_alloc.explain.world import World, edit_requests
from dra_alloc.profiles import Profile, Trait, gates_of, profile_for
from dra_alloc.releases import NEWEST
from dra_alloc.traits import TRAITS

__all__ = ["Fix", "Reasons", "reasons"]

_MOST_SOLVES: Final = 150
_MOST_PAIRS: Final = 45
#: The cost up to which a change leaves what is asked for as it is.
_MODEST: Final = 20


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that is enough, tried: one step, or several together; `cost` orders fixes, cheapest first."""

    steps: tuple[str, ...]
    cost: int

    def __str__(self) -> str:
        return " and ".join(self.steps)


@dataclass(frozen=True, slots=True)
class Reasons:
    """
    Why claims do not fit on a node, and what would help.

    `facts` (code and text) together are enough for the refusal, and the claims
    fit without any single one of them once all other facts are gone. `fixes` are
    enough each, `not_enough` single changes are not. `hints` tell of answers
    that differ by semantics or release. With `exact` False the work allowed
    ran out before all of that was certain.
    """

    facts: tuple[tuple[str, str], ...]
    fixes: tuple[Fix, ...] = ()
    not_enough: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    exact: bool = True


class _Solver:
    """Answers variations of a world, and counts them."""

    def __init__(self) -> None:
        self.solves = 0
        self.exact = True

    def fits(self, world: World) -> bool | None:
        """Return whether it fits; None, and no longer exact, once the work allowed is spent."""
        if self.solves >= _MOST_SOLVES:
            self.exact = False
            return None
        self.solves += 1
        answer = world.fits()
        if answer is None:
            self.exact = False
        return answer


def reasons(world: World) -> Reasons:
    """
    Return the reasons of a refusal; empty if the world fits after all.

    Spec: EXPLAIN-1 (sufficient and necessary), EXPLAIN-2 (fixes), EXPLAIN-3 (not enough), EXPLAIN-4 (hints).
    """
    solver = _Solver()
    if solver.fits(world) is not False:
        return Reasons((), exact=solver.exact)
    facts = facts_of(world)
    core = _minimal(world, facts, solver)
    fixes, not_enough = _fixes(world, facts, core, solver)
    hints = tuple(_hints(world, solver))
    told = tuple((fact.code, fact.text) for fact in core)
    return Reasons(told, fixes, not_enough, hints, solver.exact)


def _without(world: World, facts: Iterable[Fact]) -> World:
    for fact in facts:
        world = fact.without(world)
    return world


def _minimal(world: World, facts: Sequence[Fact], solver: _Solver) -> list[Fact]:
    """
    Return facts that suffice for the refusal and are all needed for it.

    Facts are given up one by one as long as the claims still do not fit; that is
    repeated until nothing more can be given up, since a defect of upstream can
    make a lifted fact matter again.
    """
    kept, gone = list(facts), list[Fact]()
    shrinking = True
    while shrinking:
        shrinking = False
        for fact in list(kept):
            if solver.fits(_without(world, [*gone, fact])) is False:
                kept.remove(fact)
                gone.append(fact)
                shrinking = True
    return kept


def _fixes(
    world: World, facts: Sequence[Fact], core: Sequence[Fact], solver: _Solver
) -> tuple[tuple[Fix, ...], tuple[str, ...]]:
    fixes: list[Fix] = []
    not_enough: list[str] = []
    fixable = sorted((fact for fact in core if fact.fix), key=lambda fact: fact.cost)
    for fact in fixable:
        answer = solver.fits(fact.without(world))
        if answer:
            fixes.append(Fix((fact.fix,), fact.cost))
        elif answer is False:
            not_enough.append(fact.fix)
    fixes += _smaller_counts(world, solver)
    if not any(fix.cost <= _MODEST for fix in fixes):
        modest = [fact for fact in fixable if fact.cost <= _MODEST]
        others = [fact for fact in facts if fact.fix and fact.cost <= _MODEST and fact not in core]
        fixes += _pairs(world, [*combinations(modest, 2), *product(modest, others)], solver)
    if not fixes:
        fixes += _pairs(world, list(combinations(fixable, 2)), solver)
    return tuple(sorted(fixes, key=lambda fix: fix.cost)), tuple(not_enough)


def _pairs(world: World, pairs: Sequence[tuple[Fact, Fact]], solver: _Solver) -> list[Fix]:
    """Return the first two changes that are enough together; empty if none of the pairs is."""
    for pair in pairs[:_MOST_PAIRS]:
        if solver.fits(_without(world, pair)):
            return [Fix(tuple(fact.fix for fact in pair), sum(fact.cost for fact in pair))]
    return []


def _smaller_counts(world: World, solver: _Solver) -> list[Fix]:
    """Return, per request, the largest smaller count with which the claims fit."""
    fixes = []
    for index, name, ask in world.asks():
        if "/" in name or ask.allocation_mode == "All" or (ask.count or 1) < 2:
            continue
        wanted = ask.count or 1
        fitting = _largest(world, index, name, wanted, solver)
        if fitting:
            fixes.append(Fix((f'asking for {fitting} instead of {wanted} devices in request "{name}"',), 30))
    return fixes


def _largest(world: World, index: int, name: str, wanted: int, solver: _Solver) -> int:
    low, high = 0, wanted
    while high - low > 1:
        middle = (low + high) // 2
        if solver.fits(_counting(world, index, name, middle)):
            low = middle
        else:
            high = middle
    return low


def _counting(world: World, claim: int, name: str, count: int) -> World:
    return edit_requests(
        world,
        lambda index, full, ask: ask.model_copy(update={"count": count}) if (index, full) == (claim, name) else ask,
    )


def _hints(world: World, solver: _Solver) -> Iterable[str]:
    """Return where the answer would be another: without upstream's defects, or in another release."""
    profile = world.profile
    defects = [trait for trait in profile.traits if any(record.defect for record in TRAITS[trait])]
    if defects and solver.fits(replace(world, profile=_sound(profile, defects))):
        culprit = next(
            (each for each in sorted(defects) if solver.fits(replace(world, profile=_sound(profile, [each])))), None
        )
        yield _defect_hint(profile, culprit)
    for line in NEWEST:
        other = profile_for(line, gates_of(line), semantics=profile.semantics)
        if other.release.line != profile.release.line and solver.fits(replace(world, profile=other)):
            yield f"Kubernetes {line} with its default gates would allocate this"


def _sound(profile: Profile, defects: Iterable[Trait]) -> Profile:
    return replace(profile, traits=profile.traits - frozenset(defects))


def _defect_hint(profile: Profile, culprit: Trait | None) -> str:
    if culprit is None:
        return f"without the known defects of kube-scheduler {profile.release} this would be allocated"
    record = next(each for each in TRAITS[culprit] if each.defect)
    issue = f" (kubernetes/kubernetes#{record.issue})" if record.issue else ""
    return f"a defect of kube-scheduler {profile.release} stands in the way, {culprit}{issue}: {record.summary}"
