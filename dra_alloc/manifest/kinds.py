"""
Which kinds are read, in which versions, and what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import (
    DeviceClass,
    DeviceTaintRule,
    KubeModel,
    LimitRange,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
    RuntimeClass,
    Service,
    ServiceAccount,
    StorageClass,
)
from dra_alloc.errors import in_brief
from dra_alloc.releases import Span

RESOURCE_GROUP: Final = "resource.k8s.io"
SCHEDULING_GROUP: Final = "scheduling.k8s.io"


@dataclass(frozen=True, slots=True)
class Kind:
    """
    A kind that is read: into which member of `Documents`, as which model, in which versions.

    A workload has no model. Those of the API server itself are here, with the
    path of their `template` and of the numbers (`counts`) that it checks; any
    other is found by its shape, or is one of `HIDDEN_TEMPLATES`.
    """

    group: str
    name: str
    member: str
    versions: tuple[str, ...]
    model: type[KubeModel] | None = None
    template: tuple[str, ...] = ()
    counts: tuple[tuple[str, ...], ...] = ()


class Unserved(ValueError):
    """A kind that no API server has in the given version; `hint` says what there is."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


_FOUR: Final = {
    "v1": Span("1.34"),
    "v1beta2": Span("1.33", "1.39"),
    "v1beta1": Span("1.32", "1.38"),
    "v1alpha3": Span("1.31", "1.34"),
}
#: Kinds of our group, their versions with the releases that have them, the best version first.
SERVED: Final[Mapping[str, Mapping[str, Span]]] = {
    **dict.fromkeys(("ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate"), _FOUR),
    # 1.36 and 1.37 announced that v1alpha3 ends with 1.38; 1.38 announces no end.
    "DeviceTaintRule": {"v1": Span("1.37"), "v1beta2": Span("1.36", "1.42"), "v1alpha3": Span("1.33")},
    "ResourcePoolStatusRequest": {"v1alpha3": Span("1.36")},
    "PodSchedulingContext": {"v1alpha3": Span("1.31", "1.32")},
}
_EARLY, _SECOND, _LATER = Span("1.35", "1.36"), Span("1.36", "1.37"), Span("1.37")
#: Gangs of scheduling.k8s.io, their versions with the releases that have them, the best version first.
GANGS: Final[Mapping[str, Mapping[str, Span]]] = {
    "Workload": {"v1beta1": _LATER, "v1alpha3": _LATER, "v1alpha2": _SECOND, "v1alpha1": _EARLY},
    "PodGroup": {"v1beta1": _LATER, "v1alpha3": _LATER, "v1alpha2": _SECOND},
    "CompositePodGroup": {"v1beta1": Span("1.38"), "v1alpha3": _LATER},
}
_TEMPLATE: Final = ("spec", "template")
_REPLICAS: Final = (("spec", "replicas"),)
_PARALLEL: Final = (("spec", "parallelism"), ("spec", "completions"))
_JOB: Final = ("spec", "jobTemplate")


def _ours(name: str, member: str, model: type[KubeModel]) -> Kind:
    return Kind(RESOURCE_GROUP, name, member, tuple(SERVED[name]), model)


