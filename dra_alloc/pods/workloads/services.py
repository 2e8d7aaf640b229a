"""
Argo's Rollout, Knative's Service, KubeVirt's virtual machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.apps import rolled_out
from dra_alloc.pods.workloads.names import TEMPLATE_HASH, cut
from dra_alloc.pods.workloads.plans import Around, Controller, Misfit, PodPlan, PodSet
from dra_alloc.pods.workloads.reading import (
    bounded,
    controller_of,
    copies,
    flag,
    items,
    labelled,
    template_at,
    text,
    value_at,
    with_spec,
)

_ROLLOUT_HASH: Final = "rollouts-pod-template-hash"


def rollout(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of a Rollout, its template its own or a Deployment's. Spec: EXPAND-27. Raises: Misfit."""
    kind, name = text(workload.body, "spec.workloadRef.kind"), text(workload.body, "spec.workloadRef.name")
    if not name:
        return rolled_out(workload, template_at(workload, "spec.template"), around, "spec.template.spec", _ROLLOUT_HASH)
    other = around.named(kind, workload.namespace, name)
    if other is None:
        raise Misfit("spec.workloadRef", f"there is no {kind} {name}, of which it takes the template")
    return rolled_out(workload, template_at(other, "spec.template"), around, "spec.workloadRef", _ROLLOUT_HASH)


def knative_service(workload: Workload, around: Around) -> PodPlan:
    """
    Return the pods of its first revision: as many as it starts with, or as its minimum says.

    Each has a proxy for its queue beside its containers.

    Spec: EXPAND-28.
    """
    template = template_at(workload, "spec.template")
    marks = template["metadata"].get("annotations") or {}
    count = max(_scale(marks, "min-scale", "minScale", 0), _scale(marks, "initial-scale", "initialScale", 1))
    proxy = {"name": "queue-proxy", "resources": {"requests": {"cpu": "25m"}}}
    template = with_spec(template, containers=[*(template["spec"].get("containers") or ()), proxy])
    revision = text(template, "metadata.name", f"{workload.name}-00001")
    name = f"{revision}-deployment-{TEMPLATE_HASH}"
    labels = {"serving.knative.dev/service": workload.name, "serving.knative.dev/revision": revision}
    found = PodSet(
        labelled(template, labels),
        "spec.template.spec",
        Controller("apps/v1", "ReplicaSet", name),
        bounded(count, "spec.template.metadata.annotations"),
        base=cut(f"{name}-"),
        there=around.pods(workload),
    )
    called = workload.called
    return PodPlan((found,), notes=(f"{called} is counted with {count} pods; its autoscaler may ask for others",))


def _scale(marks: Mapping[str, Any], name: str, older: str, default: int) -> int:
    given = marks.get(f"autoscaling.knative.dev/{name}", marks.get(f"autoscaling.knative.dev/{older}"))
    return int(given) if isinstance(given, str) and given.isdecimal() else default


def virtual_machine(workload: Workload, around: Around) -> PodPlan:
    """Return the pod of a machine that is to run. Spec: EXPAND-29."""
    strategy = text(workload.body, "spec.runStrategy")
    if strategy in ("Halted", "Manual") or not (strategy or flag(workload.body, "spec.running")):
        called = workload.called
        return PodPlan(notes=(f"{called} is not to run: it makes no pod",))
    return _machines(workload, "spec.template", 1, around)


def virtual_machine_instance(workload: Workload, around: Around) -> PodPlan:
    """Return the pod of a machine. Spec: EXPAND-29."""
    return _machines(workload, "", 1, around)


def virtual_machine_replicas(workload: Workload, around: Around) -> PodPlan:
    """Return a pod for each of the machines. Spec: EXPAND-29."""
    return _machines(workload, "spec.template", copies(workload.body, "spec.replicas", 1), around)


def _machines(workload: Workload, path: str, count: int, around: Around) -> PodPlan:
    template = template_at(workload, path) if path else {"metadata": {}, "spec": value_at(workload.body, "spec") or {}}
    spec = template["spec"]
    domain = value_at(spec, "domain") or {}
    devices = (*items(domain, "devices.gpus"), *items(domain, "devices.hostDevices"))
    uses = [
        {
            "name": text(each, "claimName"),
            **({"request": text(each, "requestName")} if text(each, "requestName") else {}),
        }
        for each in devices
        if text(each, "claimName")
    ]
    plugin = [text(each, "deviceName") for each in devices if text(each, "deviceName")]
    asked = {**(value_at(domain, "resources.requests") or {}), **{name: plugin.count(name) for name in plugin}}
    memory = value_at(domain, "memory.guest")
    if memory and "memory" not in asked:
        asked["memory"] = memory
    resources = {"requests": asked, "limits": {name: plugin.count(name) for name in plugin}, "claims": uses}
    kept = {key: spec[key] for key in _KEPT if key in spec}
    pod = {
        **kept,
        "containers": [{"name": "compute", "resources": {key: each for key, each in resources.items() if each}}],
    }
    labels = {"kubevirt.io": "virt-launcher", "vm.kubevirt.io/name": workload.name}
    base = f"virt-launcher-{workload.name}-"
    made = labelled({"metadata": template["metadata"], "spec": pod}, labels)
    where = f"{path}.spec" if path else "spec"
    called = workload.called
    notes = (f"{called}: what its virtual machine needs beside the guest's memory is not counted",)
    found = PodSet(made, where, controller_of(workload), count, cut(base), there=around.pods(workload))
    return PodPlan((found,), notes=notes)


#: What a pod takes over from the spec of its machine.
_KEPT: Final = (
    "resourceClaims",
    "nodeSelector",
    "affinity",
    "tolerations",
    "schedulerName",
    "topologySpreadConstraints",
)
