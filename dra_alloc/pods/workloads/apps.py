"""
Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.api import Node, Pod, PodSpec
from dra_alloc.manifest import Workload
from dra_alloc.pods.node_filter import node_objection
from dra_alloc.pods.workloads.names import TEMPLATE_HASH, cut
from dra_alloc.pods.workloads.plans import Around, Controller, PodPlan, PodSet, PodSlot, by_name
from dra_alloc.pods.workloads.reading import (
    controller_of,
    copies,
    covers,
    flag,
    labelled,
    number,
    template_at,
    text,
    value_at,
    with_spec,
)
from dra_alloc.pods.workloads.states import pinned_to

__all__ = ["daemon_set", "deployment", "replica_set", "rolled_out", "stateful_set"]

_HASH: Final = "pod-template-hash"
_TEMPLATE: Final = "spec.template"
_SPEC: Final = "spec.template.spec"


def replica_set(workload: Workload, around: Around) -> PodPlan:
    """Return as many pods as replicas, under drawn names. Spec: EXPAND-10."""
    return PodPlan(
        (
            PodSet(
                template_at(workload, _TEMPLATE),
                _SPEC,
                controller_of(workload),
                copies(workload.body, "spec.replicas", 1),
                base=f"{workload.name}-",
                there=around.pods(workload),
            ),
        )
    )


def deployment(workload: Workload, around: Around) -> PodPlan:
    """
    Return the pods of the ReplicaSet of the template as it is now.

    Those of older templates are none of them: a rollout replaces them.

    Spec: EXPAND-11.
    """
    return rolled_out(workload, template_at(workload, _TEMPLATE), around, _SPEC)


def rolled_out(
    workload: Workload, template: Mapping[str, Any], around: Around, path: str, label: str = _HASH
) -> PodPlan:
    """Return the pods of a ReplicaSet `<name>-<hash>` of its own for the template as it is now. Spec: EXPAND-11."""
    replicas = copies(workload.body, "spec.replicas", 1)
    sets = [each for each in around.children(workload) if each.kind == "ReplicaSet"]
    current = next((each for each in sets if covers(template, value_at(each.body, _TEMPLATE))), None)
    before = around.before(workload)
    there = around.pods(workload)
    if current is not None:
        marked = text(current.body, f"metadata.labels.{label}", current.name.rpartition("-")[2])
        there, controller = around.pods(current), controller_of(current)
    else:
        marked = TEMPLATE_HASH
        controller = Controller("apps/v1", "ReplicaSet", f"{workload.name}-{marked}")
        known = value_at(before.body, _TEMPLATE) if before is not None else None
        changed = known is not None and not covers(template, known)
        if sets or changed:
            there = ()
    old = len(around.pods(workload)) - len(there)
    notes = (_rollout_note(workload, replicas, old),) if old else ()
    base = cut(f"{workload.name}-{marked}-")
    found = PodSet(labelled(template, {label: marked}), path, controller, replicas, base=base, there=there)
    return PodPlan((found,), notes=notes)


def _rollout_note(workload: Workload, replicas: int, old: int) -> str:
    one = f"{workload.kind} {workload.metadata.full_name}: a rollout replaces {old} pod{'s' if old > 1 else ''}"
    if text(workload.body, "spec.strategy.type") == "Recreate":
        return f"{one} of an older template, which go first"
    surge = _share(value_at(workload.body, "spec.strategy.rollingUpdate.maxSurge"), replicas, up=True)
    gone = _share(value_at(workload.body, "spec.strategy.rollingUpdate.maxUnavailable"), replicas, up=False)
    if not surge and not gone:
        gone = 1
    return (
        f"{one} of an older template: {surge} of the new ones come before one goes, {gone} of the old ones may go first"
    )


def _share(value: Any, replicas: int, *, up: bool) -> int:
    """Return a number of pods that is given as such or as a share of the replicas; a quarter by default."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = value.removesuffix("%") if isinstance(value, str) else "25"
    percent = int(digits) if digits.isdecimal() else 25
    return -(-replicas * percent // 100) if up else replicas * percent // 100


def stateful_set(workload: Workload, around: Around) -> PodPlan:
    """Return pods under names with ordinals; they start one by one unless told otherwise. Spec: EXPAND-12."""
    template = template_at(workload, _TEMPLATE)
    start, replicas = number(workload, "spec.ordinals.start", 0), copies(workload.body, "spec.replicas", 1)
    names = [f"{workload.name}-{start + each}" for each in range(replicas)]
    slots = [
        PodSlot(name, name, labels={"apps.kubernetes.io/pod-index": name.rpartition("-")[2], _POD_NAME: name})
        for name in names
    ]
    there = around.pods(workload)
    notes: tuple[str, ...] = ()
    before = around.before(workload)
    if before is not None and not covers(template, value_at(before.body, _TEMPLATE)):
        there, notes = _of_template_before(workload, there)
    in_order = text(workload.body, "spec.podManagementPolicy", "OrderedReady") == "OrderedReady"
    found = PodSet(
        template,
        _SPEC,
        controller_of(workload),
        replicas,
        slots=slots,
        key_of=by_name,
        there=there,
        in_order=in_order,
    )
    return PodPlan((found,), notes=notes)


_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"


def _of_template_before(workload: Workload, there: tuple[Pod, ...]) -> tuple[tuple[Pod, ...], tuple[str, ...]]:
    """Return the pods that stay although the template changed, and a note: the others go before they come again."""
    if text(workload.body, "spec.updateStrategy.type", "RollingUpdate") != "RollingUpdate":
        return there, ()
    first = number(workload, "spec.updateStrategy.rollingUpdate.partition", 0)
    kept = tuple(pod for pod in there if _ordinal(pod) < first)
    gone = len(there) - len(kept)
    if not gone:
        return kept, ()
    called = f"{workload.kind} {workload.metadata.full_name}"
    note = f"{called}: the template is another: {gone} pods go and come again, one by one"
    return kept, (note,)


def _ordinal(pod: Pod) -> int:
    digits = by_name(pod).rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _toleration(condition: str, effect: str) -> Mapping[str, str]:
    return {"key": f"node.kubernetes.io/{condition}", "operator": "Exists", "effect": effect}


_TOLERATED: Final = (
    _toleration("not-ready", "NoExecute"),
    _toleration("unreachable", "NoExecute"),
    _toleration("disk-pressure", "NoSchedule"),
    _toleration("memory-pressure", "NoSchedule"),
    _toleration("pid-pressure", "NoSchedule"),
    _toleration("unschedulable", "NoSchedule"),
)
_HOST_NETWORK: Final = _toleration("network-unavailable", "NoSchedule")


def daemon_set(workload: Workload, around: Around) -> PodPlan:
    """
    Return a pod for each node that its selector, affinity and tolerations allow, bound to that node by an affinity.

    What the controller tolerates is added first, so that a cordoned node has its pod.

    Spec: EXPAND-13.
    """
    template = template_at(workload, _TEMPLATE)
    spec = template["spec"]
    added = (*_TOLERATED, _HOST_NETWORK) if flag(spec, "hostNetwork") else _TOLERATED
    given = tuple(spec.get("tolerations") or ())
    template = with_spec(template, tolerations=(*given, *(each for each in added if each not in given)))
    pod = Pod.made(spec=PodSpec.from_wire(template["spec"]))
    slots = [_on(node) for node in around.nodes if node_objection(pod, node) is None]
    found = PodSet(
        template,
        _SPEC,
        controller_of(workload),
        len(slots),
        base=f"{workload.name}-",
        slots=slots,
        key_of=pinned_to,
        there=around.pods(workload),
    )
    none = f"DaemonSet {workload.metadata.full_name} has no pod: no node is one that its pods may run on"
    return PodPlan((found,), notes=() if slots else (none,))


def _on(node: Node) -> PodSlot:
    name = node.metadata.name or ""
    return PodSlot(name, node=name)
