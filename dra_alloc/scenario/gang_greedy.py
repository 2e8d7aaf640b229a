"""
Pods one after the other, each on the first node that has what it wants: as kube-scheduler goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dra_alloc.api import Node
from dra_alloc.profiles import Feature
from dra_alloc.scenario.cluster import Cluster
from dra_alloc.scenario.gang_types import Alike, Gang, Member, Placement, Verdict
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.outcome import Aborted, OutOfBudget, Solved

__all__ = ["Books", "place_in_order"]


class Books:
    """What is allocated, kept up to date while pods are placed."""

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator
        self._sharing = allocator.profile.on(Feature.CONSUMABLE_CAPACITY)

    @classmethod
    def of(cls, cluster: Cluster) -> Books:
        """Return the books of a cluster as it is."""
        return cls(cluster.allocator)

    def place(self, node: Node, member: Member) -> Placement | str:
        """Place a pod and book it; or return why not: empty if it does not fit."""
        outcome = self._allocator.allocate(node, member.claims)
        if isinstance(outcome, Solved):
            self._book(outcome)
            return Placement(member, node.metadata.name or "", outcome.results)
        return outcome.text if isinstance(outcome, (Aborted, OutOfBudget)) else ""

    def place_together(self, node: Node, members: Sequence[Member]) -> list[Placement]:
        """Place pods on one node in one question and book them; return nothing if they do not fit."""
        claims = [claim for member in members for claim in member.claims]
        outcome = self._allocator.allocate(node, claims)
        if not isinstance(outcome, Solved):
            return []
        self._book(outcome)
        results = iter(outcome.results)
        name = node.metadata.name or ""
        return [Placement(member, name, tuple(next(results) for _ in member.claims)) for member in members]

    def _book(self, outcome: Solved) -> None:
        allocator = self._allocator
        usage = allocator.state.usage.after(outcome.results, sharing=self._sharing)
        self._allocator = Allocator(replace(allocator.state, usage=usage), allocator.profile, allocator.survey)


def place_in_order(books: Books, nodes: Sequence[Node], members: Sequence[Member]) -> Gang:
    """
    Return the pods that find a node, in order; one that finds none is left out.

    Spec: GANG-1.
    """
    placements: list[Placement] = []
    # What a node refused it refuses until something is placed there; pools that
    # several nodes share only ever have less.
    refused: dict[int, set[str]] = {}
    alike = Alike()
    why = ""
    for member in members:
        tried = refused.setdefault(alike(member), set())
        for node in nodes:
            name = node.metadata.name or ""
            if name in tried:
                continue
            found = books.place(node, member)
            if isinstance(found, Placement):
                placements.append(found)
                break
            why = why or found
            tried.add(name)
    return Gang(Verdict.PLACED if placements else Verdict.NONE, tuple(placements), why)
