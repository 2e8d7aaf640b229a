"""
The reasons of a refusal in a cluster: facts, fixes, hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import is_

from dra_alloc.api import AllocationResult, FrozenMap, Node, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.errors import first_few
from dra_alloc.explain.choice import PassedOver, SkippedAlternative, passed_over, skipped_alternatives
from dra_alloc.explain.surroundings import Surroundings
from dra_alloc.explain.world import Surveys, World
from dra_alloc.problem.devices import PoolKey
from dra_alloc.problem.pools import gather
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.audit import picks_in
from dra_alloc.work import finishing


def world_of(
    cluster: Cluster,
    claims: Sequence[ResourceClaim],
    node: Node,
    held: Mapping[PoolKey, Sequence[str]] | None = None,
    around: Surroundings | None = None,
) -> World:
    """
    Return the part of the cluster that matters to claims on a node.

    Whoever asks for many nodes gives its :class:`Holders`, so that it is not looked for anew, and what worlds of its
    nodes share.

    Raises: GatherError for a node selector that cannot be evaluated.
    """
    profile = cluster.settings.profile()
    keys = [pool.key for pool in gather(cluster.inventory, node, profile)]
    rows = [row for key in keys for row in cluster.inventory.by_pool[key]]
    rules = {id(rule): rule for row in rows for rule in row.taint_rules}
    pending = tuple(claim for claim in defaulted(claims) if claim.status.allocation is None)
    allocations = _allocations(cluster, keys, Holders().of(cluster) if held is None else held)
    slices, taint_rules = tuple([row.wire for row in rows]), tuple(rules.values())
    return World(
        node,
        pending,
        allocations,
        cluster.classes,
        slices,
        taint_rules,
        profile,
        _going(cluster, allocations),
        Surveys(around, slices, taint_rules),
    )


class Holders:
    """Which claims hold devices of which pools, in clusters that mostly have more claims than the one before."""

    def __init__(self) -> None:
        self._claims: list[ResourceClaim] = []
        self._found: dict[PoolKey, tuple[str, ...]] = {}

    def of(self, cluster: Cluster) -> Mapping[PoolKey, Sequence[str]]:
        """Return the names of the claims that hold devices of each pool, in the order of the cluster."""
        claims = cluster.claims.items()
        known, now = self._claims, [claim for _, claim in claims]
        if len(known) > len(now) or not all(map(is_, known, now)):
            known, self._found = [], {}
        if len(known) < len(now):
            found: dict[PoolKey, list[str]] = {}
            for name, claim in islice(claims, len(known), None):
                for pool in _pools_of(claim):
                    found.setdefault(pool, []).append(name)
            self._found = {**self._found, **{pool: (*self._found.get(pool, ()), *found[pool]) for pool in found}}
        self._claims = now
        return self._found


def _pools_of(claim: ResourceClaim) -> tuple[PoolKey, ...]:
    """Return the pools that the claim holds devices of, each once."""
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    return tuple(dict.fromkeys([PoolKey(each.driver, each.pool) for each in results]))


def _allocations(
    cluster: Cluster, pools: Sequence[PoolKey], held: Mapping[PoolKey, Sequence[str]]
) -> dict[str, AllocationResult]:
    """Return the allocations in the pools, in the order of the cluster as far as one pool goes."""
    names = dict.fromkeys(name for pool in pools for name in held.get(pool, ()))
    allocations = ((name, cluster.claims[name].status.allocation) for name in names)
    return {name: allocation for name, allocation in allocations if allocation is not None}


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


def choice_on(cluster: Cluster, allocated: Allocated) -> NotTaken:
    """Return why these devices were chosen; `cluster` is that before the allocation."""
    node = cluster.node(allocated.node)
    world = world_of(cluster, _as_before(allocated, cluster), node)
    made = {claim_name(claim): claim for claim in allocated.claims}
    with finishing():
        question = world.allocator().question(node, world.claims)
        picks, _ = picks_in(question, [made[claim_name(claim)] for claim in world.claims])
        return NotTaken(skipped_alternatives(world, picks), passed_over(question, picks))


def _as_before(allocated: Allocated, cluster: Cluster) -> list[ResourceClaim]:
    """Return the claims of an answer as they were in the cluster before it."""
    claims = []
    for claim in allocated.claims:
        before = cluster.claims.get(claim_name(claim))
        fresh = claim.replaced(status=claim.status.replaced(allocation=None))
        claims.append(fresh if before is None else before)
    return claims
