"""
Attempts on nodes of a few words, for tests of filters and scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dra_alloc.api import Node, Pod
from dra_alloc.pods.attempts import Attempt, Ruling
from dra_alloc.pods.filters.table import objections
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.releases import parse_release

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def node(name: str, labels: Mapping[str, str] | None = None, **more: Any) -> Node:
    """Return a node of 4 cpus, 8 GiB and room for 10 pods, with its host name as a label."""
    offered = {"cpu": "4", "memory": "8Gi", "pods": "10", **more.pop("allocatable", {})}
    status = {"allocatable": offered, **more.pop("status", {})}
    return Node.from_wire(
        {"metadata": {"name": name, "labels": {HOST: name, **(labels or {})}}, "spec": more, "status": status}
    )


def pod(name: str = "asked", *, on: str | None = None, labels: Mapping[str, str] | None = None, **spec: Any) -> Pod:
    """Return a pod that asks for one cpu and 1 GiB unless it says otherwise."""
    requests = spec.pop("requests", {"cpu": "1", "memory": "1Gi"})
    container = {"name": "c", "image": "app", "resources": {"requests": requests}, "ports": spec.pop("ports", [])}
    wire = {"containers": [container], "nodeName": on, **spec}
    return Pod.from_wire({"metadata": {"name": name, "namespace": "ns", "labels": labels or {}}, "spec": wire})


def attempt(
    asked: Pod,
    nodes: Iterable[Node],
    running: Iterable[Pod] = (),
    *,
    release: str = "1.37",
    gates: Mapping[str, bool] | None = None,
    served: Mapping[str, str] | None = None,
) -> Attempt:
    """Return the attempt to find a node for a pod."""
    tenancy = Tenancy(tuple(nodes), {"red": {"team": "red"}}, running)
    return Attempt(tenancy.view(asked), tenancy, Ruling(parse_release(release), gates or {}, served or {}))


def refusals(attempted: Attempt) -> dict[str, tuple[str, str]]:
    """Return code and text against each node that has something against it."""
    names = [each.metadata.name or "" for each in attempted.tenancy.nodes]
    return {names[place]: (each.code, each.text) for place, each in objections(attempted).items()}
