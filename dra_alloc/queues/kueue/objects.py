"""
Kueue's objects, read: queues, cohorts, flavors, priorities, and its configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.api import LabelSelector, Quantity, Taint, Toleration
from dra_alloc.api.amounts.quantity import Format
from dra_alloc.errors import Problem, Where, first_few, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.amounts import CPU
from dra_alloc.pods.workloads.reading import items, text, value_at
from dra_alloc.queues.kueue.mappings import DeviceClassMapping, mappings_of
from dra_alloc.queues.ledger import Grant, Key, QueueAccount, circles
from dra_alloc.queues.reading import ObjectReading, Wrong, unserved
from dra_alloc.queues.topologies import NamedTopology, topology_of

__all__ = [
    "ClusterQueue",
    "Flavor",
    "KueueObjects",
    "LocalQueue",
    "ResourceGroup",
    "amount_text",
    "amount_units",
    "reserved",
]


@dataclass(frozen=True, slots=True)
class Flavor:
    """A kind of nodes: pods that are admitted to it get its labels as their node selector, and its tolerations."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that are all taken from one of these flavors, tried in this order."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """
    A queue of the cluster; `usage` is what its status says, if it has one.

    `stops_when_*` say which flavor is good enough not to try the next one, `preempts` that it may evict at all.
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

    Accounts of cohorts are called ``cohort NAME``, as a queue may have the same name. `checks` say whether they are
    active, None where that is not known. `frameworks` are what Kueue manages, empty where there is no Configuration;
    `holds_nameless` that it holds jobs back that name no queue, in the namespaces that are `managed`.
    """

    queues: Mapping[str, ClusterQueue] = field(default_factory=dict)
    cohorts: Mapping[str, QueueAccount[int]] = field(default_factory=dict)
    local: Mapping[str, LocalQueue] = field(default_factory=dict)
    flavors: Mapping[str, Flavor] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, bool | None] = field(default_factory=dict)
    topologies: Mapping[str, NamedTopology] = field(default_factory=dict)
    formats: Mapping[str, Format] = field(default_factory=dict)
    mappings: tuple[DeviceClassMapping, ...] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    holds_nameless: bool = False
    managed: LabelSelector | None = None
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
            reading = _Reading(each.body, [], each.name, formats, notes)
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


@dataclass(frozen=True, slots=True)
class _Reading(ObjectReading):
    """One object of Kueue under way; amounts are in its units, and the first of a resource says how it is written."""

    name: str
    formats: dict[str, Format]
    notes: list[str]

    def amount(self, path: str, resource: str) -> int | None:
        quantity = self.quantity(path)
        if quantity is None:
            return None
        self.formats.setdefault(resource, quantity.format)
        return amount_units(resource, quantity)

    def groups(self) -> Iterator[tuple[ResourceGroup, Mapping[Key, Grant[int]]]]:
        for at in self.places("spec.resourceGroups"):
            covered = self.texts(f"{at}.coveredResources")
            grants: dict[Key, Grant[int]] = {}
            flavors = list(self.places(f"{at}.flavors"))
            for place in flavors:
                for here in self.places(f"{place}.resources"):
                    self._grant(here, self.text(f"{place}.name"), covered, grants)
            yield ResourceGroup(covered, tuple(self.text(f"{each}.name") for each in flavors)), grants

    def _grant(self, at: str, flavor: str, covered: Sequence[str], grants: dict[Key, Grant[int]]) -> None:
        resource = self.text(f"{at}.name")
        if resource not in covered:
            self.complain(f"{at}.name", f"{in_brief(resource) or 'a resource'} is not among coveredResources")
        if value_at(self.body, f"{at}.nominalQuota") is None:
            self.complain(f"{at}.nominalQuota", "is missing")
        nominal, most, lends = (self.amount(f"{at}.{each}", resource) for each in _LIMITS)
        grants[flavor, resource] = Grant(nominal or 0, most, lends)


#: Where a cohort says what is above it.
_PARENTS: Final = ("spec.parentName", "spec.parent")
_LIMITS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")


def _account(reading: _Reading, name: str, grants: Mapping[Key, Grant[int]], *parents: str) -> QueueAccount[int]:
    parent = next((f"cohort {found}" for each in parents if (found := reading.text(each))), "")
    return QueueAccount(name, parent, grants)


