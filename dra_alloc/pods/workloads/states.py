"""
What has become of a pod: whether it is still to be scheduled.
"""

from __future__ import annotations

from enum import StrEnum

from dra_alloc.api import Pod
from dra_alloc.manifest import Documents
from dra_alloc.pods.views import is_finished
from dra_alloc.remembered import of_objects


class PodState(StrEnum):
    """
    Whether a pod asks for anything.

    `NEW`: its controller has still to make it. `WAITING`: it is there, without
    a node. `GATED`: the same, and may not be scheduled yet. `BOUND`: it has
    its node. `LEAVING`: it is there, and its controller will delete it.
    `TERMINATING` and `FINISHED` pods are never scheduled again.
    """

    NEW = "new"
    WAITING = "waiting"
    GATED = "gated"
    BOUND = "bound"
    LEAVING = "leaving"
    TERMINATING = "terminating"
    FINISHED = "finished"


def state_of(pod: Pod) -> PodState:
    """
    Return the state of a pod that is there.

    One that is over does not hold anything, even while it is being deleted.

    Spec: EXPAND-30.
    """
    if is_finished(pod):
        return PodState.FINISHED
    if pod.metadata.deletion_timestamp:
        return PodState.TERMINATING
    if pod.spec.node_name:
        return PodState.BOUND
    return PodState.GATED if pod.spec.scheduling_gates else PodState.WAITING


@of_objects
def waiting_in(documents: Documents) -> tuple[Pod, ...]:
    """Return the pods that wait for a node, or for a gate before it."""
    return tuple([each for each in documents.pods if state_of(each) in (PodState.WAITING, PodState.GATED)])


def is_live(pod: Pod) -> bool:
    """Say whether controllers count a pod as one of theirs: neither over nor about to go."""
    return not is_finished(pod) and not pod.metadata.deletion_timestamp


def pinned_to(pod: Pod) -> str:
    """Return the one node that a pod is on or may run on, as a DaemonSet's pods say it; empty if there is none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    terms = required.node_selector_terms if required is not None else ()
    if len(terms) != 1 or terms[0].match_expressions or len(terms[0].match_fields) != 1:
        return ""
    field = terms[0].match_fields[0]
    return field.values[0] if field.key == "metadata.name" and field.operator == "In" and len(field.values) == 1 else ""
