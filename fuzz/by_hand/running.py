"""
A random cluster with the pods that run on it, as `kubectl get -o json` would print them.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import Check, check

Json = dict[str, Any]
_HASH: Final = "pod-template-hash"
_CLAIM: Final = "resource.kubernetes.io/pod-claim-name"
#: How often a pod that finds no place is there, and waits, instead of being still to be made.
_WAITS: Final = 0.5


def documents(objects: Sequence[Json]) -> Documents:
    """Return the objects as they are read. Raises: ManifestError."""
    whole = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return load("-", stdin=io.BytesIO(json.dumps(whole).encode()), validate="ignore")


def running(world: Json, settings: Settings, random: Random) -> list[Json]:
    """
    Return a world's objects with the pods of its workloads on their nodes, and the claims that these use.

    Raises: ManifestError for what no cluster would take.
    """
    there = copy.deepcopy([*world["cluster"], *world["prepare"]])
    work = copy.deepcopy([each for step in world["work"] for each in (step if isinstance(step, list) else [step])])
    for number, each in enumerate([*there, *work]):
        each["metadata"].setdefault("uid", f"u-{number}")
    options = CheckOptions(settings, reasons=False)
    found = check(documents(work), documents(there), options)
    bare = {(each["metadata"].get("namespace"), each["metadata"]["name"]) for each in work if each["kind"] == "Pod"}
    objects = [*there, *(each for each in work if each["kind"] != "Pod")]
    objects += [_replica_set(each) for each in work if each["kind"] == "Deployment"]
    had = {_key(each) for each in there if each["kind"] == "Pod"}
    _adopt(objects)
    running_ = _Running(objects, found)
    for made in found.pods:
        name = (made.pod.metadata.namespace, made.pod.metadata.name)
        if name in had:
            continue
        if running_.is_placed(made.name) or name in bare or random.random() < _WAITS:
            running_.add(made.name, made.pod.to_wire())
    return objects


class _Running:
    """Objects to which pods come, with their claims."""

    def __init__(self, objects: list[Json], found: Check) -> None:
        self._objects = objects
        self._placed = {each.name: each.allocated for each in found.placements if each.allocated is not None}
        self._claims = {_key(each): each for each in objects if each["kind"] == "ResourceClaim"}
        self._owners = {(each["kind"], *_key(each)): each["metadata"]["uid"] for each in objects}

    def is_placed(self, name: str) -> bool:
        """Say whether a pod has a node."""
        return name in self._placed

    def add(self, name: str, pod: Json) -> None:
        """Add a pod, on its node if it has one."""
        pod.setdefault("metadata", {})["uid"] = f"p-{len(self._objects)}"
        for owner in pod["metadata"].get("ownerReferences", ()):
            namespace = pod["metadata"].get("namespace")
            owner["uid"] = self._owners.get((owner["kind"], namespace, owner["name"]), "nobody")
        self._objects.append(pod)
        if name not in self._placed:
            pod["status"] = {"phase": "Running" if pod["spec"].get("nodeName") else "Pending"}
            return
        allocated = self._placed[name]
        pod["spec"]["nodeName"] = allocated.node
        pod["status"] = {"phase": "Running"}
        for claim in allocated.claims:
            self._reserve(claim.to_wire(), pod)

    def _reserve(self, claim: Json, pod: Json) -> None:
        """Reserve a claim for a pod, and add it if it is not there."""
        meta = claim["metadata"]
        held = self._claims.get(_key(claim))
        if held is None:
            meta["uid"] = f"c-{len(self._objects)}"
            for owner in meta.get("ownerReferences", ()):
                owner["uid"] = pod["metadata"]["uid"]
            self._claims[_key(claim)] = held = claim
            self._objects.append(claim)
        if "allocation" in claim["status"]:
            held.setdefault("status", {})["allocation"] = claim["status"]["allocation"]
        user = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        held["status"].setdefault("reservedFor", []).append(user)
        if _CLAIM in meta.get("annotations", {}):
            said = {"name": meta["annotations"][_CLAIM], "resourceClaimName": meta["name"]}
            pod["status"].setdefault("resourceClaimStatuses", []).append(said)


def _key(item: Json) -> tuple[str | None, str]:
    return item["metadata"].get("namespace"), item["metadata"]["name"]


def _adopt(objects: list[Json]) -> None:
    """Give pods of nobody to the first set that selects them, as controllers do."""
    sets = [each for each in objects if each["kind"] in ("DaemonSet", "ReplicaSet", "ReplicationController")]
    for pod in (each for each in objects if each["kind"] == "Pod" and "ownerReferences" not in each["metadata"]):
        for each in sets:
            spec, meta = each["spec"], each["metadata"]
            selector = spec.get("selector", {})
            wanted = selector.get("matchLabels", {}) if each["kind"] != "ReplicationController" else selector
            labels = pod["metadata"].get("labels", {})
            if meta["namespace"] == pod["metadata"]["namespace"] and wanted and wanted.items() <= labels.items():
                reference = {"apiVersion": each["apiVersion"], "kind": each["kind"], "name": meta["name"]}
                pod["metadata"]["ownerReferences"] = [{**reference, "uid": meta["uid"], "controller": True}]
                break


def _replica_set(deployment: Json) -> Json:
    """Return the ReplicaSet of a Deployment, by the name that the pods that are made say."""
    meta, spec = deployment["metadata"], copy.deepcopy(deployment["spec"])
    labels = {**spec["template"]["metadata"].get("labels", {}), _HASH: "0" * 10}
    spec["template"]["metadata"]["labels"] = labels
    selector = {"matchLabels": {**spec["selector"].get("matchLabels", {}), _HASH: "0" * 10}}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{'0' * 10}",
            "namespace": meta.get("namespace"),
            "uid": f"{meta['uid']}-rs",
            "labels": labels,
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {"replicas": spec.get("replicas", 1), "selector": selector, "template": spec["template"]},
    }
