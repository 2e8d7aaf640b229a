"""
The public results: allocated, unsatisfiable, undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dra_alloc.api import ResourceClaim
from dra_alloc.errors import InputError
from dra_alloc.explain.counts import NOTHING, Explanation
from dra_alloc.explain.reasons import Reasons
from dra_alloc.problem.publishing import published
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.outcome import Work

_Claims = tuple[ResourceClaim, ...]


class Allocated:
    """
    The claims fit on `node`; each carries its allocation in `status.allocation`.

    `claims` are in the order asked, claims that were allocated before
    included. They may be given as a function; then they are made when they are
    first looked at, and kept: every thread gets the same. `scores` has one
    entry per objective, if there were any.
    """

    # Members with an underscore and properties over them cannot be assigned to, at no cost to whoever makes thousands.
    __slots__ = ("_claims", "_node", "_scores", "_work")
    __match_args__ = ("node", "claims", "work")

    def __init__(
        self, node: str, claims: _Claims | Callable[[], _Claims], work: Work, scores: tuple[Score, ...] = ()
    ) -> None:
        self._node = node
        self._claims = claims
        self._work = work
        self._scores = scores

    @property
    def node(self) -> str:
        """Return the name of the node."""
        return self._node

    @property
    def work(self) -> Work:
        """Return how much work the answer took."""
        return self._work

    @property
    def scores(self) -> tuple[Score, ...]:
        """Return how good the answer is by each objective."""
        return self._scores

    @property
    def claims(self) -> _Claims:
        """Return the claims with their allocations."""
        claims = self._claims
        return claims if isinstance(claims, tuple) else published(self, "_claims", claims())

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Allocated):
            return NotImplemented
        return (self.node, self.claims, self.work) == (other.node, other.claims, other.work)

    def __hash__(self) -> int:
        return hash((self.node, self.claims))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have the claims, not the function that makes them."""
        return Allocated, (self.node, self.claims, self.work, self.scores)

    def __repr__(self) -> str:
        return f"Allocated({self.node!r}, {self.claims!r}, {self.work!r})"


@dataclass(frozen=True, slots=True)
class NodeRefusal:
    """
    Why one node cannot have the claims.

    `error` is kube-scheduler's own error text where it gives one, `detail` what
    that leaves out, `code` the stable reason code; `explanation` counts devices by rule,
    `reasons` has facts and tried fixes where they were asked for.
    """

    node: str
    code: str
    error: str = ""
    explanation: Explanation = NOTHING
    reasons: Reasons | None = None
    detail: str = ""

    @property
    def text(self) -> str:
        """The error with its detail."""
        return f"{self.error}: {self.detail}" if self.detail else self.error

    def counting(self, explanation: Explanation) -> NodeRefusal:
        """Return the same with devices counted; a fourth of the cost of `replace`, for every node of every claim."""
        return NodeRefusal(self.node, self.code, self.error, explanation, self.reasons, self.detail)

    def because(self, reasons: Reasons) -> NodeRefusal:
        """Return the same with reasons, as cheaply."""
        return NodeRefusal(self.node, self.code, self.error, self.explanation, reasons, self.detail)


_Refusals = tuple[NodeRefusal, ...]


class Unsatisfiable:
    """
    No node asked can have the claims; one refusal per node.

    With `aborts` kube-scheduler would stop the pod's scheduling attempt with
    an error instead of trying other nodes. Refusals may be given as a
    function, as the claims of :class:`Allocated`.
    """

    __slots__ = ("_aborts", "_refusals")
    __match_args__ = ("refusals", "aborts")

    def __init__(self, refusals: _Refusals | Callable[[], _Refusals], aborts: bool = False) -> None:
        self._refusals = refusals
        self._aborts = aborts

    @property
    def aborts(self) -> bool:
        """Return whether the whole scheduling attempt ends here."""
        return self._aborts

    @property
    def refusals(self) -> _Refusals:
        """Return why each node cannot have the claims."""
        refusals = self._refusals
        return refusals if isinstance(refusals, tuple) else published(self, "_refusals", refusals())

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Unsatisfiable):
            return NotImplemented
        return (self.refusals, self.aborts) == (other.refusals, other.aborts)

    def __hash__(self) -> int:
        return hash((self.refusals, self.aborts))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have the refusals, not the function that makes them."""
        return Unsatisfiable, (self.refusals, self.aborts)

    def __repr__(self) -> str:
        return f"Unsatisfiable({self.refusals!r}, aborts={self.aborts})"


@dataclass(frozen=True, slots=True)
class Undecided:
    """The budget ran out on some nodes before any answer was found."""

    nodes: tuple[str, ...]
    work: Work

    def __bool__(self) -> bool:
        return False


Outcome = Allocated | Unsatisfiable | Undecided


def claims_of(outcome: Outcome) -> tuple[ResourceClaim, ...]:
    """Return the claims that an outcome allocates, if any. Raises: InputError for what is no outcome."""
    if isinstance(outcome, Allocated):
        return outcome.claims
    if not isinstance(outcome, (Unsatisfiable, Undecided)):
        raise InputError(
            f"after takes the outcome of a question, not {type(outcome).__name__}",
            hint="what place returns has a `cluster`, what filter returns an `outcome(name)` for each node",
        )
    return ()
