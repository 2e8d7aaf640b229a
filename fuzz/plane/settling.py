"""
When a control plane has come to rest: every pod is made that its controllers can make, and each was tried.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fuzz.plane.api import ApiError, path_of
from fuzz.plane.programs import Plane

Json = dict[str, Any]
#: So long nothing may be written before it is asked whether all is done, and again until it counts as done.
QUIET: Final = 0.25
#: So long after the last write what is missing counts as refused, once an event says that it was.
PATIENCE: Final = 0.5
#: So long after the last pod came or got its node, those that the scheduler tries for ever were tried often enough.
RETRIED: Final = 5.0
LIMIT: Final = 45.0
_POLL: Final = 0.02
_REFUSALS: Final = ("FailedCreate", "FailedResourceClaimCreation")


class Unsettled(Exception):
    """The control plane did not come to rest in time; the text says what it was waiting for."""


@dataclass
class Rest:
    """
    What a namespace holds at rest: its pods and replica sets as stored, and what was refused.

    `refused` has the message of the last refusal by the object that met it: a workload whose pods, or a pod
    whose claims, are not made.
    """

    pods: list[Json]
    owners: Mapping[str, str]
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> tuple[int, int]:
        """How many pods there are, and how many of them have a node."""
        return len(self.pods), sum(bool(pod["spec"].get("nodeName")) for pod in self.pods)

    def owner(self, pod: Json) -> str:
        """Return `Kind/name` of the workload that a pod comes from; its own if from none."""
        meta = pod["metadata"]
        for each in meta.get("ownerReferences", ()):
            if each.get("controller"):
                name = f"{each['kind']}/{each['name']}"
                return self.owners.get(name, name)
        return f"Pod/{meta['name']}"


def settle(plane: Plane, namespace: str, workloads: list[Json]) -> Rest:
    """
    Return what the namespace holds when nothing moves any more.

    Where there is no kubelet, pods of a StatefulSet are said to be ready as soon as they are bound, so that the
    next ones are made.
    Raises: Unsettled after `LIMIT` seconds.
    """
    end = time.monotonic() + LIMIT
    revision, since = plane.etcd.revision(), time.monotonic()
    done_since: float | None = None
    reason, found, found_at = "writes", (0, 0), since
    while time.monotonic() < end:
        time.sleep(_POLL)
        now = plane.etcd.revision()
        if now != revision:
            revision, since, done_since = now, time.monotonic(), None
            continue
        quiet = time.monotonic() - since
        if quiet < QUIET or (done_since is not None and time.monotonic() - done_since < QUIET):
            continue
        rest = _rest(plane, namespace)
        if _play_kubelet(plane, rest.pods):
            continue
        if quiet > PATIENCE:
            rest.refused = _refusals(plane, namespace)
        if rest.counts != found:
            found, found_at = rest.counts, time.monotonic()
        reason = _unfinished(plane, rest, workloads, retried=time.monotonic() - found_at > RETRIED)
        if reason:
            done_since = None
        elif done_since is None:
            done_since = time.monotonic()
        elif time.monotonic() - done_since > QUIET:
            rest.refused = rest.refused or _refusals(plane, namespace)
            return rest
    raise Unsettled(reason)


def _rest(plane: Plane, namespace: str) -> Rest:
    pods = plane.api.list("v1", "Pod", namespace)
    owners = {}
    for each in plane.api.list("apps/v1", "ReplicaSet", namespace):
        for owner in each["metadata"].get("ownerReferences", ()):
            owners[f"ReplicaSet/{each['metadata']['name']}"] = f"{owner['kind']}/{owner['name']}"
    return Rest(pods, owners)


def _controller(pod: Json) -> str:
    return next((str(each["kind"]) for each in pod["metadata"].get("ownerReferences", ())), "")


def _play_kubelet(plane: Plane, pods: list[Json]) -> bool:
    """Say that bound pods of StatefulSets are ready; True if there were any that were not."""
    found = False
    for pod in pods:
        bound = pod["spec"].get("nodeName") and _controller(pod) == "StatefulSet"
        if not bound or pod["status"].get("phase") == "Running":
            continue
        conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady", "Initialized")]
        status = {"phase": "Running", "conditions": conditions}
        path = path_of({"apiVersion": "v1", "kind": "Pod", **pod}, named=True)
        plane.api.ask("PATCH", f"{path}/status", {"status": status}, "application/strategic-merge-patch+json")
        found = True
    return found


def _refusals(plane: Plane, namespace: str) -> dict[str, str]:
    found = {}
    for reason in _REFUSALS:
        for event in plane.api.list("v1", "Event", namespace, f"?fieldSelector=reason={reason}"):
            about = event["involvedObject"]
            found[f"{about['kind']}/{about['name']}"] = event.get("message", "")
    return found


def _unfinished(plane: Plane, rest: Rest, workloads: list[Json], *, retried: bool) -> str:
    """Return what is still to come; nothing if all is done."""
    waiting = [pod["metadata"]["name"] for pod in rest.pods if _lacks_claims(plane, pod, rest.refused)]
    if waiting:
        return f"claims of {', '.join(waiting)}"
    made = Counter(rest.owner(pod) for pod in rest.pods)
    for workload in workloads:
        wanted = _wanted(plane, workload, rest)
        name = f"{workload['kind']}/{workload['metadata']['name']}"
        if wanted is None or made[name] < wanted:
            return f"{made[name]} of {wanted} pods of {name}"
    counts = plane.metrics.read()
    made_ones, bound = rest.counts
    open_ones = made_ones - bound
    resting = ("unschedulable", "gated", "incomplete", *(("backoff",) if retried else ()))
    held = sum(counts.get(queue, 0) for queue in resting)
    return f"the scheduler: {counts} for {open_ones} pods" if counts.get("assumed_pods") or held != open_ones else ""


def _lacks_claims(plane: Plane, pod: Json, refused: Mapping[str, str]) -> bool:
    """Return whether claims of a pod are still to come: not if its own, or its group's, are refused."""
    named = {each["name"] for each in pod["spec"].get("resourceClaims", ()) if each.get("resourceClaimTemplateName")}
    known = {each["name"] for each in pod.get("status", {}).get("resourceClaimStatuses", ())}
    if pod["spec"].get("nodeName") or not named - known or f"Pod/{pod['metadata']['name']}" in refused:
        return False
    group = pod["spec"].get("schedulingGroup", {}).get("podGroupName")
    return not group or (f"PodGroup/{group}" not in refused and _is_there(plane, pod["metadata"]["namespace"], group))


