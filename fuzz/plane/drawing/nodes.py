"""
Random nodes, and pods that were bound to them before.
"""

from __future__ import annotations

from typing import Final

from fuzz.plane.drawing.sketch import EXTENDED, HOSTNAME, ZONE, Json, Sketch

#: Of a device plugin, as opposed to those that a device class stands for.
PLUGIN: Final = "vendor.example.com/accelerator"
_TAINTS: Final = (
    {"key": "dedicated", "value": "ml", "effect": "NoSchedule"},
    {"key": "team", "value": "web", "effect": "NoSchedule"},
    {"key": "maintenance", "effect": "NoExecute"},
    {"key": "slow", "value": "yes", "effect": "PreferNoSchedule"},
)


def draw_nodes(sketch: Sketch) -> None:
    """Add 1 to 8 nodes, most worlds have few."""
    count = sketch.one((1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8))
    sketch.nodes += [_node(sketch, index) for index in range(count)]
    sketch.cluster += sketch.nodes


def _node(sketch: Sketch, index: int) -> Json:
    name = f"n{index}"
    labels = {HOSTNAME: name, ZONE: sketch.one("abc"), "gen": str(sketch.draw.integer(1, 5))}
    if sketch.draw.chance(0.5):
        labels["disk"] = sketch.one(("ssd", "hdd"))
    if sketch.may("spread") and sketch.draw.chance(0.15):
        del labels[ZONE]
    amounts = {
        "cpu": sketch.one(("2", "4", "4", "8", "16", "3500m")),
        "memory": sketch.one(("4Gi", "8Gi", "8Gi", "16Gi", "32Gi")),
        "pods": sketch.one(("1", "2", "3", "5")) if sketch.has("pods") else "110",
    }
    if sketch.has("storage"):
        amounts["ephemeral-storage"] = sketch.one(("10Gi", "20Gi", "50Gi"))
    if sketch.has("hugepages"):
        amounts["hugepages-2Mi"] = sketch.one(("512Mi", "1Gi"))
    if sketch.has("plugin"):
        amounts[PLUGIN] = sketch.one(("1", "2", "4"))
    if sketch.may("extended") and sketch.draw.chance(0.15):
        amounts[EXTENDED] = sketch.one(("0", "1", "2"))
    spec: Json = {}
    if sketch.has("taints"):
        spec["taints"] = sketch.draw.sample(_TAINTS, sketch.one((1, 1, 2)))
    if sketch.has("cordon"):
        spec["unschedulable"] = True
    status: Json = {
        "allocatable": amounts,
        "capacity": dict(amounts),
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    if sketch.may("node-resources"):
        status["declaredFeatures"] = ["DRANodeAllocatableResources"]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def draw_bound_pods(sketch: Sketch) -> None:
    """Add pods that run already."""
    for index in range(sketch.draw.integer(1, 4) if sketch.has("bound") else 0):
        labels = {"app": sketch.one(("old", "a0", "a1"))}
        container: Json = {"name": "c", "image": "x", "resources": {"requests": _used(sketch)}}
        if sketch.has("ports"):
            container["ports"] = [{"containerPort": 80, "hostPort": sketch.one((8080, 9090))}]
        pod: Json = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": sketch.meta(f"old-{index}", labels=labels, uid=f"old-{index}"),
            "spec": {"nodeName": sketch.node_name(), "containers": [container]},
        }
        if sketch.draw.chance(0.2):
            pod["metadata"]["namespace"] = sketch.neighbour
        if sketch.has("anti-affinity"):
            term = {"topologyKey": sketch.one((HOSTNAME, ZONE)), "labelSelector": {"matchLabels": {"app": "a0"}}}
            kind = "requiredDuringSchedulingIgnoredDuringExecution"
            pod["spec"]["affinity"] = {"podAntiAffinity": {kind: [term]}}
        sketch.cluster.append(pod)


def _used(sketch: Sketch) -> Json:
    return {"cpu": sketch.one(("500m", "1", "2")), "memory": sketch.one(("256Mi", "1Gi", "3Gi"))}
