"""
Changes a cluster on which a world ran, and records both sides: what was there, the change, and what runs after it.
"""

from __future__ import annotations

import time
from collections import Counter
from http import HTTPStatus
from random import Random
from typing import Any, Final

from fuzz.plane.api import ApiError, path_of
from fuzz.plane.running import Runner
from fuzz.plane.settling import Rest, Unsettled, settle

Json = dict[str, Any]
_RESOURCE: Final = "resource.k8s.io/v1"
#: Kinds that make pods themselves.
_MAKERS: Final = (
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("v1", "ReplicationController"),
)
_KINDS: Final = (
    ("v1", "Node"),
    (_RESOURCE, "ResourceSlice"),
    (_RESOURCE, "DeviceClass"),
    ("v1", "Namespace"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    (_RESOURCE, "ResourceClaim"),
    (_RESOURCE, "ResourceClaimTemplate"),
    ("v1", "ResourceQuota"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    *_MAKERS,
    ("v1", "Pod"),
)
_RULES: Final = "resource.k8s.io/v1beta2"
#: So often pods are evicted that were made anew, at most.
_ROUNDS: Final = 8
#: So long a controller may take to see a change and to act on it.
_SEEN_SECONDS: Final = 1.0


class Changer(Runner):
    """Runs worlds, changes their clusters, and says what became of them."""

    def change(self, world: Json, random: Random) -> Json:
        """
        Return `dump`, the `step` of a scenario, and `ran`: pods with a node by `Kind/name`, and `gone`: evicted pods.

        One that does not come to rest has `unsettled` instead: why.
        """
        try:
            self._clear()
            try:
                return {"name": world["name"], **self._changed(world, random)}
            finally:
                self._clear()
        except (Unsettled, ApiError) as reason:
            return {"name": world["name"], "unsettled": f"{type(reason).__name__}: {reason}"}

    def _changed(self, world: Json, random: Random) -> Json:
        namespace, applied = world["ns"], list[Json]()
        given = [*world["cluster"], *world.get("prepare", ())]
        if not any(each["kind"] == "Namespace" for each in given):
            self._plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        self._prepare(given)
        self._wait_for_quotas(namespace)
        for step in world["work"]:
            self._create(step if isinstance(step, list) else [step], applied)
            settle(self._plane, namespace, applied)
        self._at_rest(namespace, applied)
        dump = [each for version, kind in _KINDS for each in self._listed(version, kind, namespace)]
        before = {each["metadata"]["uid"]: each["metadata"]["name"] for each in dump if _stays_bound(each)}
        step = _drawn(dump, random)
        self._do(step, dump)
        time.sleep(_SEEN_SECONDS)
        self._at_rest(namespace, applied)
        self._wake(namespace)
        rest = self._at_rest(namespace, applied)
        pods = self._listed("v1", "Pod", namespace)
        left = {pod["metadata"]["uid"] for pod in pods}
        counts = Counter(rest.owner(pod) for pod in pods if pod["spec"].get("nodeName"))
        gone = sorted(name for uid, name in before.items() if uid not in left)
        return {"dump": dump, "step": step, "ran": dict(sorted(counts.items())), "gone": gone}

    def _at_rest(self, namespace: str, applied: list[Json]) -> Rest:
        """Return what is there once all pods that go are gone, which is told as kubelets do. Raises: Unsettled."""
        for _ in range(_ROUNDS):
            for pod in self._listed("v1", "Pod", namespace):
                if pod["metadata"].get("deletionTimestamp"):
                    self._delete(pod)
            rest = settle(self._plane, namespace, applied)
            if not any(pod["metadata"].get("deletionTimestamp") for pod in rest.pods):
                return rest
        raise Unsettled("pods are evicted for ever")

    def _wake(self, namespace: str) -> None:
        """
        Let controllers look at their objects again.

        One that a quota refused tries again after a pause that grows to minutes, though there is room by then.
        """
        for version, kind in _MAKERS:
            for each in self._listed(version, kind, namespace):
                self._patch(each, "metadata", {"annotations": {"looked-at": "again"}})

    def _listed(self, version: str, kind: str, namespace: str) -> list[Json]:
        # Pods of other namespaces take room on nodes, too.
        everywhere = kind in ("Node", "ResourceSlice", "DeviceClass", "Namespace", "PriorityClass", "Pod")
        found = self._plane.api.list(version, kind, None if everywhere else namespace)
        return [{"apiVersion": version, "kind": kind, **each} for each in found]

    def _do(self, step: Json, dump: list[Json]) -> None:
        """Change the real cluster as a step of a scenario says."""
        ((kind, taken),) = step.items()
        if kind == "taintDevices":
            selector = {key: taken[key] for key in ("driver", "pool", "device") if key in taken}
            spec = {"deviceSelector": selector, "taint": taken["taint"]}
            rule = {"apiVersion": _RULES, "kind": "DeviceTaintRule", "metadata": {"name": "change"}, "spec": spec}
            self._plane.api.create(rule)
            return
        if kind == "taintNodes":
            for node in (
                each for each in dump if each["kind"] == "Node" and each["metadata"]["name"] in taken["names"]
            ):
                self._patch(node, "spec", {"taints": _tainted(node, taken["taint"])})
            return
        for name in taken["names"]:
            self._close(name, gone=kind == "removeNodes", dump=dump)
        pods = [each for each in dump if each["kind"] == "Pod" and each["spec"].get("nodeName") in taken["names"]]
        for pod in pods if kind != "cordonNodes" else ():
            if kind == "removeNodes" or not _is_of_daemon_set(pod):
                self._delete(pod)

    def _close(self, name: str, *, gone: bool, dump: list[Json]) -> None:
        node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        if not gone:
            self._patch(node, "spec", {"unschedulable": True})
            return
        for each in dump:
            if each["kind"] == "ResourceSlice" and each["spec"].get("nodeName") == name:
                self._delete(each)
        self._delete(node)

    def _patch(self, given: Json, member: str, changed: Json) -> None:
        self._plane.api.ask("PATCH", path_of(given, named=True), {member: changed}, "application/merge-patch+json")

    def _delete(self, given: Json) -> None:
        """Delete an object, unless a controller was faster."""
        try:
            self._plane.api.ask("DELETE", path_of(given, named=True) + "?gracePeriodSeconds=0")
        except ApiError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise


def _tainted(node: Json, taint: Json) -> list[Json]:
    """Return the taints of a node with one in place of that of its key and effect."""
    others = [
        each
        for each in node["spec"].get("taints", ())
        if (each["key"], each["effect"]) != (taint["key"], taint["effect"])
    ]
    return [*others, taint]


def _stays_bound(item: Json) -> bool:
    """Say whether an object is a pod that has a node and is not going: nobody else can be evicted."""
    return item["kind"] == "Pod" and "nodeName" in item["spec"] and "deletionTimestamp" not in item["metadata"]


def _is_of_daemon_set(pod: Json) -> bool:
    return any(each["kind"] == "DaemonSet" for each in pod["metadata"].get("ownerReferences", ()))


def _drawn(dump: list[Json], random: Random) -> Json:
    """Return a step that changes what is there."""
    nodes = sorted(each["metadata"]["name"] for each in dump if each["kind"] == "Node")
    devices = [
        {"driver": each["spec"]["driver"], "pool": each["spec"]["pool"]["name"], "device": device["name"]}
        for each in dump
        if each["kind"] == "ResourceSlice"
        for device in each["spec"].get("devices", ())
    ]
    if devices and random.random() < 0.4:
        chosen = random.choice(devices)
        kept = random.choice((("driver",), ("driver", "pool"), ("driver", "pool", "device")))
        effect = random.choice(("NoExecute", "NoExecute", "NoSchedule"))
        taint = {"key": random.choice(("bad", "example.com/unhealthy")), "effect": effect}
        return {"taintDevices": {**{key: chosen[key] for key in kept}, "taint": taint}}
    kind = random.choice(("cordonNodes", "drainNodes", "drainNodes", "removeNodes", "taintNodes", "taintNodes"))
    names = random.sample(nodes, random.randint(1, max(1, len(nodes) // 2)))
    if kind != "taintNodes":
        return {kind: {"names": names}}
    effect = random.choice(("NoExecute", "NoExecute", "NoSchedule"))
    key, value = random.choice((("bad", ""), ("maintenance", ""), ("dedicated", "ml"), ("slow", "yes")))
    return {kind: {"names": names, "taint": {"key": key, "effect": effect, **({"value": value} if value else {})}}}
