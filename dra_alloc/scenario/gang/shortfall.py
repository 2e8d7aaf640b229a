"""
Why pods that fit one by one do not fit together: how many each node takes, why no more, and what would be enough.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from dra_alloc.api import Node
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Unsatisfiable
from dra_alloc.errors import first_few
from dra_alloc.explain.counting import fewer_devices
from dra_alloc.explain.counts import Explanation, number_of_devices
from dra_alloc.explain.facts import TOLERATING, Fact, facts_of
from dra_alloc.explain.world import World
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.gang.gang import GangAnswers, can_place, place_most
from dra_alloc.scenario.gang.ordering import order_of
from dra_alloc.scenario.gang.types import Member, Placement, Verdict
from dra_alloc.scenario.refused.explaining import world_of

#: Nodes that are asked how many pods they take, and changes that are tried.
_MOST_NODES: Final = 32
_MOST_CHANGES: Final = 24
_TOLD: Final = 3
#: Claims in a cause, and those that hold a device.
_CLAIM: Final = re.compile(r"[\w.-]+/[\w.-]*\w")
_HOLDER: Final = rf"{_CLAIM.pattern}(?: \(\d+\))?"
_ALLOCATED_TO: Final = re.compile(rf"allocated to ({_HOLDER}(?:, {_HOLDER})*)")
_NTH: Final = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ONE_MORE: Final = "one more"
_OF_THE_GANG: Final = "other pods of the gang"


@dataclass(frozen=True, slots=True)
class FellShort:
    """
    Why pods are not all placed: the cause in a sentence, and what would be enough.

    `nodes` tell how many pods of each kind they take and why no more; `in_manifest` that the fix is what pods ask for.
    """

    cause: str = ""
    fix: str = ""
    nodes: tuple[str, ...] = ()
    in_manifest: bool = False


def shortfall(
    cluster: Cluster, members: Sequence[Member], alike: Sequence[Sequence[Member]], together: str = ""
) -> FellShort:
    """
    Return why pods that fit one by one do not fit together, whether their order matters, and what would help.

    `alike` are the same pods, those of one kind together. With a label that their nodes have to have `together` it is
    only asked whether they fit without that.

    Spec: GANG-9.
    """
    taking = [each for kind in alike for each in _by_node(cluster, kind)]
    nodes = tuple(itertools.chain(_told(taking), _not_asked(cluster)))
    if together:
        cause = f"each of {len(members)} pods fits alone, but not all of them on nodes of one {together}"
        fix = f"letting them run on nodes of different {together} ({_all(members)})"
        return FellShort(cause, fix if can_place(cluster, members) is Verdict.PLACED else "", nodes)
    helping = _Helping(cluster, alike, members)
    own = list(helping.of_the_manifest())
    enough = [*own, *helping.freeing()]
    fix = f"{', or '.join(enough[:_TOLD])} ({_all(members)})" if enough else ""
    if not enough and not helping.undecided:
        fix = "no single change that was tried makes room for all of them"
    short = _next(taking, len(alike), len(cluster.nodes))
    in_manifest = bool(own) and len(own) >= len(enough[:_TOLD])
    most = place_most(cluster, members)
    return FellShort(_most(most, members, order_of(cluster, alike, most), short), fix, nodes, in_manifest)


def _all(members: Sequence[Member]) -> str:
    return f"then {'both' if len(members) == 2 else f'all {len(members)}'} fit"


def _most(most: GangAnswers, members: Sequence[Member], order: str, short: str) -> str:
    """Return how many pods can be placed together, whether their order matters, and what the next one misses."""
    placed = most.joint.placements
    if most.joint.verdict is Verdict.UNDECIDED or not most.joint.proven:
        return f"each of {len(members)} pods fits on some node alone, but not all of them together"
    on: dict[int, list[str]] = {}
    for node, count in Counter(each.node for each in placed).most_common():
        on.setdefault(count, []).append(node)
    where = ", ".join(
        f"{count}{' each' if len(names) > 1 else ''} on {first_few(names)}" for count, names in on.items()
    )
    if short.startswith(_ONE_MORE):
        number = len(placed) - 1
        nth = f"the {_NTH[number]} pod" if 0 <= number < len(_NTH) else _ONE_MORE
        short = f"{nth}{short.removeprefix(_ONE_MORE)}"
    return f"only {len(placed)} of {len(members)} pods fit together ({where}){order}{f'; {short}' if short else ''}"


def _next(taking: Sequence[_Taking], kinds: int, nodes: int) -> str:
    """Return what one more pod misses on the node that has most left; empty where not all nodes told of it."""
    known = [each for each in taking if each.short]
    if kinds > 1 or len(known) < nodes:
        return ""
    return max(known, key=lambda each: each.left).short


class _Taking(NamedTuple):
    """
    How many pods of a kind a node takes by itself, None if that is undecided, and why no more.

    `short` says what one more misses, `left` how many devices it has more than needed.
    """

    node: str
    kind: Sequence[Member]
    takes: int | None
    why: str = ""
    short: str = ""
    left: int = -sys.maxsize


def _by_node(cluster: Cluster, kind: Sequence[Member]) -> Iterator[_Taking]:
    """Yield how many pods of a kind each node takes by itself; None where that is undecided."""
    for node in cluster.nodes[:_MOST_NODES]:
        name = node.metadata.name or ""
        here = Cluster(cluster.known.on_nodes((node,)))
        joint = place_most(here, kind).joint
        if joint.verdict is Verdict.UNDECIDED or not joint.proven:
            yield _Taking(name, kind, None)
        elif len(joint.placements) == len(kind):
            yield _Taking(name, kind, len(kind))
        else:
            yield _short(here, joint.placements, kind, node)


def _told(taking: Sequence[_Taking]) -> Iterator[str]:
    """Yield, for nodes of the same number and reason together, how many pods they take each and why no more."""
    kinds = {id(each.kind): each.kind for each in taking}
    for key, kind in kinds.items():
        found: dict[tuple[int, str], list[str]] = {}
        own = [each for each in taking if id(each.kind) == key]
        for each in own:
            if each.takes is not None:
                found.setdefault((each.takes, each.why), []).append(each.node)
        who = kind[0].name if len(kind) == 1 else f"of {len(kind)} pods like {kind[0].name}"
        for (count, why), names in sorted(found.items(), key=lambda each: -each[0][0])[:_TOLD]:
            yield f"{first_few(names)} {_amount(count, len(names), who, alone=len(kind) == 1)}{_since(count, why)}"
        undecided = [each.node for each in own if each.takes is None]
        if undecided:
            yield f"how many {who} {first_few(undecided)} would take is undecided"


def _amount(count: int, nodes: int, who: str, *, alone: bool) -> str:
    """Return how many pods some nodes take each, or whether they take one."""
    verb, each_one = ("takes", "") if nodes == 1 else ("take", " each")
    if not alone:
        return f"{verb} {count or 'none'}{each_one} {who}"
    if count:
        return f"{verb} {who}{each_one}"
    return f"{'does' if nodes == 1 else 'do'} not take {who}"


def _since(count: int, why: str) -> str:
    """Return why nodes take no more; what is chosen there is for those that they take."""
    if not why:
        return ""
    why = why.replace(_OF_THE_GANG, "that pod" if count == 1 else "those pods") if count else why
    return f"; no more, since {why}" if count else f", since {why}"


def _not_asked(cluster: Cluster) -> Iterator[str]:
    more = len(cluster.nodes) - _MOST_NODES
    if more > 0:
        yield f"{more} more nodes were not asked how many they take"


def _short(here: Cluster, placed: Sequence[Placement], kind: Sequence[Member], node: Node) -> _Taking:
    """Return how many pods the node takes, and the cause for which it takes none besides those placed."""
    name = node.metadata.name or ""
    held = [
        claim.replaced(status=claim.status.replaced(allocation=result))
        for each in placed
        for claim, result in zip(each.member.claims, each.results, strict=True)
    ]
    names = {each.member.name for each in placed}
    following = next(each for each in kind if each.name not in names)
    outcome = here.with_claims(held).allocate(following.claims, node=name)
    if not isinstance(outcome, Unsatisfiable):
        return _Taking(name, kind, len(placed))
    refusal = outcome.refusals[0]
    # Pods of one kind differ in name only: what they ask for is told alike for all nodes.
    why = supposed(refusal.explanation.cause or refusal.text, {claim_name(claim) for claim in held})
    return _Taking(name, kind, len(placed), why, *_missing(refusal.explanation, name, why))


def _missing(found: Explanation, node: str, why: str) -> tuple[str, int]:
    """Return what one more pod misses on a node, and how many devices it has there more than needed: less than none."""
    short = next((each for each in found.requests if each.short), None)
    if short is None or found.placed or short.takes_all:
        return f"on {node}, {why}", -sys.maxsize
    needs = f"{number_of_devices(short.needed)} of one node for {short.called}"
    left = f"no node has more than {short.usable} available ({node})" if short.usable else "no node has one available"
    return f"{_ONE_MORE} needs {needs}, and {left}", short.usable - short.needed


def supposed(cause: str, names: Collection[str]) -> str:
    """Return a cause without the names of claims that are allocated nowhere, but supposed to be."""

    def taken(found: re.Match[str]) -> str:
        listed = [each.partition(" (") for each in found[1].split(", ")]
        others = ["".join(each) for each in listed if each[0] not in names]
        own = [int(each[2].removesuffix(")") or 0) for each in listed if each[0] in names]
        if not own:
            return found[0]
        count = f" ({sum(own)})" if others and all(own) else ""
        held = [f"allocated to {', '.join(others)}"] if others else []
        return " or ".join([*held, f"chosen for {_OF_THE_GANG}{count}"])

    told = _ALLOCATED_TO.sub(taken, cause)
    return _CLAIM.sub(lambda found: _OF_THE_GANG if found[0] in names else found[0], told)


class _Helping:
    """Single changes, tried; `undecided` says that it is not known of one whether it is enough."""

    def __init__(self, cluster: Cluster, alike: Sequence[Sequence[Member]], members: Sequence[Member]) -> None:
        self._cluster = cluster
        self._alike = alike
        self._members = members
        self.undecided = False

    def freeing(self) -> Iterator[str]:
        """Yield the claims of others without which all pods can be placed together."""
        held = [name for name, claim in self._cluster.claims.items() if claim.status.allocation is not None]
        for name in held[:_MOST_CHANGES]:
            if self._is_enough(self._cluster.without_claim(name), self._members):
                yield f"taking from others by freeing claim {name}"

    def of_the_manifest(self) -> Iterator[str]:
        """Yield what all pods of one kind can ask for otherwise so that all can be placed together."""
        for kind in self._alike:
            worlds = [(member, world) for member in kind if (world := _world(self._cluster, member)) is not None]
            others = [member for each in self._alike if each is not kind for member in each]
            who = f" of {kind[0].name}" if len(kind) == 1 else f" of every pod{self._like(kind[0])}"
            for alternatives in _changes(self._cluster, kind[0]):
                for text, change in alternatives:
                    changed = [Member(member.name, change(world).claims) for member, world in worlds]
                    if changed and self._is_enough(self._cluster, [*changed, *others]):
                        yield f"{text}{who}"
                        break

    def _like(self, first: Member) -> str:
        return f" like {first.name}" if len(self._alike) > 1 else ""

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
    for fix, fact in list(facts.items())[:_MOST_CHANGES]:
        yield [(f"{fix} in each request" if fix.startswith(TOLERATING) else fix, fact.without)]


def _world(cluster: Cluster, member: Member) -> World | None:
    try:
        return world_of(cluster, member.claims, cluster.nodes[0])
    except (GatherError, IndexError):
        return None
