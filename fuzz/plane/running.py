"""
Applies a world to a control plane, workload by workload, and records what ran.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any, Final

from fuzz.plane.api import ApiError
from fuzz.plane.attempts import AttemptLog
from fuzz.plane.programs import Plane
from fuzz.plane.settling import Rest, Unsettled, settle

Json = dict[str, Any]
_CLEAR_SECONDS: Final = 30
#: What a new quota waits for: that its controller saw it.
_QUOTA_SECONDS: Final = 20
#: The store's own: they come and go by themselves.
_KEPT: Final = ("/registry/leases/", "/registry/masterleases/", "/registry/ranges/")
#: Deleted first, so that nothing is made anew: namespaces refuse new objects, workloads no longer make pods.
_FIRST: Final = (
    "namespaces",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
    "cronjobs",
    "controllers",
    "resourcequotas",
)
#: Kinds with fields that depend on gates.
_GATED: Final = frozenset({"ResourceSlice", "DeviceClass", "ResourceClaimTemplate"})
_NO_META: Final = frozenset({"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"})
_NO_CONTAINER: Final = frozenset({"terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy"})
_NO_POD: Final = frozenset({"dnsPolicy", "terminationGracePeriodSeconds", "securityContext", "enableServiceLinks"})
_STATUS: Final = (
    *("phase", "resourceClaimStatuses", "extendedResourceClaimStatus", "nominatedNodeName"),
    "nodeAllocatableResourceClaimStatuses",
)


class Runner:
    """Runs worlds one after the other on one control plane, which is as new before each."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._log = AttemptLog(plane.scheduler_log)
        self._ours = plane.etcd.keys()

    def run(self, world: Json) -> Json:
        """
        Return the world with what ran; see `fuzz.plane` for the format.

        One that the control plane refuses, or that does not come to rest, has `unsettled` instead: why.
        """
        began = time.monotonic()
        of_plane = {"release": self._plane.release, "gates": dict(self._plane.gates)}
        try:
            self._clear()
            try:
                ran = self._recorded(world)
            finally:
                self._clear()
        except (Unsettled, ApiError) as reason:
            return {**world, **of_plane, "unsettled": f"{type(reason).__name__}: {reason}"}
        return {**world, **of_plane, **ran, "seconds": round(time.monotonic() - began, 1)}

    def _recorded(self, world: Json) -> Json:
        """Return what a recorded world has besides. Raises: Unsettled, ApiError."""
        namespace, api = world["ns"], self._plane.api
        given = [*world["cluster"], *world.get("prepare", ())]
        if not any(each["kind"] == "Namespace" for each in given):
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        refused, stored = self._prepare(given)
        self._wait_for_quotas(namespace)
        rest = settle(self._plane, namespace, [])
        self._log.new()
        applied: list[Json] = []
        steps = []
        for step in world["work"]:
            before = self._before(namespace)
            denied = self._create(step if isinstance(step, list) else [step], applied)
            rest = settle(self._plane, namespace, applied)
            steps.append({"before": before, **_step(self._log.new(), rest, denied)})
        return {
            "refused": refused,
            **({"stored": stored} if stored else {}),
            "steps": steps,
            **_outcome(world, rest, api.list("resource.k8s.io/v1", "ResourceClaim", namespace)),
        }

    def _before(self, namespace: str) -> Json:
        """Return the names of what a step finds, and what its quotas have used."""
        api = self._plane.api
        quotas = api.list("v1", "ResourceQuota", namespace)
        return {
            "pods": [each["metadata"]["name"] for each in api.list("v1", "Pod", namespace)],
            "claims": [each["metadata"]["name"] for each in api.list("resource.k8s.io/v1", "ResourceClaim", namespace)],
            "quotas": {each["metadata"]["name"]: each.get("status", {}) for each in quotas},
        }

    def _create(self, given: list[Json], made: list[Json]) -> dict[str, str]:
        """Create objects and add them to what was made; return what the API server said to those that it refused."""
        refused = {}
        for each in given:
            try:
                made.append({**self._plane.api.create(self._served(each)), "kind": each["kind"]})
            except ApiError as error:
                refused[f"{each['kind']}/{each['metadata']['name']}"] = str(error)
        return refused

    def _served(self, given: Json) -> Json:
        """Return a pod group as the release has it."""
        old = given["kind"] == "PodGroup" and self._plane.release.startswith("1.36.")
        return {**given, "apiVersion": "scheduling.k8s.io/v1alpha2"} if old else given

    def _prepare(self, given: list[Json]) -> tuple[dict[str, str], Json]:
        """
        Create what is there before any workload; pods have the identity that the server gives them.

        Return what was refused, and the specs that the server stored otherwise: without fields whose gates are off.
        """
        made: list[Json] = []
        refused: dict[str, str] = {}
        for each in given:
            uids = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in made if pod["kind"] == "Pod"}
            refused |= self._create([_reserved(each, uids)], made)
        found = {_called(each): each["spec"] for each in made if "spec" in each}
        stored = {_called(each): found.get(_called(each)) for each in given if each["kind"] in _GATED}
        return refused, {
            _called(each): stored[_called(each)]
            for each in given
            if stored.get(_called(each)) and _lacks(stored[_called(each)], each["spec"])
        }

    def _wait_for_quotas(self, namespace: str) -> None:
        end = time.monotonic() + _QUOTA_SECONDS
        while time.monotonic() < end:
            quotas = self._plane.api.list("v1", "ResourceQuota", namespace)
            if all(each.get("status", {}).get("hard") == each["spec"].get("hard") for each in quotas):
                return
            time.sleep(0.05)

    def _clear(self) -> None:
        """Delete every object that was not there at the start, and wait until the scheduler has forgotten them."""
        etcd, end = self._plane.etcd, time.monotonic() + _CLEAR_SECONDS
        while True:
            found = sorted(key for key in etcd.keys() - self._ours if not key.startswith(_KEPT))
            first = [key for key in found if key.split("/")[2] in _FIRST]
            etcd.drop(first or found)
            counts = self._plane.metrics.read()
            if not found and not any(counts.values()):
                return
            if time.monotonic() > end:
                raise Unsettled(f"what is left of the last world: {found or counts}")
            time.sleep(0.05)


