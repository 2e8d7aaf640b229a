"""
What becomes of a pod that is to be scheduled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal

__all__ = ["NotAsked", "PodOutcome", "Scheduled", "Unschedulable", "Unsettled", "Waiting"]


@dataclass(frozen=True)
class Scheduled:
    """
    The pod runs on `node`, with the claims of `allocated`.

    `equal` are all nodes that kube-scheduler scores as high, this one among
    them: it draws one. In a cluster in which it scores some nodes only,
    `sampled` says how many, and `equal` are all that fit: which of them it
    looks at cannot be said. `undecided` nodes might fit and be better.
    """

    pod: str
    node: str
    allocated: Allocated = field(repr=False)
    equal: tuple[str, ...] = ()
    sampled: int | None = None
    undecided: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[ResourceClaim, ...]:
        """The pod's claims with their allocations."""
        return self.allocated.claims


@dataclass(frozen=True)
class Waiting:
    """The scheduler does not try the pod yet: a gate, or a claim that cannot be used. `text` is its reason."""

    pod: str
    code: str
    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class NotAsked:
    """The scheduler has nothing to do with the pod: it has its node, or is at its end."""

    pod: str
    code: str
    text: str
    node: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unsettled:
    """No node fits, as far as is known, and the budget ran out on some."""

    pod: str
    undecided: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unschedulable:
    """
    No node can have the pod.

    `text` speaks where no node was looked at, or one ended the whole attempt
    (`aborts`); else there is a refusal for every node.
    """

    pod: str
    text: str = ""
    code: str = ""
    aborts: bool = False
    notes: tuple[str, ...] = ()
    find_refusals: Callable[[], tuple[NodeRefusal, ...]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def refusals(self) -> tuple[NodeRefusal, ...]:
        """Why each node cannot have the pod, in cluster order."""
        return self.find_refusals()

    @property
    def message(self) -> str:
        """What the scheduler writes on the pod, as far as nodes and devices go."""
        if self.text:
            return self.text
        refusals = self.refusals
        counts = Counter(text for each in refusals for text in _said(each))
        reasons = ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))
        return f"0/{len(refusals)} nodes are available: {reasons}."


def _said(refusal: NodeRefusal) -> list[str]:
    """Return the scheduler's words for a refusal of one node."""
    if refusal.code == "allocated-elsewhere":
        return ["resourceclaim not available on the node"]
    return (refusal.error or "cannot allocate all claims").split(", ")


PodOutcome = Scheduled | Waiting | NotAsked | Unschedulable | Unsettled
