"""
From a shape to the objects of a node: a Node, and slices as its drivers would publish them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic.alias_generators import to_camel

from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.limits import COUNTER_SETS_MAX, DEVICES_MAX, DEVICES_WITH_FEATURES_MAX
from dra_alloc.scenario.fleet.shape import DeviceShape, MachineShape, PartitionShape, PoolShape

_Object = dict[str, Any]
_WORD: Final = re.compile(r"\{\{|\{(node|n|i|start|device)(?::(0?(?:[1-9][0-9]?)?[dxX]))?\}", re.ASCII)


def node_objects(shape: MachineShape, name: str, number: int = 1) -> Iterator[_Object]:
    """
    Yield the Node of a shape and its slices, as they are written in JSON.

    Texts have words in braces: the node's name and number `{node}` and `{n}`, of a
    device its place `{i}`, of a partition `{start}` and its `{device}`;
    numbers take a form, such as `{n:08x}`. `{{` is a brace.

    Spec: FLEET-1, FLEET-2.
    """
    words = {"node": name, "n": number}
    part = _filled(dict(shape.node), words)
    allocatable = {key: str(value) for key, value in part["allocatable"].items()}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **part["labels"]}},
        "spec": {"taints": list(part["taints"])} if part["taints"] else {},
        "status": {"capacity": allocatable, "allocatable": allocatable} if allocatable else {},
    }
    made: dict[str, int] = {}
    for pool in shape.pools:
        for spec in _slices(pool, words):
            made[pool.driver] = made.get(pool.driver, 0) + 1
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{name}-{pool.driver}-{made[pool.driver]}"},
                "spec": {**spec, "nodeName": name},
            }


def escaped(text: str) -> str:
    """Return a text that stands for itself where words stand for others."""
    return text.replace("{", "{{")


def _slices(pool: PoolShape, words: Mapping[str, Any]) -> Iterator[_Object]:
    """Yield the specs of the slices of a pool: counter sets, then devices, partitioned ones in slices of their own."""
    sets = [_filled(dict(each), words) for each in pool.counter_sets]
    groups: list[list[_Object]] = []
    for shape in pool.devices:
        for place in range(shape.number):
            own, devices = _devices(shape, {**words, "i": place})
            sets += own
            if own or not groups or not _fit(groups[-1], devices):
                groups.append([])
            groups[-1] += devices
    parts: list[_Object] = [
        {"sharedCounters": sets[at : at + COUNTER_SETS_MAX]} for at in range(0, len(sets), COUNTER_SETS_MAX)
    ]
    parts += [{"devices": each} for group in groups for each in _cut(group)]
    name = _filled(pool.name, words)
    for part in parts:
        yield {
            "driver": pool.driver,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": len(parts)},
            **part,
        }


def _most(devices: Sequence[_Object]) -> int:
    has_more = any(
        each.get("taints") or each.get("consumesCounters") or any(map(_is_list, each.get("attributes", {}).values()))
        for each in devices
    )
    return DEVICES_WITH_FEATURES_MAX if has_more else DEVICES_MAX


def _is_list(attribute: Mapping[str, Any]) -> bool:
    return any(name.endswith("s") for name in attribute)


def _fit(there: Sequence[_Object], more: Sequence[_Object]) -> bool:
    return len(there) + len(more) <= _most([*there, *more])


def _cut(devices: Sequence[_Object]) -> Iterator[Sequence[_Object]]:
    most = _most(devices)
    for at in range(0, len(devices), most):
        yield devices[at : at + most]


def _devices(shape: DeviceShape, words: Mapping[str, Any]) -> tuple[list[_Object], list[_Object]]:
    """Return the counter set of one device, if it has one, and the device with its partitions."""
    place = words["i"]
    name = str(_filled(_of(shape.name, place), words))
    words = {**words, "device": name}
    attributes = {key: _filled(_of(value, place), words) for key, value in shape.attributes.items()}
    every = {cell: range(number) for cell, number in shape.cells.items()}
    counters = _counters(shape.counters, every)
    sets = [{"name": f"{name}-counter-set", "counters": counters}] if counters else []
    rest = shape.model_dump(by_alias=True, exclude_defaults=True, include=_AS_THEY_ARE)
    whole = {
        "name": name,
        "attributes": _typed(attributes),
        "capacity": _capacity(shape.capacity, shape.counters, words),
        **({"consumesCounters": _taken(sets, counters)} if sets else {}),
        **_filled(rest, words),
    }
    devices = [_without_empty(whole)] if shape.is_whole else []
    for part in shape.partitions:
        devices += _partitions(shape, part, words, attributes, sets)
    return sets, devices


#: Members of a device that are written as the API has them.
_AS_THEY_ARE: Final = set(DeviceShape.model_fields) - {
    *("name", "count", "attributes", "capacity", "counters", "cells", "is_whole", "partitions"),
}


def _partitions(
    shape: DeviceShape,
    part: PartitionShape,
    words: Mapping[str, Any],
    inherited: Mapping[str, Any],
    sets: Sequence[_Object],
) -> Iterator[_Object]:
    for start in part.starts:
        told = {**words, "start": start}
        own = {key: _filled(_of(value, words["i"]), told) for key, value in part.attributes.items()}
        counters = _counters(part.counters, {cell: range(start, start + part.cells) for cell in shape.cells})
        yield _without_empty(
            {
                "name": _filled(part.name, told),
                "attributes": _typed({**inherited, **own}),
                "capacity": _capacity(part.capacity, part.counters, told),
                "consumesCounters": _taken(sets, counters),
            }
        )


def _of(value: Any, place: int) -> Any:
    return value[place] if isinstance(value, list | tuple) else value


def _counters(amounts: Mapping[str, int | str], cells: Mapping[str, range]) -> _Object:
    taken = {f"{cell}-{each}": "1" for cell, places in cells.items() for each in places}
    return {key: {"value": str(value)} for key, value in {**amounts, **taken}.items()}


def _taken(sets: Sequence[_Object], counters: _Object) -> list[_Object]:
    return [{"counterSet": sets[0]["name"], "counters": counters}] if sets and counters else []


def _capacity(said: Mapping[str, Any] | str, counters: Mapping[str, int | str], words: Mapping[str, Any]) -> _Object:
    """Return capacities: amounts, or all counters under names that capacities can have."""
    if isinstance(said, str):
        return {to_camel(key.replace("-", "_")): {"value": str(value)} for key, value in counters.items()}
    values = {key: _filled(_of(value, words["i"]), words) for key, value in said.items()}
    return {key: value if isinstance(value, Mapping) else {"value": str(value)} for key, value in values.items()}


def _typed(attributes: Mapping[str, Any]) -> _Object:
    """Return attributes as the API has them: a bare value under the name of its type."""
    return {
        key: value if isinstance(value, Mapping) else {_type_of(value): value}
        for key, value in attributes.items()
        if value is not None
    }


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "string"


def _without_empty(item: _Object) -> _Object:
    return {key: value for key, value in item.items() if value not in ({}, [])}


def _filled(value: Any, words: Mapping[str, Any]) -> Any:
    """Return a value with the words in its texts filled in."""
    if isinstance(value, str):
        return _WORD.sub(lambda found: _word(found, words), value) if "{" in value else value
    if isinstance(value, Mapping):
        return {key: _filled(each, words) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(each, words) for each in value]
    return value


def _word(found: re.Match[str], words: Mapping[str, Any]) -> str:
    if found[1] is None:
        return "{"
    value = words.get(found[1], found[0])
    return format(value, found[2]) if found[2] and isinstance(value, int) else str(value)
