"""
RayCluster, RayJob, RayService, RayCronJob.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.api import Pod
from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.batch import JobRun, pods_of_job
from dra_alloc.pods.workloads.names import RUN, drawn, ray_base
from dra_alloc.pods.workloads.plans import Around, Controller, PodPlan, PodSet
from dra_alloc.pods.workloads.reading import (
    bounded,
    flag,
    has_ended,
    items,
    labelled,
    number_in,
    template_in,
    text,
    together,
    value_at,
    with_labels,
    with_spec,
)

_MOST: Final = (1 << 31) - 1
#: Ray's own containers, in which it puts what its settings leave open.
_AUTOSCALER: Final = {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}}
_WAITING: Final = {"requests": {"cpu": "200m", "memory": "256Mi"}, "limits": {"cpu": "200m", "memory": "256Mi"}}
_SUBMITTER: Final = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}


def ray_cluster(workload: Workload, around: Around) -> PodPlan:
    """Return the head and the workers of each group. Spec: EXPAND-19."""
    spec = value_at(workload.body, "spec") or {}
    return _cluster(workload, workload.name, spec, "spec", around)


def ray_service(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of its cluster; an upgrade makes a second one, which is not counted. Spec: EXPAND-19."""
    at = "spec.rayClusterConfig"
    return _cluster(workload, _name_of_cluster(workload, around), value_at(workload.body, at) or {}, at, around)


def ray_job(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of its cluster, and of the Job that submits. Spec: EXPAND-20."""
    return _job(workload, _name_of_cluster(workload, around), workload.name, "spec", around)


def ray_cron_job(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of one run. Spec: EXPAND-20."""
    if flag(workload.body, "spec.suspend"):
        return PodPlan(notes=(f"{workload.called} is suspended: it makes no pods",))
    name = f"{workload.name}-{RUN}"
    return _job(workload, drawn(f"{name}-", 0), name, "spec.jobTemplate", around)


def _name_of_cluster(workload: Workload, around: Around) -> str:
    """Return what the cluster that it makes is called, which is there already or has a drawn name."""
    found = [each.name for each in around.children(workload) if each.kind == "RayCluster"]
    return found[-1] if found else drawn(f"{workload.name}-", 0)


def _job(workload: Workload, cluster: str, name: str, at: str, around: Around) -> PodPlan:
    spec = value_at(workload.body, at) or {}
    ended = has_ended(value_at(workload.body, "status"))
    if flag(spec, "suspend") or ended:
        return PodPlan(notes=(f"{workload.called} is {'over' if ended else 'suspended'}: it makes no pods",))
    sets: list[PodSet] = []
    notes: tuple[str, ...] = ()
    if value_at(spec, "clusterSelector"):
        notes = (f"{workload.called} runs on a cluster that is there: it makes none",)
    else:
        plan = _cluster(workload, cluster, value_at(spec, "rayClusterSpec") or {}, f"{at}.rayClusterSpec", around)
        sets, notes = [*plan.sets], plan.notes
    if text(spec, "submissionMode", "K8sJobMode") == "K8sJobMode":
        sets += _submitter(workload, name, spec, at, around)
    return PodPlan(together(sets), notes=notes)


def _submitter(workload: Workload, name: str, spec: Mapping[str, Any], at: str, around: Around) -> Iterator[PodSet]:
    given = value_at(spec, "submitterPodTemplate") is not None
    path = f"{at}.submitterPodTemplate" if given else f"{at}.rayClusterSpec.headGroupSpec.template"
    if given:
        template = template_in(spec, "submitterPodTemplate", at)
    else:
        head = (
            template_in(spec, "rayClusterSpec.headGroupSpec.template", at) if value_at(spec, "rayClusterSpec") else {}
        )
        image = value_at(head, "spec.containers[0].image")
        container = {"name": "ray-job-submitter", "resources": _SUBMITTER, **({"image": image} if image else {})}
        template = {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    labels = {"job-name": name}
    run = JobRun(
        Controller("batch/v1", "Job", name),
        {"template": template},
        path,
        None,
        with_labels(around.pods(workload), labels),
    )
    found = pods_of_job(run)
    if found is not None:
        yield PodSet(found.template, f"{path}.spec", found.controller, found.count, found.base, there=found.there)


def _cluster(workload: Workload, name: str, spec: Mapping[str, Any], at: str, around: Around) -> PodPlan:
    if flag(spec, "suspend"):
        return PodPlan(notes=(f"{workload.called} is suspended: it makes no pods",))
    scaled = flag(spec, "enableInTreeAutoscaling")
    there = around.pods(workload)
    maker = Controller("ray.io/v1", "RayCluster", name)
    head = template_in(spec, "headGroupSpec.template", at)
    if scaled:
        asked = value_at(spec, "autoscalerOptions.resources") or _AUTOSCALER
        head = _beside(head, "containers", "autoscaler", asked)
    sets = [_set((head, f"{at}.headGroupSpec.template.spec"), maker, "", 1, there)]
    notes: list[str] = []
    for number, group in enumerate(items(spec, "workerGroupSpecs")):
        where = f"{at}.workerGroupSpecs[{number}]"
        template = _beside(template_in(group, "template", where), "initContainers", "wait-gcs-ready", _WAITING)
        hosts = number_in(group, "numOfHosts", 1, where)
        count = bounded(_desired(group, where) * hosts, f"{where}.replicas")
        called = text(group, "groupName", f"group-{number}")
        sets.append(_set((template, f"{where}.template.spec"), maker, called, count, there))
        if scaled:
            least, most = number_in(group, "minReplicas", 0, where), number_in(group, "maxReplicas", _MOST, where)
            top = f"{most * hosts}" if most < _MOST else "any number of"
            counted = f"{workload.called}: group {called} is counted with {count} pods"
            notes.append(f"{counted}; its autoscaler may ask for {least * hosts} to {top}")
    return PodPlan(together(sets), notes=tuple(notes))


def _beside(template: Mapping[str, Any], member: str, name: str, resources: Any) -> Mapping[str, Any]:
    """Return a template with one container more, of the image of the first."""
    image = value_at(template, "spec.containers[0].image")
    container = {"name": name, **({"image": image} if image else {}), "resources": resources}
    return with_spec(template, **{member: [*(value_at(template, f"spec.{member}") or ()), container]})


def _desired(group: Mapping[str, Any], at: str) -> int:
    """Return how many replicas a group has: within its limits, and the upper one if they cross. Spec: EXPAND-19."""
    if flag(group, "suspend"):
        return 0
    least, most = number_in(group, "minReplicas", 0, at), number_in(group, "maxReplicas", _MOST, at)
    return most if least > most else min(max(number_in(group, "replicas", 0, at), least), most)


def _set(
    written: tuple[Mapping[str, Any], str], maker: Controller, group: str, count: int, there: tuple[Pod, ...]
) -> PodSet:
    """Return the pods of a group of workers, or the head where there is no group."""
    template, path = written
    marks = {"ray.io/node-type": "worker" if group else "head", "ray.io/group": group or "headgroup"}
    labels = {"ray.io/cluster": maker.name, **marks}
    base = ray_base(maker.name, group)
    return PodSet(labelled(template, labels), path, maker, count, base, there=with_labels(there, marks))
