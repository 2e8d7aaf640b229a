"""
Which features an allocate request uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.api.constraints import CONSTRAINT_KINDS
from dra_alloc.profiles import Release, parse_release

Json = dict[str, Any]

_SLICE_KEYS: Final = ("nodeSelector", "allNodes", "perDeviceNodeSelection", "sharedCounters", "skipNodeOperations")
_DEVICE_KEYS: Final = (
    "allowMultipleAllocations",
    "capacity",
    "taints",
    "bindingConditions",
    "bindsToNode",
    "consumesCounters",
)
_USE_KEYS: Final = ("compatibilityGroups",)
_ASK_KEYS: Final = ("adminAccess", "selectors", "tolerations", "capacity", "derivedAttributes")

#: Every feature that :func:`features` can find.
FEATURES: Final = (
    *_SLICE_KEYS,
    *_DEVICE_KEYS,
    *_USE_KEYS,
    "requestPolicy",
    "listAttribute",
    "severalPools",
    "severalSlices",
    "severalGenerations",
    "request.adminAccess",
    "request.selectors",
    "request.tolerations",
    "request.capacity",
    "request.derivedAttributes",
    "count",
    "All",
    "firstAvailable",
    "severalClaims",
    "severalRequests",
    *(kind.wire for kind in CONSTRAINT_KINDS),
    "partialConstraint",
    "config",
    "allocated",
    "allocatedShared",
    "aggregated",
)


#: Features that not every release has, with the first that does; older ones drop such fields.
_SINCE: Final[Mapping[str, str]] = {
    "listAttribute": "1.36.0-alpha.0",
    "compatibilityGroups": "1.37.0",
    "request.derivedAttributes": "1.37.0",
    "skipNodeOperations": "1.37.0",
}


def known_features(release: str | Release) -> tuple[str, ...]:
    """Return the features that the release has; raises InputError for one that is not known."""
    asked = parse_release(release)
    return tuple(each for each in FEATURES if each not in _SINCE or asked >= parse_release(_SINCE[each]))


def features(request: Mapping[str, Any]) -> frozenset[str]:
    """Return the features the request has."""
    found = {key for key in ("allocated", "allocatedShared", "aggregated") if request.get(key)}
    specs = [each["spec"] for each in request["slices"]]
    _of_slices(specs, found)
    if len(request["claims"]) > 1:
        found.add("severalClaims")
    for claim in request["claims"]:
        _of_claim(claim["spec"]["devices"], found)
    return frozenset(found)


def _of_slices(specs: list[Json], found: set[str]) -> None:
    pools = {(spec["driver"], spec["pool"]["name"]) for spec in specs}
    generations = {(spec["driver"], spec["pool"]["name"], spec["pool"]["generation"]) for spec in specs}
    found |= {"severalPools"} if len(pools) > 1 else set()
    found |= {"severalSlices"} if len(specs) > len(generations) else set()
    found |= {"severalGenerations"} if len(generations) > len(pools) else set()
    for spec in specs:
        found |= {key for key in _SLICE_KEYS if spec.get(key)}
        for device in spec.get("devices", ()):
            found |= {key for key in _DEVICE_KEYS if device.get(key)}
            found |= {key for use in device.get("consumesCounters", ()) for key in _USE_KEYS if use.get(key)}
            if any("requestPolicy" in each for each in device.get("capacity", {}).values()):
                found.add("requestPolicy")
            if any(key.endswith("s") for each in device.get("attributes", {}).values() for key in each):
                found.add("listAttribute")


def _of_claim(devices: Json, found: set[str]) -> None:
    found |= {"config"} if devices.get("config") else set()
    found |= {"severalRequests"} if len(devices["requests"]) > 1 else set()
    for constraint in devices.get("constraints", ()):
        found |= {kind.wire for kind in CONSTRAINT_KINDS if kind.wire in constraint}
        found |= {"partialConstraint"} if constraint.get("requests") else set()
    for request in devices["requests"]:
        found |= {"firstAvailable"} if request.get("firstAvailable") else set()
        for ask in [request["exactly"]] if "exactly" in request else request.get("firstAvailable", ()):
            found |= {f"request.{key}" for key in _ASK_KEYS if ask.get(key)}
            found |= {"All"} if ask.get("allocationMode") == "All" else set()
            found |= {"count"} if (ask.get("count") or 1) > 1 else set()
