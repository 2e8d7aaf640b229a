"""
The smallest set of facts a refusal rests on, and the nearest changes that would lift it.

Nothing here is guessed: a fact is kept because the claims fit without it, and
a fix is proposed because the claims fit with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from dra_alloc.explain.amounts import Lesser, lesser_amounts
from dra_alloc.explain.core import core_of
from dra_alloc.explain.facts import Fact, called, facts_of
from dra_alloc.explain.fewer import FEW_OTHERS, FOR_SECOND, LESS_COST, TWO_CHANGES, Fewer, besides
from dra_alloc.explain.fix import CHOOSING, Fix, alone, choosing_pairs, cost_of_pair, is_said
from dra_alloc.explain.hints import Hints
from dra_alloc.explain.selecting import other_spellings
from dra_alloc.explain.tally import explain
from dra_alloc.explain.trials import GLANCE, INSIST, USUAL, Trials, without
from dra_alloc.explain.world import World

#: What the reasons of one refusal may cost, in steps of a search: seconds where partitions make each of them dear.
WORK: Final = 60_000
_MOST_PAIRS: Final = 45
#: Changes that are tried though the refusal does not rest on what they change.
_MOST_OTHERS: Final = 40
#: Facts that name what other nodes do not have.
_LOCAL: Final = frozenset({"holder", "pool-incomplete", "shared-counters"})
_LESS: Final = "asking for less of a capacity"
#: What it costs to write a value as devices have it, and how many of these are tried.
_SPELLING_COST: Final = 15
_MOST_SPELLINGS: Final = 4
#: What it costs to drop a request of which less is enough.
_WORSE_COST: Final = 90
#: The cost up to which a change leaves what is asked for as it is.
_MODEST: Final = 20


@dataclass(frozen=True, slots=True)
class Reasons:
    """
    Why claims do not fit on a node, and what would help.

    `facts` (code and text) together are enough for the refusal, and without any
    single one of them, once all other facts are gone, the claims fit or the
    question ends with another error; with `exact` False the work allowed ran
    out before the latter was certain. `fixes` are enough each, `not_enough`
    single changes are not. `hints` tell of answers that differ by semantics or
    release. `untried` are changes, and other schedulers, of which it is not
    known for the work allowed whether they are enough. `work` is what all of
    it took, in steps of a search. `is_local` says that they name pools of the
    node, or claims that hold devices there.
    """

    facts: tuple[tuple[str, str], ...]
    fixes: tuple[Fix, ...] = ()
    not_enough: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    exact: bool = True
    untried: tuple[str, ...] = ()
    work: int = 0
    is_local: bool = False

    @property
    def distance(self) -> tuple[int, ...] | None:
        """Return how many changes are enough and what they cost whom, as far as was tried; None if none of those is."""
        return min(((len(fix.steps), *fix.order) for fix in self.fixes), default=None)


def reasons(
    world: World,
    work: int = WORK,
    *,
    refused: bool = False,
    elsewhere: Sequence[World] = (),
    trials: Trials | None = None,
) -> Reasons:
    """
    Return the reasons of a refusal; empty if the world fits after all.

    `work` bounds what they cost: hints come first, then facts, which leave a
    third of it to the fixes. With `refused` a search has found already that
    there are not the devices, which is then not asked again. With worlds of
    other nodes `elsewhere`, nothing is a fix after which one of those ends the
    question with an error; `trials` that were begun before are gone on with.

    Spec: EXPLAIN-1 (sufficient and necessary), EXPLAIN-2 (fixes), EXPLAIN-3 (not enough), EXPLAIN-4 (hints),
    EXPLAIN-5 (untried), EXPLAIN-13 (other nodes), EXPLAIN-31 (nothing asked).
    """
    trials = trials or Trials(world, work, refused=refused, elsewhere=elsewhere)
    fits = trials.fits_without(())
    if fits is not False:
        return Reasons((), exact=fits is not None, work=trials.work)
    hints = Hints(world, trials)
    facts = facts_of(world)
    core = core_of(facts, trials)
    found = _Fixes(world, trials)
    fixes = found.of(facts, core.facts)
    hints.insist()
    named = {step for fix in fixes for step in fix.steps}.union(found.not_enough, found.untried)
    return Reasons(
        tuple((fact.code, fact.text) for fact in core.facts),
        fixes,
        tuple(found.not_enough),
        tuple(hints.told),
        core.proven,
        (*hints.untried, *dict.fromkeys(found.untried)),
        trials.work,
        any(fact.code in _LOCAL for fact in facts if fact in core.facts or fact.fix in named),
    )


class _Fixes:
    """Changes tried one by one, sorted by what came of it."""

    def __init__(self, world: World, trials: Trials) -> None:
        self._world = world
        self._trials = trials
        self._enough: set[Fact] = set()
        # Changes that would be enough if another node did not end the question with an error then.
        self._spoilt: list[Fact] = []
        # Whether of all pairs of changes it is known that they are not enough.
        self._paired = False
        self._fewer = Fewer(world, trials)
        self.not_enough: list[str] = []
        self.untried = self._fewer.untried

    def of(self, facts: Sequence[Fact], core: Sequence[Fact]) -> tuple[Fix, ...]:
        """
        Return the changes that are enough, cheapest first.

        What the facts do not rest on can be enough all the same: All takes one
        more device for every fact that is gone.
        """
        # Of requests the last is dropped first: those before it can be served.
        place = {fact: -number if fact.code == "request" else number for number, fact in enumerate(core)}
        fixable = sorted((fact for fact in core if fact.fix), key=lambda fact: (fact.cost, place[fact]))
        others = sorted((fact for fact in facts if fact.fix and fact not in core), key=lambda fact: fact.cost)
        fixes = self._single([fact for fact in fixable if self._trials.fits_without([fact]) is not None])
        if self._trials.rests_on(core, facts):
            others = [fact for fact in others if fact.code == "pool-incomplete"]
        fixes += self._single(others[:_MOST_OTHERS], noted=False)
        fixes += self._respelt(core)
        fixes += self._fewer.alone(facts)
        if not any(fix.cost <= _MODEST for fix in fixes):
            fixes += self._together(fixable, facts, alone=bool(fixes))
        # What takes long is asked last.
        fixes += self._single([fact for fact in fixable if self._trials.fits_without([fact]) is None])
        fixes += self._smaller_amounts()
        # Whom to drop is no question where less of it is enough.
        fixes = [replace(fix, cost=_WORSE_COST) if fix.steps in self._fewer.worse else fix for fix in fixes]
        return tuple(sorted(fixes, key=lambda fix: fix.order))

    def _together(self, fixable: Sequence[Fact], facts: Sequence[Fact], *, alone: bool) -> list[Fix]:
        """Return changes that are enough together; where one `alone` is, no fewer devices and other changes."""
        fixes = self._pairs(fixable, facts)
        if fixes or alone:
            return fixes
        return self._fewer.with_another(facts, paired=self._paired) or self._fewer.with_two_others(facts)

    def _single(self, facts: Sequence[Fact], *, noted: bool = True) -> list[Fix]:
        """Return the changes that are enough each, and note the others."""
        fixes = []
        for fact in facts:
            fits = self._trials.fits_without([fact], INSIST if noted else USUAL)
            answer = self._trials.unspoilt(fits, (fact.fix,), fact.without)
            if answer:
                fixes.append(Fix((fact.fix,), fact.cost, fact.without, whose=fact.whose))
                self._enough.add(fact)
                fixes += self._instead(fact)
                continue
            if fits and answer is False:
                # What somebody else would change is of this node, perhaps.
                self._spoilt.append(fact)
                fixes += self._instead(fact)
            if noted or (fits and answer is None):
                (self.untried if answer is None else self.not_enough).append(fact.fix)
        return fixes

    def _instead(self, fact: Fact) -> list[Fix]:
        """Return what somebody else would change instead, if that is enough, too."""
        other = fact.instead
        if other is None:
            return []
        fits = self._trials.fits(other.without(self._world), INSIST)
        answer = self._trials.unspoilt(fits, (other.fix,), other.without)
        if answer is None:
            self.untried.append(other.fix)
        return [Fix((other.fix,), other.cost, other.without, whose=other.whose)] if answer else []

    def _respelt(self, core: Sequence[Fact]) -> list[Fix]:
        """Return the values to be written as devices have them that are enough each, if what is selected matters."""
        if not any(fact.code in CHOOSING for fact in core):
            return []
        fixes = []
        for step, whose, change in itertools.islice(other_spellings(self._world), _MOST_SPELLINGS):
            answer = self._trials.unspoilt(self._trials.fits(change(self._world)), (step,), change)
            if answer:
                fixes.append(Fix((step,), _SPELLING_COST, change, whose=whose))
            elif answer is None:
                self.untried.append(step)
        return fixes

    def _pairs(self, fixable: Sequence[Fact], facts: Sequence[Fact]) -> list[Fix]:
        """
        Return the cheapest two changes that are enough together; empty if none of the pairs is.

        The second is looked for among what the refusal rests on once the first is made, and shows perhaps only then.
        """
        found = self._second_obstacles(fixable, facts)
        if self._trials.nearly_spent(FOR_SECOND):
            # What is left is enough for some pairs of what the refusal rests on, and for no more cores.
            found = {**{frozenset(pair): pair for pair in itertools.combinations(fixable, 2)}, **found}
        elif self._world.takes_all:
            # All takes more once a selector is gone, which hides what is in the way of what is asked for as it is.
            left = [fact for fact in facts if fact.code not in CHOOSING]
            first = [fact for fact in core_of(left, self._trials).facts if fact.fix]
            found = {**self._second_obstacles(first, left), **found}
        # Where another node stands against the first, the second is what can fail there.
        failing = [fact for fact in facts if fact.fix and fact.code in (*CHOOSING, "constraint")]
        more = [(fact, other) for fact in self._spoilt for other in failing if other is not fact]
        found = {**found, **{frozenset(pair): pair for pair in more}}
        # Without any request nothing is left of what was asked for.
        all_requests = {fact for fact in facts if fact.code == "request"}
        pairs = [pair for pair in found.values() if not self._trials.known_refused(pair) and {*pair} != all_requests]
        of_all = self._of_all(facts, found)
        cut = self._trials.nearly_spent(FOR_SECOND) or len(pairs) > _MOST_PAIRS or len(of_all) > _MOST_PAIRS
        answers: set[bool | None] = {None} if cut else set()
        for found_pair in (*sorted(pairs, key=cost_of_pair)[:_MOST_PAIRS], *of_all[:_MOST_PAIRS]):
            fix, answer = self._pair(found_pair)
            if fix is not None:
                return [fix]
            answers.add(answer)
        if None in answers:
            self.untried.append(TWO_CHANGES)
        self._paired = None not in answers
        return []

    def _pair(self, found: Sequence[Fact]) -> tuple[Fix | None, bool | None]:
        """Return two changes if they are enough; others instead where only another node is against them."""
        # What slices bring that nobody has seen may make the other change needless.
        pair = sorted(found, key=lambda fact: fact.code != "pool-incomplete")
        fits, answer = self._trials.fits_without(pair), None
        ways = itertools.product(*[(fact, fact.instead) if fact.instead else (fact,) for fact in pair])
        for way in ways if fits else ():
            change, steps = partial(without, facts=way), tuple([fact.fix for fact in way])
            answer = self._trials.unspoilt(self._trials.fits_without(way), steps, change)
            if answer:
                parties = tuple([fact.whose for fact in way])
                return Fix(steps, cost_of_pair(way), change, self._leaves(way), max(parties), parties), True
        return None, answer if fits else fits

    def _of_all(self, facts: Sequence[Fact], known: Collection[frozenset[Fact]]) -> Sequence[tuple[Fact, Fact]]:
        """Return pairs that let All take other devices: one more than are tried, if there are as many."""
        if not self._world.takes_all or self._trials.nearly_spent(FOR_SECOND):
            return ()
        left = [fact for fact in facts if fact not in self._enough]
        pairs = (pair for pair in choosing_pairs(left, known) if not self._trials.lacks(pair))
        return tuple(itertools.islice(pairs, _MOST_PAIRS + 1))

    def _leaves(self, pair: Sequence[Fact]) -> str:
        """Return what is in the way once one of two changes is made, of the first that makes a difference."""
        before = self._cause(self._world)
        said = f"{before.partition('; ')[0]}; "
        found = ((fact, self._cause(without(self._world, [fact])).removeprefix(said)) for fact in pair)
        return next((alone(fact, left) for fact, left in found if left and not is_said(left, before)), "")

    def _cause(self, world: World) -> str:
        """Return the cause of a variation's refusal, at the expense of the work allowed."""
        self._trials.work += world.cost_of_a_tally()
        return explain(world.allocator(), world.node, world.claims).cause

    def _second_obstacles(
        self, first: Sequence[Fact], facts: Sequence[Fact]
    ) -> dict[frozenset[Fact], tuple[Fact, Fact]]:
        pairs: dict[frozenset[Fact], tuple[Fact, Fact]] = {}
        cores: list[Sequence[Fact]] = []
        for fact in (fact for fact in first if fact not in self._enough):
            if self._trials.nearly_spent(FOR_SECOND):
                break
            # What is in the way whether or not the fact is there is so without it, too.
            known = (core for core in cores if self._trials.only_adds and fact not in core)
            core = next(known, None)
            left = [each for each in facts if each is not fact and each not in self._enough]
            others = besides(left, self._trials, (fact,))
            if core is None and len(others) > FEW_OTHERS:
                core = core_of([each for each in facts if each is not fact], self._trials, (fact,), FOR_SECOND).facts
                cores.append(core)
            for other in others:
                if core is None or other in core:
                    pairs.setdefault(frozenset((fact, other)), (fact, other))
        return pairs

    def _smaller_amounts(self) -> list[Fix]:
        """Return, per capacity that a request asks for, the largest smaller amount with which the claims fit."""
        fixes = []
        lesser = tuple(lesser_amounts(self._world))
        least = self._world
        for less in lesser:
            least = less.asking_for(less.amounts[0])(least)
        # Where not even the smallest amounts help, none of them does; hard questions have many. All may take more then.
        enough = self._world.takes_all or self._trials.fits(least, GLANCE) if lesser else False
        if enough is None:
            self.untried.append(_LESS)
        for less in lesser if enough else ():
            answers: set[bool | None] = set()
            fitting = less.largest(partial(self._fits, less, answers))
            if fitting:
                fixes.append(Fix((self._said(less, fitting),), LESS_COST, less.asking_for(fitting)))
            elif None in answers:
                self.untried.append(_LESS)
        return fixes

    def _said(self, less: Lesser, amount: int) -> str:
        return f"{less.said(amount)} in {called(self._world, less.claim, less.request)}"

    def _fits(self, less: Lesser, answers: set[bool | None], amount: int) -> bool:
        """Return whether the claims are known to fit with an amount, and note the answer."""
        steps, change = (self._said(less, amount),), less.asking_for(amount)
        answers.add(answer := self._trials.unspoilt(self._trials.fits(change(self._world)), steps, change))
        return answer is True
