"""
What becomes of pod groups in a check, and what a joint choice of devices could do where the scheduler's order fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.pods.groups import group_name, least_of
from dra_alloc.scenario.prepare.subjects import Subject

#: Pods of a group for which a joint choice is looked for at most.
_JOINTLY: Final = 100


class GroupSeen(NamedTuple):
    """The pods of a group, whether each has a node, and the cluster before its attempt failed, if it did."""

    pods: dict[str, tuple[Subject, bool]]
    before: list[Cluster]


def group_answers(seen: dict[str, GroupSeen], cluster: Cluster) -> Iterator[str]:
    """
    Yield a note on each group: how many pods it needs, and how many find a node.

    Where its attempt failed: whether it has to, as far as devices go.

    Spec: PODGROUP-10.
    """
    for name, (pods, before) in seen.items():
        group = cluster.population.groups.get(name)
        if group is None:
            yield f"PodGroup {name} is not there: its pods wait for it"
            continue
        least, placed = least_of(group), sum(has for _, has in pods.values())
        gang = group.spec.scheduling_policy.gang
        needs = f"a gang of at least {least} (minCount)" if gang is not None else "pods one by one (basic)"
        # A joint choice knows nothing of domains.
        asking = [] if group.spec.scheduling_constraints.topology else [each for each, _ in pods.values()]
        joint = _joint(asking, least - _running(name, cluster), before)
        yield f"PodGroup {name}: {needs}: {placed} of {len(pods)} pods find a node{joint}"


def _running(name: str, cluster: Cluster) -> int:
    return sum(group_name(each) == name for each in cluster.population.pods)


def _joint(pods: Sequence[Subject], needed: int, before: Sequence[Cluster]) -> str:
    """Return what a joint choice of devices could do; nothing where none was asked for, or claims are shared."""
    from dra_alloc.scenario.gang.gang import place_most  # noqa: PLC0415 - most pods have no group
    from dra_alloc.scenario.gang.types import Member  # noqa: PLC0415 - as above

    claims = [[claim for claim in each.claims if isinstance(claim, ResourceClaim)] for each in pods]
    own = all(len(those) == len(each.claims) for those, each in zip(claims, pods, strict=True))
    asking = [Member(each.name, tuple(those)) for those, each in zip(claims, pods, strict=True) if those]
    if not before or not asking or not own or not needed <= len(pods) <= _JOINTLY:
        return ""
    joint = place_most(before[0], asking).joint
    most = len(joint.placements) + len(pods) - len(asking)
    if most >= needed:
        return (
            f"; chosen together, there are devices for {most}: kube-scheduler never goes back on a pod of a group, "
            "so another order of them may do"
        )
    return f"; chosen together, there are devices for {most} at most" if joint.proven else ""