def _is_there(plane: Plane, namespace: str, group: str) -> bool:
    version = "v1alpha2" if plane.release.startswith("1.36.") else "v1beta1"
    found = plane.api.list(f"scheduling.k8s.io/{version}", "PodGroup", namespace)
    return any(each["metadata"]["name"] == group for each in found)


def _wanted(plane: Plane, workload: Json, rest: Rest) -> int | None:
    """Return how many pods a workload must have by now; None while its controller has not looked at it."""
    kind, name, spec = workload["kind"], workload["metadata"]["name"], workload.get("spec", {})
    mine = [pod for pod in rest.pods if rest.owner(pod) == f"{kind}/{name}"]
    if _refused(rest, kind, name):
        return 0
    if kind == "Job":
        parallel, completions = spec.get("parallelism", 1), spec.get("completions")
        return 0 if spec.get("suspend") else min(parallel, completions if completions is not None else parallel)
    if spec.get("paused"):
        return 0
    if kind == "StatefulSet" and spec.get("podManagementPolicy") != "Parallel":
        stuck = any(not pod["spec"].get("nodeName") for pod in mine)
        return len(mine) if stuck else int(spec.get("replicas", 1))
    if kind == "DaemonSet":
        status = _status(plane, workload)
        return int(status.get("desiredNumberScheduled", 0)) if status.get("observedGeneration") else None
    return int(spec.get("replicas", 1)) if "template" in spec else 0


def _refused(rest: Rest, kind: str, name: str) -> bool:
    return any(f"{kind}/{name}" in {each, rest.owners.get(each)} for each in rest.refused)


def _status(plane: Plane, given: Json) -> Json:
    try:
        found: Json = plane.api.ask("GET", path_of(given, named=True)).get("status", {})
    except ApiError:
        return {}
    return found
