"""
Clusters with queues of KAI, and jobs for them.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions
from tests.reading import documents

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


def node(name: str, devices: int, driver: str = "gpu.example.com", **labels: str) -> list[dict[str, Any]]:
    spec = {"driver": driver, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}
    made = [{"name": f"d{number}"} for number in range(devices)]
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{driver}"},
            "spec": {**spec, "devices": made},
        },
    ]


def topology(*labels: str, name: str = "net") -> dict[str, Any]:
    spec = {"levels": [{"nodeLabel": each, "alias": f"the-{each}"} for each in labels]}
    return {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": name}, "spec": spec}


def clique(name: str, replicas: int = 1, template: str = "one", **more: Any) -> dict[str, Any]:
    """A clique; what belongs to its spec is told apart by its name."""
    own = {key: more.pop(key) for key in ("minAvailable", "startsAfter") if key in more}
    return {"name": name, "spec": {"replicas": replicas, "podSpec": claiming(template), **own}, **more}


def clique_set(*cliques: dict[str, Any], replicas: int = 1, **template: Any) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}}
    spec = {"replicas": replicas, "template": {"cliques": cliques, **template}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


def binding(**domains: str) -> dict[str, Any]:
    spec = {"levels": [{"domain": domain, "key": key} for domain, key in domains.items()]}
    meta = {"name": "net"}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": meta, "spec": spec}


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


def running(name: str, template: str, on: str, device: str, at: str = "q", **more: Any) -> list[dict[str, Any]]:
    """A pod of KAI that runs, with its claim allocated."""
    claim = {"name": f"{name}-c", "namespace": "ns"}
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "count": int(template)}}]
    results = [
        {"request": "r", "driver": "gpu.example.com", "pool": on, "device": f"d{int(device) + each}"}
        for each in range(int(template))
    ]
    status = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
    }
    spec = {**claiming(), "resourceClaims": [{"name": "r", "resourceClaimName": f"{name}-c"}], "nodeName": on}
    made = pod(name, at=at, **more)
    made["metadata"] |= {"uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return [
        {**made, "spec": {**spec, **{k: v for k, v in made["spec"].items() if k == "priorityClassName"}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": claim, "status": status}
        | {"spec": {"devices": {"requests": requests}}},
    ]


COMMON = [
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}},
    *(template(name, count) for name, count in (("one", 1), ("two", 2), ("three", 3), ("four", 4))),
]


def admitted(made: list[dict[str, Any]], *dump: dict[str, Any], system: str = "", **settings: Any) -> Admit:
    options = AdmitOptions(Settings("1.36", **settings), system=system)
    return admit(documents(*made), documents(*COMMON, *dump), options)
