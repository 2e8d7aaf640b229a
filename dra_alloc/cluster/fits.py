"""
Which nodes could have a pod's claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from dra_alloc.api import AllocationResult, Node, ResourceClaim
from dra_alloc.cluster.holding import completing, reaches
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Undecided, Unsatisfiable
from dra_alloc.cluster.standings import ABORTS, FITS, UNDECIDED, Asked, places_of
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import Work
from dra_alloc.solve.results import Results

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster


def first_outcome(cluster: Cluster, claims: Sequence[ResourceClaim], budget: Budget) -> Outcome:
    """
    Return the outcome of trying all nodes in order until one fits, or ends the attempt.

    What is known of a node without its devices is not asked again.
    """
    known, nodes = cluster.known, cluster.nodes
    if any(claim.status.allocation is not None for claim in claims):
        return first_of(cluster, claims, nodes, budget)
    asked = Asked.of(claims, known.survey, budget)
    with gc_paused(settle=True):
        place, code = known.standings.first(asked)
    if code == FITS:
        return cluster.on_node(claims, nodes[place], budget=budget)
    if code == ABORTS:
        return known.standings.abort(asked, place)
    refusals = known.standings.refusals(asked)()
    undecided = [nodes[place] for place in places_of(known.standings.codes(asked), UNDECIDED)]
    if undecided:
        return first_of(cluster, claims, undecided, budget)
    named, counted = known.roster.places, known.counting()
    return Unsatisfiable(tuple([counted(each, claims, nodes[named[each.node]]) for each in refusals]))


def first_of(cluster: Cluster, claims: Sequence[ResourceClaim], nodes: Sequence[Node], budget: Budget) -> Outcome:
    """Return the outcome of trying some nodes one by one."""
    refusals: list[NodeRefusal] = []
    undecided: list[str] = []
    works: list[Work] = []
    for node in nodes:
        found = cluster.on_node(claims, node, budget=budget)
        if isinstance(found, Allocated):
            return found
        if isinstance(found, Undecided):
            undecided += found.nodes
            works.append(found.work)
        else:
            refusals += found.refusals
            if found.aborts:
                return found
    if undecided:
        stages = tuple(stage for work in works for stage in work.stages)
        return Undecided(tuple(undecided), Work(sum(work.steps for work in works), works[-1].engine, stages))
    return Unsatisfiable(tuple(refusals))


def fits_of(cluster: Cluster, claims: tuple[ResourceClaim, ...], names: Sequence[str] | None, budget: Budget) -> Fits:
    """Return which of the nodes could have the claims, or of all of them."""
    known, roster = cluster.known, cluster.known.roster
    pending = [claim for claim in claims if claim.status.allocation is None]
    held = [claim for claim in claims if claim.status.allocation is not None]
    places = range(len(roster.nodes)) if names is None else sorted({roster.places[name] for name in names})
    if held:
        places = [place for place in places if all(reaches(claim, roster.nodes[place]) for claim in held)]
    asked = Asked.of(pending, known.survey, budget)
    codes: Sequence[tuple[int, int]] | bytes
    with gc_paused(settle=True):
        if len(places) == len(roster.nodes):
            codes = known.standings.codes(asked)
        else:
            codes = [(place, known.standings.code(asked, place)) for place in places]
    return Fits(cluster, claims, budget, codes)


@dataclass(frozen=True, eq=False, repr=False)
class Fits(Sequence[str]):
    """
    The names of the nodes that fit, in cluster order.

    `undecided` nodes ran out of budget. With `aborted` kube-scheduler gives the
    whole attempt up with an error, whatever other nodes offer.
    """

    _cluster: Cluster
    _claims: tuple[ResourceClaim, ...]
    _budget: Budget
    _codes: Sequence[tuple[int, int]] | bytes

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes that fit."""
        return self._with(FITS)

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """The names of the nodes that ran out of budget."""
        return self._with(UNDECIDED)

    @cached_property
    def aborted(self) -> Unsatisfiable | None:
        """The error that ends the whole attempt, if there is one."""
        names = self._with(ABORTS)
        outcome = self.outcome(names[0]) if names else None
        return outcome if isinstance(outcome, Unsatisfiable) else None

    def outcome(self, name: str) -> Outcome:
        """
        Return the outcome for one node, with the claims' allocations or the reasons against them.

        Raises: UnknownReference for a node that does not exist.
        """
        cluster, claims, node = self._cluster, self._claims, self._cluster.node(name)
        asked = self._asked
        if asked is not None:
            answer = cluster.known.directly(node, asked.admitted, self._budget)
            if answer is not None and answer.choice.found:
                results = cluster.known.allocator.results_of(answer)
                return Allocated(name, partial(_completed, self._completing, results), answer.work)
            refused = cluster.known.standings.refused(asked, cluster.known.roster.places[name])
            if refused is not None:
                counted = tuple([cluster.known.counted(each, claims, node) for each in refused.refusals])
                return Unsatisfiable(counted, aborts=refused.aborts)
        return cluster.on_node(claims, node, budget=self._budget)

    @cached_property
    def _asked(self) -> Asked | None:
        """The question; None where some of the claims are allocated already."""
        if any(claim.status.allocation is not None for claim in self._claims):
            return None
        return Asked.of(self._claims, self._cluster.known.survey, self._budget)

    @cached_property
    def _completing(self) -> Callable[[Sequence[AllocationResult]], tuple[ResourceClaim, ...]]:
        return completing(self._claims)

    def _with(self, code: int) -> tuple[str, ...]:
        names = self._cluster.known.roster.names
        if isinstance(self._codes, bytes):
            return tuple([names[place] for place in places_of(self._codes, code)])
        return tuple([names[place] for place, each in self._codes if each == code])

    def __len__(self) -> int:
        return self._codes.count(FITS) if isinstance(self._codes, bytes) else len(self.nodes)

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:  # type: ignore[override]
        return self.nodes[index]

    def __contains__(self, name: object) -> bool:
        return name in self.nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        return f"Fits({len(self)} of {len(self._codes)} nodes)"


def _completed(
    completing: Callable[[Sequence[AllocationResult]], tuple[ResourceClaim, ...]], results: Results
) -> tuple[ResourceClaim, ...]:
    return completing(results())
