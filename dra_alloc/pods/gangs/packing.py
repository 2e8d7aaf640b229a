"""
Pods of a gang put into domains: one domain for each group that says so, within those of the groups above it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from dra_alloc.pods.gangs.topology import Domain, Labels, TopologyConstraint, candidates, domains
from dra_alloc.pods.gangs.trees import GroupTree

#: So many pods and domains are tried at most for the pods of one turn.
_TRIES: Final = 20_000


class Terrain(Protocol):
    """Nodes on which pods find places, one after the other; what was found can be given back."""

    @property
    def labels(self) -> Labels:
        """The labels of the nodes."""

    def ordered(self, constraint: TopologyConstraint, level: Sequence[Domain], pods: Sequence[int]) -> Sequence[Domain]:
        """Return domains of one level in the order in which they are tried for pods."""

    def attempt(self, pod: int, places: Sequence[int] | None) -> bool | None:
        """Return whether a pod finds a place among these nodes, or any; None where that could not be decided."""

    def saved(self) -> Any:
        """Return the state as it is now."""

    def go_back(self, saved: Any) -> None:
        """Forget what was found since the state was saved."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many pods found a place in a domain, of so many that were tried there one after the other."""

    domain: Domain
    placed: int
    of: int


@dataclass(frozen=True, slots=True)
class DomainsFound:
    """
    What became of pods: whether all have places, None where that could not be decided.

    `domains` are those taken, by the names of the groups; `rooms` what there
    was in those that did not do, of the outermost group that found none, and
    `against` why it can have none.
    """

    placed: bool | None
    domains: Mapping[str, Domain] = field(default_factory=dict)
    rooms: tuple[Room, ...] = ()
    against: str = ""


def pack(tree: GroupTree, pods: Sequence[int], terrain: Terrain, held: Mapping[int, int]) -> DomainsFound:
    """
    Find places for pods of a gang, in the order given; `held` are the places of its other pods.

    A group that is to be together is tried in one domain after the other, and
    the first in which all its pods find places is taken: with what groups below
    it say themselves within it. What was taken for one group is not revised for
    another beside it.

    Spec: TOPOLOGY-5.
    """
    under_way = _UnderWay(terrain, held)
    placed, _ = under_way.group(tree, pods, None)
    if placed:
        return DomainsFound(True, under_way.chosen)
    return DomainsFound(placed, {}, tuple(under_way.rooms), under_way.against)


@dataclass(slots=True)
class _UnderWay:
    """Pods on their way into domains."""

    terrain: Terrain
    held: Mapping[int, int]
    chosen: dict[str, Domain] = field(default_factory=dict)
    rooms: list[Room] = field(default_factory=list)
    against: str = ""
    left: int = _TRIES
    known: dict[tuple[TopologyConstraint, frozenset[int]], Sequence[tuple[Domain, ...]]] = field(default_factory=dict)

    def group(self, tree: GroupTree, pods: Sequence[int], places: tuple[int, ...] | None) -> tuple[bool | None, int]:
        """Return whether all the group's pods find places among these nodes, and how many did."""
        members = set(tree.members())
        asked = [each for each in pods if each in members]
        if not asked or not tree.topology:
            return self._within(tree, asked, places)
        if tree.topology.against:
            self.against = tree.topology.against
            return False, 0
        held = frozenset([self.held[each] for each in members if each in self.held])
        rooms: list[Room] = []
        unknown, inside = False, None if places is None else set(places)
        for level in self._levels(tree.topology, held):
            for domain in self.terrain.ordered(tree.topology, level, asked):
                here = tuple([each for each in domain.places if inside is None or each in inside])
                if not here:
                    continue
                if not self._may_try():
                    return None, 0
                before, chosen = self.terrain.saved(), dict(self.chosen)
                placed, count = self._within(tree, asked, here)
                if placed:
                    self.chosen[tree.name] = domain
                    return True, count
                self.terrain.go_back(before)
                self.chosen = chosen
                unknown = unknown or placed is None
                rooms.append(Room(domain, count, len(asked)))
        self.rooms = rooms
        self.against = self.against or self._outside(tree.topology, held)
        return None if unknown else False, max((each.placed for each in rooms), default=0)

    def _within(self, tree: GroupTree, pods: Sequence[int], places: tuple[int, ...] | None) -> tuple[bool | None, int]:
        """Return the same for pods whose domain is found: one by one, and group by group in the order of the pods."""
        own, count = set(tree.pods), 0
        for pod in pods:
            if pod in own:
                placed = self._attempt(pod, places)
                if not placed:
                    return placed, count
                count += 1
        turn = {pod: number for number, pod in enumerate(pods)}
        first = [min((turn[pod] for pod in each.members() if pod in turn), default=-1) for each in tree.groups]
        for _, each in sorted(zip(first, tree.groups, strict=True), key=lambda pair: pair[0]):
            placed, more = self.group(each, pods, places)
            count += more
            if not placed:
                return placed, count
        return True, count

    def _attempt(self, pod: int, places: tuple[int, ...] | None) -> bool | None:
        return self.terrain.attempt(pod, places) if self._may_try() else None

    def _may_try(self) -> bool:
        self.left -= 1
        return self.left >= 0

    def _outside(self, constraint: TopologyConstraint, held: frozenset[int]) -> str:
        """Return that no domain holds any of the pods with places, where there are domains. Spec: TOPOLOGY-4."""
        if not held or any(self._levels(constraint, held)):
            return ""
        if not domains(self.terrain.labels, constraint.levels):
            return ""
        return f"pods of it have places, and these are in no domain of {constraint.required}"

    def _levels(self, constraint: TopologyConstraint, held: frozenset[int]) -> Sequence[tuple[Domain, ...]]:
        """Return the domains that may be tried, found out once."""
        key = constraint, held
        if key not in self.known:
            self.known[key] = tuple(candidates(self.terrain.labels, constraint, held))
        return self.known[key]
