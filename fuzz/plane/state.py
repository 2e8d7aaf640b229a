"""
The objects of a recorded world as they were at a moment: what a dump of the cluster would have held.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
#: So many characters of a name are drawn.
_DRAWN: Final = 5


class Moment:
    """
    A recorded world before one attempt of the scheduler: `attempt` follows; `bound` have their node already.
    """

    def __init__(self, world: Json, step: int, attempt: Json, bound: tuple[str, ...]) -> None:
        self.world = world
        self.step = step
        self.attempt = attempt
        self.bound = bound

    @property
    def pod(self) -> Json:
        """The pod that is tried, as stored before it had a node; with the claims that were made for it."""
        return self.pending(self.attempt["pod"])

    def pending(self, name: str) -> Json:
        """Return a pod as stored before it had a node."""
        return _pending(self.world["pods"][name]["object"])

    def dump(self, *others: str) -> list[Json]:
        """Return the cluster's objects: those of the start, pods with a node, and claims as they were."""
        world = self.world
        pods = [world["pods"][name]["object"] for name in self.bound]
        allocated = {name for pod in pods for name in claim_names(pod).values()}
        tried = (self.attempt["pod"], *others)
        own = {claim for name in tried for claim in claim_names(self.pending(name)).values()}
        held = {each["metadata"]["name"] for each in world["cluster"] if each["kind"] == "ResourceClaim"}
        given = [each for each in accepted(world) if each["kind"] != "ResourceClaim"]
        claims = []
        for name, claim in world["claims"].items():
            if name in allocated or name in held:
                claims.append(claim)
            elif name in own or not claim["metadata"].get("ownerReferences"):
                claims.append({**claim, "status": {}})
        return [*given, *applied(world, self.step + 1), *claims, *pods]


def recorded(path: Path) -> Iterator[Json]:
    """Yield the worlds of a file, JSON or packed lines of it, or of all such files in a folder."""
    if path.is_dir():
        for each in sorted([*path.glob("*.json"), *path.glob("*.jsonl.gz")]):
            yield from recorded(each)
    elif path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    else:
        yield json.loads(path.read_text(encoding="utf-8"))


def applied(world: Json, steps: int) -> list[Json]:
    """Return the workloads of the first steps: sets know their pods by a selector."""
    work = (each if isinstance(each, list) else [each] for each in world["work"][:steps])
    return [workload for step in work for workload in step if workload["kind"] != "Pod"]


def accepted(world: Json) -> list[Json]:
    """Return the objects that were there before any workload, as stored: without those that the API server refused."""
    refused, stored = world.get("refused", ()), world.get("stored", {})
    named = [
        (f"{each['kind']}/{each['metadata']['name']}", each) for each in (*world["cluster"], *world.get("prepare", ()))
    ]
    return [{**each, "spec": stored[name]} if name in stored else each for name, each in named if name not in refused]


def moments(world: Json) -> Iterator[Moment]:
    """Yield the moments before each attempt that bound a pod, and before the last one of each that has no node."""
    bound: tuple[str, ...] = ()
    last = {each["pod"]: (number, index) for number, index, each in _numbered(world)}
    for number, index, attempt in _numbered(world):
        name = attempt["pod"]
        if name not in world["pods"]:
            continue
        if attempt["node"] or (last[name] == (number, index) and "group" not in attempt):
            yield Moment(world, number, attempt, bound)
        if attempt["node"]:
            bound = (*bound, name)


def cycles(world: Json) -> Iterator[tuple[Moment, list[str]]]:
    """Yield the moments before each attempt of a pod group, with the pods that were tried."""
    bound: tuple[str, ...] = ()
    for number, step in enumerate(world["steps"]):
        tried = [each for each in step["attempts"] if each["pod"] in world["pods"]]
        for index, attempt in enumerate(tried):
            cycle = attempt.get("cycle")
            if cycle and (not index or tried[index - 1].get("cycle") != cycle):
                yield (
                    Moment(world, number, attempt, bound),
                    [each["pod"] for each in tried if each.get("cycle") == cycle],
                )
            if attempt["node"]:
                bound = (*bound, attempt["pod"])


def _numbered(world: Json) -> Iterator[tuple[int, int, Json]]:
    for number, step in enumerate(world["steps"]):
        for index, attempt in enumerate(step["attempts"]):
            yield number, index, attempt


def _pending(pod: Json) -> Json:
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    status = {key: value for key, value in pod["status"].items() if key == "resourceClaimStatuses"}
    return {**pod, "spec": spec, "status": status}


def claim_names(pod: Json) -> dict[str, str]:
    """Return a pod's claims by the name that the pod has for them; that of its extended resources by none."""
    found = {
        each["name"]: each["resourceClaimName"]
        for each in pod["spec"].get("resourceClaims", ())
        if each.get("resourceClaimName")
    }
    status = pod.get("status", {})
    for each in status.get("resourceClaimStatuses", ()):
        if each.get("resourceClaimName"):
            found[each["name"]] = each["resourceClaimName"]
    extended = status.get("extendedResourceClaimStatus")
    if extended:
        found[""] = extended["resourceClaimName"]
    return found


def called(pods: Iterable[Json], claims: Iterable[Json]) -> Iterator[str]:
    """Yield the names of pods and of the claims made for them, with `*` for what is drawn and `#` for a hash."""
    names: dict[str, str] = {}
    for pod in pods:
        meta = pod["metadata"]
        mark = meta.get("labels", {}).get("pod-template-hash")
        name = _without_draw(meta)
        names[meta["name"]] = name.replace(mark, "#") if mark else name
        yield names[meta["name"]]
    for claim in claims:
        meta = claim["metadata"]
        owner = next((str(each["name"]) for each in meta.get("ownerReferences", ())), "")
        if owner in names:
            yield _without_draw(meta).replace(owner, names[owner])


def _without_draw(meta: Json) -> str:
    """Return the name; a StatefulSet's pods have a generateName, too, but theirs is not used."""
    name, base = str(meta["name"]), meta.get("generateName")
    return f"{base}*" if base and len(name) == len(base) + _DRAWN else name


def node_of(pod: Json) -> str:
    """Return the node that a DaemonSet made a pod for; nothing for other pods."""
    nodes = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = nodes.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
    fields = (field for term in terms for field in term.get("matchFields", ()))
    return next((str(value) for field in fields for value in field["values"]), "")


def devices_of(claim: Json) -> list[str]:
    """Return the devices of a claim as text: `request driver/pool/device`, and what is consumed of it."""
    results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    return sorted(_said(each) for each in results)


def _said(result: Json) -> str:
    said = f"{result['request']} {result['driver']}/{result['pool']}/{result['device']}"
    consumed = result.get("consumedCapacity")
    return f"{said} {sorted(consumed.items())}" if consumed else said
