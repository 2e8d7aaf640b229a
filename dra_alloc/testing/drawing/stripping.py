"""
Allocate requests without one rule's features, so that a difference can be blamed on the rules that it needs.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from dra_alloc.api.constraints import CONSTRAINT_KINDS

Json: TypeAlias = dict[str, Any]

_OF_DEVICES: Final[Mapping[str, tuple[str, ...]]] = {
    "taints": ("taints",),
    "binding conditions": ("bindingConditions", "bindingFailureConditions"),
    "consumable capacity": ("allowMultipleAllocations",),
    "counters": ("consumesCounters",),
    "nodes": ("bindsToNode", "nodeName", "nodeSelector", "allNodes"),
}
_OF_ASKS: Final[Mapping[str, tuple[str, ...]]] = {
    "admin access": ("adminAccess",),
    "consumable capacity": ("capacity",),
    "selectors": ("selectors",),
    "taints": ("tolerations",),
}
_OF_REQUESTS: Final[Mapping[str, tuple[str, ...]]] = {
    "consumable capacity": ("allocatedShared", "aggregated"),
    "exclusive use": ("allocated",),
}
#: The rule of a constraint -> its member, of which its name is made.
OF_CONSTRAINTS: Final = {
    re.sub("[A-Z]", lambda at: f" {at[0].lower()}", kind.wire): kind.wire for kind in CONSTRAINT_KINDS
}


def without(request: Json, rule: str) -> Json:
    """Return the request without all that exercises the rule; a request that stays one."""
    made = copy.deepcopy(request)
    for key in _OF_REQUESTS.get(rule, ()):
        made[key] = []
    for device in _devices(made):
        for key in _OF_DEVICES.get(rule, ()):
            device.pop(key, None)
    for ask in _asks(made):
        for key in _OF_ASKS.get(rule, ()):
            ask.pop(key, None)
    if rule in OF_CONSTRAINTS:
        for claim in made["claims"]:
            devices = claim["spec"]["devices"]
            devices["constraints"] = [
                each for each in devices.get("constraints", ()) if OF_CONSTRAINTS[rule] not in each
            ]
    change = _MORE.get(rule)
    if change is not None:
        change(made)
    return made


def _devices(request: Json) -> Iterator[Json]:
    return (device for each in request["slices"] for device in each["spec"].get("devices", ()))


def _asks(request: Json) -> Iterator[Json]:
    for claim in request["claims"]:
        for each in claim["spec"]["devices"]["requests"]:
            yield from [each["exactly"]] if "exactly" in each else each["firstAvailable"]


def _one_device(request: Json) -> None:
    for ask in _asks(request):
        if ask.get("allocationMode") == "All":
            ask |= {"allocationMode": "ExactCount", "count": 1}


def _first_alternative(request: Json) -> None:
    for claim in request["claims"]:
        for each in claim["spec"]["devices"]["requests"]:
            if "firstAvailable" in each:
                first = each.pop("firstAvailable")[0]
                each["exactly"] = {key: value for key, value in first.items() if key != "name"}


def _no_config(request: Json) -> None:
    for each in [*request["classes"], *(claim["spec"]["devices"] for claim in request["claims"])]:
        each.get("spec", each).pop("config", None)


def _no_policies(request: Json) -> None:
    for device in _devices(request):
        for capacity in device.get("capacity", {}).values():
            capacity.pop("requestPolicy", None)


def _no_groups(request: Json) -> None:
    for device in _devices(request):
        for use in device.get("consumesCounters", ()):
            use.pop("compatibilityGroups", None)


def _no_lists(request: Json) -> None:
    for device in _devices(request):
        kept = {
            key: each for key, each in device.get("attributes", {}).items() if not any(k.endswith("s") for k in each)
        }
        device["attributes"] = kept


def _everywhere(request: Json) -> None:
    for each in request["slices"]:
        for key in ("nodeName", "nodeSelector", "perDeviceNodeSelection"):
            each["spec"].pop(key, None)
        each["spec"]["allNodes"] = True


def _no_counter_sets(request: Json) -> None:
    for each in request["slices"]:
        each["spec"].pop("sharedCounters", None)
    gone = [each for each in request["slices"] if not each["spec"].get("devices")]
    _leave_out(request, gone)


def _one_pool(request: Json) -> None:
    """Leave the pool of the first slice, with its newest generation only."""
    pools = [(each["spec"]["driver"], each["spec"]["pool"]["name"]) for each in request["slices"]]
    request["slices"] = [each for each, pool in zip(request["slices"], pools, strict=True) if pool == pools[0]]
    newest = max((each["spec"]["pool"]["generation"] for each in request["slices"]), default=0)
    request["slices"] = [each for each in request["slices"] if each["spec"]["pool"]["generation"] == newest]


def _leave_out(request: Json, slices: list[Json]) -> None:
    """Leave out slices, and say so in what the others of their pools tell of its size."""
    for gone in slices:
        request["slices"].remove(gone)
    for each in request["slices"]:
        fewer = sum(_generation(gone) == _generation(each) for gone in slices)
        each["spec"]["pool"]["resourceSliceCount"] -= fewer


def _generation(each: Json) -> tuple[object, ...]:
    spec = each["spec"]
    return spec["driver"], spec["pool"]["name"], spec["pool"]["generation"]


_MORE: Final[Mapping[str, Callable[[Json], None]]] = {
    "all devices": _one_device,
    "alternatives": _first_alternative,
    "compatibility groups": _no_groups,
    "config": _no_config,
    "consumable capacity": _no_policies,
    "counters": _no_counter_sets,
    "list attributes": _no_lists,
    "nodes": _everywhere,
    "pools": _one_pool,
}
