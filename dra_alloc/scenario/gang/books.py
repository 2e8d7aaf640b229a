"""
What is allocated, kept up to date pool by pool while pods are placed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.problem.devices import DeviceKey, PoolKey
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.usage import Usage
from dra_alloc.rules import Pick, consumption
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.best.answer import best_answer
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.ladder import Budget, Found
from dra_alloc.solve.outcome import Solved, SolveOutcome, Work
from dra_alloc.solve.question import Question


@dataclass(slots=True)
class _Entry:
    """What is taken of one pool."""

    exclusive: set[DeviceKey] = field(default_factory=set)
    shared: set[DeviceKey] = field(default_factory=set)
    consumed: dict[DeviceKey, dict[str, int]] = field(default_factory=dict)


class Books:
    """
    Allocations of a cluster with what was placed since.

    A node only ever sees its own pools, so each question is asked with these alone.
    """

    def __init__(self, allocator: Allocator) -> None:
        profile = allocator.profile
        self._allocator = allocator
        self._sharing = profile.shares
        self._entries: dict[PoolKey, _Entry] = {}
        self._changed: set[PoolKey] = set()
        usage = allocator.state.usage
        for key in usage.exclusive:
            self._entry(key).exclusive.add(key)
        for key in usage.shared:
            self._entry(key).shared.add(key)
        for key, amounts in usage.consumed.items():
            self._entry(key).consumed[key] = dict(amounts)

    def _entry(self, key: DeviceKey) -> _Entry:
        return self._entries.setdefault(PoolKey(key.driver, key.pool), _Entry())

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> SolveOutcome:
        """Return the outcome on the node after all that was placed; the claims found room are booked."""
        return self._booked(self._allocator_for(node).allocate(node, claims))

    def settle(self, node: Node, claims: Sequence[ResourceClaim], answer: Callable[[Question], Found]) -> Solved:
        """
        Return the outcome for an answer found elsewhere, checked after all that was placed; likewise booked.

        Raises: InternalError for an answer that breaks a rule.
        """
        allocator = self._allocator_for(node)
        question = allocator.question(node, claims)
        outcome = allocator.finished(question, answer(question), Work())
        self._book(outcome.picks)
        return outcome

    def best(
        self, node: Node, claims: Sequence[ResourceClaim], objectives: Sequence[Objective], budget: Budget
    ) -> tuple[SolveOutcome, tuple[Score, ...]]:
        """
        Return the best outcome on the node after all that was placed, with its scores; likewise booked.

        Raises: EngineUnavailable.
        """
        outcome, scores = best_answer(self._allocator_for(node), node, claims, objectives, budget)
        return self._booked(outcome), scores

    def _booked(self, outcome: SolveOutcome) -> SolveOutcome:
        if isinstance(outcome, Solved):
            self._book(outcome.picks)
        return outcome

    def _allocator_for(self, node: Node) -> Allocator:
        allocator = self._allocator
        if not self._changed:
            return allocator
        try:
            keys = {pool.key for pool in allocator.survey.view(node).pools}
        except GatherError:
            # The question will end with this error again.
            return allocator
        if keys.isdisjoint(self._changed):
            return allocator
        usage = _usage(self._entries[key] for key in keys if key in self._entries)
        return Allocator(replace(allocator.state, usage=usage), allocator.profile, allocator.survey)

    def _book(self, picks: Iterable[Pick]) -> None:
        for ask, device in picks:
            if ask.admin:
                continue
            key = device.key
            self._changed.add(device.pool)
            entry = self._entry(key)
            if not (device.shareable and self._sharing):
                entry.exclusive.add(key)
                continue
            entry.shared.add(key)
            amounts = consumption(device, ask, self._allocator.profile)
            if amounts:
                totals = entry.consumed.setdefault(key, {})
                for name, amount in amounts.items():
                    totals[name] = totals.get(name, 0) + amount.nano


def _usage(entries: Iterable[_Entry]) -> Usage:
    exclusive: set[DeviceKey] = set()
    shared: set[DeviceKey] = set()
    consumed: dict[DeviceKey, Mapping[str, int]] = {}
    for entry in entries:
        exclusive |= entry.exclusive
        shared |= entry.shared
        consumed.update({key: dict(amounts) for key, amounts in entry.consumed.items()})
    return Usage(frozenset(exclusive), frozenset(shared), consumed)
