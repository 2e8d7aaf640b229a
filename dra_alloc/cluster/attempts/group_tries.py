"""
Tries of a group's pods, one for each domain of its topology, and which of them counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import PodOutcome, Scheduled, Unschedulable, Unsettled, Waiting
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.errors import first_few
from dra_alloc.pods.gangs.topology import Domain, Labels, candidates
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.pods.groups import GroupAttempt


@dataclass(slots=True)
class GroupTrying:
    """The pods of one attempt, each tried after those before it; an error ends it for all."""

    scheduling: Scheduling
    pods: Sequence[Queued]
    outcomes: dict[int, PodOutcome] = field(default_factory=dict)
    stopped: dict[str, PodOutcome] = field(default_factory=dict)
    error: str = ""

    def place(self, number: int) -> Scheduled | None:
        """Return the outcome of a pod that found a place."""
        queued = self.pods[number]
        if self.error:
            return None
        before_it = self.stopped.get(queued.follows)
        if isinstance(before_it, Unsettled):
            self.outcomes[number] = replace(before_it, pod=queued.name)
            return None
        if before_it is not None:
            text = "its controller makes it once the one before it runs"
            self.outcomes[number] = Waiting(queued.name, "in-order", text)
            return None
        outcome = self.outcomes[number] = self.scheduling.attempt(queued)
        if isinstance(outcome, Scheduled):
            return outcome
        if queued.follows:
            self.stopped[queued.follows] = outcome
        if isinstance(outcome, Unschedulable) and outcome.aborts:
            self.error = f"failed to schedule other pod from a pod group: {outcome.text}"
        return None

    @property
    def is_unsettled(self) -> bool:
        """Whether one of the pods could not be decided."""
        return any(isinstance(each, Unsettled) for each in self.outcomes.values())

    def unsettled(self, queued: Queued) -> Unsettled | None:
        """Return that a pod's group is undecided, if it is because of another of its pods."""
        found = next((each for each in self.outcomes.values() if isinstance(each, Unsettled)), None)
        return None if found is None else replace(found, pod=queued.name)


@dataclass(frozen=True, slots=True)
class GroupTried:
    """What became of a group's pods in a domain, or on all nodes."""

    domain: Domain | None
    found: GroupAttempt[int, Scheduled]
    trying: GroupTrying

    @property
    def succeeded(self) -> bool:
        return self.found.succeeded and not self.trying.error

    @property
    def placed(self) -> Sequence[tuple[int, Scheduled]]:
        return self.found.placed

    def outcomes(self, notes: tuple[str, ...]) -> Iterator[tuple[int, PodOutcome]]:
        """Yield what becomes of the pods, those without a place first, with notes on the first that has one."""
        for number in self.found.failed:
            if number in self.trying.outcomes:
                yield number, self.trying.outcomes[number]
        for place, (number, outcome) in enumerate(self.found.placed):
            yield number, outcome if place else replace(outcome, notes=(*outcome.notes, *notes))


@dataclass(frozen=True, slots=True)
class GroupDomains:
    """The domains in which kube-scheduler tries the pods of a group; `against` is why it tries them in none."""

    tree: GroupTree
    domains: Sequence[Domain | None] = (None,)
    against: str = ""

    @classmethod
    def of(cls, tree: GroupTree, labels: Labels, held: set[int]) -> GroupDomains:
        """Return the domains of a group's topology: where pods of it run, theirs alone. Spec: PODGROUP-11."""
        key = tree.topology.required
        here = {labels[place].get(key) for place in held}
        if None in here or len(here) > 1:
            said = f"no topology domain found for a pod of {tree.name}" if None in here else "more than 1 domain found"
            return cls(tree, (), f"cannot determine domain for already scheduled pods: {said}")
        found = next(candidates(labels, tree.topology, held))
        return cls(tree, found, "" if found else f"no node has the label {key}, by which its pods go together")

    @property
    def key(self) -> str:
        """The label of nodes by which pods go together; nothing where they go anywhere."""
        return self.tree.topology.required if self.domains != (None,) else ""

    def status(self, first: str) -> str:
        """Return the scheduler's words where no domain takes enough, of what was said of the first."""
        if not self.key:
            return first
        return f"0/{len(self.domains)} placements are available, first placement status: {first}"

    def chosen(self, taken: GroupTried, tries: Sequence[GroupTried]) -> tuple[str, ...]:
        """Return a note on the domain that is taken here, and on those that would do, too."""
        if taken.domain is None:
            return ()
        others = [
            each.domain.name for each in tries if each.domain is not None and each.succeeded and each is not taken
        ]
        which = f"{self.key} {taken.domain.name}"
        if not others:
            return (f"its group {self.tree.name} goes together into {which}, the only one that does",)
        said = f"{first_few(others)} would do, too, and the scheduler takes the one of the best score"
        return (f"its group {self.tree.name} goes together into {which} here; {said}",)

    def rooms(self, tries: Sequence[GroupTried]) -> tuple[str, ...]:
        """Return a note on what room there was in each domain."""
        asked = len(self.tree.pods)
        said = [f"{each.domain.name} has room for {len(each.placed)} of {asked}" for each in tries if each.domain]
        return (
            (f"its group {self.tree.name} does not go together into one {self.key}: {first_few(said)}",) if said else ()
        )
