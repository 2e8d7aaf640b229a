"""
Whose turn it is: the attempts to find nodes for many pods, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dra_alloc.cluster.attempts.queue import Queued, in_order
from dra_alloc.cluster.attempts.scheduled import NotAsked, PodOutcome, Scheduled, Waiting
from dra_alloc.cluster.attempts.scheduling import Scheduling

__all__ = ["Turn", "attempts", "scheduled"]


@dataclass(frozen=True, slots=True)
class Turn:
    """
    An attempt and its outcome, of the pod of that number.

    `same_as` is the number of another pod of its template that was refused
    just before: this one is, too, and no node was asked.
    """

    number: int
    outcome: PodOutcome
    same_as: int | None = None


def attempts(scheduling: Scheduling, pods: Sequence[Queued]) -> Iterator[Turn]:
    """
    Yield the attempts as they are made, in the order of the scheduler's queue.

    Pods that others can help by finding a node are tried again after these, so
    that the last attempt is the one that counts.
    """
    again: Iterable[int] = in_order(pods)
    while again:
        placed = False
        failed: list[int] = []
        stopped: dict[str, str] = {}
        last: Turn | None = None
        for number in again:
            queued = pods[number]
            if queued.follows in stopped:
                text = f"its controller makes it once {stopped[queued.follows]} runs"
                turn = Turn(number, Waiting(queued.name, "in-order", text))
            elif last is not None and queued.template is not None and pods[last.number].template == queued.template:
                first = last.number if last.same_as is None else last.same_as
                turn = Turn(number, replace(last.outcome, pod=queued.name), first)
            else:
                turn = Turn(number, scheduling.attempt(queued))
            yield turn
            last = None if isinstance(turn.outcome, Scheduled | NotAsked) else turn
            placed = placed or last is None
            if last is not None and queued.follows:
                stopped.setdefault(queued.follows, queued.name)
            if getattr(turn.outcome, "helped", False) or queued.follows in stopped:
                failed.append(number)
        again = failed if placed else ()


def scheduled(scheduling: Scheduling, pods: Sequence[Queued]) -> list[PodOutcome]:
    """Return what becomes of each pod, in their order; they are tried in the order of the scheduler's queue."""
    outcomes = {turn.number: turn.outcome for turn in attempts(scheduling, pods)}
    return [outcomes[number] for number in range(len(pods))]
