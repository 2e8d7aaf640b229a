"""
Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dra_alloc.api import Node, Pod, PodSpec
from dra_alloc.manifest import Workload
from dra_alloc.pods.admission import VOLUMES
from dra_alloc.pods.node_filter import node_objection
from dra_alloc.pods.workloads.names import TEMPLATE_HASH, cut
from dra_alloc.pods.workloads.plans import Around, Controller, PodPlan, PodSet, PodSlot, Rollout, by_name
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
from dra_alloc.pods.workloads.states import PodState, is_live, pinned_to, state_of

_HASH: Final = "pod-template-hash"
_MOST: Final = "deployment.kubernetes.io/max-replicas"
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

    Those of older templates are none of them: a rollout replaces them, which is looked at step by step.

    Spec: EXPAND-11, EXPAND-60, EXPAND-72.
    """
    if flag(workload.body, "spec.paused"):
        return _paused(workload, around)
    plan = rolled_out(workload, template_at(workload, _TEMPLATE), around, _SPEC)
    (new,) = plan.sets
    kept = {id(each) for each in new.there}
    old = [each for each in around.pods(workload) if id(each) not in kept and state_of(each) is PodState.BOUND]
    surge, gone = _shares(workload, new.count)
    rollout = Rollout(_leaving_first(old), new.count - gone, new.count + surge)
    return replace(plan, rollout=rollout) if old else plan


