"""
Random steps of scenarios for what is in a cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any, Final

Json = dict[str, Any]
Objects = list[Json]
_DELETED: Final = (
    *("Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicationController", "Pod", "ResourceClaim"),
    *("ResourceClaimTemplate", "ResourceSlice", "ResourceQuota", "Service", "DeviceClass"),
)
_NODE_TAINTS: Final = ("bad", "example.com/leaving")
_SECONDS: Final = (0, 30, 60, 100)
#: How often a step is one with a clock.
_OFTEN: Final = 0.5
_CPU: Final = ("100m", "1", "3", "20")
_GATES: Final = ("DRAPartitionableDevices", "DRAConsumableCapacity", "DRADeviceBindingConditions")


def draw_step(objects: Objects, random: Random, *, timed: bool) -> tuple[str, Json]:
    """Return a kind of step, with a clock, too, if `timed`, and what it takes; `apply` takes the objects themselves."""
    kinds = list({**_KINDS, **_TIMED} if timed else _KINDS)
    random.shuffle(kinds)
    if timed and random.random() < _OFTEN:
        kinds.sort(key=lambda kind: kind not in _TIMED)  # what is over in time takes several of these
    for kind in kinds:
        taken = {**_KINDS, **_TIMED}[kind](objects, random)
        if taken is not None:
            return kind, {**taken, **_for_a_time(random)} if timed and "taint" in taken else taken
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


def _taint_nodes(objects: Objects, random: Random) -> Json:
    effect = random.choice(("NoExecute", "NoExecute", "NoSchedule", "PreferNoSchedule"))
    taint = {"key": random.choice(_NODE_TAINTS), "effect": effect}
    some = _some_nodes(objects, random) if random.random() < _OFTEN else {"names": _named(objects, "Node")}
    return {**some, "taint": taint}


def _for_a_time(random: Random) -> Json:
    return {"seconds": random.choice(_SECONDS)} if random.random() < 0.6 else {}


def _wait(objects: Objects, random: Random) -> Json:
    return {"seconds": random.choice(_SECONDS)}


def draw_tolerations(work: list[Json], random: Random) -> None:
    """Let some pods tolerate taints of nodes, for a time or for ever."""
    for each in work:
        spec = each.get("spec", {})
        template = spec.get("template", {}).get("spec")
        pod = spec if each["kind"] == "Pod" else template
        if isinstance(pod, dict) and random.random() < 0.5:
            pod["tolerations"] = [
                *pod.get("tolerations", ()),
                *(_toleration(random) for _ in range(random.randint(1, 2))),
            ]


def _toleration(random: Random) -> Json:
    found: Json = {"key": random.choice(_NODE_TAINTS), "operator": "Exists", "effect": "NoExecute"}
    return {**found, "tolerationSeconds": random.choice(_SECONDS)} if random.random() < 0.8 else found


def draw_budgets(objects: Objects, random: Random) -> Objects:
    """Return budgets for pods of workloads that are there."""
    sets = [each for each in objects if each["kind"] in ("Deployment", "StatefulSet", "ReplicationController", "Job")]
    found: Objects = []
    for number, each in enumerate(random.sample(sets, min(len(sets), random.randint(0, 2)))):
        labels = each["spec"].get("template", {}).get("metadata", {}).get("labels")
        if not labels:
            continue
        least = random.choice(
            (
                {"minAvailable": random.choice((0, 1, 2, "50%", "100%"))},
                {"maxUnavailable": random.choice((0, 1, "50%"))},
            )
        )
        found.append(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {
                    "name": f"budget-{number}",
                    "namespace": each["metadata"]["namespace"],
                    "uid": f"b-{number}",
                },
                "spec": {"selector": {"matchLabels": dict(labels)}, **least},
            }
        )
    return found


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
_TIMED: Final[dict[str, Callable[[Objects, Random], Json | None]]] = {"taintNodes": _taint_nodes, "wait": _wait}
