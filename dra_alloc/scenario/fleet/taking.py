"""
A shape from a dump: what a node and its slices look like, said as shortly as devices that are alike allow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from dra_alloc.api import Node, ResourceSlice
from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.api.slices import newest_slices
from dra_alloc.errors import InputError, did_you_mean
from dra_alloc.manifest import Documents
from dra_alloc.scenario.fleet.making import escaped

#: Members in which devices of one entry may differ, and in which an entry holds bare values.
_BARE: Final = ("attributes", "capacity")


def shape_like(dump: Documents, name: str) -> dict[str, Any]:
    """
    Return the shape of a node of a dump as a description has it: labels, taints, resources, and pools of its own.

    Spec: FLEET-5. Raises: InputError for a node that is not there.
    """
    there = {each.metadata.name or "": each for each in dump.nodes}
    own = [each for each in dump.slices if each.spec.node_name == name]
    if name not in there and not own:
        known = {*there, *(each.spec.node_name or "" for each in dump.slices)}
        raise InputError(f"there is no node {name}", hint=did_you_mean(name, known))
    published: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
    for each in dump.slices:
        published[each.spec.driver, each.spec.pool.name].append(each)
    newest = {id(each) for slices in published.values() for each in newest_slices(slices)}
    pools: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
    for each in own:
        if id(each) in newest:
            pools[each.spec.driver, each.spec.pool.name].append(each)
    shape = {
        "summary": f"as node {name}",
        "node": _node(there[name], name) if name in there else {},
        "pools": [_pool(driver, pool, name, slices) for (driver, pool), slices in pools.items()],
    }
    return {key: value for key, value in shape.items() if value}


def _node(node: Node, name: str) -> dict[str, Any]:
    wire = node.to_wire()
    labels = {key: escaped(value) for key, value in node.metadata.labels.items() if key != HOSTNAME}
    found = {
        "labels": labels,
        "taints": _escaped(wire.get("spec", {}).get("taints", [])),
        "allocatable": wire.get("status", {}).get("allocatable", {}),
    }
    return {key: value for key, value in found.items() if value}


def _pool(driver: str, pool: str, name: str, slices: Sequence[ResourceSlice]) -> dict[str, Any]:
    specs = [_whole(each).to_wire()["spec"] for each in slices]
    sets = [each for spec in specs for each in spec.get("sharedCounters", ())]
    devices = [_entry(each) for spec in specs for each in spec.get("devices", ())]
    found = {
        "driver": driver,
        "name": "{node}" if pool == name else f"{escaped(pool)}-{{node}}",
        "counterSets": _escaped(sets),
        "devices": [_merged(list(run)) for _, run in groupby(devices, _alike)],
    }
    if found["name"] == "{node}":
        del found["name"]
    return {key: value for key, value in found.items() if value}


def _whole(item: Any) -> ResourceSlice:
    found: ResourceSlice = item.model() if hasattr(item, "model") else item
    return found


def _entry(device: Mapping[str, Any]) -> dict[str, Any]:
    """Return a device as an entry of its own: bare values where the API names a type that is clear."""
    found = dict(_escaped(device))
    for member in _BARE:
        if member in found:
            found[member] = {key: _bare(value) for key, value in found[member].items()}
    return found


def _bare(value: Mapping[str, Any]) -> Any:
    ((kind, inner), *more) = value.items()
    return inner if kind in ("bool", "int", "string", "value") and not more else value


def _alike(entry: Mapping[str, Any]) -> str:
    """Return what devices of one entry have in common: all but their names and values."""
    common = {
        key: sorted((name, type(each).__name__) for name, each in value.items()) if key in _BARE else value
        for key, value in entry.items()
        if key != "name"
    }
    return repr(sorted(common.items()))


def _merged(run: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one entry for several devices: a value that all have, or a list of them."""
    first = run[0]
    if len(run) == 1:
        return first
    found = {**first, "name": [each["name"] for each in run], "count": len(run)}
    for member in _BARE:
        if member in first:
            found[member] = {
                key: value if all(each[member][key] == value for each in run) else [each[member][key] for each in run]
                for key, value in first[member].items()
            }
    return found


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, Mapping):
        return {key: _escaped(each) for key, each in value.items()}
    return [_escaped(each) for each in value] if isinstance(value, list | tuple) else value
