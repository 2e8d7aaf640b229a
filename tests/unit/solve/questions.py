"""
Small questions for engines: one node, one pool, one class that matches everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.solve.question import Question
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.table import Knows, Table
from dra_alloc.solve.table.trust import judged

Json = dict[str, Any]

FEATURES = {
    "AdminAccess": True,
    "ConsumableCapacity": True,
    "DeviceTaints": True,
    "PartitionableDevices": True,
    "PrioritizedList": True,
}


def device(name: str, *, counters: int = 0, shares: int = 0, tainted: bool = False, **attributes: Any) -> Json:
    """Return a device; `counters` of the one counter `m`, or shares of capacity `c`."""
    kinds = {bool: "bool", int: "int", str: "string", list: "strings"}
    made: Json = {"name": name, "attributes": {key: {kinds[type(each)]: each} for key, each in attributes.items()}}
    if counters:
        made["consumesCounters"] = [{"counterSet": "set", "counters": {"m": {"value": str(counters)}}}]
    if shares:
        made["allowMultipleAllocations"] = True
        made["capacity"] = {"c": {"value": str(shares), "requestPolicy": {"default": "1"}}}
    if tainted:
        made["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    return made


def ask(count: int | None = 1, *, capacity: int = 0, admin: bool = False, **attributes: Any) -> Json:
    """Return an exact request body; count None asks for all devices."""
    made: Json = {"deviceClassName": "any", "selectors": [_equals(name, each) for name, each in attributes.items()]}
    made |= {"allocationMode": "All"} if count is None else {"allocationMode": "ExactCount", "count": count}
    if capacity:
        made["capacity"] = {"requests": {"c": str(capacity)}}
    if admin:
        made["adminAccess"] = True
    return made


def _equals(name: str, value: Any) -> Json:
    literal = f'"{value}"' if isinstance(value, str) else str(value)
    path = f'device.attributes["d"].{name}'
    return {"cel": {"expression": f"has({path}) && {path} == {literal}"}}


def claim(*requests: Json | Sequence[Json], match: str = "", distinct: str = "") -> Json:
    """Return a claim; a list stands for alternatives."""
    made = [
        {"name": f"r{number}", "exactly": each}
        if isinstance(each, dict)
        else {
            "name": f"r{number}",
            "firstAvailable": [{"name": f"s{place}", **sub} for place, sub in enumerate(each)],
        }
        for number, each in enumerate(requests)
    ]
    constraints = [{"matchAttribute": f"d/{match}"}] if match else []
    constraints += [{"distinctAttribute": f"d/{distinct}"}] if distinct else []
    return {"metadata": {"name": "c"}, "spec": {"devices": {"requests": made, "constraints": constraints}}}


def request(devices: Sequence[Json], *claims: Json, counters: int = 0, **more: Any) -> Json:
    """Return the harness request for claims on one node with these devices and so much of the counter."""
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 2 if counters else 1}
    place = {"driver": "d", "nodeName": "n", "pool": pool}
    slices = [{"metadata": {"name": "s1"}, "spec": {**place, "devices": list(devices)}}]
    if counters:
        sets = [{"name": "set", "counters": {"m": {"value": str(counters)}}}]
        slices.append({"metadata": {"name": "s2"}, "spec": {**place, "sharedCounters": sets}})
    return {
        "release": "1.36.2",
        "channel": "incubating",
        "features": FEATURES,
        "node": {"metadata": {"name": "n"}},
        "classes": [{"metadata": {"name": "any"}, "spec": {}}],
        "slices": slices,
        "claims": [{**each, "metadata": {"name": f"c{number}"}} for number, each in enumerate(claims)],
        **more,
    }


def question(asked: Json) -> Question:
    """Return the question of a harness request."""
    allocator, node, claims = read_request(asked)
    return allocator.question(node, claims)


def table(asked: Json, knows: Knows = Knows.NOTHING) -> Table:
    """Return the table of a harness request, judged, for engines that know of so much."""
    made = question(asked)
    rules = made.table_rules()
    return judged(build_table(made.rows, made.candidates, rules, knows=knows), rules, knows)
