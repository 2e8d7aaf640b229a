"""
Random workloads: the kinds whose controllers run, each with a pod template.
"""

from __future__ import annotations

from typing import Final

from fuzz.plane.drawing.devices import draw_claim_of
from fuzz.plane.drawing.pods import draw_pod
from fuzz.plane.drawing.sketch import APPS, Json, Sketch

_KINDS: Final = (
    *("Deployment", "Deployment", "Deployment", "ReplicaSet", "ReplicationController"),
    *("StatefulSet", "StatefulSet", "DaemonSet", "DaemonSet", "Job", "Job", "Job", "Pod", "Pod"),
)


def draw_workload(sketch: Sketch, name: str) -> Json:
    """Return one workload; few pods, so that what decides is seen early."""
    pod = draw_pod(sketch, name)
    draw_claim_of(sketch, pod)
    sketch.apps.append(name)
    kind = sketch.one(_KINDS)
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": sketch.meta(name, **pod["metadata"]), "spec": pod["spec"]}
    if kind == "Job":
        return _job(sketch, name, pod)
    if kind == "ReplicationController":
        controlled = {"replicas": sketch.one((1, 2, 3)), "selector": {"app": name}, "template": pod}
        return {"apiVersion": "v1", "kind": kind, "metadata": sketch.meta(name), "spec": controlled}
    spec: Json = {"selector": {"matchLabels": {"app": name}}, "template": pod}
    if kind != "DaemonSet":
        spec["replicas"] = sketch.one((1, 2, 2, 3, 3, 4, 6))
    if kind == "Deployment" and sketch.draw.chance(0.05):
        spec["paused"] = True
    if kind == "StatefulSet":
        spec["serviceName"] = name
        if sketch.draw.chance(0.5):
            spec["podManagementPolicy"] = "Parallel"
        if sketch.draw.chance(0.2):
            spec["ordinals"] = {"start": 2}
    return {"apiVersion": APPS, "kind": kind, "metadata": sketch.meta(name), "spec": spec}


def _job(sketch: Sketch, name: str, pod: Json) -> Json:
    pod["spec"]["restartPolicy"] = "Never"
    spec: Json = {"parallelism": sketch.one((1, 2, 3, 4)), "template": pod}
    if sketch.draw.chance(0.5):
        spec["completions"] = sketch.one((1, 2, 3, 5))
        spec["completionMode"] = sketch.one(("Indexed", "NonIndexed"))
    if sketch.draw.chance(0.1):
        spec["suspend"] = True
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": sketch.meta(name), "spec": spec}
