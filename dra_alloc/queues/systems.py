"""
Queue systems as data: the version that is modelled, its gates, and what it does against its own word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from dra_alloc.errors import InputError, did_you_mean, in_brief
from dra_alloc.profiles import Semantics


class QueueDefect(StrEnum):
    """Something that a queue system does against what its API says; with intended semantics it does not."""

    GREEDY_MATCH = "kueue-greedy-match"
    STALE_DEVICES = "kai-stale-devices"
    CLAIM_PER_POD = "kai-shared-claim-per-pod"
    ZERO_UNLIMITED = "volcano-zero-unlimited"
    SHARED_PER_POD = "volcano-shared-claim-per-pod"
    FLAT_CAPACITY = "volcano-flat-capacity"


@dataclass(frozen=True, slots=True)
class QueueSystem:
    """
    A queue system of one version: its gates with their defaults, and its defects.

    `title` is how people call it, `groups` are the API groups of its objects, `needs` says which of these are read;
    `beside` are groups of others' objects that are read with them.
    """

    name: str
    version: str
    title: str
    groups: tuple[str, ...]
    needs: str
    gates: Mapping[str, bool] = field(default_factory=dict)
    defects: frozenset[QueueDefect] = frozenset()
    beside: tuple[str, ...] = ()

    def on(self, gate: str) -> bool:
        """Return whether a gate is on. Raises: KeyError for one that the system does not have."""
        return self.gates[gate]

    def shows(self, defect: QueueDefect) -> bool:
        """Return whether the system has a defect."""
        return defect in self.defects

    def under(self, semantics: str) -> QueueSystem:
        """Return the system as it is (`upstream`), or without defects (`intended`). Raises: InputError for others."""
        if semantics not in tuple(Semantics):
            raise InputError(
                f"unknown semantics {in_brief(repr(semantics))}", hint=f"semantics: {', '.join(Semantics)}"
            )
        defects = self.defects if semantics == Semantics.UPSTREAM else frozenset[QueueDefect]()
        return replace(self, defects=defects)

    def with_gates(self, gates: Mapping[str, bool]) -> QueueSystem:
        """Return the system with some of its gates set; others are none of its own."""
        known = {name: gates.get(name, default) for name, default in self.gates.items()}
        return replace(self, gates=known)


#: The systems that are modelled, each in one version.
QUEUE_SYSTEMS: Final[Mapping[str, QueueSystem]] = {
    each.name: each
    for each in (
        QueueSystem(
            "kueue",
            "0.19",
            "Kueue",
            ("kueue.x-k8s.io", "config.kueue.x-k8s.io"),
            "ClusterQueues, LocalQueues, ResourceFlavors, Topologies, AdmissionChecks and Configuration of Kueue",
            {
                "KueueDRAIntegration": True,
                "KueueDRAIntegrationExtendedResource": True,
                "KueueDRAIntegrationPartitionableDevices": True,
                "KueueDRAIntegrationConsumableCapacity": False,
                "TopologyAwareScheduling": True,
            },
            frozenset({QueueDefect.GREEDY_MATCH}),
        ),
        QueueSystem(
            "kai",
            "0.17",
            "KAI",
            ("scheduling.run.ai", "kai.scheduler"),
            "Queues, PodGroups and Topologies of KAI-Scheduler",
            defects=frozenset({QueueDefect.STALE_DEVICES, QueueDefect.CLAIM_PER_POD}),
            beside=("grove.io",),
        ),
        QueueSystem(
            "volcano",
            "main of August 2026",
            "Volcano",
            ("scheduling.volcano.sh",),
            "Queues and PodGroups of Volcano",
            {"DynamicResourceAllocationEnable": False, "DRAConsumableCapacityEnable": False},
            defects=frozenset({QueueDefect.ZERO_UNLIMITED, QueueDefect.SHARED_PER_POD, QueueDefect.FLAT_CAPACITY}),
            beside=("grove.io",),
        ),
    )
}


def queue_system(asked: str) -> QueueSystem:
    """
    Return the system that ``NAME`` or ``NAME=VERSION`` names.

    Raises: InputError for a system, or a version of it, that is not modelled.
    """
    name, separator, version = asked.partition("=")
    found = QUEUE_SYSTEMS.get(name)
    if found is None:
        hint = did_you_mean(name, QUEUE_SYSTEMS) or f"systems: {', '.join(QUEUE_SYSTEMS)}"
        raise InputError(f"there is no queue system {in_brief(repr(name))}", hint=hint)
    if separator and version != found.version:
        hint = f"write {name}={found.version}, or {name} alone"
        raise InputError(f"{name} {in_brief(repr(version))} is not modelled", hint=hint)
    return found
