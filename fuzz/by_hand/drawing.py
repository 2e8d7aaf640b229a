"""
Random steps of scenarios for what is in a cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any, Final

__all__ = ["draw_step"]

Json = dict[str, Any]
Objects = list[Json]
_DELETED: Final = (
    *("Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicationController", "Pod", "ResourceClaim"),
    *("ResourceClaimTemplate", "ResourceSlice", "ResourceQuota", "Service", "DeviceClass"),
)
_CPU: Final = ("100m", "1", "3", "20")
_GATES: Final = ("DRAPartitionableDevices", "DRAConsumableCapacity", "DRADeviceBindingConditions")


def draw_step(objects: Objects, random: Random) -> tuple[str, Json]:
    """Return a kind of step, and what it takes; `apply` takes the objects themselves."""
    kinds = list(_KINDS)
    random.shuffle(kinds)
    for kind in kinds:
        taken = _KINDS[kind](objects, random)
        if taken is not None:
            return kind, taken
    return "cordonNodes", _some_nodes(objects, random)


def _named(objects: Objects, kind: str) -> list[str]:
    return sorted(each["metadata"]["name"] for each in objects if each["kind"] == kind)


def _some_nodes(objects: Objects, random: Random) -> Json:
    nodes = [each for each in objects if each["kind"] == "Node"]
    labels = [(key, value) for each in nodes for key, value in sorted(each["metadata"].get("labels", {}).items())]
    if labels and random.random() < 0.25:
        key, value = random.choice(labels)
        return {"labels": {key: value}}
    return {"names": random.sample(_named(objects, "Node"), random.randint(1, max(1, len(nodes) // 2)))}


def _remove_nodes(objects: Objects, random: Random) -> Json | None:
    taken = _some_nodes(objects, random)
    left = {each["metadata"]["name"] for each in objects if each["kind"] == "Node"} - set(taken.get("names", ()))
    labels = taken.get("labels")
    if labels:
        left = {
            each["metadata"]["name"]
            for each in objects
            if each["kind"] == "Node" and not labels.items() <= each["metadata"].get("labels", {}).items()
        }
    return taken if left else None


def _add_nodes(objects: Objects, random: Random) -> Json:
    return {"like": random.choice(_named(objects, "Node")), "count": random.randint(1, 3)}


def _taint_devices(objects: Objects, random: Random) -> Json | None:
    devices = [
        {"driver": each["spec"]["driver"], "pool": each["spec"]["pool"]["name"], "device": device["name"]}
        for each in objects
        if each["kind"] == "ResourceSlice"
        for device in each["spec"].get("devices", ())
    ]
    if not devices:
        return None
    chosen = random.choice(devices)
    kept = random.choice((("driver",), ("pool",), ("driver", "pool"), ("driver", "pool", "device"), ("device",)))
    taint = {
        "key": random.choice(("bad", "example.com/unhealthy")),
        "effect": random.choice(("NoExecute", "NoSchedule")),
    }
    return {**{key: chosen[key] for key in kept}, "taint": taint}


def _delete(objects: Objects, random: Random) -> Json | None:
    there = [each for each in objects if each["kind"] in _DELETED]
    if not there:
        return None
    kind = random.choice(sorted({each["kind"] for each in there}))
    chosen = random.choice([each for each in there if each["kind"] == kind])
    return {"kind": kind, "name": chosen["metadata"]["name"], **_namespace(chosen)}


def _namespace(item: Json) -> Json:
    namespace = item["metadata"].get("namespace")
    return {"namespace": namespace} if namespace else {}


def _apply(objects: Objects, random: Random) -> Json | None:
    """Return manifests: a workload with other pods or more of them, or a quota with other limits."""
    workloads = [each for each in objects if each["kind"] in ("Deployment", "StatefulSet", "ReplicationController")]
    quotas = [each for each in objects if each["kind"] == "ResourceQuota"]
    choices = [each for each in (workloads, quotas) if each]
    if not choices:
        return None
    chosen = copy.deepcopy(random.choice(random.choice(choices)))
    meta = chosen["metadata"]
    for lost in ("uid", "ownerReferences"):
        meta.pop(lost, None)
    chosen.pop("status", None)
    if chosen["kind"] == "ResourceQuota":
        chosen["spec"]["hard"] = {key: random.choice(("0", "1", "3", "10")) for key in chosen["spec"]["hard"]}
        return {"objects": [chosen]}
    if random.random() < 0.3:
        _rename(chosen, f"{meta['name']}-new")
    if random.random() < 0.6:
        chosen["spec"]["replicas"] = random.randint(0, 5)
    if random.random() < 0.4:
        container = chosen["spec"]["template"]["spec"]["containers"][0]
        container.setdefault("resources", {}).setdefault("requests", {})["cpu"] = random.choice(_CPU)
        container["resources"].get("limits", {}).pop("cpu", None)
    return {"objects": [chosen]}


def _rename(workload: Json, name: str) -> None:
    """Give a workload a name of its own, and its pods a label by which no other workload selects them."""
    workload["metadata"]["name"] = name
    spec = workload["spec"]
    labels = spec["template"]["metadata"].setdefault("labels", {})
    labels["app"] = name
    selector = spec.get("selector", {})
    matched = selector.get("matchLabels", selector)
    if "app" in matched:
        matched["app"] = name


def _release(objects: Objects, random: Random) -> Json:
    if random.random() < 0.5:
        return {"version": random.choice(("1.35", "1.36", "1.37", "1.38"))}
    return {"gates": {random.choice(_GATES): random.random() < 0.5}}


_KINDS: Final[dict[str, Callable[[Objects, Random], Json | None]]] = {
    "addNodes": _add_nodes,
    "apply": _apply,
    "cordonNodes": _some_nodes,
    "delete": _delete,
    "drainNodes": _some_nodes,
    "release": _release,
    "removeNodes": _remove_nodes,
    "taintDevices": _taint_devices,
    "uncordonNodes": _some_nodes,
}
