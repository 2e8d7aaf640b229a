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
from dra_alloc.explain.hints import defect_hint
from dra_alloc.explain.world import World
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.scenario.audit import audit
from dra_alloc.scenario.explaining import world_of
from dra_alloc.traits import TRAITS, Trait

__all__ = ["broken_claims", "gates_on", "told_of_gates"]

#: Claims that are looked at for what defects do to them.
_MOST: Final = 8


def gates_on(settings: Settings, gates: Iterable[str]) -> Settings | None:
    """Return the settings with gates on that fields were dropped for; None if the release does not have them."""
    known = settings.effective_gates()
    missing = [each for each in gates if each in known]
    return settings.changed(None, dict.fromkeys(missing, True)) if missing else None


def told_of_gates(gates: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Return the cause of a refusal that is none with gates on, and the fix."""
    named, one = " and ".join(gates), len(gates) == 1
    off = f"{named} {'is' if one else 'are'} off in Kubernetes {settings.release}"
    return {
        "cause": f"{off}, so that what asks for {'it' if one else 'them'} is dropped (see the notes)",
        "fix": f"switching the {'gate' if one else 'gates'} {named} on",
    }


def broken_claims(cluster: Cluster, allocated: Iterable[Allocated]) -> Iterator[str]:
    """
    Yield which claims have an allocation that breaks what they ask for, and the defect of kube-scheduler behind it.

    The cluster is that after all of them.

    Spec: EXPLAIN-15.
    """
    profile = cluster.settings.profile()
    defects = [each for each in sorted(profile.traits) if any(record.defect for record in TRAITS[each])]
    if not defects or cluster.settings.semantics != Semantics.UPSTREAM:
        return
    constrained = (each for each in allocated if any(claim.spec.devices.constraints for claim in each.claims))
    for each in itertools.islice(constrained, _MOST):
        node = cluster.node(each.node)
        for claim in each.claims:
            found = audit(cluster.intended, claim, node) if claim.spec.devices.constraints else ()
            if found:
                said = "; ".join(dict.fromkeys(one.said for one in claim.spec.devices.constraints if one.said))
                why = _culprit(cluster, claim, node, defects)
                yield f"{claim_name(claim)} is allocated against its own {said}: {found[0]}; {why}"


def _culprit(cluster: Cluster, claim: ResourceClaim, node: Node, defects: Sequence[Trait]) -> str:
    """Return the first defect without which the claim would not have the same."""
    fresh = claim.replaced(status=claim.status.replaced(allocation=None))
    world = world_of(cluster.without_claims([claim_name(claim)]), [fresh], node)
    answer = _picked(world, ())
    found = next((each for each in defects if _picked(world, (each,)) != answer), None)
    release = world.profile.release
    return f"a defect of kube-scheduler {release}" if found is None else defect_hint(found, world.profile)


def _picked(world: World, repaired: Sequence[Trait]) -> object:
    """Return what a search answers without some defects."""
    profile = replace(world.profile, traits=world.profile.traits - frozenset(repaired))
    outcome = replace(world, profile=profile).allocator().allocate(world.node, world.claims)
    picks = getattr(outcome, "picks", ())
    return [(pick.ask.full_name, pick.device.key) for pick in picks]
