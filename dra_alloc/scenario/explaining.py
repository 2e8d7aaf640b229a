"""
The reasons of a refusal in a cluster: facts, fixes, hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dra_alloc.api import AllocationResult, FrozenMap, Node, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.errors import first_few
from dra_alloc.explain.choice import PassedOver, SkippedAlternative, passed_over, skipped_alternatives
from dra_alloc.explain.reasons import WORK, Reasons, reasons
from dra_alloc.explain.world import World
from dra_alloc.problem.devices import PoolKey
from dra_alloc.problem.pools import GatherError, gather
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.audit import picks_in

__all__ = ["NotTaken", "choice_on", "reasons_on", "world_of"]


def world_of(cluster: Cluster, claims: Sequence[ResourceClaim], node: Node) -> World:
    """
    Return the part of the cluster that matters to claims on a node.

    Raises: GatherError for a node selector that cannot be evaluated.
    """
    profile = cluster.settings.profile()
    keys = [pool.key for pool in gather(cluster.inventory, node, profile)]
    rows = [row for key in keys for row in cluster.inventory.by_pool[key]]
    rules = {id(rule): rule for row in rows for rule in row.taint_rules}
    pending = tuple(claim for claim in defaulted(claims) if claim.status.allocation is None)
    allocations = _allocations(cluster, frozenset(keys))
    return World(
        node,
        pending,
        allocations,
        cluster.classes,
        tuple(row.wire for row in rows),
        tuple(rules.values()),
        profile,
        _going(cluster, allocations),
    )


def _allocations(cluster: Cluster, pools: frozenset[PoolKey]) -> dict[str, AllocationResult]:
    found = {}
    for name, claim in cluster.claims.items():
        allocation = claim.status.allocation
        if allocation is not None and any(
            PoolKey(each.driver, each.pool) in pools for each in allocation.devices.results
        ):
            found[name] = allocation
    return found


def _going(cluster: Cluster, names: Iterable[str]) -> FrozenMap[str, str]:
    """Return who uses those of the claims that are being deleted."""
    claims = ((name, cluster.claims[name]) for name in names)
    return FrozenMap(
        {
            name: first_few([f"{each.resource}/{each.name}" for each in claim.status.reserved_for])
            for name, claim in claims
            if claim.metadata.deletion_timestamp is not None
        }
    )


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Why an allocation is the one it is: better alternatives that were not to be had, and devices passed over."""

    skipped: tuple[SkippedAlternative, ...]
    passed: tuple[PassedOver, ...]


def choice_on(cluster: Cluster, claims: Sequence[ResourceClaim], allocated: Allocated) -> NotTaken:
    """
    Return why these devices were chosen.

    `cluster` and `claims` are those before the allocation.
    """
    node = cluster.node(allocated.node)
    world = world_of(cluster, claims, node)
    made = {claim_name(claim): claim for claim in allocated.claims}
    question = world.allocator().question(node, world.claims)
    picks, _ = picks_in(question, [made[claim_name(claim)] for claim in world.claims])
    return NotTaken(skipped_alternatives(world, picks), passed_over(question, picks))


def reasons_on(
    cluster: Cluster,
    claims: Sequence[ResourceClaim],
    node: Node,
    work: int = WORK,
    elsewhere: Sequence[World] = (),
) -> Reasons:
    """
    Return why claims that a search found no devices for do not fit on the node, and what would help.

    `elsewhere` are the worlds of other nodes that are asked, too.
    """
    try:
        return reasons(world_of(cluster, claims, node), work, refused=True, elsewhere=elsewhere)
    except GatherError:
        return Reasons((), exact=False)
