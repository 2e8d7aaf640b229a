"""
Random worlds by seed, number and flavour; a flavour is the set of features that its worlds have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.testing.drawing.draw import Seeded
from fuzz.plane.drawing.devices import draw_devices, draw_prepared_claims
from fuzz.plane.drawing.groups import draw_groups
from fuzz.plane.drawing.nodes import draw_bound_pods, draw_nodes
from fuzz.plane.drawing.sketch import Json, Sketch
from fuzz.plane.drawing.workloads import draw_workload

_ADMIN: Final = {"resource.kubernetes.io/admin-access": "true"}
_DEVICES: Final = {"devices": 0.8}
#: How often each feature is drawn where it can be, by flavour.
FLAVOURS: Final[Mapping[str, Mapping[str, float]]] = {
    "plain": {"large": 1.0},
    "pods": {"pods": 0.6},
    "storage": {"storage": 0.7},
    "hugepages": {"hugepages": 0.6},
    "plugin": {"plugin": 0.6},
    "init": {"init": 0.6},
    "podlevel": {"podlevel": 0.6, "init": 0.2},
    "overhead": {"overhead": 0.6},
    "taints": {"taints": 0.5},
    "cordon": {"cordon": 0.4},
    "selector": {"selector": 0.6},
    "affinity": {"affinity": 0.6},
    "preferred": {"preferred": 0.7},
    "anti-affinity": {"anti-affinity": 0.6},
    "pod-affinity": {"pod-affinity": 0.6},
    "preferred-pods": {"preferred-pod-affinity": 0.5, "preferred-anti-affinity": 0.5},
    "spread": {"spread": 0.7, "taints": 0.1, "cordon": 0.1},
    "services": {"services": 0.8, "bound": 0.3},
    "ports": {"ports": 0.7, "bound": 0.3},
    "priority": {"priority": 0.6},
    "gates": {"gates": 0.4},
    "quota": {"quota": 0.9},
    "bound": {"bound": 1.0},
    "devices": _DEVICES,
    "shared": {**_DEVICES, "shared": 0.6},
    "extended": {"devices": 0.4, "extended": 0.6},
    "alternatives": {**_DEVICES, "alternatives": 0.5},
    "counters": {**_DEVICES, "counters": 0.7},
    "shares": {**_DEVICES, "shares": 0.6},
    "device-taints": {**_DEVICES, "device-taints": 0.4},
    "network": {**_DEVICES, "network": 0.9},
    "all-mode": {**_DEVICES, "all-mode": 0.4},
    "match": {**_DEVICES, "match": 0.5},
    "admin": {**_DEVICES, "admin": 0.4},
    "device-quota": {**_DEVICES, "quota": 0.9, "extended": 0.3, "shared": 0.2},
    "held": {**_DEVICES, "bound": 1.0},
    "joined": {**_DEVICES, "bound": 1.0, "joined": 0.5},
    "pools": {**_DEVICES, "pools": 0.5},
}
#: Those that need gates of their own, so that they are drawn where they are named only.
ON_REQUEST: Final[Mapping[str, Mapping[str, float]]] = {
    "groups": {"groups": 0.7, "devices": 0.4, "priority": 0.1, "gates": 0.05},
    "node-resources": {
        **_DEVICES,
        "node-resources": 0.7,
        **dict.fromkeys(("shares", "shared", "podlevel", "init", "hugepages", "bound"), 0.15),
    },
    "group-claims": {"groups": 0.9, "group-claims": 0.7, "devices": 0.3, "shared": 0.1, "quota": 0.3},
}
#: How many features a mixed world has beside devices, and how often each is drawn.
_SEVERAL: Final = (2, 3, 4, 5, 6, 8, 10)
_RATES: Final = (0.15, 0.3, 0.3, 0.6)


def _mixed(draw: Seeded) -> Mapping[str, float]:
    names = sorted({feature for rates in FLAVOURS.values() for feature in rates} - {"large", "devices"})
    found = {name: draw.choice(_RATES) for name in draw.sample(names, draw.choice(_SEVERAL))}
    return found | {"devices": draw.choice((0.0, 0.3, 0.6, 0.9)), "quota": found.get("quota", 0.3)}


def draw_world(seed: int, number: int, flavour: str | None = None) -> Json:
    """Return the world of a seed and number: always the same. Without a flavour, every fourth has one, others mix."""
    draw = Seeded(f"world {seed} {number} {flavour}")
    if flavour is None:
        flavour = draw.choice([*FLAVOURS]) if draw.chance(0.25) else "mixed"
    rates = {**FLAVOURS, **ON_REQUEST}[flavour] if flavour != "mixed" else _mixed(draw)
    sketch = Sketch(draw, f"w{seed}-{number}", rates)
    _draw_namespace(sketch)
    draw_nodes(sketch)
    draw_bound_pods(sketch)
    draw_devices(sketch)
    draw_prepared_claims(sketch)
    if sketch.has("quota"):
        sketch.prepare.append(_quota(sketch))
    for name in ("s0", "s1"):
        if sketch.has("services"):
            sketch.prepare.append(_service(sketch, name))
    work: list[list[Json]] = []
    for index in range(sketch.one((1, 2, 2, 3, 3, 4, 5, 6))):
        if not work or not sketch.draw.chance(0.1):
            work.append([])
        work[-1].append(draw_workload(sketch, f"a{index}"))
    draw_groups(sketch, work)
    return {
        "name": f"{flavour}-{seed}-{number}",
        "flavour": flavour,
        "seed": seed,
        "ns": sketch.namespace,
        "cluster": sketch.cluster,
        "prepare": sketch.prepare,
        "work": work,
    }


def _draw_namespace(sketch: Sketch) -> None:
    meta: Json = {"name": sketch.namespace}
    if sketch.may("admin") and sketch.draw.chance(0.7):
        meta["labels"] = dict(_ADMIN)
    sketch.cluster.append({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    if sketch.may("bound"):
        other = {"name": sketch.neighbour, "labels": {"team": "red"}}
        sketch.cluster.append({"apiVersion": "v1", "kind": "Namespace", "metadata": other})
    if sketch.may("priority"):
        for name, value in (("high", 1000), ("low", -5)):
            sketch.cluster.append(
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                    "preemptionPolicy": "Never",
                }
            )
    if sketch.may("overhead"):
        sketch.cluster.append(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "heavy"},
                "handler": "heavy",
                "overhead": {"podFixed": {"cpu": "250m", "memory": "256Mi"}},
            }
        )


def _service(sketch: Sketch, name: str) -> Json:
    """Return a Service of some pods: what it selects, the scheduler spreads."""
    selector = {"app": sketch.one(("a0", "a0", "a1", "a2"))} if sketch.draw.chance(0.7) else {"tier": "web"}
    spec = {"clusterIP": "None", "selector": selector, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": sketch.meta(name), "spec": spec}


def _quota(sketch: Sketch) -> Json:
    keys = {
        "pods": ("1", "3", "5"),
        "requests.cpu": ("1", "2500m", "5"),
        "limits.cpu": ("2", "4"),
        "requests.memory": ("1Gi", "4Gi"),
        "count/jobs.batch": ("0", "1"),
        "count/deployments.apps": ("1",),
        "count/pods": ("2", "4"),
    }
    devices = {
        "gpu.deviceclass.resource.k8s.io/devices": ("1", "2", "4"),
        "requests.deviceclass.resource.kubernetes.io/gpu": ("1", "3"),
        "count/resourceclaims.resource.k8s.io": ("1", "3"),
        "requests.example.com/gpu": ("1", "2"),
    }
    offered = devices | {"pods": keys["pods"]} if sketch.may("devices") and sketch.draw.chance(0.7) else keys
    chosen = sketch.draw.sample([*offered], sketch.one((1, 1, 2)))
    hard = {key: sketch.one(offered[key]) for key in sorted(chosen)}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": sketch.meta("q"), "spec": {"hard": hard}}
