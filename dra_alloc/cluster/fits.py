"""
Which nodes could have a pod's claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.holding import reaches
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Undecided, Unsatisfiable
from dra_alloc.cluster.standings import ABORTS, FITS, UNDECIDED, Asked, places_of
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.solve.allocator import Budget
from dra_alloc.solve.outcome import Work

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

__all__ = ["Fits", "first_outcome", "first_place"]


def first_place(cluster: Cluster, claims: Sequence[ResourceClaim], budget: Budget) -> int | None:
    """Return the place of the first node that can have the claims, as far as that is known without a closer look."""
    if any(claim.status.allocation is not None for claim in claims):
        return None
    with gc_paused(settle=cluster.survey.untouched):
        place, code = cluster.standings.first(Asked.of(claims, cluster.survey, budget))
    return place if code == FITS else None


def first_outcome(cluster: Cluster, claims: Sequence[ResourceClaim], nodes: Sequence[Node], budget: Budget) -> Outcome:
    """Return the outcome of trying the nodes in order until one fits, or ends the attempt."""
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

    def __init__(
        self, cluster: Cluster, claims: tuple[ResourceClaim, ...], names: Sequence[str] | None, budget: Budget
    ) -> None:
        roster = cluster.roster
        pending = [claim for claim in claims if claim.status.allocation is None]
        held = [claim for claim in claims if claim.status.allocation is not None]
        places = range(len(roster.nodes)) if names is None else sorted({roster.places[name] for name in names})
        if held:
            places = [place for place in places if all(reaches(claim, roster.nodes[place]) for claim in held)]
        asked = Asked.of(pending, cluster.survey, budget)
        standings = cluster.standings
        codes: Sequence[tuple[int, int]] | bytes
        with gc_paused(settle=cluster.survey.untouched):
            if len(places) == len(roster.nodes):
                codes = standings.codes(asked)
            else:
                codes = [(place, standings.code(asked, place)) for place in places]
        self.__dict__.update(_cluster=cluster, _claims=claims, _budget=budget, _codes=codes)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} of an answer cannot be assigned to")

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
        return self._cluster.on_node(self._claims, self._cluster.node(name), budget=self._budget)

    def _with(self, code: int) -> tuple[str, ...]:
        names = self._cluster.roster.names
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
