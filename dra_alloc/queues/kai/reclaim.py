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

__all__ = ["Holder", "Reclaimer", "may_reclaim", "reclaims"]

Amounts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Holder:
    """A queue with what it may have and has of one resource, that of its queues below included."""

    name: str
    quota: float
    limit: float
    fair_share: float
    allocated: float
    allocated_non_preemptible: float = 0
    parent: str = ""

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
class Reclaimer:
    """A job that wants `request` units of the resource in a leaf queue."""

    queue: str
    request: float
    preemptible: bool = True


def may_reclaim(queues: Mapping[str, Holder], job: Reclaimer) -> bool:
    """Return whether a job may look for victims at all. Spec: KAI-5."""
    own = queues[job.queue]
    if not job.preemptible and own.allocated_non_preemptible + job.request > own.due:
        return False
    return own.allocated + job.request <= (inf if own.fair_share == UNLIMITED else own.fair_share)


def reclaims(
    queues: Mapping[str, Holder], job: Reclaimer, victims: Mapping[str, Sequence[float]], multiplier: float = 1
) -> frozenset[bool]:
    """
    Return whether a job may take all of the victims, given by leaf queue in order.

    There are two answers where it depends on which leaf below one queue comes
    first, which KAI leaves to chance.

    Spec: KAI-6, KAI-7. Raises: InputError for queues that are no forest, and victims in the job's own line.
    """
    ledger: QueueLedger[float] = QueueLedger(QueueAccount(each.name, each.parent) for each in queues.values())
    lines = {name: [each.name for each in ledger.line(name)][::-1] for name in (job.queue, *victims)}
    robbed: dict[str, list[Sequence[float]]] = {}
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
    if not _saturated(queues, job, _changes(ledger, victims), lines[job.queue], multiplier):
        return frozenset(answers)
    return frozenset({False})


def _parting(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """Return the first queues from above in which two lines differ. Raises: InputError if there are none."""
    for own, other in zip(mine, theirs, strict=False):
        if own != other:
            return own, other
    raise InputError(f"victims are of other queues than the job: {in_brief(theirs[-1])} is in one line with its own")


def _all_taken(own: Holder, other: Holder, job: Reclaimer, leaves: Iterable[Sequence[float]], last: float) -> bool:
    """
    Return whether all victims are taken if this one comes last.

    Each is judged by what is there before it goes, so that the last has it hardest.
    """
    remaining = other.allocated - sum(map(sum, leaves)) + last
    if remaining > other.allocatable:
        return True
    return own.allocated + job.request <= own.due and remaining > other.due


def _changes(ledger: QueueLedger[float], victims: Mapping[str, Sequence[float]]) -> Mapping[str, float]:
    """Return what the victims free of each queue."""
    freed: dict[str, float] = {}
    for leaf, taken in victims.items():
        for account in ledger.line(leaf):
            freed[account.name] = freed.get(account.name, 0) + sum(taken)
    return freed


def _saturated(
    queues: Mapping[str, Holder], job: Reclaimer, freed: Mapping[str, float], line: Sequence[str], multiplier: float
) -> bool:
    """Return whether a queue of the reclaimer ends above its share, and not below one that was robbed beside it."""
    for name in line:
        own = queues[name]
        ratio = _ratio(own.allocated - freed.get(name, 0) + job.request, own.fair_share)
        if ratio > 1 and any(
            other.fair_share > 0 and ratio * multiplier >= _ratio(other.allocated - freed[other.name], other.fair_share)
            for other in _robbed_beside(queues, own, freed)
        ):
            return True
    return False


def _robbed_beside(queues: Mapping[str, Holder], own: Holder, freed: Mapping[str, float]) -> Iterator[Holder]:
    for each in queues.values():
        if each.parent == own.parent and each.name != own.name and freed.get(each.name, 0) > 0:
            yield each


def _ratio(allocated: float, share: float) -> float:
    if share == UNLIMITED:
        return 0
    if share == 0:
        return 0 if allocated == 0 else inf
    return allocated / share
