"""
KAI's reclaim: whether a queue may look for victims in others, and whether these victims are ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from dra_alloc.errors import InputError, in_brief
from dra_alloc.queues.kai.fair_share import UNLIMITED
from dra_alloc.queues.ledger import QueueAccount, QueueLedger

#: Amounts by resource; what is not named is nothing.
Amounts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class KaiHolding:
    """What a queue may have and has of one resource, that of its queues below included."""

    quota: float
    limit: float
    fair_share: float
    allocated: float
    allocated_non_preemptible: float = 0

    @property
    def allocatable(self) -> float:
        """What it can have at most."""
        if self.quota == UNLIMITED:
            return inf if self.limit == UNLIMITED else self.limit
        most = max(self.quota, self.fair_share)
        return most if self.limit == UNLIMITED else min(self.limit, most)

    @property
    def due(self) -> float:
        """Its quota, which may be without end."""
        return inf if self.quota == UNLIMITED else self.quota


@dataclass(frozen=True, slots=True)
class Holder:
    """A queue with what it holds, by resource."""

    name: str
    holdings: Mapping[str, KaiHolding]
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Reclaimer:
    """A job that wants amounts in a leaf queue."""

    queue: str
    request: Amounts
    preemptible: bool = True


def may_reclaim(queues: Mapping[str, Holder], job: Reclaimer) -> bool:
    """Return whether a job may look for victims at all: within its share of every resource. Spec: KAI-5."""
    own = queues[job.queue]
    if not job.preemptible and not _within_quota(own, job):
        return False
    return all(
        each.allocated + job.request.get(name, 0) <= (inf if each.fair_share == UNLIMITED else each.fair_share)
        for name, each in own.holdings.items()
    )


def _within_quota(own: Holder, job: Reclaimer) -> bool:
    """Return whether a queue's jobs that nobody may evict stay within its quota, with this one."""
    return all(
        each.allocated_non_preemptible + job.request.get(name, 0) <= each.due for name, each in own.holdings.items()
    )


def reclaims(
    queues: Mapping[str, Holder], job: Reclaimer, victims: Mapping[str, Sequence[Amounts]], multiplier: float = 1
) -> frozenset[bool]:
    """
    Return whether a job may take all of the victims, given by leaf queue in order.

    There are two answers where it depends on which leaf below one queue comes
    first, which KAI leaves to chance.

    Spec: KAI-6, KAI-7. Raises: InputError for queues that are no forest, and victims in the job's own line.
    """
    ledger: QueueLedger[float] = QueueLedger(QueueAccount(each.name, each.parent) for each in queues.values())
    lines = {name: [each.name for each in ledger.line(name)][::-1] for name in (job.queue, *victims)}
    robbed: dict[str, list[Sequence[Amounts]]] = {}
    mine: dict[str, str] = {}
    for leaf, taken in victims.items():
        if taken:
            own, other = _parting(lines[job.queue], lines[leaf])
            robbed.setdefault(other, []).append(taken)
            mine[other] = own
    answers = {True}
    for other, leaves in robbed.items():
        found = {_all_taken(queues[mine[other]], queues[other], job, leaves, last[-1]) for last in leaves}
        answers = {one and another for one in answers for another in found}
    freed = _changes(ledger, victims)
    quota = job.preemptible or all(_within_quota(queues[name], job) for name in lines[job.queue])
    if quota and not _saturated(queues, job, freed, lines[job.queue], multiplier):
        return frozenset(answers)
    return frozenset({False})


def _parting(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """Return the first queues from above in which two lines differ. Raises: InputError if there are none."""
    for own, other in zip(mine, theirs, strict=False):
        if own != other:
            return own, other
    raise InputError(f"victims are of other queues than the job: {in_brief(theirs[-1])} is in one line with its own")


def _all_taken(own: Holder, other: Holder, job: Reclaimer, leaves: Iterable[Sequence[Amounts]], last: Amounts) -> bool:
    """
    Return whether all victims are taken if this one comes last.

    Each is judged by what is there before it goes, so that the last has it hardest.
    """
    gone = [each for leaf in leaves for each in leaf]
    remaining = {
        name: each.allocated - sum(one.get(name, 0) for one in gone) + last.get(name, 0)
        for name, each in other.holdings.items()
    }
    if any(amount > other.holdings[name].allocatable for name, amount in remaining.items()):
        return True
    due = all(each.allocated + job.request.get(name, 0) <= each.due for name, each in own.holdings.items())
    return due and any(amount > other.holdings[name].due for name, amount in remaining.items())


def _changes(ledger: QueueLedger[float], victims: Mapping[str, Sequence[Amounts]]) -> Mapping[str, Amounts]:
    """Return what the victims free of each queue."""
    freed: dict[str, dict[str, float]] = {}
    for leaf, taken in victims.items():
        for account in ledger.line(leaf):
            own = freed.setdefault(account.name, {})
            for each in taken:
                for name, amount in each.items():
                    own[name] = own.get(name, 0) + amount
    return freed


def _saturated(
    queues: Mapping[str, Holder], job: Reclaimer, freed: Mapping[str, Amounts], line: Sequence[str], multiplier: float
) -> bool:
    """Return whether a queue of the reclaimer ends above its share, and not below one that was robbed beside it."""
    wanted = {name for name, amount in job.request.items() if amount > 0}
    for name in line:
        own = queues[name]
        for other in _robbed_beside(queues, own, freed):
            taken = {resource for resource, amount in freed[other.name].items() if amount > 0}
            for resource in wanted | taken:
                mine, theirs = own.holdings[resource], other.holdings[resource]
                after = mine.allocated - freed.get(name, {}).get(resource, 0) + job.request.get(resource, 0)
                ratio = _ratio(after, mine.fair_share)
                left = _ratio(theirs.allocated - freed[other.name].get(resource, 0), theirs.fair_share)
                if ratio > 1 and theirs.fair_share > 0 and ratio * multiplier >= left:
                    return True
    return False


def _robbed_beside(queues: Mapping[str, Holder], own: Holder, freed: Mapping[str, Amounts]) -> Iterator[Holder]:
    for each in queues.values():
        if each.parent == own.parent and each.name != own.name and any(freed.get(each.name, {}).values()):
            yield each


def _ratio(allocated: float, share: float) -> float:
    if share == UNLIMITED:
        return 0
    if share == 0:
        return 0 if allocated == 0 else inf
    return allocated / share
