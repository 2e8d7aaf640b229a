"""
The smallest set of facts a refusal rests on, and the nearest changes that would lift it.

Nothing here is guessed: a fact is kept because the claims fit without it, and
a fix is proposed because the claims fit with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product
from typing import Final

from dra_alloc.explain.facts import Fact, facts_of
from dra_alloc.explain.world import Tried, World, edit_requests
from dra_alloc.profiles import ALLOCATOR_FEATURES, Profile, Trait, features_from_gates, gates_of, profile_for
from dra_alloc.profiles import profile as profile_of
from dra_alloc.releases import NEWEST
from dra_alloc.solve.allocator import Budget
from dra_alloc.traits import TRAITS

__all__ = ["WORK", "Fix", "Reasons", "reasons"]

#: What the reasons of one refusal may cost, in steps of a search: seconds where partitions make each of them dear.
WORK: Final = 40_000
_MOST_SOLVES: Final = 150
_MOST_PAIRS: Final = 45
#: What one variation may cost.
_BUDGET: Final = Budget(steps=4_000, pruned=3_000, solver=0.2)
#: The cost up to which a change leaves what is asked for as it is.
_MODEST: Final = 20
#: The part of the work after which no more facts are tried.
_FOR_FACTS: Final = 2 / 3


@dataclass(frozen=True, slots=True)
class Fix:
    """
    A change that is enough, tried: one step, or several together; `cost` orders fixes, cheapest first.

    `change` makes it in a world.
    """

    steps: tuple[str, ...]
    cost: int
    change: Callable[[World], World] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return " and ".join(self.steps)


@dataclass(frozen=True, slots=True)
class Reasons:
    """
    Why claims do not fit on a node, and what would help.

    `facts` (code and text) together are enough for the refusal, and without any
    single one of them, once all other facts are gone, the claims fit or the
    question ends with another error. `fixes` are
    enough each, `not_enough` single changes are not. `hints` tell of answers
    that differ by semantics or release. With `exact` False the work allowed
    ran out before all of that was certain; `untried` are changes of which it
    is not known whether they are enough. `work` is what all of it took, in
    steps of a search.
    """

    facts: tuple[tuple[str, str], ...]
    fixes: tuple[Fix, ...] = ()
    not_enough: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    exact: bool = True
    untried: tuple[str, ...] = ()
    work: int = 0


class _Solver:
    """Answers variations of a world, and counts them and the work they take."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.solves = 0
        self.work = 0
        self.exact = True
        # The error that the question itself ends with: only worlds that end the same way are refused like it.
        self.error = ""

    def fits(self, world: World) -> bool | None:
        """Return whether it fits; None, and no longer exact, once the work allowed is spent."""
        tried = self._tried(world)
        return None if tried is None else tried.fits

    def refuses_alike(self, world: World, part: float = 1.0) -> bool:
        """
        Return whether it is refused as the question itself is; False once this part of the work allowed is spent.

        A selector can be asked about devices that it cannot be asked about once
        nothing keeps them from it: an error is no refusal for want of devices.
        """
        tried = self._tried(world, part)
        return tried is not None and tried.fits is False and tried.error == self.error

    def first(self, world: World) -> bool:
        """Return whether the question itself is refused, and keep in mind how."""
        tried = self._tried(world)
        self.error = "" if tried is None else tried.error
        return tried is not None and tried.fits is False

    def _tried(self, world: World, part: float = 1.0) -> Tried | None:
        if self.solves >= _MOST_SOLVES or self.work >= self.allowed * part:
            self.exact = False
            return None
        self.solves += 1
        tried = world.tried(_BUDGET)
        self.work += tried.work
        if tried.fits is None:
            self.exact = False
        return tried


def reasons(world: World, work: int = WORK) -> Reasons:
    """
    Return the reasons of a refusal; empty if the world fits after all.

    `work` bounds what they cost: hints come first, then facts, which leave a
    third of it to the fixes.

    Spec: EXPLAIN-1 (sufficient and necessary), EXPLAIN-2 (fixes), EXPLAIN-3 (not enough), EXPLAIN-4 (hints),
    EXPLAIN-5 (untried).
    """
    solver = _Solver(work)
    if not solver.first(world):
        return Reasons((), exact=solver.exact, work=solver.work)
    hints = tuple(_hints(world, solver))
    facts = facts_of(world)
    core = _minimal(world, facts, solver)
    found = _Fixes(world, solver)
    fixes = found.of(facts, core)
    told = tuple((fact.code, fact.text) for fact in core)
    return Reasons(told, fixes, tuple(found.not_enough), hints, solver.exact, tuple(found.untried), solver.work)


def _without(world: World, facts: Iterable[Fact]) -> World:
    for fact in facts:
        world = fact.without(world)
    return world


def _minimal(world: World, facts: Sequence[Fact], solver: _Solver) -> list[Fact]:
    """
    Return facts that suffice for the refusal and are all needed for it.

    Facts are given up one by one as long as the claims still are refused, and for want of devices if they were; that is
    repeated until nothing more can be given up, since a defect of upstream can
    make a lifted fact matter again.
    """
    kept, gone = list(facts), list[Fact]()
    shrinking = True
    while shrinking:
        shrinking = False
        for fact in list(kept):
            if solver.refuses_alike(_without(world, [*gone, fact]), _FOR_FACTS):
                kept.remove(fact)
                gone.append(fact)
                shrinking = True
        # A class can keep selectors from devices they fail on: neither can go before the other, both can.
        guards = [fact for fact in kept if fact.code in ("class", "selector")]
        if not shrinking and len(guards) > 1 and solver.refuses_alike(_without(world, [*gone, *guards]), _FOR_FACTS):
            kept = [fact for fact in kept if fact not in guards]
            gone += guards
            shrinking = True
    return kept


