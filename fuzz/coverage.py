"""
What random cases contain: features, pairs of features, how they end, how much they backtrack.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["FEATURES", "Coverage", "backtracked", "features"]

Json = dict[str, Any]

_SLICE_KEYS: Final = ("nodeSelector", "allNodes", "perDeviceNodeSelection", "sharedCounters")
_DEVICE_KEYS: Final = (
    "allowMultipleAllocations",
    "capacity",
    "taints",
    "bindingConditions",
    "bindsToNode",
    "consumesCounters",
)
_USE_KEYS: Final = ("compatibilityGroups",)
_ASK_KEYS: Final = ("adminAccess", "selectors", "tolerations", "capacity")

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
    "count",
    "All",
    "firstAvailable",
    "severalClaims",
    "severalRequests",
    "matchAttribute",
    "distinctAttribute",
    "partialConstraint",
    "config",
    "allocated",
    "allocatedShared",
    "aggregated",
)


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
        found |= {key for key in ("matchAttribute", "distinctAttribute") if key in constraint}
        found |= {"partialConstraint"} if constraint.get("requests") else set()
    for request in devices["requests"]:
        found |= {"firstAvailable"} if request.get("firstAvailable") else set()
        for ask in [request["exactly"]] if "exactly" in request else request.get("firstAvailable", ()):
            found |= {f"request.{key}" for key in _ASK_KEYS if ask.get(key)}
            found |= {"All"} if ask.get("allocationMode") == "All" else set()
            found |= {"count"} if (ask.get("count") or 1) > 1 else set()


def backtracked(request: Mapping[str, Any], answer: Mapping[str, Any]) -> int:
    """Return how many steps the search made beyond those that lead straight to a full answer."""
    straight = 1
    for claim in request["claims"]:
        straight += 1
        for each in claim["spec"]["devices"]["requests"]:
            asks = each.get("firstAvailable") or [each["exactly"]]
            straight += 1 + max(ask.get("count") or 1 for ask in asks) + ("firstAvailable" in each)
    return int(answer.get("n") or 0) - straight


@dataclass
class Coverage:
    """Counts over many cases."""

    cases: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    deep: int = 0
    single: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Count one case."""
        self.cases += 1
        ending = "allocated" if answer.get("results") is not None else "error" if answer.get("err") else "none"
        self.endings[ending] += 1
        self.deep += backtracked(request, answer) > 10
        found = sorted(features(request))
        self.single.update(found)
        self.pairs.update(itertools.combinations(found, 2))

    def missing_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of features that no case had."""
        return [pair for pair in itertools.combinations(sorted(FEATURES), 2) if not self.pairs[pair]]

    def summary(self) -> str:
        """Return the figures in a line."""
        total = max(self.cases, 1)
        endings = ", ".join(f"{name} {count / total:.0%}" for name, count in sorted(self.endings.items()))
        rarest = min((self.pairs[pair], pair) for pair in itertools.combinations(sorted(FEATURES), 2))
        return (
            f"{self.cases} cases: {endings}; more than 10 steps back {self.deep / total:.0%}; "
            f"pairs of features missing {len(self.missing_pairs())}, rarest {'+'.join(rarest[1])} {rarest[0]}"
        )
