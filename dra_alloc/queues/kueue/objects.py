"""
Kueue's objects, read: queues, cohorts, flavors, priorities, and its configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.api import LabelSelector, Quantity, Taint, Toleration
from dra_alloc.api.amounts.text import Format
from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.errors import Problem, Where, first_few, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.reading import items, text, value_at
from dra_alloc.queues.kueue.mappings import DeviceClassMapping, mappings_of
from dra_alloc.queues.kueue.quotas import KueueReading, ResourceGroup, amount_units
from dra_alloc.queues.ledger import Grant, Key, QueueAccount, circles
from dra_alloc.queues.reading import Wrong, unserved
from dra_alloc.queues.topologies import NamedTopology, topology_of

#: The label of nodes that can only be the lowest level of a topology.
#: What of stopPolicy also takes back what was admitted before.
DRAINS: Final = "HoldAndDrain"


@dataclass(frozen=True, slots=True)
class Flavor:
    """A kind of nodes: pods that are admitted to it get its labels as their node selector, and its tolerations."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """
    A queue of the cluster; `usage` is what its status says, if it has one.

    `stops_when_*` say which flavor is good enough not to try the next one, `preempts` that it may evict at all; `idle`
    is why it takes nobody by its own word.
    """

    name: str
    account: QueueAccount[int]
    groups: tuple[ResourceGroup, ...]
    usage: Mapping[Key, int] | None
    strict: bool = False
    held: str = ""
    namespaces: LabelSelector | None = None
    stops_when_borrowing: bool = True
    stops_when_preempting: bool = False
    preempts: bool = False
    checks: tuple[str, ...] = ()
    idle: str = ""


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """What has to agree besides: whether it is active, None where that is not known, and if others run the pods."""

    active: bool | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """Where the workloads of a namespace go."""

    name: str
    cluster_queue: str
    held: str = ""


@dataclass(frozen=True, slots=True)
class KueueObjects:
    """
    All of Kueue's objects by name, local queues as ``namespace/name``; what is wrong with them, and what to know.

    Accounts of cohorts are called ``cohort NAME``, as a queue may have the same name. `frameworks` are what Kueue
    manages, empty where there is no Configuration, and `listed` if that says them itself; `holds_nameless` that it
    holds jobs back that name no queue, in the namespaces that are `managed`; `transformed` are resources that it counts
    as others, and it `shares_fairly` if who borrows goes by shares.
    """

    queues: Mapping[str, ClusterQueue] = field(default_factory=dict)
    cohorts: Mapping[str, QueueAccount[int]] = field(default_factory=dict)
    local: Mapping[str, LocalQueue] = field(default_factory=dict)
    flavors: Mapping[str, Flavor] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, AdmissionCheck] = field(default_factory=dict)
    topologies: Mapping[str, NamedTopology] = field(default_factory=dict)
    formats: Mapping[str, Format] = field(default_factory=dict)
    mappings: tuple[DeviceClassMapping, ...] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    listed: bool = False
    holds_nameless: bool = False
    managed: LabelSelector | None = None
    transformed: frozenset[str] = frozenset()
    shares_fairly: bool = False
    notes: tuple[str, ...] = ()
    wrong: tuple[tuple[Workload, Problem], ...] = ()

    @classmethod
    def of(cls, objects: Iterable[Workload], namespace: str) -> KueueObjects:
        """
        Return the objects; the last of a name counts. `namespace` is that of local queues that say none.

        Spec: KUEUE-20.
        """
        wrong: Wrong = []
        found: dict[str, dict[str, Any]] = {kind: {} for kind in _READ}
        configuration: dict[str, Any] = {}
        formats: dict[str, Format] = {}
        notes: list[str] = []
        written: dict[str, Workload] = {}
        for each in objects:
            if each.kind == "Cohort":
                written[f"cohort {each.name}"] = each
            reading = KueueReading(each.body, [], each.name, formats, notes)
            if each.kind == "Configuration":
                configuration |= _configuration(reading)
            elif each.kind in _READ:
                name = each.name if each.kind != "LocalQueue" else f"{each.namespace or namespace}/{each.name}"
                found[each.kind][name] = _READ[each.kind](reading)
            wrong += (*unserved((each,)), *((each, problem) for problem in reading.problems))
        cohorts = _cohorts(found["Cohort"].values(), found["ClusterQueue"].values())
        wrong += _circles(cohorts, written)
        return cls(
            found["ClusterQueue"],
            cohorts,
            found["LocalQueue"],
            found["ResourceFlavor"],
            found["WorkloadPriorityClass"],
            found["AdmissionCheck"],
            found["Topology"],
            formats,
            notes=tuple(notes),
            wrong=tuple(wrong),
            **configuration,
        )


def _cohorts(given: Iterable[QueueAccount[int]], queues: Iterable[ClusterQueue]) -> dict[str, QueueAccount[int]]:
    """Return the cohorts by the names of their accounts; one that nobody wrote is there all the same."""
    cohorts = {each.name: each for each in given}
    for account in (*cohorts.values(), *(each.account for each in queues)):
        if account.parent and account.parent not in cohorts:
            cohorts[account.parent] = QueueAccount(account.parent)
    return cohorts


def _circles(
    cohorts: Mapping[str, QueueAccount[int]], written: Mapping[str, Workload]
) -> Iterator[tuple[Workload, Problem]]:
    """Yield the cohorts that are below themselves."""
    for circle in circles({name: each.parent for name, each in cohorts.items()}):
        names = first_few([in_brief(each.removeprefix("cohort ")) for each in circle])
        for each in circle:
            path = next(path for path in _PARENTS if value_at(written[each].body, path))
            yield written[each], Problem(f"cohorts are below one another in a circle: {names}", Where(path=path))


#: Where a cohort says what is above it.
_PARENTS: Final = ("spec.parentName", "spec.parent")
#: And a queue of the cluster.
_RECLAIM: Final = "preemption.reclaimWithinCohort"
_COHORTS: Final = ("spec.cohortName", "spec.cohort")
#: What may stand where Kueue has a choice; the older version of its API has two more words.
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "queueingStrategy": ("StrictFIFO", "BestEffortFIFO"),
    "stopPolicy": ("None", "Hold", DRAINS),
    "flavorFungibility.whenCanBorrow": ("MayStopSearch", "TryNextFlavor"),
    "flavorFungibility.whenCanPreempt": ("MayStopSearch", "TryNextFlavor"),
    "flavorFungibility.preference": ("BorrowingOverPreemption", "PreemptionOverBorrowing"),
    "preemption.reclaimWithinCohort": ("Never", "LowerPriority", "Any"),
    "preemption.withinClusterQueue": ("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
    "preemption.borrowWithinCohort.policy": ("Never", "LowerPriority"),
}
_OLDER: Final[Mapping[str, str]] = {
    "flavorFungibility.whenCanBorrow": "Borrow",
    "flavorFungibility.whenCanPreempt": "Preempt",
}
_OLD_VERSION: Final = "kueue.x-k8s.io/v1beta1"
#: Reasons for which a queue says that it is not active and that are found out anew.
_FOUND_OUT: Final = frozenset(
    {"Stopped", "FlavorNotFound", "TopologyNotFound"}
    | {"AdmissionCheckNotFound", "AdmissionCheckInactive", "CheckNotFoundOrInactive"}
)
_ELSEWHERE: Final = "kueue.x-k8s.io/multikueue"


def _account(reading: KueueReading, name: str, grants: Mapping[Key, Grant[int]], *parents: str) -> QueueAccount[int]:
    parent = next((f"cohort {found}" for each in parents if (found := reading.text(each))), "")
    return QueueAccount(name, parent, grants)


def _cohort(reading: KueueReading) -> QueueAccount[int]:
    groups = reading.groups(_PARENTS, lends_all=True)
    grants = {key: each for _, group in groups for key, each in group.items()}
    return _account(reading, f"cohort {reading.name}", grants, *_PARENTS)


def _cluster_queue(reading: KueueReading) -> ClusterQueue:
    groups = list(reading.groups(_COHORTS, lends_all=False))
    grants = {key: each for _, group in groups for key, each in group.items()}
    account = _account(reading, reading.name, grants, *_COHORTS)
    selector = None
    if reading.given("spec.namespaceSelector", Mapping, "an object") is not None:
        selector = reading.model("spec.namespaceSelector", LabelSelector)
    said = {name: _chosen(reading, name) for name in _CHOICES}
    if said["preemption.borrowWithinCohort.policy"] not in ("", "Never") and said[_RECLAIM] in ("", "Never"):
        reading.complain("spec.preemption.borrowWithinCohort.policy", "needs a reclaimWithinCohort other than Never")
    named = reading.places("spec.admissionChecksStrategy.admissionChecks")
    checks = (*reading.texts("spec.admissionChecks"), *(reading.text(f"{each}.name") for each in named))
    return ClusterQueue(
        reading.name,
        account,
        tuple(group for group, _ in groups),
        _usage(reading, grants),
        said["queueingStrategy"] == "StrictFIFO",
        _held(reading),
        selector,
        said["flavorFungibility.whenCanBorrow"] != "TryNextFlavor",
        said["flavorFungibility.whenCanPreempt"] not in ("", "TryNextFlavor"),
        any(said[each] not in ("", "Never") for each in (_RECLAIM, "preemption.withinClusterQueue")),
        checks,
        _idle(reading),
    )


def _chosen(reading: KueueReading, name: str) -> str:
    """Return which of its choices an object has made; nothing if none. Spec: KUEUE-45."""
    more = (_OLDER[name],) if name in _OLDER and reading.body.get("apiVersion") == _OLD_VERSION else ()
    return reading.one_of(f"spec.{name}", (*_CHOICES[name], *more))


def _idle(reading: KueueReading) -> str:
    """Return why a queue takes nobody by its own word: it is being deleted, or says so. Spec: KUEUE-26."""
    if value_at(reading.body, "metadata.deletionTimestamp"):
        return "it is being deleted"
    said = _active(reading)
    reason = text(said, "reason")
    if text(said, "status", "True") == "True" or reason in _FOUND_OUT:
        return ""
    return ": ".join(filter(None, ("its status says so", reason, text(said, "message"))))


def _usage(reading: KueueReading, grants: Mapping[Key, Grant[int]]) -> Mapping[Key, int] | None:
    """Return what is reserved, as the status says it."""
    if value_at(reading.body, "status.flavorsReservation") is None:
        return None
    found: dict[Key, int] = {}
    for flavor in reading.places("status.flavorsReservation"):
        for each in reading.places(f"{flavor}.resources"):
            key = reading.text(f"{flavor}.name"), reading.text(f"{each}.name")
            if key in grants:
                found[key] = reading.amount(f"{each}.total", key[1]) or 0
    return found


def _local_queue(reading: KueueReading) -> LocalQueue:
    return LocalQueue(reading.name, reading.text("spec.clusterQueue"), _held(reading))


def _held(reading: KueueReading) -> str:
    policy = _chosen(reading, "stopPolicy")
    return "" if policy == "None" else policy


def _flavor(reading: KueueReading) -> Flavor:
    return Flavor(
        reading.name,
        reading.labels("spec.nodeLabels"),
        reading.models("spec.nodeTaints", Taint),
        reading.models("spec.tolerations", Toleration),
        reading.text("spec.topologyName"),
    )


def _active(reading: KueueReading) -> Mapping[str, Any]:
    """Return the condition by which an object says whether it is active; nothing if it does not."""
    said = [each for each in items(reading.body, "status.conditions") if each.get("type") == "Active"]
    return said[-1] if said else {}


def _check(reading: KueueReading) -> AdmissionCheck:
    said = _active(reading)
    active = said.get("status") == "True" if said else None
    return AdmissionCheck(active, reading.text("spec.controllerName") == _ELSEWHERE)


def _topology(reading: KueueReading) -> NamedTopology:
    found = topology_of(reading)
    if HOSTNAME in found.levels[:-1]:
        at = f"spec.levels[{found.levels.index(HOSTNAME)}].nodeLabel"
        reading.complain(at, f"{HOSTNAME} can only be the lowest level")
    return found


def _priority(reading: KueueReading) -> int:
    value = reading.body.get("value")
    if type(value) is not int:
        reading.complain("value", "has to be a whole number")
        return 0
    return value


_READ: Final[Mapping[str, Callable[[KueueReading], Any]]] = {
    "AdmissionCheck": _check,
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LocalQueue": _local_queue,
    "ResourceFlavor": _flavor,
    "Topology": _topology,
    "WorkloadPriorityClass": _priority,
}
_TRANSFORMED: Final = "resources.transformations"
#: Parts of a Configuration that change who is admitted, and are not modelled.
_NOT_MODELLED: Final = ("fairSharing", "admissionFairSharing", "waitForPodsReady", _TRANSFORMED)
#: What Kueue manages where its Configuration does not say it.
_FRAMEWORKS: Final = ("batch/job",)


def _configuration(reading: KueueReading) -> dict[str, Any]:
    mappings, problems = mappings_of(reading.body)
    reading.problems.extend(problems)
    gates = reading.given("featureGates", Mapping, "an object") or {}
    for path in _NOT_MODELLED:
        if value_at(reading.body, path):
            reading.notes.append(f"Kueue's Configuration has {path}, which is not modelled")
    managed = None
    if reading.given("managedJobsNamespaceSelector", Mapping, "an object") is not None:
        managed = reading.model("managedJobsNamespaceSelector", LabelSelector)
    return {
        "mappings": mappings,
        "frameworks": reading.texts("integrations.frameworks") or _FRAMEWORKS,
        "listed": bool(reading.texts("integrations.frameworks")),
        "holds_nameless": value_at(reading.body, "manageJobsWithoutQueueName") is True,
        "managed": managed,
        "transformed": frozenset(reading.text(f"{each}.input") for each in reading.places(_TRANSFORMED)),
        "shares_fairly": _shares_fairly(reading),
        "gates": {name: each for name, each in gates.items() if isinstance(each, bool)},
        "excluded": reading.texts("resources.excludeResourcePrefixes"),
    }


def _shares_fairly(reading: KueueReading) -> bool:
    """Return whether fair sharing is on, as it is where it is configured and not said to be off."""
    given = reading.given("fairSharing", Mapping, "an object")
    return given is not None and given.get("enable", True) is True


def reserved(workloads: Iterable[Workload]) -> Mapping[str, Mapping[Key, int]]:
    """Return what Kueue's Workloads have been given, by queue; amounts that cannot be read are nothing."""
    found: dict[str, Counter[Key]] = {}
    for each in workloads:
        of_queue = found.setdefault(text(each.body, "status.admission.clusterQueue"), Counter())
        for part in items(each.body, "status.admission.podSetAssignments"):
            flavors, usage = part.get("flavors"), part.get("resourceUsage")
            for resource, amount in (usage if isinstance(usage, Mapping) else {}).items():
                flavor = flavors.get(resource) if isinstance(flavors, Mapping) else None
                try:
                    of_queue[str(flavor), resource] += amount_units(resource, Quantity.from_wire(amount))
                except ValueError:
                    continue
    return found