class _Fixes:
    """Changes tried one by one, sorted by what came of it."""

    def __init__(self, world: World, solver: _Solver) -> None:
        self._world = world
        self._solver = solver
        self.not_enough: list[str] = []
        self.untried: list[str] = []

    def of(self, facts: Sequence[Fact], core: Sequence[Fact]) -> tuple[Fix, ...]:
        """Return the changes that are enough, cheapest first."""
        fixes: list[Fix] = []
        fixable = sorted((fact for fact in core if fact.fix), key=lambda fact: fact.cost)
        for fact in fixable:
            answer = self._solver.fits(fact.without(self._world))
            if answer:
                fixes.append(Fix((fact.fix,), fact.cost, fact.without))
            else:
                (self.untried if answer is None else self.not_enough).append(fact.fix)
        fixes += self._smaller_counts()
        if not any(fix.cost <= _MODEST for fix in fixes):
            modest = [fact for fact in fixable if fact.cost <= _MODEST]
            others = [fact for fact in facts if fact.fix and fact.cost <= _MODEST and fact not in core]
            fixes += self._pairs([*combinations(modest, 2), *product(modest, others)])
        if not fixes:
            fixes += self._pairs(list(combinations(fixable, 2)))
        return tuple(sorted(fixes, key=lambda fix: fix.cost))

    def _pairs(self, pairs: Sequence[tuple[Fact, Fact]]) -> list[Fix]:
        """Return the first two changes that are enough together; empty if none of the pairs is."""
        for pair in pairs[:_MOST_PAIRS]:
            answer = self._solver.fits(_without(self._world, pair))
            if answer:
                change = partial(_without, facts=pair)
                return [Fix(tuple(fact.fix for fact in pair), sum(fact.cost for fact in pair), change)]
            if answer is None:
                self.untried.append("two changes together")
                break
        return []

    def _smaller_counts(self) -> list[Fix]:
        """Return, per request, the largest smaller count with which the claims fit."""
        fixes = []
        for index, name, ask in self._world.asks():
            if "/" in name or ask.allocation_mode == "All" or (ask.count or 1) < 2:
                continue
            wanted = ask.count or 1
            fitting, certain = self._largest(index, name, wanted)
            if fitting:
                change = partial(_counting, claim=index, name=name, count=fitting)
                fixes.append(
                    Fix((f'asking for {fitting} instead of {wanted} devices in request "{name}"',), 30, change)
                )
            elif not certain:
                self.untried.append(f'asking for fewer devices in request "{name}"')
        return fixes

    def _largest(self, index: int, name: str, wanted: int) -> tuple[int, bool]:
        """Return the largest count known to fit, and whether all that was asked was answered."""
        low, high, certain = 0, wanted, True
        while high - low > 1:
            middle = (low + high) // 2
            answer = self._solver.fits(_counting(self._world, index, name, middle))
            certain = certain and answer is not None
            if answer:
                low = middle
            else:
                high = middle
        return low, certain


def _counting(world: World, claim: int, name: str, count: int) -> World:
    return edit_requests(
        world,
        lambda index, full, ask: ask.model_copy(update={"count": count}) if (index, full) == (claim, name) else ask,
    )


def _hints(world: World, solver: _Solver) -> Iterable[str]:
    """Return where the answer would be another: without upstream's defects, in another release, with a gate on."""
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
    for gates, other in _with_one_more_feature(world.profile):
        if solver.fits(replace(world, profile=other)):
            yield f"Kubernetes {profile.release} would allocate this with {' and '.join(gates)} switched on"


def _with_one_more_feature(now: Profile) -> Iterator[tuple[tuple[str, ...], Profile]]:
    """Yield, for every feature of the release that is off, the gates it takes and the profile with it on."""
    known = gates_of(now.release)
    on = {gate for feature in now.features for gate in ALLOCATOR_FEATURES[feature]}
    for feature, needed in ALLOCATOR_FEATURES.items():
        missing = tuple(gate for gate in needed if gate not in on)
        if feature in now.features or not known.keys() >= set(needed):
            continue
        features = features_from_gates(now.release, dict.fromkeys((*on, *needed), True))
        if feature in features:
            yield missing or needed, profile_of(now.release, features, semantics=now.semantics)


def _sound(profile: Profile, defects: Iterable[Trait]) -> Profile:
    return replace(profile, traits=profile.traits - frozenset(defects))


def _defect_hint(profile: Profile, culprit: Trait | None) -> str:
    if culprit is None:
        return f"without the known defects of kube-scheduler {profile.release} this would be allocated"
    record = next(each for each in TRAITS[culprit] if each.defect)
    issue = f" (kubernetes/kubernetes#{record.issue})" if record.issue else ""
    return f"a defect of kube-scheduler {profile.release} stands in the way, {culprit}{issue}: {record.summary}"
