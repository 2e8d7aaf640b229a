"""
The public results: allocated, unsatisfiable, undecided.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_alloc.api import ResourceClaim
from dra_alloc.explain.reasons import Reasons
from dra_alloc.explain.tally import NOTHING, Explanation
from dra_alloc.solve.outcome import Work

__all__ = ["Allocated", "NodeRefusal", "Outcome", "Undecided", "Unsatisfiable"]


@dataclass(frozen=True, slots=True)
class Allocated:
    """
    The claims fit on `node`; each carries its allocation in `status.allocation`.

    `claims` are in the order asked, claims that were allocated before included.
    """

    node: str
    claims: tuple[ResourceClaim, ...]
    work: Work

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class NodeRefusal:
    """
    Why one node cannot have the claims.

    `error` is kube-scheduler's own error text where it gives one, `code` the
    stable reason code; `explanation` counts devices by rule,
    `reasons` has facts and tried fixes where they were asked for.
    """

    node: str
    code: str
    error: str = ""
    explanation: Explanation = NOTHING
    reasons: Reasons | None = None


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """
    No node asked can have the claims; one refusal per node.

    With `aborts` kube-scheduler would stop the pod's scheduling attempt with
    an error instead of trying other nodes.
    """

    refusals: tuple[NodeRefusal, ...]
    aborts: bool = False

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Undecided:
    """The budget ran out on some nodes before any answer was found."""

    nodes: tuple[str, ...]
    work: Work

    def __bool__(self) -> bool:
        return False


Outcome = Allocated | Unsatisfiable | Undecided
