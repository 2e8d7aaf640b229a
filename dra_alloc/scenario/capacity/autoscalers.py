"""
What autoscalers do not see of what is asked for, so that they add no nodes, or other ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import DeviceRequest, ResourceClaimSpec
from dra_alloc.cluster.edits.cluster_state import ClusterState, joined
from dra_alloc.manifest import Documents


@dataclass(frozen=True, slots=True)
class _Asked:
    """The objects of a cluster and what is applied to it, and what claims among them ask for."""

    documents: Documents
    specs: tuple[ResourceClaimSpec, ...]

    @property
    def requests(self) -> Iterator[DeviceRequest]:
        for each in self.specs:
            yield from each.devices.requests


@dataclass(frozen=True, slots=True)
class _Limit:
    """Something that an autoscaler does not do, and whether that concerns what is asked for."""

    said: str
    concerns: Callable[[_Asked], bool]


def _with_claims(asked: _Asked) -> bool:
    return bool(asked.specs)


def _with_distinct(asked: _Asked) -> bool:
    return any(each.distinct_attribute for spec in asked.specs for each in spec.devices.constraints)


def _with_admin(asked: _Asked) -> bool:
    return any(each.exactly is not None and each.exactly.admin_access for each in asked.requests)


def _with_extended(asked: _Asked) -> bool:
    documents = asked.documents
    names = {each.spec.extended_resource_name for each in documents.classes} - {None}
    pods = [*documents.pods, *(made.pod for each in documents.workloads for made in each.templates if made.pod)]
    containers = [each for pod in pods for each in (*pod.spec.containers, *pod.spec.init_containers)]
    return any(names & each.resources.requests.keys() for each in containers)


def _with_taints(asked: _Asked) -> bool:
    documents = asked.documents
    return bool(documents.taint_rules) or any(
        device.taints for each in documents.slices for device in each.spec.devices
    )


#: Karpenter's documentation of its allocator, with the reports karpenter#3228, #3231 and #3266.
_LIMITS: Final = (
    _Limit(
        "Karpenter adds no nodes for pods with claims unless it runs with --ignore-dra-requests=false", _with_claims
    ),
    _Limit("Karpenter ends with an error on distinctAttribute", _with_distinct),
    _Limit("Karpenter does not know adminAccess", _with_admin),
    _Limit("Karpenter does not know extended resources of device classes", _with_extended),
    _Limit("Karpenter takes devices with taints for usable", _with_taints),
)


def autoscaler_notes(state: ClusterState) -> Iterator[str]:
    """Yield what an autoscaler would not see of what claims of a cluster ask for. Spec: ADDED-4."""
    documents = joined(state.dump, state.manifests)
    specs = (*(each.spec for each in documents.claims), *(each.spec.spec for each in documents.templates))
    asked = _Asked(documents, specs)
    yield from (each.said for each in _LIMITS if each.concerns(asked))
