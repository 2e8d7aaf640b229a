"""
Whether an allocation that a claim already has is one the rules allow.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.requests import Ask, claim_name
from dra_alloc.rules import Pick, SearchStopped
from dra_alloc.solve.question import Question
from dra_alloc.solve.verify import violations


def audit(cluster: Cluster, claim: ResourceClaim, node: Node) -> tuple[str, ...]:
    """
    Return every rule that the claim's allocation breaks on the node; none if it is legal.

    What other claims of the cluster hold counts, what the claim itself holds
    does not. The allocation need not be the one that first fit would find.
    """
    if claim.status.allocation is None:
        return ("the claim has no allocation",)
    others = cluster.without_claims([claim_name(claim)])
    try:
        question = others.known.allocator.question(node, [claim])
        picks, unknown = picks_in(question, [claim])
        return (*unknown, *violations(picks, question.rows, question.context))
    except SearchStopped as stop:
        return (stop.text,)


def picks_in(question: Question, claims: Sequence[ResourceClaim]) -> tuple[list[Pick], list[str]]:
    """Return the allocations of the question's claims as picks in request order, and what in them leads nowhere."""
    devices = {device.key: device for device in question.candidates}
    picks: list[Pick] = []
    unknown: list[str] = []
    for row, claim in zip(question.rows, claims, strict=True):
        asks = {ask.full_name: ask for request in row.requests for ask in request.asks}
        results = claim.status.allocation.devices.results if claim.status.allocation is not None else ()
        for result in results:
            key = DeviceKey(result.driver, result.pool, result.device)
            ask, device = asks.get(result.request), devices.get(key)
            if ask is None:
                unknown.append(f"there is no request {result.request}")
            elif device is None:
                unknown.append(f"node {question.context.node.metadata.name} has no device {key}")
            else:
                picks.append(Pick(ask, device))
    return _in_order(picks, question), unknown


def _in_order(picks: list[Pick], question: Question) -> list[Pick]:
    """Return the picks in request order, in which a search makes them."""
    order: dict[Ask, int] = {}
    for claim in question.rows:
        for request in claim.requests:
            for ask in request.asks:
                order[ask] = len(order)
    return sorted(picks, key=lambda pick: order[pick.ask])
