"""
A node with its pools, and claims that passed admission.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from dra_alloc.api import AllocationResult, Node, ResourceClaim
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.gathering import Offer
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.rules import Rule
from dra_alloc.solve.assemble import Forms
from dra_alloc.solve.masks.board import Board, BoardAnswer
from dra_alloc.solve.masks.plan import Plan


class View:
    """
    One node, its pools as far as they offer devices, and its boards.

    `direct` is False where only the search itself can answer, because the node
    matters to single devices. `only` is the slice, if there is but one. `latest`
    holds the board for the plan that asked last, `told` what was put together
    last: for which requests and choice; both are parts of the engine.
    """

    __slots__ = ("direct", "invalid", "last", "latest", "node", "only", "pools", "slices", "told", "whole")

    def __init__(self, node: Node, offer: Offer) -> None:
        self.node = node
        self.pools = offer.pools
        self.invalid = offer.invalid
        pools = offer.pools
        self.slices = pools[0].slices if len(pools) == 1 else tuple([row for pool in pools for row in pool.slices])
        self.only = self.slices[0] if len(self.slices) == 1 else None
        self.direct = all(map(is_plain, self.slices))
        # The last answer where devices were shared: for which plan, in which state.
        self.last: tuple[Plan, object, BoardAnswer] | None = None
        # Whether all that the node can see is complete and valid, as requests for all need it; None if nobody asked.
        self.whole: bool | None = None
        self.latest: tuple[Plan | None, Board | None] = None, None
        self.told: tuple[Sequence[ClaimRow], BoardAnswer, tuple[AllocationResult, ...]] | None = None


def is_plain(row: SliceRow) -> bool:
    """Return whether nodes have no say in single devices of the slice."""
    if row.is_local:
        return True
    selector = row.wire.spec.node_selector
    if row.wire.spec.skip_node_operations:
        return False
    return not row.per_device and (selector is None or len(selector.node_selector_terms) <= 1)


class Admitted(Struct, frozen=True, eq=False):
    """
    Claims that passed admission, whatever the node; which devices a request for all wants, nodes have a say in.

    `asks` holds all requests and alternatives by id, `constraints` the rules
    of the constraints. `plan` is None if only the search itself can answer.
    `forms` remembers what results have in common by the alternatives that serve the claims.
    """

    claims: tuple[ResourceClaim, ...]
    rows: tuple[ClaimRow, ...]
    asks: tuple[Ask, ...]
    constraints: tuple[Rule, ...]
    plan: Plan | None
    forms: dict[tuple[int, ...], Forms] = field(default_factory=dict)

    def rows_of(self, claims: Sequence[ResourceClaim]) -> tuple[ClaimRow, ...] | None:
        """Return the rows if they are those of these very claims on any node: None where one is for all devices."""
        own = all(row.wire is claim for row, claim in zip(self.rows, claims, strict=True))
        return self.rows if own and not any(ask.all_devices for ask in self.asks) else None

    def of(self, claims: Sequence[ResourceClaim]) -> Admitted:
        """Return the same for claims of equal specifications."""
        return Admitted(tuple(claims), self.rows, self.asks, self.constraints, self.plan, self.forms)