_ALL: Final = (
    _ours("ResourceSlice", "slices", ResourceSlice),
    _ours("DeviceClass", "classes", DeviceClass),
    _ours("ResourceClaim", "claims", ResourceClaim),
    _ours("ResourceClaimTemplate", "templates", ResourceClaimTemplate),
    _ours("DeviceTaintRule", "taint_rules", DeviceTaintRule),
    Kind("", "Node", "nodes", ("v1",), Node),
    Kind("", "Namespace", "namespaces", ("v1",), Namespace),
    Kind("", "Pod", "pods", ("v1",), Pod),
    Kind(SCHEDULING_GROUP, "PodGroup", "pod_groups", tuple(GANGS["PodGroup"]), PodGroup),
    Kind("", "ResourceQuota", "quotas", ("v1",), ResourceQuota),
    Kind("policy", "PodDisruptionBudget", "disruption_budgets", ("v1",), PodDisruptionBudget),
    Kind("", "LimitRange", "limit_ranges", ("v1",), LimitRange),
    Kind("", "Service", "services", ("v1",), Service),
    Kind("", "PersistentVolumeClaim", "volume_claims", ("v1",), PersistentVolumeClaim),
    Kind("", "PersistentVolume", "volumes", ("v1",), PersistentVolume),
    Kind("storage.k8s.io", "StorageClass", "storage_classes", ("v1",), StorageClass),
    Kind("node.k8s.io", "RuntimeClass", "runtime_classes", ("v1",), RuntimeClass),
    Kind("", "ServiceAccount", "service_accounts", ("v1",), ServiceAccount),
    Kind(SCHEDULING_GROUP, "PriorityClass", "priority_classes", ("v1",), PriorityClass),
    Kind("apps", "Deployment", "workloads", ("v1",), None, _TEMPLATE, _REPLICAS),
    Kind("apps", "StatefulSet", "workloads", ("v1",), None, _TEMPLATE, _REPLICAS),
    Kind("apps", "ReplicaSet", "workloads", ("v1",), None, _TEMPLATE, _REPLICAS),
    Kind("apps", "DaemonSet", "workloads", ("v1",), None, _TEMPLATE),
    Kind("batch", "Job", "workloads", ("v1",), None, _TEMPLATE, _PARALLEL),
    Kind(
        "batch", "CronJob", "workloads", ("v1",), None, (*_JOB, *_TEMPLATE), tuple((*_JOB, *each) for each in _PARALLEL)
    ),
    Kind("", "ReplicationController", "workloads", ("v1",), None, _TEMPLATE, _REPLICAS),
)
SLICE: Final = _ALL[0]
_BY_NAME: Final[Mapping[tuple[str, str], Kind]] = {(kind.group, kind.name): kind for kind in _ALL}
#: All kinds that are read, by name.
KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _ALL}
#: Members of documents that hold objects of these kinds.
MEMBERS: Final = tuple(dict.fromkeys(kind.member for kind in _ALL))

#: Kinds that make pods by templates that stand in them: one without any is kept, for that to be told with its place.
SHOWN_TEMPLATES: Final = frozenset(
    {("jobset.x-k8s.io", "JobSet"), ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"), ("grove.io", "PodClique")}
    | {("disaggregatedset.x-k8s.io", "DisaggregatedSet"), ("serving.knative.dev", "Service")}
    | {("batch.volcano.sh", each) for each in ("Job", "CronJob")}
    | {("ray.io", each) for each in ("RayCluster", "RayJob", "RayService", "RayCronJob")}
    | {("kubeflow.org", f"{each}Job") for each in ("PyTorch", "TF", "XGBoost", "Paddle", "JAX", "MPI")}
)
#: Kinds that make pods although no pod spec may be seen in them: what they make is said by `dra_alloc.pods.workloads`.
HIDDEN_TEMPLATES: Final = frozenset(
    {
        ("trainer.kubeflow.org", "TrainJob"),
        ("grove.io", "PodCliqueSet"),
        ("kubevirt.io", "VirtualMachine"),
        ("kubevirt.io", "VirtualMachineInstance"),
        ("kubevirt.io", "VirtualMachineInstanceReplicaSet"),
        ("argoproj.io", "Rollout"),
        ("argoproj.io", "Workflow"),
        ("argoproj.io", "CronWorkflow"),
        ("tekton.dev", "TaskRun"),
        ("tekton.dev", "PipelineRun"),
        ("sparkoperator.k8s.io", "SparkApplication"),
        ("sparkoperator.k8s.io", "ScheduledSparkApplication"),
    }
)

_KUEUE: Final = ("v1beta2", "v1beta1")
#: Kinds of queue systems that are kept as they were written, for `admit`, and the versions that the systems which are
#: modelled serve, the best first; everybody else leaves them alone.
QUEUEING: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("kueue.x-k8s.io", "AdmissionCheck"): _KUEUE,
    ("kueue.x-k8s.io", "ClusterQueue"): _KUEUE,
    ("kueue.x-k8s.io", "Cohort"): _KUEUE,
    ("kueue.x-k8s.io", "LocalQueue"): _KUEUE,
    ("kueue.x-k8s.io", "ResourceFlavor"): _KUEUE,
    ("kueue.x-k8s.io", "Topology"): _KUEUE,
    ("kueue.x-k8s.io", "WorkloadPriorityClass"): _KUEUE,
    ("config.kueue.x-k8s.io", "Configuration"): _KUEUE,
    ("scheduling.run.ai", "Queue"): ("v2",),
    ("scheduling.run.ai", "PodGroup"): ("v2alpha2",),
    ("kai.scheduler", "Topology"): ("v1alpha1",),
    ("grove.io", "ClusterTopologyBinding"): ("v1alpha1",),
    ("scheduling.volcano.sh", "Queue"): ("v1beta1",),
    ("scheduling.volcano.sh", "PodGroup"): ("v1beta1",),
}

