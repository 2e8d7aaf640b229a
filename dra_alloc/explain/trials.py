"""
Variations of a refused world, each solved once, within the work allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from dra_alloc.explain.facts import Fact
from dra_alloc.explain.world import Tried, World
from dra_alloc.solve.ladder import Budget

#: How much one variation may cost: at a glance, as a rule, and where the answer is missed.
_EFFORTS: Final = (
    Budget(steps=256, pruned=256, solver=0),
    Budget(steps=4_000, pruned=3_000, solver=0.2),
    Budget(steps=20_000, pruned=5_000, solver=1.0),
)
GLANCE, USUAL, INSIST = range(len(_EFFORTS))

_NOT_TRIED: Final = Tried(fits=None, work=0)

_Facts: TypeAlias = frozenset[Fact]


def without(world: World, facts: Iterable[Fact]) -> World:
    """Return the world without each of the facts."""
    for fact in facts:
        world = world.edited(fact, fact.without)
    return world


class Trials:
    """
    Answers for one refused world and its variations, and what they cost.

    A variation without certain facts is solved once, whoever asks for it. The
    work is counted in steps of a search; once what is allowed is spent,
    nothing more is tried.

    A world that is known to be `refused` for want of devices is not asked again.
    `elsewhere` are worlds of other nodes, on which a change must not end the
    question with an error. The work is that of a `payer`, too.

    Spec: EXPLAIN-5, EXPLAIN-13.
    """

    def __init__(
        self,
        world: World,
        allowed: int,
        *,
        refused: bool = False,
        elsewhere: Sequence[World] = (),
        payer: Trials | None = None,
    ) -> None:
        self.work = 0
        self._payer = payer
        self.elsewhere = elsewhere
        self._allowed = allowed
        self._root = world
        # The smallest world known to be refused alike, and without which facts: larger ones are made from it.
        self._base: tuple[_Facts, World] = frozenset(), world
        # What is known of the world without some facts, and the effort that took.
        self._answers: dict[_Facts, tuple[int, Tried]] = {}
        # Where changes can only add to the legal answers: without which facts it fits, and without which it does not.
        self._fitting: list[_Facts] = []
        self._refused: list[_Facts] = []
        if refused:
            self._answers[frozenset()] = INSIST, Tried(fits=False, work=0)
        #: The code of the error that the question ends with; only worlds that end the same way are refused like it.
        self.error = ""
        self.only_adds = False
        self.error = self._lifted((), INSIST, 1.0).error
        #: Whether changes of facts can only add to the legal answers, all of which are found: not where All takes more
        #: with each, shares that are given back cost more than they gave, or defects make a difference.
        self.only_adds = not self.error and world.only_gains()

    def of(self, world: World) -> Trials:
        """Return trials of another world, at the expense of what is left of the work allowed."""
        return Trials(world, self.left, elsewhere=self.elsewhere, payer=self)

    @property
    def left(self) -> int:
        """Return how much of the work allowed is left."""
        return max(self._allowed - self.work, 0)

    @property
    def spent(self) -> bool:
        """Return whether the work allowed is used up."""
        return self.work >= self._allowed or (self._payer is not None and self._payer.spent)

    def nearly_spent(self, part: float) -> bool:
        """Return whether such a part of the work allowed is used up."""
        return self.work >= self._allowed * part

    def fits(self, world: World, effort: int = USUAL) -> bool | None:
        """Return whether a variation fits; None if the work allowed does not tell."""
        return self._tried(world, effort).fits

    def outcome(self, world: World) -> Tried:
        """Return what becomes of a variation; `plain` says that more devices are refused, too."""
        return self._tried(world)

    def rests_on(self, core: Sequence[Fact], facts: Sequence[Fact]) -> bool:
        """
        Return whether the refusal stands whatever is changed about the facts beside a core.

        It does where each change could only add to the legal answers, and
        there are none without all those facts.
        """
        world = self._root
        if world.takes_all or world.shares:
            return False
        beside = [fact for fact in facts if fact not in core]
        return self._lifted(beside, USUAL, 1.0).plain and world.is_plain()

    def known_refused(self, facts: Sequence[Fact]) -> bool:
        """Return whether what was tried says already that the world does not fit without the facts."""
        if self.only_adds:
            return any(known.issuperset(facts) for known in self._refused)
        return self._answers.get(frozenset(facts), (0, _NOT_TRIED))[1].plain

    def lacks(self, gone: Sequence[Fact]) -> bool:
        """Return whether there are not the devices for a request without the facts: the world does not fit then."""
        return self._world(gone).lacks()

    def fits_without(self, facts: Sequence[Fact], effort: int = USUAL) -> bool | None:
        """Return whether the world fits without the facts; None if the work allowed does not tell."""
        return self._lifted(facts, effort, 1.0).fits

    def spoilt(self, steps: tuple[str, ...], change: Callable[[World], World]) -> bool | None:
        """
        Return whether the question ends with an error on another node once the change is made, which these steps say.

        None if that is not known of all of them, for the work allowed.
        """
        unknown = False
        for other in self.elsewhere:
            ends = self._ends(other, steps, change)
            if ends:
                return True
            unknown = unknown or ends is None
        return None if unknown else False

    def unspoilt(self, fits: bool | None, steps: tuple[str, ...], change: Callable[[World], World]) -> bool | None:
        """Return whether a change is enough that fits here or not: none if another node ends the question then."""
        spoilt = self.spoilt(steps, change) if fits else False
        return None if spoilt is None else fits and not spoilt

    def _ends(self, other: World, steps: tuple[str, ...], change: Callable[[World], World]) -> bool | None:
        """Return whether a changed world of another node ends with an error; whoever else asks is told the same."""
        ending, key = other.surveys.ending, (id(other), steps)
        for effort in (GLANCE, USUAL):
            if key in ending or self.spent:
                break
            tried = self._tried(change(other), effort)
            if tried.fits is not None:
                ending[key] = other, tried.ends
        return ending[key][1] if key in ending else None

    def refused_alike(self, gone: Sequence[Fact], effort: int = USUAL, part: float = 1.0) -> bool | None:
        """
        Return whether the world is refused without the facts as it is with them; None if the work does not tell.

        A selector can be asked about devices that it cannot be asked about once
        nothing keeps them from it: an error is no refusal for want of devices.
        No more than a part of the work allowed is spent.
        """
        tried = self._lifted(gone, effort, part)
        if tried.fits is None:
            return None
        alike = not tried.fits and tried.error == self.error
        if alike:
            self._base = frozenset(gone), self._world(gone)
        return alike

    def _lifted(self, gone: Sequence[Fact], effort: int, part: float) -> Tried:
        key = frozenset(gone)
        spent, known = self._answers.get(key, (-1, _NOT_TRIED))
        if known.fits is None and self.only_adds:
            known = self._implied(key)
        if known.fits is None and effort > spent and self.work < self._allowed * part:
            known = self._tried(self._world(gone), effort)
            self._answers[key] = effort, known
            if known.fits:
                self._fitting.append(key)
            elif known.plain:
                self._refused.append(key)
        return known

    def _implied(self, key: _Facts) -> Tried:
        """Return what answers for fewer facts, or for more, say of these, if changes can only add to them."""
        if any(known <= key for known in self._fitting):
            return Tried(fits=True, work=0)
        if any(key <= known for known in self._refused):
            return Tried(fits=False, work=0, plain=True)
        return _NOT_TRIED

    def _world(self, gone: Sequence[Fact]) -> World:
        """Return the world without the facts; what slices are known to be is kept as far as they stay."""
        known, world = self._base
        if not known.issubset(gone):
            known, world = frozenset(), self._root
        return without(world, [fact for fact in gone if fact not in known])

    def _tried(self, world: World, effort: int = USUAL) -> Tried:
        if self.spent:
            return _NOT_TRIED
        tried = world.tried(_EFFORTS[effort])
        self.work += tried.work
        if self._payer is not None:
            self._payer.work += tried.work
        return tried
