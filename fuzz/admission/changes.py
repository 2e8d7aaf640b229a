"""
Changes of one place of an object: names by their grammars, numbers and lists around their limits, nulls, wrong types.

Half of the texts are words of the field, and half of the lists and maps have about as many members as the field may.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any, Final

from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType

Path = tuple[Any, ...]
_Spot = tuple[Path, SchemaType | None]
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
_SAID: Final = {"apiVersion", "kind", *_UNCHANGED}
# fmt: off
#: Words that mean something in a field of this name.
_WORDS_OF: Final[dict[str, tuple[str, ...]]] = {
    "allocationMode": ("All", "ExactCount", "", "all"),
    "apiVersion": ("v1", "events.k8s.io/v1", "apps/v1", "", "a/b/c", "/v1", "v1/"),
    "bindingConditions": ("x.io/ready", "x.io/failed"),
    "bindingFailureConditions": ("x.io/ready", "x.io/failed"),
    "capacityKey": ("mem", "bw", "d.io/mem", ""),
    "compatibilityGroups": ("a", "b", "A"),
    "counterSet": ("cs", "other", ""),
    "effect": ("NoSchedule", "NoExecute", "None", "", "PreferNoSchedule"),
    "expression": (
        "'x'", "1", "1.5", "true", "[1]", "['a']", "dyn(1)", "semver('1.2.3')", "quantity('1')", "device.driver",
        "device.driver == 'x'", "device.attributes['d.io'].model", "device.attributes['d.io'].model == 'x'", "a/b",
    ),
    "finalizers": ("orphan", "foregroundDeletion", "kubernetes", "d.io/f", "other"),
    "ips": ("10.0.0.1/24", "10.0.0.1", "10.0.0.1/33", "010.0.0.1/8", "::1/129", "::ffff:1.2.3.4/96", "fe80::1%e/64"),
    "kind": ("Event", "Pod", ""),
    "matchAttribute": ("d.io/x", "d.io/y", "x", ""),
    "distinctAttribute": ("d.io/x", "d.io/y", "x", ""),
    "nodeName": ("", "node-b"),
    "operator": ("Exists", "Equal", "In", "NotIn", "Lt", "Gt", "DoesNotExist", ""),
    "partitionTypeAttribute": ("d.io/model", "d.io/i", "d.io/none", "model", "", "d.io/a/b"),
    "request": ("r", "q", "q/s", "q/none", "none", "r/s"),
    "requests": ("r", "q", "q/s", "q/none", "none", "r/s"),
    "shareID": ("", "6b9a2d3e-0000-4000-8000-000000000001", "6B9A2D3E-0000-4000-8000-000000000001", "x"),
    "skipNodeOperations": ("*", "NodePrepareResources", "NodeUnprepareResources"),
    "source": ("FromClass", "FromClaim", ""),
    "status": ("True", "False", "Unknown", "", "true"),
    "string": ("", "x"),
}
# fmt: on
#: Limits of lists and maps by the name of their field, of texts by no name.
MOST: Final[dict[str, tuple[int, ...]]] = {
    "attributes": (32,),
    "bindingConditions": (4,),
    "bindingFailureConditions": (4,),
    "bools": (46,),
    "capacity": (32,),
    "compatibilityGroups": (2,),
    "conditions": (8,),
    "config": (32, 64),
    "constraints": (32,),
    "consumedCapacity": (32,),
    "consumesCounters": (2,),
    "counters": (32,),
    "derivedAttributes": (32,),
    "devices": (64, 128),
    "firstAvailable": (8,),
    "ints": (46,),
    "ips": (16,),
    "nodeSelectorTerms": (1,),
    "requests": (32,),
    "reservedFor": (256,),
    "results": (32,),
    "selectors": (32,),
    "sharedCounters": (8,),
    "strings": (44, 48),
    "taints": (4, 16),
    "tolerations": (16,),
    "validValues": (10,),
    "versions": (46,),
}  # fmt: skip
LONGEST: Final = (32, 63, 64, 128, 253, 256, 1024, 10_240, 32_768)
_INTS: Final = (0, 1, 2, 3, -1, 5, 128, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**63, 1.0, 1e3, 0.5)
_AMOUNTS: Final = (
    "0", "1", "2", "5", "7", "10", "11", "1Gi", "5Gi", "6Gi", "7500Mi", "30Gi", "40Gi", "41Gi", "100Gi", "-1", "1500m",
    "0.5", "1e3", "", "x", "1Zi", 1, 2.5, "100u", "9007199254740993", "9223372036854775807", "9223372036854775808",
)  # fmt: skip
#: How many of the changes are in lists and maps of limited length.
_LIMITED: Final = 0.1
_MANY: Final = 48
_COUNTS: Final = (1, 1, 2, 2, 3, 4, 5, 8, 9, 17, 33, 65)
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
        # A field of all devices of a list counts once, or most changes would be in these.
        fields: dict[Path, list[_Spot]] = {}
        for name, inner in shape.fields.items():
            if name not in _SAID:
                _gather(fields, made.get(name), inner, ((name,), (name,)))
        among = list(fields.values())
        if random.random() < _LIMITED:
            among = [spots for spots in among if _is_limited(*spots[0])] or among
        _put(random, made, random.choice(random.choice(among)), fields)
    return made


def _is_limited(path: Path, shape: SchemaType | None) -> bool:
    return isinstance(shape, ListType | MapType) and _field(path) in MOST


def _alike(item: Any, fields: dict[Path, list[_Spot]], shape: SchemaType | None) -> list[Any]:
    """Return what stands elsewhere in an object where the same belongs."""
    found = [_at(item, path) for spots in fields.values() for path, each in spots if each is shape]
    return [each for each in found if each is not None]


def _at(item: Any, path: Path) -> Any:
    for step in path:
        item = item[step] if isinstance(item, list) else item.get(step)
    return item


def _gather(fields: dict[Path, list[_Spot]], value: Any, shape: SchemaType | None, paths: tuple[Path, Path]) -> None:
    """Note the places of a value, fields that it does not have too, by their paths without numbers."""
    path, field = paths
    fields.setdefault(field, []).append((path, shape))
    if isinstance(shape, ObjectType) and isinstance(value, dict):
        for name, inner in shape.fields.items():
            if name not in _UNCHANGED:
                _gather(fields, value.get(name), inner, ((*path, name), (*field, name)))
    elif isinstance(shape, ListType) and isinstance(value, list):
        for position, member in enumerate(value):
            _gather(fields, member, shape.item, ((*path, position), (*field, None)))
    elif isinstance(shape, MapType) and isinstance(value, dict):
        for name, member in value.items():
            _gather(fields, member, shape.value, ((*path, name), (*field, name)))


def _put(random: Random, item: dict[str, Any], spot: _Spot, fields: dict[Path, list[_Spot]]) -> None:
    path, shape = spot
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
    elif chance < 0.18 and isinstance(around, dict) and len(way) > 1:
        _rekey(random, around, last)
    elif chance < 0.26 and (alike := _alike(item, fields, shape)):
        around[last] = copy.deepcopy(random.choice(alike))
    else:
        around[last] = _value(random, shape, there, _field(path))


def _field(path: Path) -> str:
    """Return the name of the field in which something stands, alone, in a list or in a map."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _value(random: Random, shape: SchemaType | None, there: Any, field: str) -> Any:
    if shape is Leaf.STRING:
        return _text(random, field)
    if isinstance(shape, Leaf):
        return copy.deepcopy(random.choice(_LEAVES[shape]))
    if isinstance(shape, ListType):
        return _list(random, shape, there if isinstance(there, list) else [], field)
    if isinstance(shape, MapType):
        return _map(random, shape, there if isinstance(there, dict) else {}, field)
    assert isinstance(shape, ObjectType)
    if random.random() < 0.1:
        return {}
    made = dict(there) if isinstance(there, dict) and random.random() < 0.7 else {}
    if shape.fields:
        name = random.choice([each for each in shape.fields if each not in _UNCHANGED])
        made[name] = _value(random, shape.fields[name], made.get(name), name)
    return made


