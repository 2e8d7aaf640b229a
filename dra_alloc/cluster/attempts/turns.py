"""
Whose turn it is: the attempts to find nodes for many pods, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dra_alloc.cluster.attempts.grouping import Grouped, Groups
from dra_alloc.cluster.attempts.queue import Queued, in_order
from dra_alloc.cluster.attempts.scheduled import NotAsked, PodOutcome, Scheduled, Unsettled, Waiting
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.work import cuts, is_spent


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
    Yield the attempts as they are made, in the order of the scheduler's queue; those of a group in any order.

    Pods that others can help by finding a node are tried again after these, so
    that the last attempt is the one that counts.
    """
    again: Iterable[int] = in_order(pods)
    groups = Groups(scheduling, pods)
    while again:
        passing = _Round(scheduling, pods)
        for entry in groups.entries(again):
            if isinstance(entry, Grouped):
                yield from passing.together(groups.outcomes(entry))
            else:
                yield passing.alone(entry)
        again = passing.failed if passing.placed else ()


@dataclass(slots=True)
class _Round:
    """One pass over the queue."""

    scheduling: Scheduling
    pods: Sequence[Queued]
    placed: bool = False
    failed: list[int] = field(default_factory=list)
    stopped: dict[str, PodOutcome] = field(default_factory=dict)
    last: Turn | None = None
    # Whether the last attempt has no outcome for want of the command's work; the next may have more.
    cut: bool = False

    def alone(self, number: int) -> Turn:
        """Return the attempt of a pod of no group."""
        turn = self._turn(number)
        self.last = None if isinstance(turn.outcome, Scheduled | NotAsked) else turn
        follows = self.pods[number].follows
        self.placed = self.placed or self.last is None
        if self.last is not None and follows:
            self.stopped.setdefault(follows, turn.outcome)
        if getattr(turn.outcome, "helped", False) or follows in self.stopped:
            self.failed.append(number)
        return turn

    def _turn(self, number: int) -> Turn:
        queued, last = self.pods[number], self.last
        before_it = self.stopped.get(queued.follows)
        if isinstance(before_it, Unsettled):
            return Turn(number, replace(before_it, pod=queued.name))
        if before_it is not None:
            text = f"its controller makes it once {before_it.pod} runs"
            return Turn(number, Waiting(queued.name, "in-order", text))
        asks_again = self.cut and not is_spent()
        alike = last is not None and queued.template is not None and self.pods[last.number].template == queued.template
        if last is not None and alike and not asks_again:
            first = last.number if last.same_as is None else last.same_as
            return Turn(number, replace(last.outcome, pod=queued.name), first)
        before = cuts()
        outcome = self.scheduling.attempt(queued)
        self.cut = isinstance(outcome, Unsettled) and cuts() != before
        return Turn(number, outcome)

    def together(self, outcomes: Iterable[tuple[int, PodOutcome]]) -> Iterator[Turn]:
        """Yield the attempts of a group; what was refused before has no part in them."""
        self.last = None
        again: list[int] = []
        helped = False
        for number, outcome in outcomes:
            yield Turn(number, outcome)
            if isinstance(outcome, Scheduled):
                self.placed = True
            else:
                again.append(number)
                helped = helped or getattr(outcome, "helped", False)
        self.failed += sorted(again) if helped else []


def scheduled(scheduling: Scheduling, pods: Sequence[Queued]) -> list[PodOutcome]:
    """Return what becomes of each pod, in their order; they are tried in the order of the scheduler's queue."""
    outcomes = {turn.number: turn.outcome for turn in attempts(scheduling, pods)}
    return [outcomes[number] for number in range(len(pods))]
