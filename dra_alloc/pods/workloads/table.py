"""
The kinds that make pods: one line each, in the file of its family what it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads import apps, batch, grove, jobset, kubeflow, lws, ray, services, volcano
from dra_alloc.pods.workloads.plans import Around, PodPlan

__all__ = ["MAKERS", "NO_MAKERS", "Maker", "maker_of"]


class Maker(NamedTuple):
    """
    A kind that makes pods: what it makes, or, where that cannot be said without its controller, why not.

    `versions` are those that its API has, the best first; none where this is not known.
    """

    group: str
    kind: str
    plan: Callable[[Workload, Around], PodPlan] | None
    why_not: str = ""
    versions: tuple[str, ...] = ()


_STEPS: Final = "its steps make pods as they come up, one after another"
_DRIVER: Final = "its driver makes pods while it runs"

MAKERS: Final[tuple[Maker, ...]] = (
    Maker("apps", "Deployment", apps.deployment, versions=("v1",)),
    Maker("apps", "ReplicaSet", apps.replica_set, versions=("v1",)),
    Maker("apps", "StatefulSet", apps.stateful_set, versions=("v1",)),
    Maker("apps", "DaemonSet", apps.daemon_set, versions=("v1",)),
    Maker("", "ReplicationController", apps.replica_set, versions=("v1",)),
    Maker("batch", "Job", batch.job, versions=("v1",)),
    Maker("batch", "CronJob", batch.cron_job, versions=("v1",)),
    Maker("jobset.x-k8s.io", "JobSet", jobset.job_set, versions=("v1alpha2",)),
    Maker("leaderworkerset.x-k8s.io", "LeaderWorkerSet", lws.leader_worker_set, versions=("v1",)),
    Maker("disaggregatedset.x-k8s.io", "DisaggregatedSet", lws.disaggregated_set, versions=("v1",)),
    Maker("ray.io", "RayCluster", ray.ray_cluster),
    Maker("ray.io", "RayJob", ray.ray_job),
    Maker("ray.io", "RayService", ray.ray_service),
    Maker("ray.io", "RayCronJob", ray.ray_cron_job),
    Maker("trainer.kubeflow.org", "TrainJob", kubeflow.train_job, versions=("v1alpha1",)),
    Maker("kubeflow.org", "PyTorchJob", kubeflow.training_job, versions=("v1",)),
    Maker("kubeflow.org", "TFJob", kubeflow.training_job, versions=("v1",)),
    Maker("kubeflow.org", "XGBoostJob", kubeflow.training_job, versions=("v1",)),
    Maker("kubeflow.org", "PaddleJob", kubeflow.training_job, versions=("v1",)),
    Maker("kubeflow.org", "JAXJob", kubeflow.training_job, versions=("v1",)),
    Maker("kubeflow.org", "MPIJob", kubeflow.mpi_job, versions=("v2beta1", "v1")),
    Maker("batch.volcano.sh", "Job", volcano.volcano_job, versions=("v1alpha1",)),
    Maker("batch.volcano.sh", "CronJob", volcano.volcano_cron_job, versions=("v1alpha1",)),
    Maker("grove.io", "PodCliqueSet", grove.pod_clique_set, versions=("v1alpha1",)),
    Maker("grove.io", "PodClique", grove.pod_clique, versions=("v1alpha1",)),
    Maker("argoproj.io", "Rollout", services.rollout),
    Maker("serving.knative.dev", "Service", services.knative_service),
    Maker("kubevirt.io", "VirtualMachine", services.virtual_machine),
    Maker("kubevirt.io", "VirtualMachineInstance", services.virtual_machine_instance),
    Maker("kubevirt.io", "VirtualMachineInstanceReplicaSet", services.virtual_machine_replicas),
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
