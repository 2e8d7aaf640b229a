"""
Rollouts step by step: pods of an older template go, and new ones find the room that these leave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import Scheduled, Waiting
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.attempts.turns import Turn, attempts
from dra_alloc.cluster.holding import given_back, reserved_for
from dra_alloc.pods.workloads.plans import Rollout
from dra_alloc.problem.requests import claim_name

_Users = set[tuple[str | None, str | None]]
_Used = Mapping[tuple[str | None, str | None], Collection[str]]

_STEPWISE: Final = (
    "made once a pod of the older template has gone: "
    "the rollout is looked at step by step, as if each new pod got ready"
)


def turns(
    scheduling: Scheduling,
    others: Sequence[Queued],
    pods: Sequence[Queued],
    rollouts: Iterable[tuple[Rollout, Sequence[int]]],
) -> Iterator[Turn]:
    """
    Yield the attempts: `others` have the first numbers, and pods that rollouts make when older ones go come last.

    Each rollout has the numbers of its new pods among `pods`.
    """
    named = list(rollouts)
    used = _claims_by_user(scheduling) if named else {}
    rolling = [
        _Rolling(scheduling, rollout, {each: pods[each] for each in numbers}, used) for rollout, numbers in named
    ]
    held = {number for each in rolling for number in each.held}
    first = [number for number in range(len(pods)) if number not in held]
    numbers = [*range(len(others)), *(len(others) + number for number in first)]
    placed = set()
    for turn in attempts(scheduling, [*others, *(pods[number] for number in first)]):
        number, same_as = numbers[turn.number], None if turn.same_as is None else numbers[turn.same_as]
        if isinstance(turn.outcome, Scheduled):
            placed.add(number - len(others))
        yield replace(turn, number=number, same_as=same_as)
    for each in rolling:
        for turn in each.turns(placed):
            yield replace(turn, number=turn.number + len(others))


@dataclass(slots=True)
class _Rolling:
    """
    A rollout under way: `new` are the pods that it makes, by number, `used` the names of claims by who reserved them.

    Spec: EXPAND-60.
    """

    scheduling: Scheduling
    rollout: Rollout
    new: Mapping[int, Queued]
    used: _Used
    waiting: set[int] = field(default_factory=set)

    @property
    def held(self) -> Sequence[int]:
        """The pods that are not made before an old one has gone."""
        if self.rollout.key_of is None:
            kept = len(self.new) + len(self.rollout.old)
            return sorted(self.new)[max(0, len(self.new) - max(0, kept - self.rollout.most)) :]
        return [number for _, number in self._pairs() if number is not None]

    def turns(self, placed: Collection[int]) -> Iterator[Turn]:
        """
        Yield what becomes of pods that were held, or found no room beside the old ones; of each at least once.

        An old pod goes as soon as the rollout lets it. What new ones are
        refused for, is as it is when nothing moves any more.
        """
        self.waiting = {number for number in self.new if number not in placed}
        yield from self._one_by_one() if self.rollout.key_of is not None else self._by_number()

    def _pairs(self) -> list[tuple[Pod, int | None]]:
        key_of = self.rollout.key_of
        assert key_of is not None
        keys = {key_of(each.pod): number for number, each in self.new.items()}
        return [(pod, keys.get(key_of(pod))) for pod in self.rollout.old]

    def _by_number(self) -> Iterator[Turn]:
        """Let as many old pods go as those that run allow, and try the new ones, until nothing moves."""
        old, numbers = self.rollout.old, sorted(self.new)
        held = set(self.held)
        while self.waiting and old:
            running = len(old) + len(numbers) - len(self.waiting)
            going = min(len(old), running - self.rollout.staying)
            if going <= 0:
                break
            _leave(self.scheduling, old[:going], self.used)
            old = old[going:]
            made = numbers[: max(0, self.rollout.most - len(old))]
            held.difference_update(made)
            yield from self._try(number for number in made if number in self.waiting)
        for number in held:
            text = "its controller makes it once pods of the older template may go"
            yield Turn(number, Waiting(self.new[number].name, "in-order", text))

    def _one_by_one(self) -> Iterator[Turn]:
        """Let each old pod go and try the new one in its place, up to one that finds none."""
        stuck = ""
        for pod, number in self._pairs():
            if stuck and number is not None:
                text = f"its controller replaces it once {stuck} runs"
                yield Turn(number, Waiting(self.new[number].name, "in-order", text))
            elif not stuck:
                _leave(self.scheduling, [pod], self.used)
                yield from self._try([number] if number is not None else ())
                stuck = self.new[number].name if number in self.waiting else ""

    def _try(self, numbers: Iterable[int]) -> Iterator[Turn]:
        for number in numbers:
            outcome = self.scheduling.attempt(self.new[number])
            if isinstance(outcome, Scheduled):
                self.waiting.discard(number)
                outcome = replace(outcome, notes=(*outcome.notes, _STEPWISE))
            yield Turn(number, outcome)


def _claims_by_user(scheduling: Scheduling) -> _Used:
    """Return the names of claims by namespace and UID or name of who reserved them; the scheduler adds nobody."""
    found: dict[tuple[str | None, str | None], set[str]] = {}
    for called, claim in scheduling.cluster.claims.items():
        for each in claim.status.reserved_for:
            for name in (each.uid, each.name):
                found.setdefault((claim.metadata.namespace, name), set()).add(called)
    return found


def _leave(scheduling: Scheduling, pods: Sequence[Pod], used: _Used) -> None:
    """Let pods that are there go: their room is free, and what nobody else has reserved of their claims."""
    gone = []
    for pod in pods:
        there = scheduling.there.pop(pod.metadata.full_name, None)
        if there is not None and there.spec.node_name in scheduling.tenancy.places:
            gone.append(there)
            tenancy = scheduling.tenancy
            tenancy.remove(tenancy.view(there), tenancy.places[there.spec.node_name])
    users = {(each.metadata.namespace, each.metadata.uid or each.metadata.name) for each in gone}
    claims = scheduling.cluster.claims
    named = sorted({name for user in users for name in used.get(user, ())} & claims.keys())
    freed = [_without(claims[each], users, scheduling) for each in named if claims[each].status.reserved_for]
    if freed:
        scheduling.renew(freed)


def _without(claim: ResourceClaim, users: _Users, scheduling: Scheduling) -> ResourceClaim:
    """Return the claim without users that are gone, and without devices if it has no other."""
    namespace = claim.metadata.namespace
    left = [
        each for each in claim.status.reserved_for if users.isdisjoint([(namespace, each.uid), (namespace, each.name)])
    ]
    return reserved_for(claim, left) if left or scheduling.reserved.get(claim_name(claim)) else given_back(claim)
