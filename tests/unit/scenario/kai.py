"""
Clusters with queues of KAI, and jobs for them.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import Admit, AdmitOptions, admit
from tests.unit.scenario.queueing import objects

__all__ = ["COMMON", "admitted", "claiming", "job", "node", "pod", "pod_group", "queue", "template"]

CLASS = "gpu.example.com"


def queue(name: str, gpu: tuple[float, float], parent: str = "", **spec: Any) -> dict[str, Any]:
    """A queue with quota and limit of devices."""
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    resources = {"cpu": free, "memory": free, "gpu": {"quota": gpu[0], "limit": gpu[1], "overQuotaWeight": 1}}
    above = {"parentQueue": parent} if parent else {}
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"resources": resources, **above, **spec},
    }


def pod_group(name: str, queue: str, **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "ns"}
    return {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": meta,
        "spec": {"queue": queue, **spec},
    }


def node(name: str, devices: int, driver: str = "gpu.example.com") -> list[dict[str, Any]]:
    spec = {"driver": driver, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}
    made = [{"name": f"d{number}"} for number in range(devices)]
    meta = {"name": name}
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": meta},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{driver}"},
            "spec": {**spec, "devices": made},
        },
    ]


def template(name: str, count: int = 1, device_class: str = CLASS) -> dict[str, Any]:
    requests = [{"name": "r", "exactly": {"deviceClassName": device_class, "count": count}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }


def claiming(template: str = "one", **more: Any) -> dict[str, Any]:
    """The spec of a pod for KAI."""
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "r"}]}}
    claims = [{"name": "r", "resourceClaimTemplateName": template}]
    return {"schedulerName": "kai-scheduler", "containers": [container], "resourceClaims": claims, **more}


def _meta(name: str, at: str, labels: dict[str, str] | None, annotations: dict[str, str] | None) -> dict[str, Any]:
    marks = {"kai.scheduler/queue": at} if at else {}
    return {
        "name": name,
        "namespace": "ns",
        "labels": {**marks, **(labels or {})},
        "annotations": annotations or {},
    }


def pod(
    name: str,
    template: str = "one",
    at: str = "q",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    meta = _meta(name, at, labels, annotations)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": claiming(template, **spec)}


def job(
    name: str, template: str = "one", pods: int = 1, at: str = "q", least: int | None = None, **labels: str
) -> dict[str, Any]:
    annotations = {} if least is None else {"kai.scheduler/batch-min-member": str(least)}
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": claiming(template, restartPolicy="Never")}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": _meta(name, at, labels, annotations), "spec": spec}


COMMON = [
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}},
    *(template(name, count) for name, count in (("one", 1), ("two", 2), ("three", 3), ("four", 4))),
]


def admitted(made: list[dict[str, Any]], *dump: dict[str, Any], system: str = "", **settings: Any) -> Admit:
    options = AdmitOptions(Settings("1.36", **settings), system=system)
    return admit(objects(*made), objects(*COMMON, *dump), options)
