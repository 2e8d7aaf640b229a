"""
Kubeflow's TrainJob, and the training jobs before it: PyTorchJob, TFJob, MPIJob and their like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.batch import JobRun, pods_of_job
from dra_alloc.pods.workloads.jobset import replicated_jobs
from dra_alloc.pods.workloads.plans import Around, Controller, Misfit, PodPlan, PodSet, PodSlot, by_name
from dra_alloc.pods.workloads.reading import (
    controller_of,
    copies,
    flag,
    has_ended,
    items,
    labelled,
    number,
    template_in,
    text,
    together,
    value_at,
    with_labels,
)

#: Where the replica specs of a kind stand: in the order its pods are made.
_SPECS: Final = {
    "PyTorchJob": "pytorchReplicaSpecs",
    "TFJob": "tfReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
    "MPIJob": "mpiReplicaSpecs",
}
_PREFIX: Final = "training.kubeflow.org"
_ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"


def training_job(workload: Workload, around: Around) -> PodPlan:
    """Return a pod `<job>-<type>-<number>` for each replica of each type. Spec: EXPAND-21."""
    if flag(workload.body, "spec.runPolicy.suspend") or has_ended(value_at(workload.body, "status")):
        return _none(workload)
    return PodPlan(together(_replicas(workload, around, skip="")), notes=tuple(_elastic(workload)))


def mpi_job(workload: Workload, around: Around) -> PodPlan:
    """Return the workers, `<job>-worker-<number>`, and the pod of the Job that launches. Spec: EXPAND-22."""
    if not workload.api_version.endswith("/v2beta1"):
        return training_job(workload, around)
    if flag(workload.body, "spec.runPolicy.suspend") or has_ended(value_at(workload.body, "status")):
        return _none(workload)
    path = "spec.mpiReplicaSpecs.Launcher"
    name = f"{workload.name}-launcher"
    template = template_in(workload.body, f"{path}.template")
    marked = labelled(template, {f"{_PREFIX}/job-name": workload.name, f"{_PREFIX}/job-role": "launcher"})
    there = with_labels(around.pods(workload), {"job-name": name})
    launcher = pods_of_job(JobRun(Controller("batch/v1", "Job", name), {"template": marked}, path, None, there))
    assert launcher is not None
    return PodPlan(together((*_replicas(workload, around, skip="Launcher"), launcher)))


def _replicas(workload: Workload, around: Around, skip: str) -> Iterator[PodSet]:
    specs = f"spec.{_SPECS[workload.kind]}"
    found = value_at(workload.body, specs)
    for kind in found if isinstance(found, Mapping) else ():
        if kind == skip:
            continue
        at = f"{specs}.{kind}"
        count = copies(workload.body, f"{at}.replicas", 1)
        template = template_in(workload.body, f"{at}.template")
        marks = {f"{_PREFIX}/job-name": workload.name, f"{_PREFIX}/replica-type": kind.lower()}
        slots = [
            PodSlot(
                name := f"{workload.name}-{kind.lower()}-{each}", name, labels={f"{_PREFIX}/replica-index": str(each)}
            )
            for each in range(count)
        ]
        yield PodSet(
            labelled(template, marks),
            f"{at}.template.spec",
            controller_of(workload),
            count,
            slots=slots,
            key_of=by_name,
            there=around.pods(workload),
        )


def _elastic(workload: Workload) -> Iterator[str]:
    most = value_at(workload.body, "spec.elasticPolicy.maxReplicas")
    if isinstance(most, int):
        called = workload.called
        yield f"{called}: its workers are counted as they are written; it may scale up to {most}"


def _none(workload: Workload) -> PodPlan:
    why = "over" if has_ended(value_at(workload.body, "status")) else "suspended"
    return PodPlan(notes=(f"{workload.called} is {why}: it makes no pods",))


def train_job(workload: Workload, around: Around) -> PodPlan:
    """
    Return the pods of the JobSet that its runtime describes, with the number of nodes that it asks for.

    Spec: EXPAND-23. Raises: Misfit, without the runtime.
    """
    if flag(workload.body, "spec.suspend") or has_ended(value_at(workload.body, "status")):
        return _none(workload)
    kind = text(workload.body, "spec.runtimeRef.kind", "ClusterTrainingRuntime")
    name = text(workload.body, "spec.runtimeRef.name")
    # One of the whole cluster may have been put into a namespace, as objects are that name none.
    runtime = around.named(kind, workload.namespace, name) or around.named(kind, "", name)
    if runtime is None:
        said = f"there is no {kind} {name}, which says what pods it makes"
        raise Misfit("spec.runtimeRef", said, "give the runtime with the manifests or in the dump")
    nodes = number(workload, "spec.trainer.numNodes", number(runtime, "spec.mlPolicy.numNodes", 1))
    path = "spec.template.spec.replicatedJobs"
    jobs = tuple((_trained(workload, each, nodes), "spec.runtimeRef") for each in items(runtime.body, path))
    return replicated_jobs(workload, jobs, around, suspended=False)


def _trained(workload: Workload, replicated: Mapping[str, Any], nodes: int) -> Mapping[str, Any]:
    """Return a replicated job of the runtime with what the TrainJob says of it."""
    job = value_at(replicated, "template") or {}
    spec = dict(value_at(job, "spec") or {})
    template = template_in(spec, "template")
    pod = dict(template["spec"])
    if value_at(job, f"metadata.labels[{_ANCESTOR}]") == "trainer":
        spec |= {"parallelism": nodes, "completions": nodes}
        pod["containers"] = [_trainer(workload, each) for each in pod.get("containers") or ()]
    for override in (
        *items(workload.body, "spec.podTemplateOverrides"),
        *items(workload.body, "spec.podSpecOverrides"),
    ):
        targets = {text(each, "name") for each in items(override, "targetJobs")}
        if not targets or text(replicated, "name") in targets:
            pod = _overridden(pod, value_at(override, "spec") or override)
    return {**replicated, "template": {**job, "spec": {**spec, "template": {**template, "spec": pod}}}}


def _trainer(workload: Workload, container: Mapping[str, Any]) -> Mapping[str, Any]:
    asked = value_at(workload.body, "spec.trainer.resourcesPerNode")
    image = value_at(workload.body, "spec.trainer.image")
    if container.get("name") not in ("node", "trainer"):
        return container
    return {**container, **({"resources": asked} if asked else {}), **({"image": image} if image else {})}


def _overridden(pod: dict[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    replaced = {
        key: override[key] for key in ("affinity", "tolerations", "schedulingGates", "nodeSelector") if key in override
    }
    claims = tuple(pod.get("resourceClaims") or ()) + tuple(items(override, "resourceClaims"))
    return {**pod, **replaced, **({"resourceClaims": claims} if claims else {})}