def _text(random: Random, field: str) -> str:
    chance = random.random()
    if chance < 0.2:
        size = random.choice(LONGEST) + random.choice((-1, 0, 1))
        return random.choice(
            (
                "a" * size,
                "a." * (size // 2) + "a" * (size % 2),
                "é" * (size // 2),
                "a" * size + "/b",
                "b.c/" + "a" * size,
            )
        )
    return random.choice(_WORDS_OF[field] if chance < 0.6 and field in _WORDS_OF else _WORDS)


def _count(random: Random, field: str) -> int:
    """Return a number of members: one below, at or above what the field may have, or any."""
    if field in MOST and random.random() < 0.7:
        return random.choice(MOST[field]) + random.choice((-1, 0, 1))
    return random.choice(_COUNTS)


def _few(random: Random, member: dict[str, Any], count: int) -> dict[str, Any]:
    """Return a member of a list with that many, without most of its fields where they are many: they take long."""
    if count < _MANY or random.random() < 0.05:
        return member
    return {name: each for name, each in member.items() if name == "name" or random.random() < 0.2}


def _list(random: Random, shape: ListType, there: list[Any], field: str) -> list[Any]:
    chance = random.random()
    if chance < 0.2 and there:
        return [*copy.deepcopy(there), copy.deepcopy(random.choice(there))]
    if chance < 0.65:
        member = copy.deepcopy(random.choice(there)) if there else _value(random, shape.item, None, field)
        count = _count(random, field)
        if isinstance(member, dict) and "name" in member:
            member = _few(random, member, count)
            return [{**member, "name": f"n-{number}"} for number in range(count)]
        if isinstance(member, str) and random.random() < 0.7:
            return [f"{member}{number}" for number in range(count)]
        return [copy.deepcopy(member) for _ in range(count)]
    if chance < 0.72:
        return [*there, None]
    if chance < 0.77:
        return []
    return [*copy.deepcopy(there), _value(random, shape.item, None, field)]


def _map(random: Random, shape: MapType, there: dict[str, Any], field: str) -> dict[str, Any]:
    made = dict(there)
    if random.random() < 0.4:
        inner = random.choice(list(there.values())) if there else _value(random, shape.value, None, field)
        return {f"k{number}": copy.deepcopy(inner) for number in range(_count(random, field))}
    made[_text(random, field)] = _value(random, shape.value, next(iter(there.values()), None), field)
    return made


def _rekey(random: Random, around: dict[str, Any], last: Any) -> None:
    """Give a member another name: one of another case, of another field, or none that there is."""
    if last in around:
        around[random.choice((last.upper(), f"{last}s", "unknown"))] = around.pop(last)
