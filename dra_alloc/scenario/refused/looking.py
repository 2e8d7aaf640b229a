"""
Refused nodes looked into: what devices fell to, and the reasons of each kind of node.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.cluster.alike_nodes import AlikeNodes
from dra_alloc.cluster.attempts.scheduled import Unschedulable
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.facts import Whose
from dra_alloc.explain.hints import gates_elsewhere
from dra_alloc.explain.reasons import WORK, Reasons
from dra_alloc.explain.surroundings import Surroundings
from dra_alloc.explain.world import World
from dra_alloc.problem.pools import GatherError
from dra_alloc.scenario.refused.asides import with_asides
from dra_alloc.scenario.refused.explaining import Holders, world_of
from dra_alloc.scenario.refused.repeated import Repeated
from dra_alloc.solve.content import content

#: Refused nodes that are looked into for counts and reasons.
EXPLAINED_NODES: Final = 200
#: Kinds of nodes whose reasons are looked for, those that lack the fewest devices; of a fleet fewer.
_KINDS: Final = 12
_KINDS_OF_A_FLEET: Final = 5
_FLEET: Final = 64
#: Kinds that are looked into in any case: as many as are told of. Others only while no change of the manifest alone
#: helps on one of these.
_TOLD: Final = 4
#: Further away than any node on which changes help.
_FAR: Final = (sys.maxsize,)
#: What reasons may cost, in steps of a search: those of one subject, and those of a whole check.
_SUBJECT_WORK: Final = 120_000
_CHECK_WORK: Final = 600_000


@dataclass(slots=True)
class _Allowance:
    """Work that is left for reasons; half of what is left goes to each, so that the last one has some, too."""

    left: int
    known: Repeated = field(default_factory=Repeated)

    def reasons(self, world: World | None, most: int, elsewhere: Sequence[World]) -> Reasons:
        """Return the reasons of a refusal, at the expense of what is left; none that is known without a world."""
        if world is None:
            return Reasons((), exact=False)
        found = self.known.reasons(world, min(most, self.left // 2, WORK), elsewhere)
        self.left -= found.work
        return found


class Looking:
    """
    Looks into the refusals of one check, within the work that is allowed for all of them.

    With the gates of `lost` on there would be more of what is given: fields of claims, rules that taint devices.
    """

    def __init__(self, lost: Iterable[str] = ()) -> None:
        self.lost = frozenset(lost)
        self._allowance = _Allowance(_CHECK_WORK)
        self._holders = Holders()
        self._around: Surroundings | None = None

    def into(self, cluster: Cluster, outcome: Unschedulable, refused: Sequence[NodeRefusal]) -> tuple[NodeRefusal, ...]:
        """
        Return the refusals with counts, for as many nodes as are worth looking into.

        Nodes whose counts look alike share the reasons of the first of them, if claims cannot tell the nodes apart.
        """
        count = cluster.known.counting()
        told: list[NodeRefusal] = []
        for number, refusal in enumerate(refused):
            if refusal.code != "no-fit":
                told.append(refusal)
            elif number < EXPLAINED_NODES:
                claims = outcome.claims_on(refusal.node)
                told.append(self._allowance.known.counted(cluster, refusal, claims, count))
        found = self._reasons(cluster, outcome, [each for each in told if each.code == "no-fit"], len(refused) > _FLEET)
        return tuple([each.because(found[each.node]) if each.node in found else each for each in told])

    def _reasons(
        self, cluster: Cluster, outcome: Unschedulable, refused: Sequence[NodeRefusal], fleet: bool
    ) -> dict[str, Reasons]:
        """Return the reasons of nodes by their names, of as many kinds of them as are worth looking into."""
        kinds: dict[object, NodeRefusal] = {}
        for each in refused:
            kinds.setdefault(each.explanation.shape, each)
        most = _KINDS_OF_A_FLEET if fleet else _KINDS
        nearest = sorted(kinds.values(), key=lambda each: each.explanation.short_of)[:most]
        # Nodes that look alike can end otherwise once something is changed; of a fleet the kinds have to do.
        worlds = dict(self._worlds(cluster, outcome, nearest if fleet else refused))
        alike = _Alike(cluster, outcome)
        found: dict[str, Reasons] = {}
        looked: dict[object, list[str]] = {}
        left = _SUBJECT_WORK
        for each in (*nearest, *refused):
            name, before = each.node, looked.setdefault(each.explanation.shape, [])
            if name in found:
                continue
            # What a pool that offers nothing has, once it is complete, is not seen yet.
            unseen = any(pool.state for request in each.explanation.requests for pool in request.pools)
            others = () if unseen else before
            same = next((other for other in others if not found[other].is_local and alike.same(name, other)), None)
            count = sum(map(len, looked.values()))
            limit = most if before or not _is_helped(found.values()) else min(_TOLD, most)
            if same is not None:
                found[name] = found[same]
            elif count < limit and (not before or name in worlds):
                elsewhere = [world for other, world in worlds.items() if other != name]
                world = worlds.get(name)
                found[name] = self._allowance.reasons(world, left // 3, elsewhere)
                left -= found[name].work
                found[name] = found[name] if world is None else with_asides(cluster, world, found[name])
                before.append(name)
        if found and not fleet:
            _tell_of_gates(found, worlds, max(left, 0))
        return found

    def _worlds(
        self, cluster: Cluster, outcome: Unschedulable, refusals: Sequence[NodeRefusal]
    ) -> Iterator[tuple[str, World]]:
        """Yield the worlds of nodes, each with its name, as far as they can be told."""
        held, around = self._holders.of(cluster) if refusals else {}, self._around
        if around is None or around.inventory is not cluster.inventory or around.is_full:
            around = self._around = Surroundings(cluster.inventory, cluster.known.survey.columns)
        for each in refusals:
            with contextlib.suppress(GatherError):
                claims, node = outcome.claims_on(each.node), cluster.node(each.node)
                yield each.node, world_of(cluster, claims, node, held, around).having(lost=self.lost)


def _tell_of_gates(found: dict[str, Reasons], worlds: Mapping[str, World], work: int) -> None:
    """Add gates that would be enough on nodes without reasons to the hints of the nearest node."""
    told = {hint for each in found.values() for hint in each.hints}
    others = {name: world for name, world in worlds.items() if name not in found}
    hints = tuple(f"on {name}, {hint}" for name, hint in gates_elsewhere(others, told, work))
    if hints:
        nearest = min(found, key=lambda name: found[name].distance or _FAR)
        found[nearest] = replace(found[nearest], hints=(*found[nearest].hints, *hints))


def _is_helped(found: Iterable[Reasons]) -> bool:
    """Return whether one change of the manifest is enough somewhere: nothing is nearer."""
    return any(fix.whose == Whose.MANIFEST and len(fix.steps) == 1 for each in found for fix in each.fixes)


class _Alike:
    """Which nodes an outcome's claims cannot tell apart, whatever is changed about both."""

    def __init__(self, cluster: Cluster, outcome: Unschedulable) -> None:
        self._cluster = cluster
        self._outcome = outcome
        self._known: dict[Hashable, AlikeNodes] = {}
        self._keys: dict[str, Hashable] = {}

    def same(self, one: str, other: str) -> bool:
        """Return whether the claims fit on both nodes or on neither."""
        return self._key(one) == self._key(other)

    def _key(self, name: str) -> Hashable:
        if name not in self._keys:
            claims = [claim for claim in self._outcome.claims_on(name) if claim.status.allocation is None]
            asked = tuple(map(content, claims))
            alike = self._known.get(asked) or AlikeNodes(self._cluster.known.allocator, claims)
            key = self._known.setdefault(asked, alike).key(self._cluster.node(name))
            self._keys[name] = asked, key
        return self._keys[name]
