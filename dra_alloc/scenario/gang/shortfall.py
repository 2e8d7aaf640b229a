"""
Why pods that fit one by one do not fit together: how many each node takes, why no more, and what would be enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from dra_alloc.api import Node
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Unsatisfiable
from dra_alloc.errors import first_few
from dra_alloc.explain.facts import Fact, facts_of
from dra_alloc.explain.reasons import fewer_devices
from dra_alloc.explain.world import World
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.explaining import world_of
from dra_alloc.scenario.gang.gang import can_place, place_most
from dra_alloc.scenario.gang.types import Member, Placement, Verdict

__all__ = ["shortfall"]

#: Nodes that are asked how many pods they take, and changes that are tried.
_MOST_NODES: Final = 32
_MOST_CHANGES: Final = 24
_TOLD: Final = 3
#: Claims in a cause, and those that hold a device.
_CLAIM: Final = re.compile(r"[\w.-]+/[\w.-]*\w")
_ALLOCATED_TO: Final = re.compile(rf"allocated to ({_CLAIM.pattern}(?:, {_CLAIM.pattern})*)")
_OF_THE_GANG: Final = "other pods of the gang"


def shortfall(cluster: Cluster, alike: Sequence[Sequence[Member]], together: str = "") -> Iterator[str]:
    """
    Yield how many pods of each kind a node takes and why no more, whether their order matters, and what would help.

    With a label that their nodes have to have `together` it is only asked whether they fit without that.

    Spec: GANG-9.
    """
    members = [member for kind in alike for member in kind]
    for kind in alike:
        yield from _by_node(cluster, kind)
    if together:
        if can_place(cluster, members) is Verdict.PLACED:
            yield f"letting them run on nodes of different {together} would be enough for all of them"
        return
    most = place_most(cluster, members)
    if most.joint.verdict is not Verdict.UNDECIDED and most.joint.proven:
        placed = len(most.joint.placements)
        if most.lost_by_order:
            yield f"their order matters: {placed} of {len(members)} could be placed at once"
        elif placed == len(most.greedy.placements):
            yield f"their order does not matter: {placed} of {len(members)} is the most that can be placed"
    helping = _Helping(cluster, alike, members)
    enough = list(helping.changes())
    if enough:
        yield f"{', or '.join(enough[:_TOLD])} would be enough for all of them"
    elif not helping.undecided:
        yield "no single change that was tried makes room for all of them"


def _by_node(cluster: Cluster, kind: Sequence[Member]) -> Iterator[str]:
    """Yield, for nodes of the same number and reason together, how many pods they take each and why no more."""
    found: dict[tuple[int, str], list[str]] = {}
    undecided: list[str] = []
    for node in cluster.nodes[:_MOST_NODES]:
        here = Cluster(cluster.known.on_nodes((node,)))
        joint = place_most(here, kind).joint
        if joint.verdict is Verdict.UNDECIDED or not joint.proven:
            undecided.append(node.metadata.name or "")
            continue
        placed = joint.placements
        why = _refusal(here, placed, kind, node) if len(placed) < len(kind) else ""
        found.setdefault((len(placed), why), []).append(node.metadata.name or "")
    who = kind[0].name if len(kind) == 1 else f"of {len(kind)} pods like {kind[0].name}"
    for (count, why), names in sorted(found.items(), key=lambda each: -each[0][0])[:_TOLD]:
        verb = "takes" if len(names) == 1 else "take"
        each = " each" if len(names) > 1 else ""
        reason = f"; no more, since {why}" if why else ""
        amount = f"{count or 'none'}{each} {who}" if len(kind) > 1 else f"{who}{each}" if count else f"not {who}"
        yield f"{first_few(names)} {verb} {amount}{reason}"
    if undecided:
        yield f"how many {who} {first_few(undecided)} would take is undecided"
    more = len(cluster.nodes) - _MOST_NODES
    if more > 0:
        yield f"{more} more nodes were not asked how many they take"


def _refusal(here: Cluster, placed: Sequence[Placement], kind: Sequence[Member], node: Node) -> str:
    """Return the cause for which the node takes none besides those placed."""
    held = [
        claim.replaced(status=claim.status.replaced(allocation=result))
        for each in placed
        for claim, result in zip(each.member.claims, each.results, strict=True)
    ]
    names = {each.member.name for each in placed}
    following = next(each for each in kind if each.name not in names)
    outcome = here.with_claims(held).allocate(following.claims, node=node.metadata.name)
    if not isinstance(outcome, Unsatisfiable):
        return ""
    refusal = outcome.refusals[0]
    # Pods of one kind differ in name only: what they ask for is told alike for all nodes.
    return _supposed(refusal.explanation.cause or refusal.text, {claim_name(claim) for claim in held})


def _supposed(cause: str, names: set[str]) -> str:
    """Return a cause without the names of claims that are allocated nowhere, but supposed to be."""

    def taken(found: re.Match[str]) -> str:
        listed = found[1].split(", ")
        others = [each for each in listed if each not in names]
        if len(others) == len(listed):
            return found[0]
        return " or ".join([*([f"allocated to {', '.join(others)}"] if others else []), f"taken by {_OF_THE_GANG}"])

    told = _ALLOCATED_TO.sub(taken, cause)
    return _CLAIM.sub(lambda found: _OF_THE_GANG if found[0] in names else found[0], told)


class _Helping:
    """Single changes, tried; `undecided` says that it is not known of one whether it is enough."""

    def __init__(self, cluster: Cluster, alike: Sequence[Sequence[Member]], members: Sequence[Member]) -> None:
        self._cluster = cluster
        self._alike = alike
        self._members = members
        self.undecided = False

    def changes(self) -> Iterator[str]:
        """Yield the changes after which all pods can be placed together."""
        cluster, tried = self._cluster, 0
        for name, claim in cluster.claims.items():
            if claim.status.allocation is not None and tried < _MOST_CHANGES:
                tried += 1
                if self._is_enough(cluster.without_claim(name), self._members):
                    yield f"freeing claim {name}"
        if len(self._alike) > 1:
            return
        worlds = [(member, world) for member in self._members if (world := _world(cluster, member)) is not None]
        for alternatives in _changes(cluster, self._members[0]):
            for text, change in alternatives:
                changed = [Member(member.name, change(world).claims) for member, world in worlds]
                if changed and self._is_enough(cluster, changed):
                    yield f"{text} in each of them"
                    break

    def _is_enough(self, cluster: Cluster, members: Sequence[Member]) -> bool:
        verdict = can_place(cluster, members)
        self.undecided = self.undecided or verdict is Verdict.UNDECIDED
        return verdict is Verdict.PLACED


def _changes(cluster: Cluster, member: Member) -> Iterator[Sequence[tuple[str, Callable[[World], World]]]]:
    """
    Yield what could be asked for otherwise: fewer devices, taints tolerated, constraints dropped.

    Each comes with those that ask for less, of which the first that is enough will do.
    """
    world = _world(cluster, member)
    if world is None:
        return
    yield from fewer_devices(world)
    facts: dict[str, Fact] = {}
    for node in cluster.nodes[:_MOST_NODES]:
        there = _world(Cluster(cluster.known.on_nodes((node,))), member)
        for fact in facts_of(there) if there is not None else ():
            if fact.code in ("taint", "constraint"):
                facts.setdefault(fact.fix, fact)
    yield from ([(fix, fact.without)] for fix, fact in list(facts.items())[:_MOST_CHANGES])


def _world(cluster: Cluster, member: Member) -> World | None:
    try:
        return world_of(cluster, member.claims, cluster.nodes[0])
    except (GatherError, IndexError):
        return None
