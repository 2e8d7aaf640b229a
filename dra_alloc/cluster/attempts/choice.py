"""
Which of the nodes that fit kube-scheduler takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Final

from dra_alloc.api import ResourceClaim
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import scaled
from dra_alloc.pods.scores.table import totals
from dra_alloc.releases import Release
from dra_alloc.solve.outcome import Solved, SolveOutcome

#: As many nodes are always looked at; with more the scheduler stops once it has found a share of all.
_ALWAYS: Final = 100
_LEAST_SHARE: Final = 5
#: The weight of how early the alternatives are that DRA gives, and since when it is a score.
_WEIGHT: Final = 2
_ALTERNATIVES: Final = 8
_SCORED_SINCE: Final = Release(1, 35, 0, 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """The place chosen, all that are as good, and of how many kube-scheduler scores, if not of all."""

    place: int
    equal: Sequence[int]
    sampled: int | None = None


def best(attempt: Attempt, places: Sequence[int], worth_of: Callable[[int], int] | None) -> Choice:
    """
    Return the best of the places, the first of those that are equal.

    `worth_of` is the score of the devices on a node, if there is one. Where
    the scheduler scores some nodes only, any that fits may be among them.
    """
    if len(places) == 1:
        return Choice(places[0], (places[0],))
    scores = totals(attempt, places)
    devices = None if worth_of is None else scaled([worth_of(place) for place in places])
    if devices is not None:
        scores = [total + _WEIGHT * score for total, score in zip(scores, devices, strict=True)]
    highest = max(scores)
    equal = list(compress(places, map(highest.__eq__, scores)))
    looked_at = _looked_at(len(attempt.tenancy.nodes))
    if len(places) > looked_at:
        return Choice(equal[0], places, looked_at)
    return Choice(equal[0], equal)


def _looked_at(nodes: int) -> int:
    """Return how many nodes that fit the scheduler looks for before it scores them."""
    if nodes < _ALWAYS:
        return nodes
    return max(_ALWAYS, nodes * max(_LEAST_SHARE, 50 - nodes // 125) // 100)


def prefers(claims: Sequence[ResourceClaim], release: Release) -> bool:
    """Return whether the nodes differ by the alternatives that these claims get."""
    return release >= _SCORED_SINCE and any(
        request.first_available for claim in claims for request in claim.spec.devices.requests
    )


def worth(claims: Sequence[ResourceClaim], outcome: SolveOutcome) -> int:
    """
    Return how early the alternatives are, over all requests that have some: 8 for each first one, 7 for a second.

    The outcome is that of those not allocated, in this order; it may be that of
    more claims, such as one for extended resources, which have no alternatives.
    """
    picked: dict[int, set[str]] = {}
    for ask, _ in outcome.picks if isinstance(outcome, Solved) else ():
        picked.setdefault(ask.claim, set()).add(ask.full_name)
    pending = count()
    total = 0
    for claim in claims:
        allocation = claim.status.allocation
        names = {each.request for each in allocation.devices.results} if allocation else picked.get(next(pending), ())
        for request in claim.spec.devices.requests:
            for number, each in enumerate(request.first_available):
                if f"{request.name}/{each.name}" in names:
                    total += _ALTERNATIVES - number
    return total
