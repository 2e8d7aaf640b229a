"""
Claims with their allocations: where they can be used, and how they come by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dra_alloc.api import AllocationResult, Node, ResourceClaim, ResourceClaimConsumerReference
from dra_alloc.api._base import Mould
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.errors import first_few
from dra_alloc.problem.nodes import NodeSelectorError, selects_node
from dra_alloc.problem.requests import claim_name


def reaches(claim: ResourceClaim, node: Node) -> bool:
    """Return whether the claim's allocation, if it has one, can be used on the node."""
    allocation = claim.status.allocation
    if allocation is None or allocation.node_selector is None:
        return True
    try:
        return selects_node(allocation.node_selector, node)
    except NodeSelectorError:
        return False


def allocated_elsewhere(claims: Sequence[ResourceClaim], node: Node) -> NodeRefusal | None:
    """Return the refusal of a node that one of the claims is not allocated for."""
    name = node.metadata.name or ""
    for claim in claims:
        if not reaches(claim, node):
            return NodeRefusal(name, "allocated-elsewhere", elsewhere(claim))
    return None


def elsewhere(claim: ResourceClaim) -> str:
    """Return what is said of a claim that is allocated, on a node that it is not allocated for."""
    allocation = claim.status.allocation
    selector = allocation.node_selector if allocation is not None else None
    fields = [each for term in selector.node_selector_terms for each in term.match_fields] if selector else []
    named = fields[0].values if len(fields) == 1 and fields[0].operator == "In" else ()
    where = f" for {first_few(named)}, and not for this node" if named else ", and not for this node"
    return f"claim {claim_name(claim)} is allocated{where}"


def completed(claims: Sequence[ResourceClaim], results: Sequence[AllocationResult]) -> tuple[ResourceClaim, ...]:
    """Return the claims, those without an allocation with one of the results each, in order."""
    return completing(claims)(results)


def completing(claims: Sequence[ResourceClaim]) -> Callable[[Sequence[AllocationResult]], tuple[ResourceClaim, ...]]:
    """Return what does the same for many results."""
    moulds = [
        None
        if claim.status.allocation is not None
        else (Mould.like(claim, "status").made, Mould.like(claim.status, "allocation").made)
        for claim in claims
    ]

    if len(moulds) == 1 and moulds[0] is not None:
        whole, status = moulds[0]
        return lambda results: (whole(status=status(allocation=results[0])),)

    def complete(results: Sequence[AllocationResult]) -> tuple[ResourceClaim, ...]:
        made = iter(results)
        return tuple(
            [
                claim if mould is None else mould[0](status=mould[1](allocation=next(made)))
                for claim, mould in zip(claims, moulds, strict=True)
            ]
        )

    return complete


def reserved_for(claim: ResourceClaim, users: Iterable[ResourceClaimConsumerReference]) -> ResourceClaim:
    """Return the claim as it is, reserved for these users."""
    return claim.replaced(status=claim.status.replaced(reserved_for=tuple(users)))


def given_back(claim: ResourceClaim) -> ResourceClaim:
    """Return the claim without users, and so without devices."""
    return claim.replaced(status=claim.status.replaced(allocation=None, reserved_for=(), devices=()))
