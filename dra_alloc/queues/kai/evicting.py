"""
Who would have to go for a job of KAI that finds no room: by its order, and by no promise of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dra_alloc.pods.gangs.trees import has_enough
from dra_alloc.queues.kai.amounts import total
from dra_alloc.queues.kai.cycle import KaiCycle, KaiJob
from dra_alloc.queues.kai.reclaim import Amounts, Holder, Reclaimer, may_reclaim, reclaims


@dataclass(frozen=True, slots=True)
class Eviction:
    """
    What a job would need to evict, by name and amount, so that there is room for it in all: by numbers, on no node.

    `may` are the answers that KAI's rules allow, two where it leaves that to chance; none where nobody can go.
    """

    victims: tuple[tuple[str, Amounts], ...]
    may: frozenset[bool]
    within: bool = False


def eviction(
    cycle: KaiCycle, holders: Mapping[str, Holder], job: KaiJob, pods: Sequence[int], jobs: Sequence[KaiJob]
) -> Eviction | None:
    """
    Return who would have to go for pods of a job; None where there is room by numbers, or nobody runs.

    `holders` are all queues as they are in the end.

    First those of its own queue with lower priority, then of other queues, the
    one first that has most beyond its share; in each the lowest priority and the latest first.

    Spec: KAI-21.
    """
    asked = total(job.asked[each] for each in pods)
    tops = [each.name for each in cycle.objects.queues.values() if not each.account.parent]
    held = {name: sum(cycle.ledger.used(top, (name,)) for top in tops) for name in asked}
    lacking = {name: held[name] + amount - cycle.whole[name] for name, amount in asked.items() if amount > 0}
    lacking = {name: amount for name, amount in lacking.items() if amount > 0}
    if not lacking:
        return None
    if not any(each.placed for each in jobs):
        return None
    running = list(_victims(cycle, jobs))
    preempted = [each for each in running if each.queue == job.queue and each.priority < job.priority]
    taken, left = _taken(preempted, lacking)
    if not left:
        return Eviction(tuple((each.name, amounts) for each, amounts in taken), frozenset({True}), within=True)
    reclaimer = Reclaimer(job.queue, asked, job.preemptible)
    if not may_reclaim(holders, reclaimer):
        return Eviction((), frozenset({False}))
    order = {name: place for place, name in enumerate(_by_excess(holders))}
    others = sorted(
        (each for each in running if each.queue != job.queue),
        key=lambda each: (order[each.queue], each.priority, -each.number),
    )
    taken, left = _taken(others, lacking)
    if left:
        return Eviction((), frozenset())
    by_leaf: dict[str, list[Amounts]] = {}
    for victim, amounts in taken:
        by_leaf.setdefault(victim.queue, []).append(amounts)
    may = reclaims(holders, reclaimer, by_leaf)
    return Eviction(tuple((each.name, amounts) for each, amounts in taken), may)


def _victims(cycle: KaiCycle, jobs: Sequence[KaiJob]) -> Iterator[KaiJob]:
    """Yield jobs that run in queues for jobs and may be evicted, the lowest priority and the latest first."""
    leaves = cycle.objects.queues.keys() - cycle.objects.parents
    running = [each for each in jobs if each.placed and each.preemptible and each.queue in leaves]
    yield from sorted(running, key=lambda each: (each.priority, -each.number))


def _by_excess(holders: Mapping[str, Holder]) -> list[str]:
    """Return the queues, those first that have most of what they can."""

    def part(name: str) -> float:
        held = [(each.allocated, each.fair_share) for each in holders[name].holdings.values()]
        return max(allocated / share if share > 0 else 1000 * allocated for allocated, share in held)

    return sorted(holders, key=lambda name: -part(name))


def _taken(
    victims: Sequence[KaiJob], lacking: Mapping[str, float]
) -> tuple[list[tuple[KaiJob, Amounts]], Mapping[str, float]]:
    """Return victims with what they free, until nothing is lacking, and what still is."""
    left = dict(lacking)
    taken: list[tuple[KaiJob, Amounts]] = []
    for job in victims:
        for pods in _units(job):
            if not left:
                return taken, left
            freed = total(job.asked[each] for each in pods)
            if not any(freed[name] > 0 for name in left):
                continue
            taken.append((job, freed))
            left = {name: amount - freed[name] for name, amount in left.items() if amount > freed[name]}
    return taken, left


def _units(job: KaiJob) -> Iterator[Sequence[int]]:
    """Yield the pods of a job in the order in which they go: those beyond what it needs, then all others at once."""
    placed = sorted(job.placed, reverse=True)
    kept = set(placed)
    for each in placed:
        if has_enough(job.group, kept - {each}):
            kept.discard(each)
            yield (each,)
    yield tuple(kept)
