"""
What this package answers about a recorded world: the one place that knows how it is asked.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.scheduled import Scheduled, Unschedulable
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents, load
from dra_alloc.pods.workloads.states import PodState
from dra_alloc.scenario.expand import expand
from fuzz.plane.state import devices_of

__all__ = ["PodAnswer", "place", "running", "settings_of"]

Json = dict[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True)
class PodAnswer:
    """
    Where a pod may go: `nodes` are those among which kube-scheduler draws, none if it stays pending.

    `devices` are those on the node that was asked for, by name of the claim; `message` is what the scheduler would
    write on a pod that it tried and that stays pending, None where it does not try.
    """

    nodes: frozenset[str]
    devices: dict[str, list[str]] = field(default_factory=dict)
    message: str | None = None


def settings_of(world: Json) -> Settings:
    """Return the settings under which a world was recorded."""
    return Settings(release=world["release"].rpartition(".")[0], gates=world.get("gates", {}))


def running(settings: Settings, work: list[Json], dump: list[Json]) -> dict[str, int]:
    """Return how many new pods of each workload find a node, by `Kind/name`."""
    found = expand(_documents(work), _documents(dump))
    new = [each for each in found.pods if each.state in {PodState.NEW, PodState.WAITING, PodState.GATED}]
    made = [claim.to_wire() for claim in found.claims]
    cluster = Cluster.of(_documents([*dump, *made]), settings)
    counts: Counter[str] = Counter()
    stopped = set()
    for each, outcome in zip(new, cluster.schedule([each.pod for each in new]), strict=True):
        owner = f"{each.owner.kind}/{each.owner.metadata.name}"
        placed = isinstance(outcome, Scheduled) and owner not in stopped
        counts[owner] += placed
        if each.in_order and not placed:
            stopped.add(owner)
    return dict(counts)


def place(settings: Settings, pod: Json, dump: list[Json], node: str | None) -> PodAnswer:
    """Return where a pod may go, and its devices on `node`, whichever of the equal ones that is."""
    cluster = Cluster.of(_documents(dump), settings)
    (outcome,) = cluster.schedule([pod])
    if not isinstance(outcome, Scheduled):
        return PodAnswer(frozenset(), message=outcome.message if isinstance(outcome, Unschedulable) else None)
    nodes = frozenset(outcome.equal or (outcome.node,))
    if node is not None and node != outcome.node:
        (outcome,) = cluster.schedule([_pinned(pod, node)])
    claims = [each.to_wire() for each in outcome.claims] if isinstance(outcome, Scheduled) else []
    return PodAnswer(nodes, {each["metadata"].get("name", ""): devices_of(each) for each in claims})


def _pinned(pod: Json, node: str) -> Json:
    """Return the pod as one that wants this node, whatever else it wants."""
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    affinity = pod["spec"].get("affinity", {})
    nodes = affinity.get("nodeAffinity", {})
    terms = nodes.get(_REQUIRED, {}).get("nodeSelectorTerms") or [{}]
    pinned = [{**each, "matchFields": [*each.get("matchFields", ()), here]} for each in terms]
    nodes = {**nodes, _REQUIRED: {"nodeSelectorTerms": pinned}}
    return {**pod, "spec": {**pod["spec"], "affinity": {**affinity, "nodeAffinity": nodes}}}


def _documents(objects: Iterable[Json]) -> Documents:
    whole = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return load("-", stdin=io.BytesIO(json.dumps(whole).encode()), validate="ignore")
