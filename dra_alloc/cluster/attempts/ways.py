"""
How nodes are chosen for pods: among which, and which of those that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Nodes that fit a pod, or may, in a cluster as it is; `alike` if the pod's claims are the same on all of them."""

    cluster: Cluster
    claims: Callable[[Node], Sequence[ResourceClaim]]
    nodes: Sequence[Node]
    alike: bool


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """
    How a node is found: with `node` there alone, with `first` the first that fits, whatever its score.

    `best` chooses otherwise, and its answer is taken where it has one.
    """

    first: bool = False
    node: str | None = None
    best: Callable[[Candidates], Allocated | None] | None = None
    budget: Budget = DEFAULT_BUDGET


DEFAULT_WAYS: Final = Ways()