def _paused(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of the ReplicaSets that are there: no other is made before the Deployment goes on."""
    note = f"{workload.called} is paused: it makes no pods of a new template, and none at all without a ReplicaSet"
    sets = [each for each in around.children(workload) if each.kind == "ReplicaSet"]
    if not sets:
        there = around.pods(workload)
        kept = PodSet(template_at(workload, _TEMPLATE), _SPEC, controller_of(workload), len(there), there=there)
        return PodPlan((kept,) if there else (), notes=(note,))
    parts = [replica_set(each, around).sets[0] for each in sets]
    return PodPlan(
        tuple([replace(each, count=count) for each, count in zip(parts, _scaled(workload, sets), strict=True)]),
        notes=(note,),
    )


def _scaled(workload: Workload, sets: Sequence[Workload]) -> list[int]:
    """Return how many pods a Deployment that makes no ReplicaSet wants of each: several are scaled in proportion."""
    wanted = copies(workload.body, "spec.replicas", 1)
    sizes = [copies(each.body, "spec.replicas", 1) for each in sets]
    made = [each.metadata.creation_timestamp or "" for each in sets]
    if sum(map(bool, sizes)) < 2:
        template = template_at(workload, _TEMPLATE)
        current = [covers(template, value_at(each.body, _TEMPLATE)) for each in sets]
        ranks = list(zip(sizes, current, made, strict=True))
        only = ranks.index(max(ranks))
        return [wanted if place == only else 0 for place, _ in enumerate(sets)]
    if text(workload.body, "spec.strategy.type") == "Recreate":
        return sizes
    most = wanted + _shares(workload, wanted)[0] if wanted else 0
    before = [_most_before(each, sum(sizes)) for each in sets]
    found = [(2 * size * most + each) // (2 * each) for size, each in zip(sizes, before, strict=True)]
    # The largest has what is left over: of equal ones the newest as more are made, and the oldest as some go.
    places = sorted(range(len(sets)), key=made.__getitem__, reverse=most > sum(sizes))
    largest = max(places, key=sizes.__getitem__)
    found[largest] = max(0, found[largest] + most - sum(found))
    return found


def _most_before(replicas: Workload, there: int) -> int:
    """Return how many pods the Deployment of a ReplicaSet was to have at most when it was scaled last."""
    said = replicas.metadata.annotations.get(_MOST, "")
    return (int(said) if said.isdecimal() else 0) or there


def _leaving_first(pods: Sequence[Pod]) -> tuple[Pod, ...]:
    """Return pods in the order in which a ReplicaSet lets them go: of a node with many first, then the youngest."""
    beside = Counter(each.spec.node_name for each in pods)
    young = sorted(pods, key=lambda each: each.metadata.creation_timestamp or "", reverse=True)
    return tuple(sorted(young, key=lambda each: -beside[each.spec.node_name]))


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
    one = f"{workload.called}: a rollout replaces {old} pod{'s' if old > 1 else ''}"
    if text(workload.body, "spec.strategy.type") == "Recreate":
        return f"{one} of an older template, which go first"
    surge, gone = _shares(workload, replicas)
    return (
        f"{one} of an older template: {surge} of the new ones come before one goes, {gone} of the old ones may go first"
    )


def _shares(workload: Workload, replicas: int) -> tuple[int, int]:
    """Return how many new pods of a Deployment come before an old one goes, and how many old ones may go first."""
    if text(workload.body, "spec.strategy.type") == "Recreate":
        return 0, replicas
    surge = _share(value_at(workload.body, "spec.strategy.rollingUpdate.maxSurge"), replicas, up=True)
    gone = _share(value_at(workload.body, "spec.strategy.rollingUpdate.maxUnavailable"), replicas, up=False)
    return surge, min(replicas, gone) if surge or gone else 1


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
    every = there = around.pods(workload)
    notes: tuple[str, ...] = ()
    if _is_changed(workload, template, around):
        there, notes = _of_template_before(workload, there)
    if value_at(workload.body, "spec.volumeClaimTemplates"):
        notes = (*notes, f"{workload.called}: {VOLUMES}")
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
    stay = {id(each) for each in there}
    old = sorted((each for each in every if id(each) not in stay), key=_ordinal, reverse=True)
    return PodPlan((found,), notes=notes, rollout=Rollout(tuple(old), key_of=by_name) if old else None)


def _is_changed(workload: Workload, template: Mapping[str, Any], around: Around) -> bool:
    """Return whether the cluster has the workload with another template."""
    before = around.before(workload)
    return before is not None and not covers(template, value_at(before.body, _TEMPLATE))


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
    called = workload.called
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
    Pods of an older template are replaced node by node.

    Spec: EXPAND-13, EXPAND-60.
    """
    template = template_at(workload, _TEMPLATE)
    there, old = around.pods(workload), tuple[Pod, ...]()
    rolls = text(workload.body, "spec.updateStrategy.type", "RollingUpdate") == "RollingUpdate"
    if rolls and _is_changed(workload, template, around):
        there, old = (), there
    spec = template["spec"]
    added = (*_TOLERATED, _HOST_NETWORK) if flag(spec, "hostNetwork") else _TOLERATED
    given = tuple(spec.get("tolerations") or ())
    template = with_spec(template, tolerations=(*given, *(each for each in added if each not in given)))
    pod = Pod.made(spec=PodSpec.from_wire(template["spec"]))
    staying = {pinned_to(each) for each in there if is_live(each)}
    slots = [_on(node) for node in around.nodes if _runs_on(pod, node, staying)]
    found = PodSet(
        template,
        _SPEC,
        controller_of(workload),
        len(slots),
        base=f"{workload.name}-",
        slots=slots,
        key_of=pinned_to,
        there=there,
    )
    called = f"DaemonSet {workload.metadata.full_name}"
    notes = [] if slots else [f"{called} has no pod: no node is one that its pods may run on"]
    first = value_at(workload.body, "spec.updateStrategy.rollingUpdate.maxSurge")
    surges = bool(_share(first, len(slots), up=True)) if first is not None else False
    if old:
        how = "new ones come first" if surges else "each goes before the new one of its node comes"
        notes.append(f"{called}: a rollout replaces {len(old)} pods of an older template: {how}")
    return PodPlan((found,), notes=tuple(notes), rollout=Rollout(old, key_of=pinned_to) if old and not surges else None)


def _runs_on(pod: Pod, node: Node, staying: Collection[str]) -> bool:
    """Say whether a DaemonSet's pod runs on a node: one that is there stays whatever taint lets none come."""
    if node_objection(pod, node) is None:
        return True
    if node.metadata.name not in staying or not node.spec.taints:
        return False
    evicting = tuple([each for each in node.spec.taints if each.effect == "NoExecute"])
    return node_objection(pod, node.replaced(spec=node.spec.replaced(taints=evicting))) is None


def _on(node: Node) -> PodSlot:
    name = node.metadata.name or ""
    return PodSlot(name, node=name)
