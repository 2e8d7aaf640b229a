"""
What pods of a joint question say about nodes, and the claims behind their extended resources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dra_alloc.api import Node, Pod, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import InputError
from dra_alloc.pods.extended_resources import asks_for_extended, extended_claim
from dra_alloc.pods.node_filter import pod_objection
from dra_alloc.scenario.prepare.subjects import Subject


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
    Raises: InputError where that differs from subject to subject, where an
    extended resource is not asked of every node alike, or for a subject that
    no node is asked about.
    """
    classes = cluster.known.class_by_resource
    known: dict[str, tuple[Node, ...]] = {}
    extended: list[ResourceClaim | None] = []
    first: Subject | None = None
    allowed = cluster.nodes
    for subject in subjects:
        if subject.barred is not None:
            raise InputError(f"{subject.name} is not to be placed: {subject.barred.text}")
        pod = subject.pod
        if pod is None:
            extended.append(None)
            continue
        # Pods of one workload differ in name only.
        key = subject.template or subject.name
        if key not in known:
            known[key] = _nodes(subject.name, pod, cluster)
            _check_claims(subject.name, pod, known[key], classes)
        nodes = known[key]
        extended.append(extended_claim(pod, nodes[0], classes) if nodes else None)
        if first is None:
            first, allowed = subject, nodes
        elif nodes != allowed:
            raise InputError(
                f"{first.name} may run on {len(allowed):,} of {len(cluster.nodes):,} nodes and {subject.name} on "
                f"{len(nodes):,}, or on others, by their node selectors, affinities and tolerations",
                hint="ask about pods that may run on the same nodes; dra-alloc check takes all of them, one by one",
            )
    left = len(cluster.nodes) - len(allowed)
    if not left:
        return Ground(cluster, tuple(extended), ())
    note = (
        f"{left:,} of {len(cluster.nodes):,} nodes are left out: what the pods or the nodes say keeps the pods off them"
    )
    return Ground(Cluster(cluster.known.on_nodes(allowed)), tuple(extended), (note,))


def _nodes(name: str, pod: Pod, cluster: Cluster) -> tuple[Node, ...]:
    """Return the nodes that a pod may run on by what it, the nodes and its volumes say."""
    classes, volumes = cluster.known.class_by_resource, cluster.population.volumes
    against = volumes.against(pod)
    if against is not None:
        raise InputError(f"{name} is not to be placed: {against.text}")
    by_volumes = volumes.on_nodes(pod)
    found = (node for node in cluster.nodes if pod_objection(pod, node, classes) is None)
    return tuple(node for node in found if by_volumes(node) is None)


def _check_claims(name: str, pod: Pod, nodes: Sequence[Node], classes: Mapping[str, str]) -> None:
    """Raise InputError if the claim for the pod's extended resources is another on other nodes."""
    if not asks_for_extended(pod):
        return
    claims = [extended_claim(pod, node, classes) for node in nodes]
    if any(claim != claims[0] for claim in claims):
        raise InputError(
            f"{name} asks for extended resources that some nodes offer themselves and others as DRA devices",
            hint="dra-alloc check looks at such pods, one by one",
        )
