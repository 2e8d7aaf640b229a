"""
Every answer of a small question, in the order of preference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from spec.reference.legal import LIMIT, conflicts, faults
from spec.reference.matching import all_devices
from spec.reference.pools import Pool, pools
from spec.reference.question import Offer, Pick, Question, Wanted, alternatives

#: One device for each place, in order.
Answer = tuple[Pick, ...]
Fits = Callable[[Answer, Sequence[Pick]], bool]


class TooLarge(Exception):
    """The question has more beginnings of answers than were to be looked at."""


def answers(question: Question, *, most: int = 20_000) -> Iterator[Answer]:
    """
    Return the answers: requests in order, alternatives in order, devices of one request in the order of the pools.

    Spec: SEARCH-1, SEARCH-3, ADMIT-6.
    Raises: TooLarge, NotCovered.
    """
    there = pools(question)
    wishes = alternatives(question)
    if any(wanted.everything for wish in wishes for wanted in wish) and any(pool.bad for pool in there):
        return  # nobody knows what "all" is while a pool changes
    looked_at = iter(range(most))

    def fits(begun: Answer, more: Sequence[Pick]) -> bool:
        if next(looked_at, None) is None:
            raise TooLarge
        return not conflicts((*begun, *more), there, question)

    choices = [[_choice(wanted, there, question) for wanted in wish] for wish in wishes]
    yield from _continued((), choices, fits)


@dataclass(frozen=True, eq=False)
class _Choice:
    """A request, or an alternative of it, and the devices that it can have if nobody else wants any."""

    wanted: Wanted
    offers: Sequence[Offer]
    possible: bool


def _choice(wanted: Wanted, there: list[Pool], question: Question) -> _Choice:
    partitionable = question.on("PartitionableDevices")
    every = [offer for pool in there for offer in pool.offers(partitionable=partitionable)]
    asked_for = all_devices(wanted, there, question) if wanted.everything else every
    good = [offer for offer in asked_for if not faults([Pick(wanted, offer)], there, question)]
    if wanted.everything:
        return _Choice(wanted, good, bool(good) and len(good) == len(asked_for))
    return _Choice(wanted, good, (wanted.wire.count or 0) <= LIMIT)


def _continued(begun: Answer, choices: Sequence[Sequence[_Choice]], fits: Fits) -> Iterator[Answer]:
    if not choices:
        yield begun
        return
    for choice in choices[0]:
        for more in _ways(choice, begun, fits):
            yield from _continued((*begun, *more), choices[1:], fits)


def _ways(choice: _Choice, begun: Answer, fits: Fits) -> Iterator[Sequence[Pick]]:
    """Return the picks that serve a request, after what is picked already."""
    if not choice.possible:
        return
    picks = [Pick(choice.wanted, offer) for offer in choice.offers]
    if choice.wanted.everything:
        yield from [picks] if fits(begun, picks) else []
        return
    left = [pick for pick in picks if fits(begun, [pick])]
    for chosen in combinations(left, choice.wanted.wire.count or 0):
        if fits(begun, chosen):
            yield chosen


def check(question: Question, named: Sequence[Sequence[tuple[str, tuple[str, str, str]]]]) -> list[str]:
    """
    Return what is wrong with an answer: for each claim, the requests as results name them, and their devices.

    Raises: NotCovered.
    """
    there = pools(question)
    partitionable = question.on("PartitionableDevices")
    offered = {offer.key: offer for pool in there for offer in pool.offers(partitionable=partitionable)}
    left = [list(claim) for claim in named]
    picks: list[Pick] = []
    wrong = []
    for wish in alternatives(question):
        own = left[wish[0].claim]
        names = [name for name, _ in own]
        chosen = next((wanted for wanted in wish if wanted.full in names), None)
        if chosen is None:
            wrong += (
                []
                if any(not each.wire.count and not each.everything for each in wish)
                else [f"nothing for {wish[0].full}"]
            )
            continue
        keys = [key for name, key in own if name == chosen.full]
        left[chosen.claim] = [each for each in own if each[0] != chosen.full]
        missing = [key for key in keys if key not in offered]
        if missing:
            wrong.append(f"no pool offers {missing[0]}")
            continue
        if sorted(keys, key=list(offered).index) != keys:
            wrong.append(f"the devices of {chosen.full} are not in the order of the pools")
        expected = all_devices(chosen, there, question) if chosen.everything else None
        if expected is not None and [offer.key for offer in expected] != keys:
            wrong.append(f"{chosen.full} does not have all devices")
        if expected is None and len(keys) != (chosen.wire.count or 0):
            wrong.append(f"{chosen.full} has {len(keys)} devices")
        picks += [Pick(chosen, offered[key]) for key in keys]
    wrong += [f"results that nobody asked for: {rest}" for rest in left if rest]
    return wrong + faults(picks, there, question)
