"""
What this package answers about a recorded world: the one place that knows how it is asked.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from dra_alloc.api import Pod
from dra_alloc.cluster.attempts.scheduled import Scheduled, Unschedulable
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.kinds import MEMBERS
from dra_alloc.pods.claims import POD_CLAIM_NAME
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.quota.creation import created, quota_book
from dra_alloc.pods.workloads.states import PodState
from dra_alloc.scenario.expand import expand
from fuzz.plane.state import called, devices_of, node_of

Json = dict[str, Any]
_NEW = frozenset({PodState.NEW, PodState.WAITING, PodState.GATED})
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


class Step:
    """
    Workloads that are applied to a cluster: the pods and claims they make, and what becomes of these.

    The answers: `names` of pods and claims, as `state.called` has them, and by `Kind/name` how many pods find a node.
    """

    def __init__(self, settings: Settings, work: list[Json], dump: list[Json]) -> None:
        found = expand(_documents(work), _documents(dump), settings=settings)
        made = [claim.to_wire() for claim in found.claims]
        sets = [each for each in work if each["kind"] != "Pod"]
        new = [each for each in found.pods if each.state in _NEW]
        self.names = Counter(called([each.pod.to_wire() for each in new], made))
        # Claims of single pods are made with these, as far as quotas let them be.
        own = {claim.metadata.full_name for claim in found.claims if POD_CLAIM_NAME in claim.metadata.annotations}
        shared = [claim.to_wire() for claim in found.claims if claim.metadata.full_name not in own]
        self._cluster = Cluster.of(_documents([*dump, *sets, *shared]), settings)
        self._singly = Cluster.of(_documents(map(_basic, [*dump, *sets, *shared])), settings)
        self._others = [each for each in dump if _waits_in_group(each)]
        barred = _of_refused_workloads(settings, work, dump, new)
        self._new = [replace(each, pod=_without(own, each.pod)) for each in new if each.name not in barred]

    def running(self) -> Counter[str]:
        """Return how many pods run if of equal nodes the first is taken."""
        return self._placed(self._cluster, self._new)

    def following(self, drawn: Iterable[tuple[str, str]], claimed: Collection[str]) -> Counter[str]:
        """
        Return how many pods run if of equal nodes those are taken that were: `drawn` are workload and node.

        What was taken without being equal, or by a pod that was not made, is left out. Of a DaemonSet's pods those
        of nodes that are `claimed` come first: a quota does not let all have their claims.
        """
        cluster, left = self._singly, dict[str, list[ExpandedPod]]()
        for each in sorted(self._new, key=lambda each: node_of(each.pod.to_wire()) not in claimed):
            left.setdefault(_owner(each), []).append(each)
        counts: Counter[str] = Counter()
        for owner, node in drawn:
            pod = next((each.pod for each in left.get(owner, ())), None)
            if pod is None:
                continue
            (outcome,) = cluster.schedule([pod])
            if isinstance(outcome, Scheduled) and node in (outcome.equal or (outcome.node,)):
                cluster = cluster.schedule([_pinned(pod.to_wire(), node)]).cluster
                counts[owner] += 1
                left[owner].pop(0)
        groups = self._cluster.population.groups
        cluster = Cluster(cluster.known.populated(replace(cluster.population, groups=groups)))
        return counts + self._placed(cluster, [each for rest in left.values() for each in rest])

    def _placed(self, cluster: Cluster, pods: Sequence[ExpandedPod]) -> Counter[str]:
        counts: Counter[str] = Counter()
        stopped = set()
        outcomes = cluster.schedule([*self._others, *(each.pod for each in pods)]).outcomes[len(self._others) :]
        for each, outcome in zip(pods, outcomes, strict=True):
            owner = _owner(each)
            runs = isinstance(outcome, Scheduled) and owner not in stopped
            counts[owner] += runs
            if each.in_order and not runs:
                stopped.add(owner)
        return counts


def _of_refused_workloads(
    settings: Settings, work: list[Json], dump: list[Json], pods: Sequence[ExpandedPod]
) -> set[str]:
    """Return the names of pods that are never made, since a quota refuses what makes them."""
    manifests, there = _documents(work), _documents(dump)
    extended = settings.effective_gates().get("DRAExtendedResource", False)
    book = quota_book(manifests, there, there.classes, extended=extended)
    found = created(book, manifests, there, [(each, ()) for each in pods])
    return {each.pod.name for each in found.pods if each.refused and not each.refused.text.startswith('pods "')}


def _waits_in_group(given: Json) -> bool:
    """Return whether it is a pod of a group that was there, without a node."""
    return given["kind"] == "Pod" and "schedulingGroup" in given["spec"] and not given["spec"].get("nodeName")


def _without(claims: set[str], pod: Pod) -> Pod:
    """Return the pod before some of its claims were made."""
    namespace, status = pod.metadata.namespace, pod.status
    kept = [each for each in status.resource_claim_statuses if f"{namespace}/{each.resource_claim_name}" not in claims]
    return pod.replaced(status=status.replaced(resource_claim_statuses=tuple(kept)))


def _owner(found: ExpandedPod) -> str:
    return f"{found.owner.kind}/{found.owner.metadata.name}"


def place(settings: Settings, pod: Json, dump: list[Json], node: str | None) -> PodAnswer:
    """Return where a pod may go, and its devices on `node`, whichever of the equal ones that is."""
    cluster = Cluster.of(_documents(map(_basic, dump)), settings)
    (outcome,) = cluster.schedule([pod])
    if not isinstance(outcome, Scheduled):
        return PodAnswer(frozenset(), message=outcome.message if isinstance(outcome, Unschedulable) else None)
    nodes = frozenset(outcome.equal or (outcome.node,))
    if node is not None and node != outcome.node:
        (outcome,) = cluster.schedule([_pinned(pod, node)])
    claims = [each.to_wire() for each in outcome.claims] if isinstance(outcome, Scheduled) else []
    return PodAnswer(nodes, {each["metadata"].get("name", ""): devices_of(each) for each in claims})


def together(settings: Settings, pods: Sequence[Json], dump: list[Json]) -> list[PodAnswer]:
    """Return what becomes of the pods of a group in one attempt; of equal nodes the first is taken."""
    outcomes = Cluster.of(_documents(dump), settings).schedule(pods)
    return [
        PodAnswer(frozenset([each.node]))
        if isinstance(each, Scheduled)
        else PodAnswer(frozenset(), message=each.message if isinstance(each, Unschedulable) else None)
        for each in outcomes
    ]


def _basic(given: Json) -> Json:
    """Return a pod group of which each pod goes by itself."""
    if given["kind"] != "PodGroup":
        return given
    return {**given, "spec": {**given["spec"], "schedulingPolicy": {"basic": {}}}}


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
    """Return objects as they are loaded: each alone, as the dumps that are asked about have most of them in common."""
    named = {(each["apiVersion"], each["kind"], *_names(each)): each for each in objects}
    read = [_read(json.dumps(each)) for each in named.values()]
    members: dict[str, Any] = {name: tuple([each for one in read for each in getattr(one, name)]) for name in MEMBERS}
    return Documents(**members)


@lru_cache(maxsize=1000)
def _read(text: str) -> Documents:
    return load("-", stdin=io.BytesIO(text.encode()), validate="ignore")


def _names(given: Json) -> tuple[str | None, str]:
    return given["metadata"].get("namespace"), given["metadata"]["name"]
