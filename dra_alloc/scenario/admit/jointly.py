"""
Whether pods that find no place in the scheduler's order would, if their devices were chosen together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.holding import given_back
from dra_alloc.scenario.admit.answers import LayerSays
from dra_alloc.scenario.answers import SubjectAnswer
from dra_alloc.scenario.gang.gang import place_most
from dra_alloc.scenario.gang.types import Member
from dra_alloc.scenario.prepare.subjects import Subject

#: Pods of one workload, and workloads, for which a joint choice is looked for at most.
_PODS: Final = 100
WORKLOADS: Final = 20


#: Why a node refuses a pod whatever else of its workload is placed where.
_LASTING: Final = frozenset(
    {"quota", "admin-access", "claim-deleted", "claim-missing", "claim-not-owned", "scheduling-gates"}
    | {"volume-missing", "volume-unbound"}
) | {
    "node-name",
    "node-selector",
    "node-affinity",
    "node-taint",
    "node-unschedulable",
    "extended-resources",
    "node-volumes",
}
#: Room of a node that other pods of the workload may have taken, and what else of them may be in the way.
_ROOM: Final = frozenset({"node-resources", "node-ports"})
_BESIDE: Final = _ROOM | {
    "volume-in-use",
    "topology-spread",
    "pod-affinity",
    "pod-anti-affinity",
    "pod-anti-affinity-of-others",
}


def jointly(cluster: Cluster, subjects: Sequence[Subject], answers: Sequence[SubjectAnswer], first: bool) -> LayerSays:
    """
    Return whether all of the pods find devices at once, on a cluster without theirs, as far as devices go.

    `answers` are those of pods that were refused, or of all; with `first` none of them had a place before. Where what
    is in the way is not devices the answer is no, or not known if it may be other pods of the same workload. It is not
    asked of pods that share claims, or of very many.

    Spec: GANGTREE-5.
    """
    codes = {each.name: {one.node: one.code for one in each.refusals} for each in answers}
    closed = _LASTING | (_ROOM if first else frozenset())
    if any(found and closed.issuperset(found.values()) for found in codes.values()):
        return LayerSays.NO
    claims = [[claim for claim in each.claims if isinstance(claim, ResourceClaim)] for each in subjects]
    own = all(len(those) == len(each.claims) for those, each in zip(claims, subjects, strict=True))
    asking = [Member(each.name, tuple(those)) for those, each in zip(claims, subjects, strict=True) if those]
    if not own or not asking or len(subjects) > _PODS:
        return LayerSays.NOT_ASKED
    joint = place_most(cluster, asking).joint
    if len(joint.placements) < len(asking):
        return LayerSays.NO if joint.proven else LayerSays.UNDECIDED
    others = closed | _BESIDE
    beyond = any(found and others.issuperset(found.values()) for found in codes.values())
    shut = any(codes.get(each.member.name, {}).get(each.node) in closed for each in joint.placements)
    return LayerSays.UNDECIDED if beyond or shut else LayerSays.YES


@dataclass(slots=True)
class JointQuestions:
    """Questions about workloads on a cluster after all of them: each is asked as if it had nothing yet."""

    cluster: Cluster
    asked: int = 0

    def of(self, subjects: Sequence[Subject], answers: Sequence[SubjectAnswer]) -> LayerSays:
        """Return whether a workload that was refused could be placed at once; of very many that is not asked."""
        self.asked += 1
        if self.asked > WORKLOADS:
            return LayerSays.NOT_ASKED
        held = [claim for each in answers if each.allocated is not None for claim in each.allocated.claims]
        free = self.cluster.with_claims(given_back(claim) for claim in held) if held else self.cluster
        return jointly(free, subjects, answers, not any(each.allocated is not None for each in answers))
