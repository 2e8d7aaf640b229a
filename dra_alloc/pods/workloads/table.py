"""
The kinds that make pods: one line each, in the file of its family what it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from dra_alloc.errors import in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads import apps, batch, grove, jobset, kubeflow, lws, ray, services, volcano
from dra_alloc.pods.workloads.plans import Around, PodPlan
from dra_alloc.pods.workloads.reading import text


class Maker(NamedTuple):
    """
    A kind that makes pods: what it makes, or, where that cannot be said without its controller, why not.

    `versions` are those that its API has, the best first; none where this is not known. `managed` is where it says
    which controller makes its pods, and its own.
    """

    group: str
    kind: str
    plan: Callable[[Workload, Around], PodPlan] | None
    why_not: str = ""
    versions: tuple[str, ...] = ()
    managed: tuple[str, str] = ("", "")

    def made_elsewhere(self, workload: Workload) -> str:
        """Return a note that another controller is to make the pods; nothing if its own does. Spec: EXPAND-68."""
        path, own = self.managed
        other = text(workload.body, path, own) if path else own
        said = f"is managed by {in_brief(other)}, and its own controller makes no pods of it"
        return "" if other == own else f"{workload.called} {said}"


_STEPS: Final = "its steps make pods as they come up, one after another"
_DRIVER: Final = "its driver makes pods while it runs"
_JOBS: Final = "kubernetes.io/job-controller"
_SETS: Final = "jobset.sigs.k8s.io/jobset-controller"
_TRAINER: Final = "trainer.kubeflow.org/trainjob-controller"
_RAY: Final = ("v1", "v1alpha1")
_VIRTUAL: Final = ("v1", "v1alpha3")
_BY_RAY: Final = ("spec.managedBy", "ray.io/kuberay-operator")
_BY_TRAINING: Final = ("spec.runPolicy.managedBy", "kubeflow.org/training-operator")

MAKERS: Final[tuple[Maker, ...]] = (
    Maker("apps", "Deployment", apps.deployment, versions=("v1",)),
    Maker("apps", "ReplicaSet", apps.replica_set, versions=("v1",)),
    Maker("apps", "StatefulSet", apps.stateful_set, versions=("v1",)),
    Maker("apps", "DaemonSet", apps.daemon_set, versions=("v1",)),
    Maker("", "ReplicationController", apps.replica_set, versions=("v1",)),
    Maker("batch", "Job", batch.job, versions=("v1",), managed=("spec.managedBy", _JOBS)),
    Maker("batch", "CronJob", batch.cron_job, versions=("v1",), managed=("spec.jobTemplate.spec.managedBy", _JOBS)),
    Maker("jobset.x-k8s.io", "JobSet", jobset.job_set, versions=("v1alpha2",), managed=("spec.managedBy", _SETS)),
    Maker("leaderworkerset.x-k8s.io", "LeaderWorkerSet", lws.leader_worker_set, versions=("v1",)),
    Maker("disaggregatedset.x-k8s.io", "DisaggregatedSet", lws.disaggregated_set, versions=("v1",)),
    Maker("ray.io", "RayCluster", ray.ray_cluster, versions=_RAY, managed=_BY_RAY),
    Maker("ray.io", "RayJob", ray.ray_job, versions=_RAY, managed=_BY_RAY),
    Maker("ray.io", "RayService", ray.ray_service, versions=_RAY, managed=_BY_RAY),
    Maker("ray.io", "RayCronJob", ray.ray_cron_job, versions=("v1",)),
    Maker(
        "trainer.kubeflow.org",
        "TrainJob",
        kubeflow.train_job,
        versions=("v1alpha1",),
        managed=("spec.managedBy", _TRAINER),
    ),
    Maker("kubeflow.org", "PyTorchJob", kubeflow.training_job, versions=("v1",), managed=_BY_TRAINING),
    Maker("kubeflow.org", "TFJob", kubeflow.training_job, versions=("v1",), managed=_BY_TRAINING),
    Maker("kubeflow.org", "XGBoostJob", kubeflow.training_job, versions=("v1",), managed=_BY_TRAINING),
    Maker("kubeflow.org", "PaddleJob", kubeflow.training_job, versions=("v1",), managed=_BY_TRAINING),
    Maker("kubeflow.org", "JAXJob", kubeflow.training_job, versions=("v1",), managed=_BY_TRAINING),
    Maker("kubeflow.org", "MPIJob", kubeflow.mpi_job, versions=("v2beta1", "v1")),
    Maker("batch.volcano.sh", "Job", volcano.volcano_job, versions=("v1alpha1",)),
    Maker("batch.volcano.sh", "CronJob", volcano.volcano_cron_job, versions=("v1alpha1",)),
    Maker("grove.io", "PodCliqueSet", grove.pod_clique_set, versions=("v1alpha1",)),
    Maker("grove.io", "PodClique", grove.pod_clique, versions=("v1alpha1",)),
    Maker("argoproj.io", "Rollout", services.rollout, versions=("v1alpha1",)),
    Maker("serving.knative.dev", "Service", services.knative_service, versions=("v1",)),
    Maker("kubevirt.io", "VirtualMachine", services.virtual_machine, versions=_VIRTUAL),
    Maker("kubevirt.io", "VirtualMachineInstance", services.virtual_machine_instance, versions=_VIRTUAL),
    Maker("kubevirt.io", "VirtualMachineInstanceReplicaSet", services.virtual_machine_replicas, versions=_VIRTUAL),
    Maker("argoproj.io", "Workflow", None, _STEPS),
    Maker("argoproj.io", "CronWorkflow", None, _STEPS),
    Maker("tekton.dev", "TaskRun", None, _STEPS),
    Maker("tekton.dev", "PipelineRun", None, _STEPS),
    Maker("sparkoperator.k8s.io", "SparkApplication", None, _DRIVER),
    Maker("sparkoperator.k8s.io", "ScheduledSparkApplication", None, _DRIVER),
)
_BY_KIND: Final[Mapping[tuple[str, str], Maker]] = {(each.group, each.kind): each for each in MAKERS}

#: Kinds that hold pod templates, or lists of claims, and make no pods of them.
NO_MAKERS: Final = frozenset(
    {
        ("", "PodTemplate"),
        ("apps", "ControllerRevision"),
        ("scheduling.k8s.io", "Workload"),
        ("scheduling.k8s.io", "CompositePodGroup"),
        ("kueue.x-k8s.io", "Workload"),
        ("scheduler.grove.io", "PodGang"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        ("trainer.kubeflow.org", "TrainingRuntime"),
        ("argoproj.io", "WorkflowTemplate"),
        ("argoproj.io", "ClusterWorkflowTemplate"),
        ("argoproj.io", "AnalysisTemplate"),
        ("serving.knative.dev", "Configuration"),
        ("serving.knative.dev", "Revision"),
        ("kyverno.io", "Policy"),
        ("kyverno.io", "ClusterPolicy"),
    }
)


def maker_of(workload: Workload) -> Maker | None:
    """Return what is known of a workload's kind, in whatever version."""
    return _BY_KIND.get((workload.group, workload.kind))
