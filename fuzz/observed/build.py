"""
Builders for small allocation requests: devices, slices, requests, claims. The cases are in `fuzz.observed.cases`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
ON = {
    "AdminAccess": True,
    "ConsumableCapacity": True,
    "DeviceBindingAndStatus": True,
    "DeviceTaints": True,
    "PartitionableDevices": True,
    "PrioritizedList": True,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One input; `promise` is what the API promises, in the notation of the table."""

    name: str
    promise: str
    input: Json
    needs: tuple[str, ...] = ()
    off: tuple[str, ...] = field(default=())


def device(name: str, *, k: int | str | None = None, cap: Json | None = None, multi: bool = False, **rest: Any) -> Json:
    """A device; `k` is how much of the counter `m` it consumes, other keywords are string attributes or fields."""
    fields = {
        key: rest.pop(key) for key in ("taints", "bindingConditions", "nodeName", "consumesCounters") if key in rest
    }
    attributes = {
        key: ({"strings": value} if isinstance(value, list) else {"string": value}) for key, value in rest.items()
    }
    out: Json = {"name": name} | fields
    if attributes:
        out["attributes"] = attributes
    if k is not None:
        out["consumesCounters"] = [{"counterSet": "cs", "counters": {"m": {"value": str(k)}}}]
    if cap is not None:
        out["capacity"] = {
            key: value if isinstance(value, dict) else {"value": str(value)} for key, value in cap.items()
        }
    if multi:
        out["allowMultipleAllocations"] = True
    return out


def slice_(name: str, devices: list[Json] | None = None, **rest: Any) -> Json:
    """A node-local slice of driver `d`, pool `p`, generation 1."""
    spec: Json = {"driver": rest.pop("driver", "d"), "nodeName": rest.pop("node", "node-1")}
    count, generation = rest.pop("count", 1), rest.pop("generation", 1)
    spec["pool"] = {"name": rest.pop("pool", "p"), "generation": generation, "resourceSliceCount": count}
    if spec["nodeName"] is None:
        del spec["nodeName"]
    if devices is not None:
        spec["devices"] = devices
    return {"metadata": {"name": name}, "spec": spec | rest}


def counters(amount: int, *, name: str = "cs", slice_name: str = "a-counters", **rest: Any) -> Json:
    """The slice that publishes the counter `m`; from 1.35 on it has to be one of its own."""
    sets = [{"name": name, "counters": {"m": {"value": str(amount)}}}]
    return slice_(slice_name, None, sharedCounters=sets, count=2, **rest)


def partitioned(amount: int, *devices: Json) -> list[Json]:
    """A pool of two slices: counters, devices."""
    return [counters(amount), slice_("b-devices", list(devices), count=2)]


def want(name: str, count: int | None = 1, *, cel: str | None = None, **rest: Any) -> Json:
    """One request; a count of None asks for all devices."""
    return {"name": name, "exactly": _exact(count, cel, rest)}


def alternative(name: str, count: int | None = 1, *, cel: str | None = None, **rest: Any) -> Json:
    """One subrequest."""
    return {"name": name} | _exact(count, cel, rest)


def first(name: str, *alternatives: Json) -> Json:
    """A request with a list of alternatives."""
    return {"name": name, "firstAvailable": list(alternatives)}


def _exact(count: int | None, cel: str | None, rest: Json) -> Json:
    out: Json = {"deviceClassName": rest.pop("cls", "any")}
    out |= {"allocationMode": "All"} if count is None else {"allocationMode": "ExactCount", "count": count}
    if cel:
        out["selectors"] = [{"cel": {"expression": cel}}]
    if "c" in rest:
        out["capacity"] = {"requests": {"c": str(rest.pop("c"))}}
    return out | rest


def attribute(name: str, value: str) -> str:
    """A selector on one string attribute of driver `d`."""
    return f'device.attributes["d"].?{name}.orValue("") == "{value}"'


def claim(
    *requests: Json, name: str = "c", constraints: list[Json] | None = None, config: list[Json] | None = None
) -> Json:
    """One claim."""
    devices: Json = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = constraints
    if config:
        devices["config"] = config
    return {"metadata": {"name": name}, "spec": {"devices": devices}}


def problem(slices: list[Json], *claims: Json, **rest: Any) -> Json:
    """One call of the allocator on node-1."""
    return {"slices": slices, "claims": list(claims), "classes": [{"metadata": {"name": "any"}, "spec": {}}]} | rest
