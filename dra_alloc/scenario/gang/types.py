"""
Pods to be placed together, and where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dra_alloc.api import AllocationResult, ResourceClaim
from dra_alloc.cluster.arguments import objects_in
from dra_alloc.cluster.claim_names import each_once
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.errors import InputError
from dra_alloc.problem.requests import claim_name
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.outcome import Solved


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """
    A pod, as far as devices are concerned: its name and the claims made for it alone.

    Claims without an allocation mode get the API server's defaults.

    Raises: InputError for what are no claims, for one that is allocated, which is no part of what a gang asks for, and
    for one twice.
    """

    name: str
    claims: tuple[ResourceClaim, ...]

    def __post_init__(self) -> None:
        argument = f"claims of member {self.name}"
        claims = objects_in(self.claims, argument, ResourceClaim, "ResourceClaim")
        for number, claim in enumerate(claims):
            if claim.status.allocation is not None:
                raise InputError(
                    f"claims[{number}] of member {self.name}, {claim_name(claim)}, is allocated already",
                    hint="a gang's pods need claims of their own; Cluster.place takes pods with allocated claims",
                )
        object.__setattr__(self, "claims", tuple(defaulted(each_once(claims, argument))))


@dataclass(frozen=True, slots=True)
class Topology:
    """A node label whose value all members must, or should, have in common."""

    label: str
    must: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A member on a node; its claims are those of the outcome from number `first` on."""

    member: Member
    node: str
    outcome: Solved
    first: int

    @property
    def results(self) -> tuple[AllocationResult, ...]:
        """Return one allocation per claim; they are put together on first use."""
        return tuple(self.outcome.results[self.first : self.first + len(self.member.claims)])


class WantNumbers:
    """Says which members ask for the same: each distinct set of specifications has a number."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], int] = {}
        self._specs: dict[tuple[object, ...], int] = {}
        # Specifications are known by identity, so they are kept alive.
        self._kept: list[Member] = []

    def __call__(self, member: Member) -> int:
        """Return the number of what the member asks for."""
        key = tuple(id(claim.spec) for claim in member.claims)
        found = self._known.get(key)
        if found is None:
            self._kept.append(member)
            specs = tuple(claim.spec for claim in member.claims)
            found = self._known[key] = self._specs.setdefault(specs, len(self._specs))
        return found


class Verdict(StrEnum):
    """Whether a placement was found, is impossible, or could not be decided."""

    PLACED = "placed"
    NONE = "none"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, eq=False)
class Gang:
    """
    Members that were placed, in the order asked.

    `why` says in words why not, where there is something to say; `proven` is
    False if more, or better, might be possible. `scores` has one entry per
    objective, if there were any.
    """

    verdict: Verdict
    placements: tuple[Placement, ...]
    why: str = ""
    proven: bool = True
    scores: tuple[Score, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes used, in the order of their first member."""
        return tuple(dict.fromkeys(placement.node for placement in self.placements))
