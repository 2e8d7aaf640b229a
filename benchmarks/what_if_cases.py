"""
Clusters that run pods on devices, and changes to them, for `what_if.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

Json = dict[str, Any]
_DRIVER: Final = "gpu.example.com"
_OFFERED: Final = {"cpu": "128", "memory": "1Ti", "pods": "110"}
_DEVICES: Final = 8
#: Pods of one workload.
_REPLICAS: Final = 10
_RACK: Final = 20
_RESOURCE: Final = "resource.k8s.io/v1"


def cluster(nodes: int, pods: int) -> Json:
    """Return nodes of eight devices, and Deployments of ten pods each that run on them, a device each."""
    items = [_class(), *(each for number in range(nodes) for each in _node(number))]
    for number in range(pods // _REPLICAS):
        items += _workload(number, _REPLICAS)
        items += _running(number, nodes)
    return {"apiVersion": "v1", "kind": "List", "items": items}


def pull_request(workloads: int, pods: int) -> Json:
    """Return what a pull request applies: a third of it new, a third larger than before, a third with more cpu."""
    items: list[Json] = []
    for number in range(workloads):
        if number % 3 == 0:
            items += _workload(pods + number, 4)
        elif number % 3 == 1:
            items += _workload(number, _REPLICAS + 2)
        else:
            items += _workload(number, _REPLICAS, cpu="3")
    return {"apiVersion": "v1", "kind": "List", "items": items}


def changes(count: int, nodes: int, seed: int = 1) -> Iterator[Json]:
    """Yield scenarios: drains, nodes that go or come, devices that are tainted, cordons."""
    random = Random(seed)
    for number in range(count):
        names = sorted(f"node-{random.randrange(nodes):05d}" for _ in range(2))
        taint = {"key": "example.com/broken", "effect": "NoExecute"}
        kinds: tuple[Json, ...] = (
            {"drainNodes": {"names": names[:1]}},
            {"removeNodes": {"names": names}},
            {"taintDevices": {"taint": taint, "pool": names[0]}},
            {"addNodes": {"like": names[0], "count": 2}},
            {"cordonNodes": {"names": names}},
        )
        yield {"steps": [kinds[number % len(kinds)]]}


def _class() -> Json:
    selectors = [{"cel": {"expression": f"device.driver == '{_DRIVER}'"}}]
    return {
        "apiVersion": _RESOURCE,
        "kind": "DeviceClass",
        "metadata": {"name": _DRIVER},
        "spec": {"selectors": selectors},
    }


def _node(number: int) -> Iterator[Json]:
    name = f"node-{number:05d}"
    labels = {"kubernetes.io/hostname": name, "rack": f"rack-{number // _RACK}"}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": _OFFERED},
    }
    devices = [
        {
            "name": f"gpu-{place}",
            "attributes": {"index": {"int": place}, "uuid": {"string": f"GPU-{number}-{place}"}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for place in range(_DEVICES)
    ]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": _DRIVER, "nodeName": name, "pool": pool, "devices": devices}
    yield {"apiVersion": _RESOURCE, "kind": "ResourceSlice", "metadata": {"name": f"{name}-gpu"}, "spec": spec}


def _pod_spec(name: str, cpu: str) -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}, "claims": [{"name": "gpu"}]}}
    return {"containers": [container], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}]}


def _claim_spec() -> Json:
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": _DRIVER}}]}}


def _workload(number: int, replicas: int, cpu: str = "2") -> Iterator[Json]:
    name = f"w-{number:04d}"
    labels = {"app": name}
    meta: Json = {"name": name, "namespace": "default"}
    yield {
        "apiVersion": _RESOURCE,
        "kind": "ResourceClaimTemplate",
        "metadata": meta,
        "spec": {"spec": _claim_spec()},
    }
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(name, cpu)}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    yield {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {**meta, "uid": f"d-{number}"}, "spec": spec}


def _running(number: int, nodes: int) -> Iterator[Json]:
    name = f"w-{number:04d}"
    labels = {"app": name, "pod-template-hash": "abc"}
    spec = _pod_spec(name, "2")
    yield {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": _owned(f"{name}-abc", f"r-{number}", ("Deployment", name, f"d-{number}"), labels),
        "spec": {
            "replicas": _REPLICAS,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    for replica in range(_REPLICAS):
        place = number * _REPLICAS + replica
        node, device = f"node-{place % nodes:05d}", f"gpu-{place // nodes}"
        pod, claim = f"{name}-abc-{replica}", f"{name}-abc-{replica}-gpu"
        owner = ("ReplicaSet", f"{name}-abc", f"r-{number}")
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": _owned(pod, f"p-{place}", owner, labels),
            "spec": {**spec, "nodeName": node},
            "status": {
                "phase": "Running",
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}],
            },
        }
        yield _claim(claim, pod, f"p-{place}", node, device)


def _claim(name: str, pod: str, uid: str, node: str, device: str) -> Json:
    result = {"request": "gpu", "driver": _DRIVER, "pool": node, "device": device}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    allocation = {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
    }
    return {
        "apiVersion": _RESOURCE,
        "kind": "ResourceClaim",
        "metadata": _owned(name, f"c-{uid}", ("Pod", pod, uid), {}),
        "spec": _claim_spec(),
        "status": {"allocation": allocation, "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}]},
    }


def _owned(name: str, uid: str, owner: tuple[str, str, str], labels: Json) -> Json:
    kind, of, owner_uid = owner
    version = "v1" if kind == "Pod" else "apps/v1"
    reference = {"apiVersion": version, "kind": kind, "name": of, "uid": owner_uid, "controller": True}
    return {"name": name, "namespace": "default", "uid": uid, "labels": labels, "ownerReferences": [reference]}
