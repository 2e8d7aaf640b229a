"""
Pods, claims and quotas of a few words, for tests of quotas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dra_alloc.api import DeviceClass, Pod, ResourceClaim, ResourceQuota
from dra_alloc.manifest import Documents
from dra_alloc.pods.quota.book import QuotaBook, Refusal


def pod(name: str = "p", *, containers: Iterable[Mapping[str, Any]] | None = None, **more: Any) -> Pod:
    """A pod of namespace ns that asks for one cpu and 1 GiB, or has the containers given."""
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}}
    made = [{"name": "c", "resources": asked}] if containers is None else list(containers)
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", **more.pop("metadata", {})}
    return Pod.from_wire({"metadata": metadata, "spec": {"containers": made, **more}, "status": more.pop("status", {})})


def claim(name: str = "c", *requests: Mapping[str, Any], **metadata: Any) -> ResourceClaim:
    """A claim of namespace ns with some requests, or for one device of class gpu."""
    exact = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    made = list(requests) or [{"name": "r", "exactly": exact}]
    wire = {"metadata": {"name": name, "namespace": "ns", **metadata}, "spec": {"devices": {"requests": made}}}
    return ResourceClaim.from_wire(wire)


def device_class(name: str, resource: str | None = None) -> DeviceClass:
    """A class, for an extended resource or not."""
    return DeviceClass.from_wire({"metadata": {"name": name}, "spec": {"extendedResourceName": resource}})


def quota(hard: Mapping[str, str], name: str = "q", namespace: str = "ns", **more: Any) -> ResourceQuota:
    """A quota with limits; `used` is its status."""
    status = {"used": more.pop("used", {})}
    metadata = {"name": name, "namespace": namespace}
    return ResourceQuota.from_wire({"metadata": metadata, "spec": {"hard": hard, **more}, "status": status})


def book(
    *quotas: ResourceQuota, there: Documents | None = None, classes: Iterable[DeviceClass] = (), extended: bool = True
) -> QuotaBook:
    """The book of some quotas, in a cluster with some objects."""
    return QuotaBook.of(quotas, there or Documents(), classes, extended=extended)


def charged(before: QuotaBook, *items: Any) -> tuple[QuotaBook, list[Refusal | None]]:
    """The book after objects were made one after the other, and the answer to each."""
    answers: list[Refusal | None] = []
    for item in items:
        before, answer = before.charge(item)
        answers.append(answer)
    return before, answers


def used(found: QuotaBook, number: int = 0, namespace: str = "ns") -> dict[str, str]:
    """What is used of a quota, as text."""
    return {key: str(amount) for key, amount in found.accounts[namespace][number].used.items()}
