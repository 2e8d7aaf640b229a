"""
What is wrong with picks, in the order in which they are made.

Every law here holds of a beginning of an answer if it holds of the whole, so that `answers` can stop at the first pick
that breaks one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from spec.reference.amounts import amounts, by_full_name, capacities
from spec.reference.constraints import holds
from spec.reference.matching import matches, tolerated
from spec.reference.pools import Pool, devices_of
from spec.reference.question import Key, Offer, Pick, Question

LIMIT = 32


def faults(picks: Sequence[Pick], pools: Sequence[Pool], question: Question) -> list[str]:
    """Return what is wrong with these picks; nothing, if they are the beginning of an answer or all of it."""
    return [*_unusable(picks, question), *conflicts(picks, pools, question)]


def conflicts(picks: Sequence[Pick], pools: Sequence[Pool], question: Question) -> list[str]:
    """Return what is wrong with these picks together, each of which is what its request asks for."""
    return [
        *_taken(picks, question),
        *_overdrawn(picks, pools, question),
        *_overfilled(picks, question),
        *_unlike(picks, question),
        *_too_many(picks),
    ]


def _unusable(picks: Sequence[Pick], question: Question) -> Iterator[str]:
    """
    Each device is what its request asks for.

    Spec: SEL-1, NODE-1, BIND-1, TAINT-1.
    """
    for pick in picks:
        if not matches(pick.wanted, pick.offer, question):
            yield f"{pick.offer.key} does not match {pick.wanted.full}"
        if not tolerated(pick.wanted, pick.offer, question):
            yield f"{pick.offer.key} has a taint that {pick.wanted.full} does not tolerate"


def _taken(picks: Sequence[Pick], question: Question) -> Iterator[str]:
    """
    No device goes to two, but shareable ones, and with admin access to a second claim.

    Spec: USE-1..USE-4, SEARCH-3.
    """
    for index, pick in enumerate(picks):
        key, shareable = pick.offer.key, question.shareable(pick.offer.device)
        before = [each.wanted for each in picks[:index] if each.offer.key == key]
        if pick.wanted.admin:
            taken = not shareable and any(each.claim == pick.wanted.claim for each in before)
        else:
            taken = key in question.held or (not shareable and (bool(before) or key in question.shared))
        if taken or pick.wanted in before:
            yield f"{key} is taken already when {pick.wanted.full} gets it"


def _overdrawn(picks: Sequence[Pick], pools: Sequence[Pool], question: Question) -> Iterator[str]:
    """
    The counters of a pool cover what is picked from it, if anything that draws on them is.

    Spec: COUNTER-1, COUNTER-2, COUNTER-3, COUNTER-6.
    """
    drawing = [pick.offer for pick in picks if pick.offer.device.consumes_counters]
    if drawing and not question.on("PartitionableDevices"):
        yield f"{drawing[0].key} draws on counters, which are off"
        return
    shared = question.shared | set(question.consumed)
    for pool in pools:
        drawn: Counter[tuple[str, str]] = Counter()
        sharing, draws = set(shared), False
        for offer in drawing:
            if offer.key[:2] != (pool.driver, pool.name) or offer.key in sharing & _shareable(offer, question):
                continue
            sharing |= _shareable(offer, question)
            drawn.update(_draw(offer))
            draws = True
        if draws and any(left < drawn[name] for name, left in _left(pool, question).items()):
            yield f"counters of pool {pool.driver}/{pool.name} do not cover what is picked"


def _shareable(offer: Offer, question: Question) -> set[Key]:
    return {offer.key} if question.shareable(offer.device) else set()


def _draw(offer: Offer) -> Counter[tuple[str, str]]:
    drawn: Counter[tuple[str, str]] = Counter()
    for draw in offer.device.consumes_counters:
        drawn.update({(draw.counter_set, name): counter.value.nano for name, counter in draw.counters.items()})
    return drawn


def _left(pool: Pool, question: Question) -> dict[tuple[str, str], int]:
    """Return what allocated devices of the pool leave of each counter; each draws once."""
    slices = (*pool.here, *pool.elsewhere)
    left = {
        (each.name, name): counter.value.nano
        for one in slices
        for each in one.spec.shared_counters
        for name, counter in each.counters.items()
    }
    allocated = question.held | question.shared | set(question.consumed)
    for each in slices:
        for device in devices_of(each, partitionable=True):
            offer = Offer(device, each)
            if offer.key in allocated:
                for name, amount in _draw(offer).items():
                    left[name] -= amount
    return left


def _overfilled(picks: Sequence[Pick], question: Question) -> Iterator[str]:
    """
    What is consumed and what is picked fit into every capacity; dedicated devices consume nothing.

    Spec: CAP-4, CAP-5, CAP-6.
    """
    filled: dict[Key, Counter[str]] = {
        key: Counter(by_full_name(amount, key[0])) for key, amount in question.consumed.items()
    }
    for pick in picks:
        key, capacity = pick.offer.key, capacities(pick.offer)
        taken = amounts(pick.wanted, pick.offer, question)
        if taken is None:
            yield f"{pick.wanted.full} cannot have the amounts it asks of {key}"
            continue
        total = filled.get(key, Counter()).copy()
        total.update(taken)
        if any(total[name] > capacity[name].value.nano for name in taken):
            yield f"the capacity of {key} does not cover {pick.wanted.full}"
        if question.shareable(pick.offer.device):
            filled[key] = total


def _unlike(picks: Sequence[Pick], question: Question) -> Iterator[str]:
    """Constraints hold within each claim."""
    for number, claim in enumerate(question.claims):
        own = [pick for pick in picks if pick.wanted.claim == number]
        for constraint in claim.spec.devices.constraints:
            if not holds(constraint, own, question):
                yield f"a constraint of claim {claim.metadata.name} does not hold: {constraint.to_wire()}"


def _too_many(picks: Sequence[Pick]) -> Iterator[str]:
    """A claim has room for 32 results."""
    for claim, count in Counter(pick.wanted.claim for pick in picks).items():
        if count > LIMIT:
            yield f"claim {claim} has {count} devices"
