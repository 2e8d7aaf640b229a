"""
What becomes of a pod that is to be scheduled.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

from dra_alloc.api import NodeAllocatableClaimStatus, ResourceClaim
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal


class NodeNames(Sequence[str]):
    """The names of some nodes, kept as places: there may be thousands for each of thousands of pods."""

    __slots__ = ("_names", "_places")

    def __init__(self, names: Sequence[str] = (), places: Iterable[int] = ()) -> None:
        self._names = names
        self._places = array("I", places)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[str, ...]: ...
    def __getitem__(self, number: int | slice) -> str | tuple[str, ...]:
        if isinstance(number, slice):
            return tuple([self._names[place] for place in self._places[number]])
        return self._names[self._places[number]]

    def __iter__(self) -> Iterator[str]:
        return map(self._names.__getitem__, self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True)
class Scheduled:
    """
    The pod runs on `node`, with the claims of `allocated`.

    `equal` are all nodes that kube-scheduler scores as high, this one among
    them: it draws one. In a cluster in which it scores some nodes only,
    `sampled` says how many, and `equal` are all that fit: which of them it
    looks at cannot be said. `undecided` nodes might fit and be better; `fits`
    are all that do fit, in cluster order. Its devices take `takes` of the node's
    cpu, memory and huge pages.
    """

    pod: str
    node: str
    allocated: Allocated = field(repr=False)
    equal: Sequence[str] = ()
    sampled: int | None = None
    undecided: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fits: Sequence[str] = field(default_factory=NodeNames, repr=False)
    takes: tuple[NodeAllocatableClaimStatus, ...] = ()

    @property
    def claims(self) -> tuple[ResourceClaim, ...]:
        """The pod's claims with their allocations."""
        return self.allocated.claims


@dataclass(frozen=True)
class Waiting:
    """
    The scheduler does not try the pod yet. `text` is its reason: a gate, a claim that cannot be used, or a quota.

    `detail` says in numbers what the text leaves out.
    """

    pod: str
    code: str
    text: str
    notes: tuple[str, ...] = ()
    detail: str = ""


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
    """
    No node fits, as far as is known, and the budget ran out on some; or the command's, before that much was known.

    In the latter case all nodes are `undecided` that were in question.
    `solver_could` says that CP-SAT could decide one of these, and was not asked.
    """

    pod: str
    undecided: tuple[str, ...]
    notes: tuple[str, ...] = ()
    solver_could: bool = False


@dataclass(frozen=True)
class Unschedulable:
    """
    No node can have the pod.

    `text` speaks where no node was looked at, or one ended the whole attempt
    (`aborts`, with the refusal of that one), `detail` in numbers; else there is
    a refusal for every node. `helped` pods may find a node once others have
    found theirs. After an error, nodes that are `ruled_out` were not asked for
    devices.
    """

    pod: str
    text: str = ""
    code: str = ""
    aborts: bool = False
    notes: tuple[str, ...] = ()
    helped: bool = False
    detail: str = ""
    find_refusals: Callable[[], tuple[NodeRefusal, ...]] = field(default=tuple, repr=False, compare=False)
    find_claims: Callable[[str], Sequence[ResourceClaim]] = field(default=lambda _: (), repr=False, compare=False)
    ruled_out: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @cached_property
    def refusals(self) -> tuple[NodeRefusal, ...]:
        """Why each node cannot have the pod, in cluster order."""
        return self.find_refusals()

    def claims_on(self, node: str) -> Sequence[ResourceClaim]:
        """Return the claims that a node was asked for: what it offers itself is not claimed there."""
        return self.find_claims(node)

    @property
    def message(self) -> str:
        """What the scheduler writes on the pod, as far as nodes and devices go."""
        if self.text:
            return f'running "DynamicResources" filter plugin: {self.text}' if self.aborts else self.text
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
