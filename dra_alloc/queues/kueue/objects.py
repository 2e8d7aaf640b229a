"""
Kueue's objects, read: queues, cohorts, flavors, priorities, and its configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.api import LabelSelector, Quantity, Taint, Toleration
from dra_alloc.api.amounts.quantity import Format
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Workload
from dra_alloc.pods.amounts import CPU
from dra_alloc.pods.workloads.reading import items, text, value_at
from dra_alloc.queues.kueue.mappings import DeviceClassMapping, mappings_of
from dra_alloc.queues.ledger import Grant, Key, QueueAccount

__all__ = ["ClusterQueue", "Flavor", "KueueObjects", "LocalQueue", "ResourceGroup", "amount_text", "amount_units"]

#: Objects with what is wrong with them, to be told with where they were read.
Wrong = list[tuple[Workload, Problem]]


@dataclass(frozen=True, slots=True)
class Flavor:
    """A kind of nodes: pods that are admitted to it get its labels as their node selector, and its tolerations."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that are all taken from one of these flavors, tried in this order."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """
    A queue of the cluster; `usage` is what its status says.

    `stops_when_*` say which flavor is good enough not to try the next one, `preempts` that it may evict at all.
    """

    name: str
    account: QueueAccount[int]
    groups: tuple[ResourceGroup, ...]
    usage: Mapping[Key, int]
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

    Accounts of cohorts are called ``cohort NAME``, as a queue may have the same name.
    """

    queues: Mapping[str, ClusterQueue] = field(default_factory=dict)
    cohorts: Mapping[str, QueueAccount[int]] = field(default_factory=dict)
    local: Mapping[str, LocalQueue] = field(default_factory=dict)
    flavors: Mapping[str, Flavor] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, Format] = field(default_factory=dict)
    mappings: tuple[DeviceClassMapping, ...] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
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
        for each in objects:
            if each.kind == "Configuration":
                configuration |= _configuration(each, wrong, notes)
            elif each.kind in _READ:
                name = each.name if each.kind != "LocalQueue" else f"{each.namespace or namespace}/{each.name}"
                found[each.kind][name] = _READ[each.kind](_Reading(each, wrong, formats, notes))
        cohorts = {each.name: each for each in found["Cohort"].values()}
        accounts: list[QueueAccount[int]] = [
            *cohorts.values(),
            *(each.account for each in found["ClusterQueue"].values()),
        ]
        for account in accounts:
            if account.parent and account.parent not in cohorts:
                # A cohort that nobody wrote is there all the same.
                cohorts[account.parent] = QueueAccount(account.parent)
        return cls(
            found["ClusterQueue"],
            cohorts,
            found["LocalQueue"],
            found["ResourceFlavor"],
            found["WorkloadPriorityClass"],
            formats,
            notes=tuple(notes),
            wrong=tuple(wrong),
            **configuration,
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    """One object under way."""

    item: Workload
    wrong: Wrong
    formats: dict[str, Format]
    notes: list[str]

    def complain(self, path: str, said: str) -> None:
        self.wrong.append((self.item, Problem(said, Where(path=path))))

    def text(self, path: str, default: str = "") -> str:
        return text(self.item.body, path, default)

    def amount(self, path: str, resource: str) -> int | None:
        given = value_at(self.item.body, path)
        if given is None:
            return None
        try:
            quantity = Quantity.from_wire(given)
        except ValueError as error:
            self.complain(path, str(error))
            return None
        self.formats.setdefault(resource, quantity.format)
        return amount_units(resource, quantity)

    def texts(self, path: str) -> tuple[str, ...]:
        return _texts(self.item.body, path)

    def models(self, path: str, model: Any) -> tuple[Any, ...]:
        found = []
        for number, each in enumerate(items(self.item.body, path)):
            try:
                found.append(model.from_wire(each))
            except (ValidationError, ValueError, TypeError):
                self.complain(f"{path}[{number}]", f"is no {model.__name__.lower()}")
        return tuple(found)

    def groups(self) -> Iterator[tuple[ResourceGroup, Mapping[Key, Grant[int]]]]:
        for number, group in enumerate(items(self.item.body, "spec.resourceGroups")):
            at = f"spec.resourceGroups[{number}]"
            covered = _texts(group, "coveredResources")
            grants: dict[Key, Grant[int]] = {}
            flavors = []
            for position, flavor in enumerate(items(group, "flavors")):
                name, place = text(flavor, "name"), f"{at}.flavors[{position}]"
                flavors.append(name)
                for index, each in enumerate(items(flavor, "resources")):
                    resource, here = text(each, "name"), f"{place}.resources[{index}]"
                    if resource not in covered:
                        self.complain(f"{here}.name", f"{resource or 'a resource'} is not among coveredResources")
                    nominal = self.amount(f"{here}.nominalQuota", resource)
                    if nominal is None:
                        self.complain(f"{here}.nominalQuota", "is missing")
                    limits = (self.amount(f"{here}.{each}", resource) for each in ("borrowingLimit", "lendingLimit"))
                    grants[name, resource] = Grant(nominal or 0, *limits)
            yield ResourceGroup(covered, tuple(flavors)), grants


def _account(reading: _Reading, name: str, grants: Mapping[Key, Grant[int]], *parents: str) -> QueueAccount[int]:
    parent = next((f"cohort {found}" for each in parents if (found := reading.text(f"spec.{each}"))), "")
    return QueueAccount(name, parent, grants)


def _cohort(reading: _Reading) -> QueueAccount[int]:
    grants = {key: each for _, group in reading.groups() for key, each in group.items()}
    return _account(reading, f"cohort {reading.item.name}", grants, "parentName", "parent")


def _cluster_queue(reading: _Reading) -> ClusterQueue:
    body, groups = reading.item.body, list(reading.groups())
    grants = {key: each for _, group in groups for key, each in group.items()}
    account = _account(reading, reading.item.name, grants, "cohortName", "cohort")
    namespaces = value_at(body, "spec.namespaceSelector")
    selector = None
    if namespaces is not None:
        try:
            selector = LabelSelector.from_wire(namespaces)
        except (ValidationError, ValueError, TypeError):
            reading.complain("spec.namespaceSelector", "is no label selector")
    policies = [
        reading.text(f"spec.preemption.{each}", "Never") for each in ("withinClusterQueue", "reclaimWithinCohort")
    ]
    checks = [*reading.texts("spec.admissionChecks")]
    checks += [text(each, "name") for each in items(body, "spec.admissionChecksStrategy.admissionChecks")]
    return ClusterQueue(
        reading.item.name,
        account,
        tuple(group for group, _ in groups),
        _usage(reading, grants),
        reading.text("spec.queueingStrategy") == "StrictFIFO",
        _held(reading),
        selector,
        reading.text("spec.flavorFungibility.whenCanBorrow", "MayStopSearch") != "TryNextFlavor",
        reading.text("spec.flavorFungibility.whenCanPreempt", "TryNextFlavor") != "TryNextFlavor",
        any(each != "Never" for each in policies),
        tuple(checks),
    )


def _usage(reading: _Reading, grants: Mapping[Key, Grant[int]]) -> Mapping[Key, int]:
    """Return what is reserved, as the status says it."""
    found: dict[Key, int] = {}
    for position, flavor in enumerate(items(reading.item.body, "status.flavorsReservation")):
        for number, each in enumerate(items(flavor, "resources")):
            key = text(flavor, "name"), text(each, "name")
            path = f"status.flavorsReservation[{position}].resources[{number}].total"
            if key in grants:
                found[key] = reading.amount(path, key[1]) or 0
    return found


def _local_queue(reading: _Reading) -> LocalQueue:
    return LocalQueue(reading.item.name, reading.text("spec.clusterQueue"), _held(reading))


def _held(reading: _Reading) -> str:
    policy = reading.text("spec.stopPolicy", "None")
    return "" if policy == "None" else policy


def _flavor(reading: _Reading) -> Flavor:
    labels = value_at(reading.item.body, "spec.nodeLabels")
    if reading.text("spec.topologyName"):
        reading.notes.append(f"ResourceFlavor {reading.item.name} has a topology, which is not modelled")
    return Flavor(
        reading.item.name,
        {key: each for key, each in (labels or {}).items() if isinstance(each, str)},
        reading.models("spec.nodeTaints", Taint),
        reading.models("spec.tolerations", Toleration),
    )


def _priority(reading: _Reading) -> int:
    value = reading.item.body.get("value")
    if type(value) is not int:
        reading.complain("value", "has to be a whole number")
        return 0
    return value


_READ: Final[Mapping[str, Callable[[_Reading], Any]]] = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LocalQueue": _local_queue,
    "ResourceFlavor": _flavor,
    "WorkloadPriorityClass": _priority,
}
#: Parts of a Configuration that change who is admitted, and are not modelled.
_NOT_MODELLED: Final = ("fairSharing", "admissionFairSharing", "waitForPodsReady", "resources.transformations")


def _configuration(item: Workload, wrong: Wrong, notes: list[str]) -> dict[str, Any]:
    mappings, problems = mappings_of(item.body)
    wrong += [(item, each) for each in problems]
    gates = value_at(item.body, "featureGates")
    notes += [
        f"Kueue's Configuration has {each}, which is not modelled"
        for each in _NOT_MODELLED
        if value_at(item.body, each)
    ]
    return {
        "mappings": mappings,
        "gates": {name: each for name, each in (gates or {}).items() if isinstance(each, bool)},
        "excluded": _texts(item.body, "resources.excludeResourcePrefixes"),
    }


def _texts(value: Any, path: str) -> tuple[str, ...]:
    found = value_at(value, path)
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list | tuple) else ()


def amount_units(resource: str, amount: Quantity) -> int:
    """Return an amount as Kueue counts it: thousandths of a cpu, whole numbers of all else, rounded up."""
    return amount.milli_value() if resource == CPU else amount.value()


def amount_text(resource: str, amount: int, formats: Mapping[str, Format]) -> str:
    """Return an amount in units as people write it, in the way in which quotas of the resource are written."""
    if resource == CPU:
        return str(Quantity.of(amount, exponent=-3))
    return str(Quantity.of(amount, formats.get(resource, Format.DECIMAL_SI)))
