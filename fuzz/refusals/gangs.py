"""
Random gangs that most likely do not fit, and what could be changed about them, in the words in which they are told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from fuzz.refusals.changes import Change, all_of, freed
from fuzz.refusals.drawing import DUMPED, PROFILES, Drawing, Json, asks, namespaced, template

RACK: Final = "x.io/rack"
_FREEING: Final = re.compile(r"taking from others by freeing claim ns/(\S+)")
_OF_PODS: Final = re.compile(r"(.+) of (?:every pod(?: like (ns/\S+))?|(ns/\S+))")
_FEWER: Final = re.compile(r'asking for (\d+) instead of (\d+) devices in request "([\w/]+)"')
_TAINT: Final = re.compile(r"tolerating the taint ([^=:]+)=?([^:]*):(\w+) in each request")


def gangs(seed: int) -> Iterator[Json]:
    """Return worlds without end, each with some pods that are to run at once."""
    random = Random(seed)
    while True:
        for options in (each for each in PROFILES if each not in DUMPED):
            topology = ["--topology", RACK] if random.random() < 0.2 else []
            yield {"options": [*options, *topology], "gang": True, "objects": _Gang(random, options).objects()}


class _Gang(Drawing):
    """One random gang and its cluster: nodes have nothing against pods but devices that are taken."""

    def objects(self) -> list[Json]:
        """Return the manifests."""
        nodes = [self._plain(f"n{number}") for number in range(self._one((1, 1, 2, 2, 3, 4)))]
        slices = [each for node in nodes for each in self._pool(node["metadata"]["name"], node["metadata"]["name"])]
        if self._chance(0.15):
            slices += self._pool("net", None)
        made = [*nodes, *slices, self._class("gpu"), self._class("any", 0.1)]
        made += [self._rule(number, slices) for number in range(self._one((0, 0, 0, 1)))]
        made += self._holders(slices)
        templates = [template(self._small(f"t{number}", slices)) for number in range(self._one((1, 1, 1, 2)))]
        named = [each["metadata"]["name"] for each in templates]
        pods = [self._of(f"g{number}", self._one(named)) for number in range(self._one((2, 2, 3, 4, 6)))]
        return [*made, *templates, *pods]

    def _plain(self, name: str) -> Json:
        node = self._node(name)
        node["spec"] = {}
        node["metadata"]["labels"][RACK] = self._one("ab")
        return node

    def _small(self, name: str, slices: list[Json]) -> Json:
        """Return a claim for few devices, so that a pod alone has them more often than not."""
        claim = self._claim(name, slices)
        devices = claim["spec"]["devices"]
        if self._chance(0.5):
            devices.pop("constraints", None)
        for _, ask in asks(devices):
            if "count" in ask:
                ask["count"] = self._one((1, 1, 1, 2, 2, 3))
            if self._chance(0.5):
                ask.pop("selectors", None)
        return claim

    def _of(self, name: str, wanted: str) -> Json:
        used = {"claims": [{"name": "c"}]}
        containers = [{"name": "main", "image": "x", "resources": used}]
        claims = [{"name": "c", "resourceClaimTemplateName": wanted}]
        return namespaced("v1", "Pod", name, {"resourceClaims": claims, "containers": containers})


def kinds_of(world: Json) -> dict[str, list[str]]:
    """Return the names of the pods that ask for the same, by the name of the first of them."""
    asked: dict[str, list[str]] = {}
    for pod in all_of(world, "Pod"):
        (entry,) = pod["spec"]["resourceClaims"]
        spec = _template_of(world, entry["resourceClaimTemplateName"])["spec"]
        asked.setdefault(repr(spec), []).append(f"ns/{pod['metadata']['name']}")
    return {each[0]: each for each in asked.values()}


def changes_of_gang(world: Json) -> Iterator[Change]:
    """Yield the changes that are tried of a gang, but for smaller numbers of devices."""
    for name in (each["metadata"]["name"] for each in all_of(world, "ResourceClaim")):
        yield Change(f"taking from others by freeing claim ns/{name}", "", freed(name))
    taints = [taint for each in all_of(world, "ResourceSlice") for taint in _taints(each)]
    taints += [each["spec"]["taint"] for each in all_of(world, "DeviceTaintRule")]
    said = [f"{each['key']}{'=' if each['value'] else ''}{each['value']}:{each['effect']}" for each in taints]
    steps = [f"tolerating the taint {each} in each request" for each in dict.fromkeys(said)]
    for kind in kinds_of(world):
        devices = _asked_by(world, kind)
        dropped = [f"dropping {_said(each)}" for each in devices.get("constraints", ())]
        for step in (*steps, *dict.fromkeys(dropped)):
            yield changed_by(world, f"{step}{_of_kind(world, kind)}")


def fewer_of_gang(world: Json) -> Iterator[list[Change]]:
    """Yield, per request for a number of devices, asking for fewer in each pod, the largest number first."""
    for kind in kinds_of(world):
        for name, ask in asks(_asked_by(world, kind)):
            wanted, of = ask.get("count", 1), _of_kind(world, kind)
            yield [
                changed_by(world, f'asking for {count} instead of {wanted} devices in request "{name}"{of}')
                for count in range(wanted - 1, 0, -1)
            ]


def changed_by(world: Json, step: str) -> Change:
    """Return what a step means. Raises: ValueError for one that nobody understands."""
    if found := _FREEING.fullmatch(step):
        return Change(step, "", freed(found[1]))
    found = _OF_PODS.fullmatch(step)
    if found is None:
        raise ValueError(step)
    change, kind = _meant(found[1]), found[2] or found[3] or next(iter(kinds_of(world)))

    def make(made: Json) -> None:
        # The kinds are those of the world as it was.
        for name in dict.fromkeys(_template_named(world, pod) for pod in kinds_of(world)[kind]):
            change(_template_of(made, name)["spec"]["spec"]["devices"])

    return Change(step, "", make)


def _meant(step: str) -> Callable[[Json], None]:
    fewer, tolerated = _FEWER.fullmatch(step), _TAINT.fullmatch(step)

    def make(devices: Json) -> None:
        if fewer:
            dict(asks(devices))[fewer[3]]["count"] = int(fewer[1])
        elif tolerated:
            key, value, effect = tolerated.groups()
            toleration = {"key": key, "operator": "Equal", "value": value, "effect": effect}
            for _, ask in asks(devices):
                ask.setdefault("tolerations", []).append(toleration)
        else:
            before = devices.get("constraints", [])
            left = [each for each in before if f"dropping {_said(each)}" != step]
            if len(left) == len(before):
                raise ValueError(step)
            devices["constraints"] = left

    return make


def _of_kind(world: Json, kind: str) -> str:
    kinds = kinds_of(world)
    if len(kinds[kind]) == 1:
        return f" of {kind}"
    return f" of every pod{f' like {kind}' if len(kinds) > 1 else ''}"


def _asked_by(world: Json, pod: str) -> Json:
    devices: Json = _template_of(world, _template_named(world, pod))["spec"]["spec"]["devices"]
    return devices


def _template_named(world: Json, pod: str) -> str:
    (found,) = [each for each in all_of(world, "Pod") if f"ns/{each['metadata']['name']}" == pod]
    name: str = found["spec"]["resourceClaims"][0]["resourceClaimTemplateName"]
    return name


def _template_of(world: Json, name: str) -> Json:
    (found,) = [each for each in all_of(world, "ResourceClaimTemplate") if each["metadata"]["name"] == name]
    return found


def _said(constraint: Json) -> str:
    kind = next(each for each in constraint if each.endswith("Attribute"))
    on = f" on {', '.join(constraint['requests'])}" if constraint.get("requests") else ""
    return f"{kind} {constraint[kind]}{on}"


def _taints(each: Json) -> list[Json]:
    return [taint for device in each["spec"].get("devices", ()) for taint in device.get("taints", ())]
