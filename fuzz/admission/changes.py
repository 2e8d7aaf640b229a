"""
Changes of one place of an object: names by their grammars, numbers and lists around their limits, nulls, wrong types.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any, Final

from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType

__all__ = ["changed"]

Path = tuple[Any, ...]
_ANY: Final[tuple[Any, ...]] = (None, "", "x", 0, 1, 1.5, True, False, [], {}, [None], [[]], {"x": 1}, ["x"], [{}])
_ALL: Final = "device.attributes['d.io'].all"
_COSTLY: Final = " && ".join([f"{_ALL}(k, {_ALL}(l, {_ALL}(m, k != l)))"] * 4)
_WORDS: Final = (
    "", "a", "A", "a-", "-a", "a.b", "a..b", "a_b", "a/b", "/a", "a/", "a/b/c", "A.b/C_d", "a b", "1", "1a", "_a", "é",
    "\u212a", "\u0130", "x.io/ready", "x.io/failed", "d.io/x", "d.io/y", "x.io/x", "x", "r", "q", "q/s", "q/t", "q/u",
    "r/s", "s", "cs", "gpu-0", "gpu-1", "node-a", "All", "ExactCount", "Exists", "Equal", "In", "NotIn", "Lt",
    "DoesNotExist", "NoSchedule", "NoExecute", "None", "PreferNoSchedule", "metadata.name", "1.2.3", "1.2", "01.2.3",
    "1.2.3-", "1.0.0+x", "v1.2.3", "99999999999999999999.0.0", "requests.x", "kubernetes.io/x", "a.kubernetes.io/b",
    "{{", "a\nb", "\x00", "\u202e", "d.io", "D.IO", "gpu.d.io", "default", "*", "device.driver == 'x'", "device.driver",
    "device.", "'a'.matches('(')", _COSTLY, "device.allowMultipleAllocations", "device.attributes['d.io'].model == 'x'",
)  # fmt: skip
#: What is not read, what the server keeps itself, and below `old` what it cannot have taken.
_UNCHANGED: Final = {"managedFields", "resourceVersion", "creationTimestamp"}
_LENGTHS: Final = (32, 33, 63, 64, 65, 128, 253, 254, 10_240, 10_241)
_INTS: Final = (0, 1, 2, 3, -1, 5, 128, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**63, 1.0, 1e3, 0.5)
_AMOUNTS: Final = (
    "0", "1", "2", "5", "7", "10", "11", "1Gi", "5Gi", "6Gi", "7500Mi", "30Gi", "40Gi", "41Gi", "100Gi", "-1", "1500m",
    "0.5", "1e3", "", "x", "1Zi", 1, 2.5, "9223372036854775807", "9223372036854775808",
)  # fmt: skip
_COUNTS: Final = (1, 2, 3, 4, 5, 8, 9, 10, 11, 16, 17, 31, 32, 33, 48, 49, 64, 65, 128, 129)
_RAW: Final[tuple[Any, ...]] = (
    {},
    [],
    "x",
    1,
    None,
    {"a": "x" * 10_229},
    {"a": "x" * 10_250},
    {"a": {"b": [1.5, "é<&"]}},
)
_TIMES: Final = ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00+01:00", "x", "", "2026-13-01T00:00:00Z", 5)
_LEAVES: Final[dict[Leaf, tuple[Any, ...]]] = {
    Leaf.INT64: _INTS,
    Leaf.BOOL: (True, False),
    Leaf.QUANTITY: _AMOUNTS,
    Leaf.TIME: _TIMES,
    Leaf.RAW: _RAW,
    Leaf.DROPPED: (None, [], {}),
}


def changed(random: Random, item: dict[str, Any], shape: ObjectType, times: int) -> dict[str, Any]:
    """Return an object that differs from another in so many places, whatever they are."""
    made = copy.deepcopy(item)
    for _ in range(times):
        places = [each for each in _places(made, shape, ()) if each[0]]
        path, there = random.choice(places)
        _put(random, made, path, there)
    return made


def _places(value: Any, shape: SchemaType | None, path: Path) -> list[tuple[Path, SchemaType | None]]:
    """Return the places of an object, fields that it does not have too, with what belongs there."""
    found: list[tuple[Path, SchemaType | None]] = [(path, shape)]
    if isinstance(shape, ObjectType) and isinstance(value, dict):
        for name, inner in shape.fields.items():
            if name in _UNCHANGED:
                continue
            found += _places(value.get(name), inner, (*path, name))
    elif isinstance(shape, ListType) and isinstance(value, list):
        for position, member in enumerate(value):
            found += _places(member, shape.item, (*path, position))
    elif isinstance(shape, MapType) and isinstance(value, dict):
        for name, member in value.items():
            found += _places(member, shape.value, (*path, name))
    return found


def _put(random: Random, item: dict[str, Any], path: Path, shape: SchemaType | None) -> None:
    way, last = path[:-1], path[-1]
    around: Any = item
    for step in way:
        around = around[step]
    there = around[last] if isinstance(around, list) else around.get(last)
    chance = random.random()
    if chance < 0.06:
        around[last] = copy.deepcopy(random.choice(_ANY))
    elif chance < 0.12:
        if isinstance(around, dict):
            around.pop(last, None)
        else:
            around.pop(last)
    elif chance < 0.2 and isinstance(around, dict) and len(way) > 1:
        _rekey(random, around, last)
    else:
        around[last] = _value(random, shape, there)


def _value(random: Random, shape: SchemaType | None, there: Any) -> Any:
    if shape is Leaf.STRING:
        return _text(random)
    if isinstance(shape, Leaf):
        return copy.deepcopy(random.choice(_LEAVES[shape]))
    if isinstance(shape, ListType):
        return _list(random, shape, there if isinstance(there, list) else [])
    if isinstance(shape, MapType):
        return _map(random, shape, there if isinstance(there, dict) else {})
    assert isinstance(shape, ObjectType)
    made = dict(there) if isinstance(there, dict) and random.random() < 0.7 else {}
    if shape.fields:
        name = random.choice([each for each in shape.fields if each not in _UNCHANGED])
        made[name] = _value(random, shape.fields[name], made.get(name))
    return made


def _text(random: Random) -> str:
    if random.random() < 0.2:
        size = random.choice(_LENGTHS)
        return random.choice(
            (
                "a" * size,
                "a." * (size // 2) + "a" * (size % 2),
                "é" * (size // 2),
                "a" * size + "/b",
                "b.c/" + "a" * size,
            )
        )
    return random.choice(_WORDS)


def _list(random: Random, shape: ListType, there: list[Any]) -> list[Any]:
    chance = random.random()
    if chance < 0.3 and there:
        return [*copy.deepcopy(there), copy.deepcopy(random.choice(there))]
    if chance < 0.6:
        member = copy.deepcopy(random.choice(there)) if there else _value(random, shape.item, None)
        count = random.choice(_COUNTS)
        if isinstance(member, dict) and "name" in member:
            return [{**member, "name": f"n-{number}"} for number in range(count)]
        if isinstance(member, str) and random.random() < 0.7:
            return [f"{member}{number}" for number in range(count)]
        return [copy.deepcopy(member) for _ in range(count)]
    if chance < 0.7:
        return [*there, None]
    if chance < 0.75:
        return []
    return [*copy.deepcopy(there), _value(random, shape.item, None)]


def _map(random: Random, shape: MapType, there: dict[str, Any]) -> dict[str, Any]:
    made = dict(there)
    if random.random() < 0.3:
        inner = random.choice(list(there.values())) if there else _value(random, shape.value, None)
        return {f"k{number}": copy.deepcopy(inner) for number in range(random.choice(_COUNTS))}
    made[_text(random)] = _value(random, shape.value, next(iter(there.values()), None))
    return made


def _rekey(random: Random, around: dict[str, Any], last: Any) -> None:
    """Give a member another name: one of another case, of another field, or none that there is."""
    if last in around:
        around[random.choice((last.upper(), f"{last}s", "unknown"))] = around.pop(last)
