"""
Random pod groups, and workloads whose pods are in them.
"""

from __future__ import annotations

from typing import Final

from fuzz.plane.drawing.pods import draw_pod
from fuzz.plane.drawing.sketch import Json, Sketch

_NAMES: Final = ("g0", "g1")
_CLAIM: Final = {"name": "gang", "resourceClaimTemplateName": "t0"}


def draw_groups(sketch: Sketch, work: list[list[Json]]) -> None:
    """Add pod groups, put some workloads into them, and add pods of a group that are not alike."""
    if not sketch.may("groups"):
        return
    claiming = [name for name in _NAMES if sketch.has("group-claims")]
    for name in _NAMES:
        spec: Json = {"schedulingPolicy": {"gang": {"minCount": sketch.one((1, 2, 2, 3, 3, 4, 5))}}}
        if sketch.draw.chance(0.15):
            spec = {"schedulingPolicy": {"basic": {}}}
        if name in claiming:
            spec["resourceClaims"] = [dict(_CLAIM)]
        if sketch.may("priority") and sketch.draw.chance(0.2):
            spec["priorityClassName"] = "high"
        meta = sketch.meta(name)
        group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}
        if not sketch.draw.chance(0.05):
            sketch.prepare.append(group)
    work.append([_pod(sketch, f"m{index}") for index in range(sketch.one((2, 3, 3, 4, 5)))])
    for each in (workload for step in work for workload in step):
        pod = each if each["kind"] == "Pod" else each["spec"]["template"]
        if sketch.has("groups"):
            _join(sketch, pod["spec"], sketch.one(_NAMES), claiming)


def _pod(sketch: Sketch, name: str) -> Json:
    pod = draw_pod(sketch, name)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": sketch.meta(name, **pod["metadata"]), "spec": pod["spec"]}


def _join(sketch: Sketch, spec: Json, group: str, claiming: list[str]) -> None:
    spec["schedulingGroup"] = {"podGroupName": group}
    if group in claiming and sketch.draw.chance(0.8):
        spec.setdefault("resourceClaims", []).append(dict(_CLAIM))
        spec["containers"][0]["resources"].setdefault("claims", []).append({"name": _CLAIM["name"]})
