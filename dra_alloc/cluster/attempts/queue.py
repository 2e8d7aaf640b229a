"""
Pods before the scheduler looks at nodes: their order, what lets them wait, and claims that they cannot use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import DeviceClass, Pod, ResourceClaim
from dra_alloc.cluster.attempts.scheduled import NotAsked, Waiting
from dra_alloc.limits import RESERVED_FOR_MAX_SIZE
from dra_alloc.pods.admission import BUILT_IN, WITHOUT_CLASS
from dra_alloc.pods.claims import going, not_made_for
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.workloads.states import PodState, state_of

DEFAULT_SCHEDULER: Final = "default-scheduler"


@dataclass(frozen=True, slots=True)
class Queued:
    """
    A pod and its claims: names of claims that the cluster has or that pods share, and claims made for it alone.

    Those that are `generated` come from templates and serve the pod that owns
    them; `missing` says why some are not there. A `barred` pod is not asked of
    any node. Pods of one `template` differ in name only; those that `follow`
    each other, by the name of their workload, are made one when the one before
    runs. With `alone` there is no pod, only claims.
    """

    pod: Pod
    claims: tuple[str | ResourceClaim, ...] = ()
    generated: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    barred: Objection | None = None
    template: str | None = None
    follows: str = ""
    alone: bool = False

    @property
    def name(self) -> str:
        """The pod's name with its namespace."""
        return self.pod.metadata.full_name

    @property
    def priority(self) -> int:
        """The pod's priority."""
        return priority_of(self.pod)

    def notes(self) -> Iterator[str]:
        """Yield what is not looked at and could change the answer."""
        spec = self.pod.spec
        scheduler = scheduler_of(self.pod)
        if scheduler != DEFAULT_SCHEDULER:
            yield f"scheduler {scheduler} decides, which may do otherwise than kube-scheduler"
        if spec.priority is None and spec.priority_class_name and spec.priority_class_name not in BUILT_IN:
            name = spec.priority_class_name
            yield f"PriorityClass {name} is not among the files: its value is taken as 0, {WITHOUT_CLASS}"


def scheduler_of(pod: Pod) -> str:
    """Return the name of the scheduler that the pod is for."""
    return pod.spec.scheduler_name or DEFAULT_SCHEDULER


def priority_of(pod: Pod) -> int:
    """Return the pod's priority; without one that of a class that every cluster has, or 0."""
    spec = pod.spec
    return spec.priority if spec.priority is not None else BUILT_IN.get(spec.priority_class_name or "", 0)


def may_preempt(pod: Pod, objections: Mapping[str, Objection], running: Iterable[Pod]) -> bool:
    """Return whether a pod of lower priority runs on a node whose objection could go with it."""
    if pod.spec.preemption_policy == "Never":
        return False
    passing = {name for name, each in objections.items() if not each.lasting}
    own = priority_of(pod)
    return bool(passing) and any(each.spec.node_name in passing and priority_of(each) < own for each in running)


def in_order(pods: Sequence[Queued]) -> list[int]:
    """Return the numbers of the pods in the order of the scheduler's queue: higher priority first, then as given."""
    return sorted(range(len(pods)), key=lambda number: -pods[number].priority)


def not_asked(queued: Queued) -> NotAsked | None:
    """Return why there is nothing to schedule: the pod has a node, is finished, or is being deleted."""
    pod = queued.pod
    state, node = state_of(pod), pod.spec.node_name or ""
    if state is PodState.FINISHED:
        return NotAsked(queued.name, str(state), f"the pod is finished: {pod.status.phase}")
    if node:
        return NotAsked(queued.name, str(state), f"the pod has its node: {node}", node)
    if state is PodState.TERMINATING:
        return NotAsked(queued.name, str(state), "skip schedule deleting pod")
    return None


def waiting(queued: Queued, claims: Mapping[str, ResourceClaim]) -> Waiting | None:
    """Return what lets the pod wait before any attempt: quotas, gates, then claims missing, going, or another pod's."""
    pod = queued.pod
    if queued.barred is not None:
        return Waiting(queued.name, queued.barred.code, queued.barred.text, detail=queued.barred.detail)
    if pod.spec.scheduling_gates:
        gates = " ".join(each.name for each in pod.spec.scheduling_gates)
        return Waiting(queued.name, "scheduling-gates", f"waiting for scheduling gates: [{gates}]")
    if queued.missing:
        return Waiting(queued.name, "claim-missing", queued.missing[0])
    for each in queued.claims:
        if not isinstance(each, str):
            continue
        claim = claims.get(each)
        if claim is None:
            return Waiting(queued.name, "claim-missing", f'could not find ResourceClaim "{each}"')
        against = going(claim) or (not_made_for(pod, claim) if each in queued.generated else None)
        if against is not None:
            return Waiting(queued.name, against.code, against.text)
    return None


def refused_everywhere(
    queued: Queued,
    known: Sequence[ResourceClaim],
    reserved: Callable[[ResourceClaim], int],
    classes: Mapping[str, DeviceClass],
) -> Objection | None:
    """Return what claims or their classes have against the pod, whatever the node."""
    text = "" if queued.alone else reserved_up(queued.pod, known, reserved)
    if text:
        return Objection("claim-in-use", (text,))
    text = missing_class([each for each in known if each.status.allocation is None], classes)
    return Objection("unknown-class", (text,)) if text else None


def reserved_up(pod: Pod, claims: Iterable[ResourceClaim], reserved: Callable[[ResourceClaim], int]) -> str:
    """Return the scheduler's words if one of the claims has all the consumers that it can have; else nothing."""
    for claim in claims:
        # A claim of a group is reserved once, for the group.
        of_group = any(each.kind == "PodGroup" for each in claim.metadata.owner_references)
        if of_group or claim.status.allocation is None or reserved(claim) < RESERVED_FOR_MAX_SIZE:
            continue
        if not any(each.uid == pod.metadata.uid for each in claim.status.reserved_for):
            return "resourceclaim in use"
    return ""


def missing_class(claims: Iterable[ResourceClaim], classes: Mapping[str, DeviceClass]) -> str:
    """Return the scheduler's words for the first DeviceClass that there is not; else nothing."""
    for claim in claims:
        for _, name, wanted in claim.spec.devices.asked():
            if wanted.device_class_name and wanted.device_class_name not in classes:
                return f"request {name}: device class {wanted.device_class_name} does not exist"
    return ""
