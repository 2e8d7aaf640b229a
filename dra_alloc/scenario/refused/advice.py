"""
What would help where kube-scheduler gives a pod up with an error: tried, as all fixes are, or read off the selector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from dra_alloc.api import DeviceRequest, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.fewer import LESS_COST
from dra_alloc.explain.fix import Fix
from dra_alloc.explain.reasons import WORK, Reasons
from dra_alloc.explain.reasons import reasons as reasons_of
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.refused.asides import with_asides
from dra_alloc.scenario.refused.explaining import world_of
from dra_alloc.scenario.refused.guarding import Advice, failed_selector

#: Other nodes that are asked whether a change lets them end the question with an error.
_MOST_NODES: Final = 32
#: So many claims in place of one are tried at most: a count can be any number of 64 bits.
_MOST_CLAIMS: Final = 64
_TOO_MANY: Final = f"a claim can have {ALLOCATION_RESULTS_MAX} devices at most"


@dataclass(frozen=True, slots=True)
class Ended:
    """
    Where a question ended with an error: nodes that are `ruled_out` for the pod itself cannot end it.

    With the gates of `lost` on there would be more of what is given.
    """

    cluster: Cluster
    ruled_out: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()

    def worlds(self, claims: Sequence[ResourceClaim], name: str) -> list[World]:
        """Return the world of a node, and then those of others on which an error can end the question."""
        node = self.cluster.node(name)
        asked = [each for each in self.cluster.nodes if each.metadata.name not in self.ruled_out and each is not node]
        return [
            world_of(self.cluster, claims, each).having(lost=self.lost) for each in (node, *asked[: _MOST_NODES + 1])
        ]


def advised(ended: Ended, claims: Sequence[ResourceClaim], refusal: NodeRefusal, work: int = WORK) -> NodeRefusal:
    """
    Return the refusal of a question that ended with an error, with what would help: fixes and hints, and no facts.

    Of a selector that fails the cause is told, too.

    Spec: EXPLAIN-2, EXPLAIN-4, EXPLAIN-9.
    """
    try:
        world, *others = ended.worlds(claims, refusal.node)
    except GatherError:
        return refusal
    trials = Trials(world, work, elsewhere=others[:_MOST_NODES])
    if trials.fits_without(()) is not False:
        return replace(refusal, reasons=Reasons((), exact=False, work=trials.work))
    found = Advice()
    if refusal.code == "too-many-devices":
        for fix in _in_several_claims(world):
            found.note(fix, trials.unspoilt(trials.fits(fix.change(world)), fix.steps, fix.change))
        found.hints += [] if found.fixes else [_TOO_MANY]
    elif refusal.code == "selector-runtime-error":
        found = failed_selector(world, ended.cluster.settings, refusal.error, trials)
    more = reasons_of(world, trials=trials)
    found.fixes += [found.doubted(fix, world) for fix in more.fixes if len(fix.steps) == 1 or not found.fixes]
    if len(others) > _MOST_NODES:
        # Any of those that were not asked can end the question with an error still.
        found.hints += [f"{fix} would be enough on {refusal.node}" for fix in found.fixes]
        found.fixes = []
    hints = tuple(dict.fromkeys((*found.hints, *more.hints)))
    untried = (*more.untried, *found.untried)
    fixes = tuple(sorted(found.fixes, key=lambda fix: fix.order))
    reasons = Reasons((), fixes, hints=hints, untried=untried, work=trials.work)
    told = replace(refusal.explanation, cause=found.cause) if found.cause else refusal.explanation
    return replace(refusal, reasons=with_asides(ended.cluster, world, reasons), explanation=told)


def _in_several_claims(world: World) -> Iterator[Fix]:
    """Yield asking for the devices of a claim that is too large in several claims, to be tried."""
    for index, claim in enumerate(world.claims):
        parts = _parts(claim)
        change = partial(_instead, index=index, parts=parts)
        if len(parts) > 1:
            step = f"asking for the devices of claim {claim_name(claim)} in {len(parts)} claims"
            yield Fix((f"{step} of at most {ALLOCATION_RESULTS_MAX}",), LESS_COST, change)


def _instead(world: World, index: int, parts: Sequence[ResourceClaim]) -> World:
    return world.having(claims=(*world.claims[:index], *parts, *world.claims[index + 1 :]))


def _parts(claim: ResourceClaim) -> tuple[ResourceClaim, ...]:
    """Return claims that together ask for the same, none for too many devices; constraints would not reach so far."""
    devices = claim.spec.devices
    counts = [each.exactly.count if each.exactly is not None else None for each in devices.requests]
    asked = [each for each in counts if each is not None]
    if devices.constraints or len(asked) < len(counts) or sum(asked) > _MOST_CLAIMS * ALLOCATION_RESULTS_MAX:
        return (claim,)
    parts: list[list[DeviceRequest]] = [[]]
    room = ALLOCATION_RESULTS_MAX
    for request in devices.requests:
        exactly = request.exactly
        left = exactly.count if exactly is not None and exactly.count is not None else 0
        while exactly is not None and left:
            if not room:
                parts.append([])
                room = ALLOCATION_RESULTS_MAX
            taken = min(room, left)
            parts[-1].append(request.replaced(exactly=exactly.replaced(count=taken)))
            room, left = room - taken, left - taken
    meta = claim.metadata
    return tuple(
        [
            claim.replaced(
                metadata=meta.replaced(name=f"{meta.name or ''}-{number}"),
                spec=claim.spec.replaced(devices=devices.replaced(requests=tuple(part))),
            )
            for number, part in enumerate(parts)
        ]
    )
