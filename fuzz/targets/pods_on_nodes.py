"""
What keeps random pods off random nodes, and how the others score, is what kube-scheduler's own plugins say; needs Go.

    python -m fuzz.targets.pods_on_nodes [--cases 500] [--seed 1]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

from dra_alloc.api import Node, Pod
from dra_alloc.pods.attempts import Attempt, Ruling
from dra_alloc.pods.filters.table import objections
from dra_alloc.pods.scores.table import SCORES
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.releases import parse_release
from dra_alloc.testing.client import Client, Failure
from fuzz.oracle_build import build
from fuzz.target import Broken, Json, Target, command

_RELEASES: Final = ("1.37.2",)
_ZONE: Final = "topology.kubernetes.io/zone"
_HOST: Final = "kubernetes.io/hostname"
_NOW: Final = "DuringSchedulingIgnoredDuringExecution"
_REQUIRED, _PREFERRED = f"required{_NOW}", f"preferred{_NOW}"
_TAINTS: Final = (("dedicated", "ml"), ("dedicated", "web"), ("slow", ""), ("spot", "yes"))
_EFFECTS: Final = ("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule")
_LABELS: Final[tuple[Json, ...]] = (
    {"app": "a"},
    {"app": "b"},
    {"app": "a", "tier": "x"},
    {"app": "b", "tier": "y"},
    {},
)
_NAMESPACES: Final = {"one": {"team": "red"}, "two": {"team": "blue"}, "three": {}}
_IMAGES: Final = ("base:1", "registry.example/app", "registry.example/tool:2")
_SIZES: Final = (
    ("base:1", 3 * 10**7),
    ("registry.example/app:latest", 5 * 10**8),
    ("registry.example/tool:2", 2 * 10**9),
)


class _Drawing:
    """One random world."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.few = random.random() < 0.5

    def one(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, choices: Sequence[Any], most: int) -> list[Any]:
        return [self.one(choices) for _ in range(self.random.randint(0, most))]

    def node(self, number: int) -> Json:
        labels = {
            _HOST: f"n{number}",
            _ZONE: self.one("abc"),
            "disk": self.one(("ssd", "hdd")),
            "gen": self.one("123x"),
        }
        kept = {key: value for key, value in labels.items() if self.few or self.chance(0.85)}
        offered = {"cpu": self.one(("1", "2", "4", "7500m")), "memory": self.one(("2Gi", "4Gi", "6000Mi"))}
        offered["pods"] = self.one(("3", "10", "110"))
        if self.chance(0.5):
            offered |= {"ephemeral-storage": "10Gi", "hugepages-2Mi": self.one(("0", "1Gi")), "example.com/gpu": "2"}
        spec: Json = {"unschedulable": True} if self.chance(0.08) else {}
        taints = [{"key": key, "value": value, "effect": self.one(_EFFECTS)} for key, value in self.some(_TAINTS, 2)]
        if taints and self.chance(0.4):
            spec["taints"] = taints
        image, size = self.one(_SIZES)
        images = [{"names": [image, f"{image}@sha256:1"], "sizeBytes": size}]
        status: Json = {"allocatable": offered, "capacity": offered}
        if self.chance(0.3):
            status["images"] = images
        return {"metadata": {"name": f"n{number}", "labels": kept}, "spec": spec, "status": status}

    def pod(self, name: str, nodes: int) -> Json:
        meta: Json = {"name": name, "namespace": self.one(tuple(_NAMESPACES)), "uid": name, "labels": self.one(_LABELS)}
        spec: Json = {"containers": [self.container(f"c{number}") for number in range(self.one((1, 1, 2)))]}
        if self.chance(0.2):
            spec["initContainers"] = [self.init(number) for number in range(self.one((1, 2)))]
        if self.chance(0.1):
            spec["resources"] = {"requests": self.one(({"cpu": "1500m", "memory": "1Gi"}, {"memory": "2Gi"}))}
        if self.chance(0.1):
            spec["overhead"] = {"cpu": "250m"}
        if self.chance(0.1):
            spec["hostNetwork"] = True
        if self.chance(0.4):
            spec["tolerations"] = [self.toleration() for _ in range(self.one((1, 2)))]
        if self.chance(0.2):
            spec["nodeSelector"] = self.one(({"disk": "ssd"}, {_ZONE: "a"}, {"disk": "hdd", _ZONE: "b"}, {"gen": "2"}))
        affinity = self.affinity(nodes)
        if affinity:
            spec["affinity"] = affinity
        if self.chance(0.3):
            spec["topologySpreadConstraints"] = [self.constraint() for _ in range(self.one((1, 1, 2)))]
        return {"metadata": meta, "spec": spec}

    def container(self, name: str) -> Json:
        made: Json = {"name": name, "image": self.one(_IMAGES)}
        amounts: Json = {}
        for resource, values in (("cpu", ("0", "100m", "500m", "1", "2")), ("memory", ("64Mi", "1Gi", "1500Mi"))):
            if self.chance(0.7):
                amounts[resource] = self.one(values)
        for resource, amount in (("ephemeral-storage", "6Gi"), ("hugepages-2Mi", "512Mi"), ("example.com/gpu", "1")):
            if self.chance(0.06):
                amounts[resource] = amount
        made["resources"] = {"requests": amounts}
        whole = {key: value for key, value in amounts.items() if "/" in key or key.startswith("huge")}
        if whole or self.chance(0.1):
            made["resources"]["limits"] = {**({"cpu": "2"} if self.chance(0.5) else {}), **whole}
        if self.chance(0.15):
            port: Json = {"containerPort": 80, "hostPort": self.one((80, 80, 81))}
            port |= {"hostIP": self.one(("127.0.0.1", "10.0.0.1", "0.0.0.0"))} if self.chance(0.4) else {}
            made["ports"] = [port | ({"protocol": "UDP"} if self.chance(0.2) else {})]
        return made

    def init(self, number: int) -> Json:
        made = self.container(f"i{number}")
        return made | ({"restartPolicy": "Always"} if self.chance(0.5) else {})

    def toleration(self) -> Json:
        key, value = self.one(_TAINTS)
        kinds = ({"operator": "Exists"}, {"key": key, "operator": "Exists"}, {"key": key, "value": value})
        cordon = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
        made = dict(self.one((*kinds, cordon)))
        return made | ({"effect": self.one(_EFFECTS)} if self.chance(0.4) and "effect" not in made else {})

    def expression(self) -> Json:
        key = self.one(("disk", "gen", _ZONE, "none"))
        operator = self.one(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
        values: list[str] = []
        if operator in ("In", "NotIn"):
            values = [self.one(("ssd", "a", "1", "2"))]
        elif operator in ("Gt", "Lt"):
            values = ["2"]
        return {"key": key, "operator": operator, "values": values}

    def term(self, nodes: int) -> Json:
        if self.chance(0.15):
            fields = [
                {
                    "key": "metadata.name",
                    "operator": self.one(("In", "NotIn")),
                    "values": [f"n{self.random.randrange(nodes)}"],
                }
            ]
            return {"matchFields": fields}
        return {"matchExpressions": [self.expression() for _ in range(self.one((1, 1, 2)))]}

    def affinity(self, nodes: int) -> Json:
        found: Json = {}
        if self.chance(0.25):
            found["nodeAffinity"] = {}
            if self.chance(0.6):
                terms = [self.term(nodes) for _ in range(self.one((1, 2)))]
                found["nodeAffinity"][_REQUIRED] = {"nodeSelectorTerms": terms}
            if self.chance(0.6):
                wishes = [{"weight": self.one((1, 30, 100)), "preference": self.term(nodes)} for _ in range(2)]
                found["nodeAffinity"][_PREFERRED] = wishes
        for name in ("podAffinity", "podAntiAffinity"):
            if self.chance(0.2):
                found[name] = {}
                if self.chance(0.6):
                    found[name][_REQUIRED] = [self.near() for _ in range(self.one((1, 1, 2)))]
                if self.chance(0.6):
                    found[name][_PREFERRED] = [{"weight": self.one((1, 50)), "podAffinityTerm": self.near()}]
        return found

    def near(self) -> Json:
        made: Json = {"topologyKey": self.one((_HOST, _ZONE, "disk"))}
        if self.chance(0.95):
            made["labelSelector"] = self.selector()
        if self.chance(0.2):
            made["namespaces"] = [self.one(tuple(_NAMESPACES))]
        if self.chance(0.2):
            made["namespaceSelector"] = self.one(({}, {"matchLabels": {"team": "red"}}))
        return made

    def selector(self) -> Json:
        expressions = ({"key": "tier", "operator": "Exists"}, {"key": "app", "operator": "NotIn", "values": ["a"]})
        by_expression: Json = {"matchExpressions": [self.one(expressions)]}
        return dict(self.one(({"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}}, {}, by_expression)))

    def constraint(self) -> Json:
        when = self.one(("DoNotSchedule", "ScheduleAnyway"))
        made: Json = {
            "maxSkew": self.one((1, 1, 2)),
            "topologyKey": self.one((_HOST, _ZONE, "disk")),
            "whenUnsatisfiable": when,
        }
        if self.chance(0.95):
            made["labelSelector"] = self.selector()
        if when == "DoNotSchedule" and self.chance(0.3):
            made["minDomains"] = self.one((2, 3))
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if self.chance(0.3):
                made[policy] = self.one(("Honor", "Ignore"))
        if self.chance(0.2):
            made["matchLabelKeys"] = ["tier"]
        return made


def world(seed: int) -> Json:
    """Return nodes, pods that run on some of them, and a pod that looks for one."""
    draw = _Drawing(Random(seed))
    count = draw.one((1, 2, 3, 4, 6, 8))
    nodes = [draw.node(number) for number in range(count)]
    pods = [draw.pod(f"p{number}", count) for number in range(draw.one((0, 1, 3, 6, 12)))]
    for pod in pods:
        pod["spec"]["nodeName"] = f"n{draw.random.randrange(count)}"
        if draw.chance(0.1):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    asked = draw.pod("asked", count)
    sets: list[Json] = []
    if draw.chance(0.4):
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": "set", "controller": True}
        labels = {"app": "a", "hash": "1"}
        meta = {"name": "set", "namespace": asked["metadata"]["namespace"]}
        sets = [{"metadata": meta, "spec": {"selector": {"matchLabels": labels}}}]
        for pod in (asked, *(each for each in pods if each["metadata"]["namespace"] == meta["namespace"])):
            if pod is asked or draw.chance(0.6):
                pod["metadata"] |= {"labels": labels, "ownerReferences": [owner]}
    namespaces = [{"metadata": {"name": name, "labels": labels}} for name, labels in _NAMESPACES.items()]
    return {"nodes": nodes, "pods": pods, "namespaces": namespaces, "replicaSets": sets, "pod": asked}


def _cases(seed: int) -> Iterator[Json]:
    clients = [(release, Client([str(build(release, "plugins"))], seconds=60.0)) for release in _RELEASES]
    try:
        for number in itertools.count():
            release, client = clients[number % len(clients)]
            given = world(seed * 1_000_003 + number)
            (answer,) = client.ask_all([given])
            if isinstance(answer, Failure):
                raise Broken(f"upstream: {answer}")
            yield {"release": release, "world": given, "upstream": answer}
    finally:
        for _, client in clients:
            client.close()


def _ours(case: Json) -> tuple[dict[str, list[str]], list[str], dict[str, list[int]]]:
    """Return what keeps the pod off nodes, the nodes that fit, and their weighted scores by plugin."""
    given = case["world"]
    nodes = [Node.from_wire(each) for each in given["nodes"]]
    names = [node.metadata.name or "" for node in nodes]
    namespaces = {each["metadata"]["name"]: each["metadata"]["labels"] for each in given["namespaces"]}
    tenancy = Tenancy(nodes, namespaces, [Pod.from_wire(each) for each in given["pods"]])
    attempt = Attempt(
        tenancy.view(Pod.from_wire(given["pod"])), tenancy, Ruling(parse_release(case["release"]), {}, {})
    )
    refused = objections(attempt)
    places = [place for place in range(len(nodes)) if place not in refused]
    scores = {each.name: each.scores(attempt, places) for each in SCORES} if places else {}
    weighted = {
        each.name: [each.weight * score for score in scores[each.name] or [0] * len(places)]
        for each in SCORES
        if places
    }
    return (
        {names[place]: sorted(each.texts) for place, each in refused.items()},
        [names[place] for place in places],
        weighted,
    )


def _check(case: Json) -> str:
    refused, fitting, weighted = _ours(case)
    upstream = case["upstream"]
    if "error" in upstream:
        return "error"
    said = {name: sorted(each["reasons"]) for name, each in upstream.items() if "reasons" in each}
    if said != refused:
        raise Broken(f"upstream refuses {said}, ours {refused}")
    for plugin, scores in weighted.items():
        theirs = [upstream[name]["scores"].get(plugin, 0) for name in fitting]
        if [each - min(theirs) for each in theirs] != [each - min(scores) for each in scores]:
            raise Broken(f"{plugin} on {fitting}: upstream {theirs}, ours {scores}")
    return "no node" if not fitting else "one node" if len(fitting) == 1 else "scored"


TARGET = Target("pods_on_nodes", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
