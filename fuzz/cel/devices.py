"""
Random device documents for selectors: names with and without domain, every kind of value, some of them broken.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import DeviceAttribute, Quantity

Json = dict[str, Any]
_NAMES: Final = ("a", "b", "c", "model", "memory", "x.io/a", "x.io/b", "gpu.example.com/model", "index")
_SCALARS: Final[tuple[Json, ...]] = (
    {"int": 5},
    {"int": -1},
    {"int": 2**63 - 1},
    {"bool": True},
    {"bool": False},
    {"string": ""},
    {"string": "abc"},
    {"string": "H100 80GB HBM3"},
    {"string": "10.0.0.1"},
    {"string": "ñ😀"},
    {"version": "1.2.3"},
    {"version": "1.2.3-rc.1+b"},
    {"version": "0.0.0"},
)
_LISTED: Final[tuple[Json, ...]] = (
    {"ints": [1, 2, 3]},
    {"bools": [True]},
    {"strings": ["a", "abc"]},
    {"versions": ["1.0.0", "1.2.3"]},
)
_BROKEN: Final[tuple[Json, ...]] = ({}, {"version": "1.2"}, {"version": ""})
_AMOUNTS: Final = ("40Gi", "0", "500m", "1", "1Gi", "1.5Gi", "-3")


def random_device(random: Random, *, lists: bool, nameless: bool = True) -> Json:
    """A device as the harness protocol has it; broken attributes are rare, and alone."""
    values = (*_SCALARS, *_LISTED) if lists else _SCALARS
    driver = random.choice(("gpu.example.com", "d", "x.io", "") if nameless else ("gpu.example.com", "d", "x.io"))
    attributes = {name: dict(random.choice(values)) for name in _distinct(random, driver)}
    if random.random() < 0.01:
        attributes["broken"] = dict(random.choice(_BROKEN))
    amounts = random.sample(("mem", "memory", "y.io/mem"), random.randint(0, 2))
    return {
        "driver": driver,
        "attributes": attributes,
        "capacity": {name: random.choice(_AMOUNTS) for name in amounts},
        "multi": random.choice((None, True, False)),
    }


def _distinct(random: Random, driver: str) -> list[str]:
    """Names of which no two mean the same: which of them upstream finds changes from run to run."""
    found: dict[str, str] = {}
    for name in random.sample(_NAMES, random.randint(0, 5)):
        found.setdefault(name if "/" in name else f"{driver}/{name}", name)
    return list(found.values())


def prepared(device: Json, reading: cel.Reading) -> cel.CelDevice:
    """The device as our engine takes it."""
    attributes = {name: DeviceAttribute.model_validate(value) for name, value in device["attributes"].items()}
    capacity = {name: Quantity.parse(amount) for name, amount in device["capacity"].items()}
    return cel.prepare_device(device["driver"], attributes, capacity, device["multi"], reading)