def _cohort(reading: _Reading) -> QueueAccount[int]:
    grants = {key: each for _, group in reading.groups() for key, each in group.items()}
    return _account(reading, f"cohort {reading.name}", grants, *_PARENTS)


def _cluster_queue(reading: _Reading) -> ClusterQueue:
    groups = list(reading.groups())
    grants = {key: each for _, group in groups for key, each in group.items()}
    account = _account(reading, reading.name, grants, "spec.cohortName", "spec.cohort")
    selector = None
    if reading.given("spec.namespaceSelector", Mapping, "an object") is not None:
        selector = reading.model("spec.namespaceSelector", LabelSelector)
    policies = ("withinClusterQueue", "reclaimWithinCohort")
    named = reading.places("spec.admissionChecksStrategy.admissionChecks")
    checks = (*reading.texts("spec.admissionChecks"), *(reading.text(f"{each}.name") for each in named))
    return ClusterQueue(
        reading.name,
        account,
        tuple(group for group, _ in groups),
        _usage(reading, grants),
        reading.text("spec.queueingStrategy") == "StrictFIFO",
        _held(reading),
        selector,
        reading.text("spec.flavorFungibility.whenCanBorrow", "MayStopSearch") != "TryNextFlavor",
        reading.text("spec.flavorFungibility.whenCanPreempt", "TryNextFlavor") != "TryNextFlavor",
        any(reading.text(f"spec.preemption.{each}", "Never") != "Never" for each in policies),
        checks,
    )


def _usage(reading: _Reading, grants: Mapping[Key, Grant[int]]) -> Mapping[Key, int] | None:
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


def _local_queue(reading: _Reading) -> LocalQueue:
    return LocalQueue(reading.name, reading.text("spec.clusterQueue"), _held(reading))


def _held(reading: _Reading) -> str:
    policy = reading.text("spec.stopPolicy", "None")
    return "" if policy == "None" else policy


def _flavor(reading: _Reading) -> Flavor:
    return Flavor(
        reading.name,
        reading.labels("spec.nodeLabels"),
        reading.models("spec.nodeTaints", Taint),
        reading.models("spec.tolerations", Toleration),
        reading.text("spec.topologyName"),
    )


def _is_active(reading: _Reading) -> bool | None:
    """Return whether an AdmissionCheck says that it is active, None where it says nothing."""
    said = [each for each in items(reading.body, "status.conditions") if each.get("type") == "Active"]
    return said[-1].get("status") == "True" if said else None


def _priority(reading: _Reading) -> int:
    value = reading.body.get("value")
    if type(value) is not int:
        reading.complain("value", "has to be a whole number")
        return 0
    return value


_READ: Final[Mapping[str, Callable[[_Reading], Any]]] = {
    "AdmissionCheck": _is_active,
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LocalQueue": _local_queue,
    "ResourceFlavor": _flavor,
    "Topology": topology_of,
    "WorkloadPriorityClass": _priority,
}
#: Parts of a Configuration that change who is admitted, and are not modelled.
_NOT_MODELLED: Final = ("fairSharing", "admissionFairSharing", "waitForPodsReady", "resources.transformations")
#: What Kueue manages where its Configuration does not say it.
_FRAMEWORKS: Final = ("batch/job",)


def _configuration(reading: _Reading) -> dict[str, Any]:
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
        "holds_nameless": value_at(reading.body, "manageJobsWithoutQueueName") is True,
        "managed": managed,
        "gates": {name: each for name, each in gates.items() if isinstance(each, bool)},
        "excluded": reading.texts("resources.excludeResourcePrefixes"),
    }


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


def amount_units(resource: str, amount: Quantity) -> int:
    """Return an amount as Kueue counts it: thousandths of a cpu, whole numbers of all else, rounded up."""
    return amount.milli_value() if resource == CPU else amount.value()


def amount_text(resource: str, amount: int, formats: Mapping[str, Format]) -> str:
    """Return an amount in units as people write it, in the way in which quotas of the resource are written."""
    if resource == CPU:
        return str(Quantity.of(amount, exponent=-3))
    return str(Quantity.of(amount, formats.get(resource, Format.DECIMAL_SI)))
