"""
Random objects made such that the API server admits them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from dra_alloc.api import ResourceSlice
from dra_alloc.api.constraints import DeviceConstraint
from dra_alloc.manifest import validate_object

Json: TypeAlias = dict[str, Any]

_POLICY: Final = re.compile(r"spec\.devices\[(\d+)\]\.capacity\[([^]]+)\]\.requestPolicy")


def admit_slice(wire: Json) -> None:
    """Change a slice, in place, into one that is admitted: what is wrong with it is left out or put right."""
    _one_term(wire["spec"])
    for device in wire["spec"].get("devices", ()):
        _one_term(device)
        for taint in device.get("taints", ()):
            if taint["effect"] == "Unknown":
                taint["effect"] = "NoSchedule"
        if "taints" in device:
            device["taints"] = list({(each["key"], each["effect"]): each for each in device["taints"]}.values())
    for problem in validate_object(ResourceSlice.from_wire({**wire, "kind": "ResourceSlice"})):
        place = _POLICY.match(problem.where.path)
        if place is not None:
            device = wire["spec"]["devices"][int(place[1])]
            device["capacity"][place[2]].pop("requestPolicy", None)


def _one_term(place: Json) -> None:
    selector = place.get("nodeSelector")
    if selector is not None:
        del selector["nodeSelectorTerms"][1:]


def admit_claim(wire: Json) -> None:
    """Change a claim, in place, into one that is admitted and has its defaults."""
    devices = wire["spec"]["devices"]
    known = set(_names(devices["requests"]))
    for entry in [*devices.get("config", ()), *devices.get("constraints", ())]:
        if "requests" in entry:
            entry["requests"] = list(dict.fromkeys(name for name in entry["requests"] if name in known))
            if not entry["requests"]:
                del entry["requests"]
    for ask in _asks(devices["requests"]):
        for toleration in ask.get("tolerations", ()):
            toleration.setdefault("operator", "Equal")
            if toleration.get("effect") == "Unknown":
                del toleration["effect"]
            if toleration.get("effect") != "NoExecute":
                toleration.pop("tolerationSeconds", None)
    for request in devices["requests"]:
        for ask in _asks([request]):
            names = {request["name"], f"{request['name']}/{ask.get('name')}"}
            if "derivedAttributes" in ask:
                _drop_uncompared(ask, names, devices.get("constraints", ()))


def _drop_uncompared(ask: Json, names: set[str], constraints: Iterable[Json]) -> None:
    """Drop derived attributes that no constraint of the request compares."""
    compared = {
        stated.attribute
        for each in constraints
        if not each.get("requests") or not names.isdisjoint(each["requests"])
        if (stated := DeviceConstraint.from_wire(each).stated) is not None
    }
    kept = [each for each in ask.pop("derivedAttributes") if each["name"] in compared]
    if kept:
        ask["derivedAttributes"] = kept


def _names(requests: list[Json]) -> Iterator[str]:
    for each in requests:
        yield each["name"]
        yield from (f"{each['name']}/{sub['name']}" for sub in each.get("firstAvailable", ()))


def _asks(requests: list[Json]) -> Iterator[Json]:
    for each in requests:
        yield from [each["exactly"]] if "exactly" in each else each["firstAvailable"]