def _called(given: Json) -> str:
    return f"{given['kind']}/{given['metadata']['name']}"


def _lacks(stored: Any, given: Any) -> bool:
    """Return whether anything that was given is not stored."""
    if isinstance(given, dict):
        return any(key not in stored or _lacks(stored[key], value) for key, value in given.items())
    if isinstance(given, list):
        return len(stored) < len(given) or any(map(_lacks, stored, given))
    return False


def _reserved(given: Json, uids: dict[str, str]) -> Json:
    holders = given.get("status", {}).get("reservedFor", ()) if given["kind"] == "ResourceClaim" else ()
    if not holders:
        return given
    told = [{**each, "uid": uids.get(each["name"], each["uid"])} for each in holders]
    return {**given, "status": {**given["status"], "reservedFor": told}}


def _step(attempts: list[Json], rest: Rest, refused: Json) -> Json:
    owners = {pod["metadata"]["name"]: rest.owner(pod) for pod in rest.pods}
    told = [{**each, "owner": owners.get(each["pod"], "")} for each in attempts]
    return {"attempts": told, "refused": {**rest.refused, **refused}}


def _outcome(world: Json, rest: Rest, claims: list[Json]) -> Json:
    before = {each["metadata"]["name"] for each in world["cluster"] if each["kind"] == "Pod"}
    pods = [pod for pod in rest.pods if pod["metadata"]["name"] not in before]
    work = [each for step in world["work"] for each in (step if isinstance(step, list) else [step])]
    ran = Counter({f"{each['kind']}/{each['metadata']['name']}": 0 for each in work})
    ran.update(rest.owner(pod) for pod in pods if pod["spec"].get("nodeName"))
    return {
        "ran": dict(sorted(ran.items())),
        "pods": {pod["metadata"]["name"]: _pod(pod, rest.owner(pod)) for pod in pods},
        "claims": {each["metadata"]["name"]: _plain(each, "ResourceClaim") for each in claims},
    }


def _pod(pod: Json, owner: str) -> Json:
    made = _plain(pod, "Pod")
    spec = {name: value for name, value in made["spec"].items() if name not in _NO_POD}
    for key in ("containers", "initContainers"):
        if key in spec:
            spec[key] = [{k: v for k, v in each.items() if k not in _NO_CONTAINER} for each in spec[key]]
    status = {key: pod["status"][key] for key in _STATUS if key in pod["status"]}
    said = [each for each in pod["status"].get("conditions", ()) if each["type"] == "PodScheduled"]
    if said and said[0]["status"] != "True":
        status["conditions"] = [{k: v for k, v in said[0].items() if k not in {"lastTransitionTime", "lastProbeTime"}}]
    return {"owner": owner, "object": {**made, "spec": spec, "status": status}}


def _plain(given: Json, kind: str) -> Json:
    meta = {name: value for name, value in given["metadata"].items() if name not in _NO_META}
    version = "v1" if kind == "Pod" else "resource.k8s.io/v1"
    return {**given, "apiVersion": version, "kind": kind, "metadata": meta}
