"""
What pods of a joint question say about nodes, and the claims behind their extended resources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.errors import InputError
from dra_alloc.scenario.cluster import Cluster
from dra_alloc.scenario.extended_resources import asks_for_extended, extended_claim, unserved
from dra_alloc.scenario.node_filter import node_objection
from dra_alloc.scenario.subjects import Subject

__all__ = ["Ground", "common_ground"]


@dataclass(frozen=True, slots=True)
class Ground:
    """
    The cluster with the nodes that all pods may run on, the claims of their extended resources, and a note.

    `extended` has one entry for each subject, None for no such claim.
    """

    cluster: Cluster
    extended: tuple[ResourceClaim | None, ...]
    notes: tuple[str, ...]


def common_ground(subjects: Sequence[Subject], cluster: Cluster) -> Ground:
    """
    Return the nodes on which the pods may run by what they and the nodes say; claims of no pod keep to them, too.

    Spec: GANG-8.
    Raises: InputError where that differs from subject to subject, or where
    an extended resource is not asked of every node alike.
    """
    known: dict[str, tuple[tuple[Node, ...], ResourceClaim | None]] = {}
    found = []
    for subject in subjects:
        # Pods of one workload differ in name only.
        key = subject.template or subject.name
        if key not in known:
            known[key] = _allowed(subject, cluster), None
            known[key] = known[key][0], _extended(subject, known[key][0], cluster)
        found.append(known[key])
    pods = [
        (subject.name, nodes) for subject, (nodes, _) in zip(subjects, found, strict=True) if subject.pod is not None
    ]
    first, allowed = pods[0] if pods else ("", cluster.nodes)
    for name, nodes in pods:
        if nodes != allowed:
            raise InputError(
                f"{first} may run on {len(allowed):,} of {len(cluster.nodes):,} nodes and {name} on "
                f"{len(nodes):,}, or on others, by their node selectors, affinities and tolerations",
                hint="ask about pods that may run on the same nodes; dra-alloc check takes all of them, one by one",
            )
    extended = tuple(
        None if claim is None else _own(claim, subject) for subject, (_, claim) in zip(subjects, found, strict=True)
    )
    if len(allowed) == len(cluster.nodes):
        return Ground(cluster, extended, ())
    left = len(cluster.nodes) - len(allowed)
    note = (
        f"{left:,} of {len(cluster.nodes):,} nodes are left out: what the pods or the nodes say keeps the pods off them"
    )
    return Ground(replace(cluster, nodes=allowed, implied=False), extended, (note,))


def _allowed(subject: Subject, cluster: Cluster) -> tuple[Node, ...]:
    pod = subject.pod
    if pod is None:
        return cluster.nodes
    classes = cluster.class_by_resource
    extended = asks_for_extended(pod)
    return tuple(
        node
        for node in cluster.nodes
        if node_objection(pod, node) is None and not (extended and unserved(pod, node, classes))
    )


def _extended(subject: Subject, nodes: Sequence[Node], cluster: Cluster) -> ResourceClaim | None:
    """Return the claim for the pod's extended resources. Raises: InputError if nodes differ in what they offer."""
    pod = subject.pod
    if pod is None or not asks_for_extended(pod) or not nodes:
        return None
    claims = [extended_claim(pod, node, cluster.class_by_resource) for node in nodes]
    if any(claim != claims[0] for claim in claims):
        raise InputError(
            f"{subject.name} asks for extended resources that some nodes offer themselves and others as DRA devices",
            hint="dra-alloc check looks at such pods, one by one",
        )
    return claims[0]


def _own(claim: ResourceClaim, subject: Subject) -> ResourceClaim:
    """Return the claim under the name of the subject's pod."""
    name = f"{subject.name.rpartition('/')[2]}-extended-resources"
    return claim.model_copy(update={"metadata": claim.metadata.model_copy(update={"name": name})})
