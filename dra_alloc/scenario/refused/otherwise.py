"""
What the release is behind: fields that gates which are off take from a claim, and defects that let a claim be broken.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import first_few
from dra_alloc.explain.hints import defect_hint
from dra_alloc.explain.reasons import reasons
from dra_alloc.explain.tally import explain
from dra_alloc.explain.world import World
from dra_alloc.gates import readers_of
from dra_alloc.manifest.make.gates import DroppedField
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.scenario.answers import BrokenClaim, SubjectAnswer
from dra_alloc.scenario.audit import audit
from dra_alloc.scenario.prepare.supply import EXTENDED
from dra_alloc.scenario.refused.explaining import world_of
from dra_alloc.traits import TRAITS, Trait

#: Claims that are looked at for what defects do to them.
_MOST: Final = 8
#: Gates of which any several are tried together.
_MOST_GATES: Final = 3
#: What is so only if no server dropped fields of slices either.
_AS_GIVEN: Final = ", if the slices in the cluster have all fields of those given here"
#: Of what would help if what they ask for were kept to: how many changes, and the work that finding them may take.
_FIXES: Final = 2
_WORK: Final = 10_000


def ways_on(settings: Settings, gates: Iterable[str]) -> Iterator[dict[str, bool]]:
    """Yield gates of the release to switch on, the fewest first, and of many each alone and then all of them."""
    known = settings.effective_gates()
    off = [each for each in gates if each in known]
    sizes = range(1, len(off) + 1) if len(off) <= _MOST_GATES else (1, len(off))
    for chosen in itertools.chain.from_iterable(itertools.combinations(off, size) for size in sizes):
        yield dict.fromkeys(chosen, True)


def told_of_gates(
    ways: Sequence[Iterable[str]], dropped: Sequence[DroppedField], unserved: Sequence[str], settings: Settings
) -> dict[str, Any]:
    """
    Return the cause of a refusal that is none with the gates of one of the ways on, and the fix; nothing without ways.

    It has fields that were dropped, extended resources that no class serves, or both.
    """
    if not ways:
        return {}
    lost = [([each for each in dropped if each.gate in way], unserved if EXTENDED in way else ()) for way in ways]
    fix = "; or, instead, ".join(itertools.starmap(_switching, lost))
    return {"cause": _cause_of_gates(*lost[0], settings), "fix": fix}


def _gates(dropped: Sequence[DroppedField], unserved: Sequence[str]) -> tuple[list[str], str]:
    """Return gates that are off, and in words which."""
    gates = list(dict.fromkeys([*(each.gate for each in dropped), *([EXTENDED] if unserved else [])]))
    return gates, f"the gate{'' if len(gates) == 1 else 's'} {' and '.join(gates)}"


def _cause_of_gates(dropped: Sequence[DroppedField], unserved: Sequence[str], settings: Settings) -> str:
    gates, named = _gates(dropped, unserved)
    fields = " and ".join(dict.fromkeys(each.path for each in dropped))
    does = [f"ignores {fields} in the manifests"] if dropped else []
    does += [f"serves no {first_few(unserved)} from device classes"] if unserved else []
    return f"Kubernetes {settings.release} {' and '.join(does)}, as {named} {'is' if len(gates) == 1 else 'are'} off"


def _switching(dropped: Sequence[DroppedField], unserved: Sequence[str]) -> str:
    gates, named = _gates(dropped, unserved)
    *before, last = readers_of(gates)
    fix = f"switching {named} on, in {', '.join(before)} and {last}"
    if not dropped:
        return f"{fix}; then it fits"
    again = first_few(list(dict.fromkeys(each.of for each in dropped)))
    again += " and their pods" if any(each.of.startswith("ResourceClaimTemplate ") for each in dropped) else ""
    return (
        f"{fix}, and then deleting and creating {again} (what they ask for cannot be changed); then it fits{_AS_GIVEN}"
    )


def broken_claims(cluster: Cluster, placements: Sequence[SubjectAnswer]) -> dict[int, tuple[BrokenClaim, ...]]:
    """
    Return, by the number of the answer, which claims have an allocation that breaks what they ask for.

    Each is told with what stands against it, and the defect of kube-scheduler behind it. The cluster is that after all
    of them.

    Spec: EXPLAIN-15.
    """
    profile = cluster.settings.profile()
    defects = [each for each in sorted(profile.traits) if any(record.defect for record in TRAITS[each])]
    if not defects or cluster.settings.semantics != Semantics.UPSTREAM:
        return {}
    constrained = [
        (number, each.allocated)
        for number, each in enumerate(placements)
        if each.allocated is not None
        and not each.same_as
        and any(claim.spec.devices.constraints for claim in each.allocated.claims)
    ]
    return {number: tuple(_broken(cluster, each, defects)) for number, each in constrained[:_MOST]}


def _broken(cluster: Cluster, allocated: Allocated, defects: Sequence[Trait]) -> Iterator[BrokenClaim]:
    node = cluster.node(allocated.node)
    for claim in allocated.claims:
        found = audit(cluster.intended, claim, node) if claim.spec.devices.constraints else ()
        if found:
            said = "; ".join(dict.fromkeys(one.said for one in claim.spec.devices.constraints if one.said))
            against = f"claim {claim_name(claim)} breaks its own {said}: {found[0]}"
            yield BrokenClaim(against, *_culprit(cluster, claim, node, defects))


def _culprit(cluster: Cluster, claim: ResourceClaim, node: Node, defects: Sequence[Trait]) -> tuple[str, str, str]:
    """
    Return the first defect without which the claim would not have the same, what it would have, and what would help.
    """
    fresh = claim.replaced(status=claim.status.replaced(allocation=None))
    world = world_of(cluster.without_claims([claim_name(claim)]), [fresh], node)
    answer = _picked(world, ())
    found = next((each for each in defects if _picked(world, (each,)) != answer), None)
    release = world.profile.release
    defect = f"a defect of kube-scheduler {release}" if found is None else defect_hint(found, world.profile)
    return defect, *_kept_to(_without_defects(world, defects))


def _kept_to(sound: World) -> tuple[str, str]:
    """Return what a claim would have if all that it asks for were kept to, or why nothing, and what would help then."""
    outcome = sound.allocator().allocate(sound.node, sound.claims)
    if picks := getattr(outcome, "picks", ()):
        return f"would choose {first_few([pick.device.key.device for pick in picks])}", ""
    cause = explain(sound.allocator(), sound.node, sound.claims).cause
    fixes = reasons(sound, _WORK).fixes
    single = [fix for fix in fixes if len(fix.steps) == 1][:_FIXES]
    return f"would refuse the claim: {cause}", ", or ".join(map(str, single or fixes[:1]))


def _picked(world: World, repaired: Sequence[Trait]) -> object:
    """Return what a search answers without some defects."""
    sound = _without_defects(world, repaired)
    outcome = sound.allocator().allocate(sound.node, sound.claims)
    picks = getattr(outcome, "picks", ())
    return [(pick.ask.full_name, pick.device.key) for pick in picks]


def _without_defects(world: World, defects: Sequence[Trait]) -> World:
    return world.having(profile=replace(world.profile, traits=world.profile.traits - frozenset(defects)))