_CLASSIC: Final = "classic DRA ended with Kubernetes 1.30: write a ResourceClaim of resource.k8s.io/v1"


def recognise(api_version: str, kind: str) -> Kind | None:
    """
    Return how a kind is read, or None if it is none of ours.

    Spec: CONV-20 to CONV-23. Raises: Unserved, for a kind or version that resource.k8s.io never had or has no more,
    and for a version that a kind of scheduling.k8s.io does not have.
    """
    group, _, version = api_version.rpartition("/")
    known = _BY_NAME.get((group, kind))
    if known is not None and version in known.versions:
        return known
    said = no_match(api_version, kind)
    if group == SCHEDULING_GROUP and known is not None:
        raise Unserved(said, f"versions: {', '.join(known.versions)}")
    # Kinds of our group that are not read are passed over: no allocation depends on them.
    # One without a kind is told of that.
    if group != RESOURCE_GROUP or not kind or (known is None and version in SERVED.get(kind, ())):
        return None
    raise Unserved(said, _hint(version, kind))


def no_match(api_version: str, kind: str) -> str:
    """Return what the API server says of a kind that it does not serve in a version. Spec: CONV-21, EXPAND-52."""
    return f'no matches for kind "{in_brief(kind)}" in version "{in_brief(api_version)}"'


def kind_named(name: str) -> Kind:
    """Return the kind of that name; no two kinds that are read have the same. Raises: KeyError."""
    return KINDS[name]


def is_read(name: str) -> bool:
    """Say whether there is a kind of that name that is read."""
    return name in KINDS


def names_a_list(kind: str) -> bool:
    """Say whether a kind is a list of objects: List itself, or one of a kind that is read."""
    return kind == "List" or (kind.endswith("List") and kind.removesuffix("List") in KINDS)


def switched_on(api_versions: Iterable[str], release: str) -> tuple[str, ...]:
    """Return notes on the versions among those of our group that a release serves only where somebody wants it so."""
    older = sorted(set(api_versions) - {f"{RESOURCE_GROUP}/v1"})
    return tuple(f"{each} is off in Kubernetes {release} unless it is switched on (--runtime-config)" for each in older)


def assumed_version(kind: str) -> str:
    """Return the apiVersion of a core kind that does not say it, or nothing: other kinds have several."""
    return "v1" if ("", kind) in _BY_NAME else ""


def _hint(version: str, kind: str) -> str:
    if version == "v1alpha2":
        return _CLASSIC
    if kind not in SERVED:
        return "kinds: " + ", ".join(kind.name for kind in _ALL if kind.group == RESOURCE_GROUP)
    return "versions: " + ", ".join(SERVED[kind])
