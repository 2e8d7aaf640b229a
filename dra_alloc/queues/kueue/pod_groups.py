"""
Groups of plain pods: whether Kueue makes a Workload of one, as its pods say how many they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dra_alloc.api import Pod
from dra_alloc.errors import first_few, in_brief
from dra_alloc.queues.reading import whole_number
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut

POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
TOTAL: Final = "kueue.x-k8s.io/pod-group-total-count"
_FAST: Final = "kueue.x-k8s.io/pod-group-fast-admission"
_MOST_SETS: Final = 8
_DIGITS: Final = 9


def of_group(pod: Pod) -> str:
    """Return ``namespace/group`` of a pod, empty without one."""
    group = pod.metadata.labels.get(POD_GROUP)
    return f"{pod.metadata.namespace or ''}/{group}" if group else ""


def no_workload_of(pods: Sequence[Pod], there: Iterable[Pod], sets: int, queue_of: Callable[[Pod], str]) -> KeptOut:
    """
    Return why Kueue makes no Workload of a group's pods, if it makes none; `there` are pods of it in the cluster.

    Spec: KUEUE-38.
    """
    totals = list(dict.fromkeys(each.metadata.annotations.get(TOTAL, "") for each in pods))
    queues = list(dict.fromkeys(queue_of(each) or "none" for each in pods))
    malformed = [each for each in totals if not whole_number(each, _DIGITS)]
    if malformed:
        said = f"is {in_brief(malformed[0])}, and has to be a whole number above 0" if malformed[0] else "is missing"
        return "pod-group-malformed", f"of a pod of its group annotation {TOTAL} {said}"
    if len(totals) > 1:
        return "pod-group-malformed", f"pods of its group have different {TOTAL}: {first_few(totals)}"
    if len(queues) > 1:
        return "pod-group-malformed", f"pods of its group have different queues: {first_few(queues)}"
    if sets > _MOST_SETS:
        return "pod-group-malformed", f"pods of its group are of {sets} kinds, and Kueue takes {_MOST_SETS}"
    wanted, count = int(totals[0]), len({each.metadata.full_name for each in (*pods, *filter(_counts, there))})
    said = f"its group has {count} pods, and by {TOTAL} there are {wanted}"
    if count > wanted:
        return NOT_MODELLED, f"{said}: Kueue deletes those beyond, and which these are is not known"
    if count < wanted and _FAST in pods[0].metadata.annotations:
        return NOT_MODELLED, f"{said}: admission before all are there is not modelled"
    if count < wanted:
        return "pod-group-incomplete", f"{said}: Kueue makes no Workload before all are there"
    return TRIED


def _counts(pod: Pod) -> bool:
    """Return whether a pod of the cluster is one of those that Kueue counts: it runs, or may, or has succeeded."""
    is_going = bool(pod.metadata.deletion_timestamp) and not pod.spec.node_name
    return pod.status.phase != "Failed" and not is_going
