"""
What a person could change about a refused pod itself, about nodes that keep it off, and about quotas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from fuzz.refusals.changes import Change, all_of, freed, pod_of
from fuzz.refusals.drawing import Json

_AFFINITIES = (
    ("nodeAffinity", "node affinity"),
    ("podAffinity", "affinity to pods"),
    ("podAntiAffinity", "anti-affinity to pods"),
)
_RAISED = re.compile(r"(raising (\S+) of quota (\S+) from (\S+) to (\S+))")
_LESS = re.compile(r"((\S+) instead of \S+ (cpu|memory))")


def of_the_pod(world: Json, name: str) -> Iterator[Change]:
    """Yield the changes about the pod itself, and about what a node has against it."""
    spec: Json = next((each["spec"] for each in all_of(world, "Node") if each["metadata"]["name"] == name), {})
    if spec.get("unschedulable"):
        yield Change(f"uncordoning node {name}", "", _with_node(name, _uncordoned))
    yield from _of_taints(name, spec.get("taints", ()))
    for port in pod_of(world)["containers"][0].get("ports", ()):
        yield Change(f"dropping the pod's hostPort {port['hostPort']}", "", _without_ports)
    for key, value in pod_of(world).get("nodeSelector", {}).items():
        yield Change(f"dropping {key}={value} from the pod's nodeSelector", "", _unselected(key))
    for kind, said in _AFFINITIES:
        if kind in pod_of(world).get("affinity", {}):
            yield Change(f"dropping the pod's required {said}", "", _without_affinity(kind))
    for key in (each["topologyKey"] for each in pod_of(world).get("topologySpreadConstraints", ())):
        yield Change(f"dropping the pod's topology spread constraint on {key}", "", _unspread(key))


def _of_taints(name: str, taints: Sequence[Json]) -> Iterator[Change]:
    """Yield the end of each state of the node that taints stand for, and the toleration of each other taint."""
    effects: dict[str, list[str]] = {}
    for each in taints:
        said = f"{each['key']}{'=' if 'value' in each else ''}{each.get('value', '')}"
        if "kubernetes.io/" in each["key"]:
            effects.setdefault(said, []).append(each["effect"])
        else:
            change = _put_up_with({"operator": "Equal", **each})
            yield Change(f"tolerating the node's taint {said}:{each['effect']}", "", change)
    for said, found in effects.items():
        step = f"the end of the node's taint {said}:{' and :'.join(found)}"
        yield Change(step, "", _with_node(name, _ended(said.partition("=")[0])))


def _uncordoned(spec: Json) -> None:
    """Take the cordon away, and with it the taint that a controller sets for it."""
    del spec["unschedulable"]
    spec["taints"] = [each for each in spec.get("taints", ()) if each["key"] != "node.kubernetes.io/unschedulable"]


def _ended(key: str) -> Callable[[Json], None]:
    def make(spec: Json) -> None:
        spec["taints"] = [each for each in spec["taints"] if each["key"] != key]

    return make


def of_the_quota(world: Json) -> Iterator[Change]:
    """Yield the end of each claim that counts."""
    for each in all_of(world, "ResourceClaim"):
        if "status" in each:
            name = each["metadata"]["name"]
            yield Change(f"deleting claim ns/{name}", "", freed(name))


def raising(step: str) -> Change | None:
    """Return what a step means that raises limits of quotas; None for another step."""
    parts = _RAISED.findall(step)
    if not parts or " and ".join(each for each, *_ in parts) != step:
        return None

    def make(made: Json) -> None:
        for _, key, name, old, new in parts:
            (quota,) = [each for each in all_of(made, "ResourceQuota") if each["metadata"]["name"] == name]
            if quota["spec"]["hard"][key] != old:
                raise ValueError(step)
            quota["spec"]["hard"][key] = new

    return Change(step, "", make)


def without_quotas(world: Json) -> Json:
    """Return the world in which everything may be made."""
    return {**world, "objects": [each for each in world["objects"] if each["kind"] != "ResourceQuota"]}


def asking_for_less(step: str) -> Change | None:
    """Return what a step means that asks for less of nodes' own resources; None for another step."""
    parts = _LESS.findall(step)
    if f"asking for {' and '.join(each for each, _, _ in parts)}" != step:
        return None

    def make(made: Json) -> None:
        pod_of(made)["containers"][0]["resources"]["requests"].update({name: amount for _, amount, name in parts})

    return Change(step, "", make)


def _with_node(name: str, change: Callable[[Json], object]) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for node in all_of(world, "Node"):
            if node["metadata"]["name"] == name:
                change(node["spec"])

    return make


def _without_ports(world: Json) -> None:
    del pod_of(world)["containers"][0]["ports"]


def _put_up_with(toleration: Json) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        pod_of(world).setdefault("tolerations", []).append(toleration)

    return make


def _unselected(key: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        del pod_of(world)["nodeSelector"][key]

    return make


def _unspread(key: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        spec = pod_of(world)
        constraints = spec["topologySpreadConstraints"]
        spec["topologySpreadConstraints"] = [each for each in constraints if each["topologyKey"] != key]

    return make


def _without_affinity(kind: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        del pod_of(world)["affinity"][kind]

    return make
