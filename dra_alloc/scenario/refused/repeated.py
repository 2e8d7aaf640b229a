"""
What the refusal of a claim on a node came to, kept for claims that ask the same later: only their name is another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.counts import Explanation
from dra_alloc.explain.reasons import Reasons, reasons
from dra_alloc.explain.world import World
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.ledger import Hold
from dra_alloc.problem.overlay import Overlay
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import EXTENDED_CLAIM, claim_name
from dra_alloc.solve.content import content

_MOST: Final = 2_000
#: The facts that name the claim that asks.
_NAMING: Final = ("constraint", "request")


class Repeated:
    """The answers for one check; those for several claims at once are not kept."""

    def __init__(self) -> None:
        # Each with the pools that the node saw, and after how many states it was counted.
        self._counted: dict[Hashable, tuple[tuple[Pool, ...], int, Explanation]] = {}
        # The holders of devices in the state that was seen last, how many states that was, and when pools changed.
        self._holds: Overlay[DeviceKey, tuple[Hold, ...]] = Overlay()
        self._states = 0
        self._changed: dict[tuple[str, str], int] = {}
        # The worlds are kept, so that no other objects get their ids.
        self._reasons: dict[Hashable, tuple[object, str, int, Reasons]] = {}

    def counted(
        self,
        cluster: Cluster,
        refusal: NodeRefusal,
        claims: Sequence[ResourceClaim],
        count: Callable[[NodeRefusal, Sequence[ResourceClaim], Node], NodeRefusal],
    ) -> NodeRefusal:
        """Return a refusal with what each device fell to, as `count` does it where it is not known."""
        node = cluster.node(refusal.node)
        pending = [claim for claim in claims if claim.status.allocation is None]
        pools = _pools(cluster, node) if len(pending) == 1 else None
        if pools is None:
            return count(refusal, claims, node)
        self._notice(cluster)
        key = refusal.node, _asking(pending[0])
        known = self._counted.get(key)
        if known is not None and known[0] == pools and self._is_as_of(known[1], pools):
            return refusal.counting(_told_of(known[2], claim_name(pending[0])))
        told = count(refusal, claims, node)
        _put(self._counted, key, (pools, self._states, told.explanation))
        return told

    def _notice(self, cluster: Cluster) -> None:
        """Note of which pools devices have other holders than in the state before."""
        holds = cluster.known.ledger.holds
        if holds is not self._holds:
            self._states += 1
            self._changed.update([((key.driver, key.pool), self._states) for key in holds.differing(self._holds)])
            self._holds = holds

    def _is_as_of(self, state: int, pools: Sequence[Pool]) -> bool:
        """Return whether the devices of pools have the holders that they had in an earlier state."""
        return all(self._changed.get(pool.key, 0) <= state for pool in pools)

    def reasons(self, world: World, allowed: int, elsewhere: Sequence[World]) -> Reasons:
        """Return the reasons of a refusal, for which so much work is allowed."""
        worlds = (world, *elsewhere)
        look = partial(reasons, world, allowed, refused=True, elsewhere=elsewhere)
        if any(len(each.claims) != 1 for each in worlds):
            return look()
        key, name = tuple(map(_contents, worlds)), claim_name(world.claims[0])
        _, other, least, found = self._reasons.get(key, (None, "", 0, None))
        # Far from what is allowed it makes no difference how much that is.
        if found is None or 2 * found.work >= min(least, allowed):
            found = look()
            _put(self._reasons, key, (worlds, name, allowed, found))
            return found
        return replace(found, facts=tuple([(code, _said_of(code, text, other, name)) for code, text in found.facts]))


def _put(known: dict[Hashable, Any], key: Hashable, value: object) -> None:
    if len(known) >= _MOST:
        known.clear()
    known[key] = value


def _asking(claim: ResourceClaim) -> Hashable:
    """Return all of a claim but its name that matters to what is said of it."""
    return content(claim), claim.metadata.annotations.get(EXTENDED_CLAIM)


def _pools(cluster: Cluster, node: Node) -> tuple[Pool, ...] | None:
    """Return the pools that a node sees; None if that cannot be told."""
    try:
        return cluster.known.survey.pools(node)
    except GatherError:
        return None


def _contents(world: World) -> Hashable:
    """Return what a world is but for the name of its claim, objects by their ids."""
    slices, rules = tuple(map(id, world.slices)), tuple(map(id, world.taint_rules))
    held = tuple([(name, id(each)) for name, each in world.allocations.items()])
    things = id(world.node), id(world.classes), slices, rules, held, tuple(world.going.items())
    return _asking(world.claims[0]), world.profile, things


def _told_of(explanation: Explanation, name: str) -> Explanation:
    """Return the same told of a claim of another name."""
    requests = tuple([each.of_claim(name) for each in explanation.requests])
    return Explanation(requests, tuple([(name, *each[1:]) for each in explanation.placed]), explanation.cause)


def _said_of(code: str, text: str, other: str, name: str) -> str:
    """Return a fact with the name of the claim that asks in place of another's."""
    return f"claim {name}{text.removeprefix(f'claim {other}')}" if code in _NAMING else text
