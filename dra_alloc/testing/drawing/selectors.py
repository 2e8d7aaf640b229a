"""
Random CEL selectors that hold for a given device, mostly.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from dra_alloc.testing.drawing.cluster import DrawnDevice
from dra_alloc.testing.drawing.devices import Json
from dra_alloc.testing.drawing.draw import Chooser

#: What fails to compile, fails at run time, or is not a boolean.
_BROKEN: Final = (
    "device.driver",
    'device.driver == "d1',
    "device.nothing == 1",
    'device.attributes["d1"].zzz == 1',
    'device.attributes["d1"].a > 1',
    'device.capacity["d1"].none.isGreaterThan(quantity("1"))',
    'quantity("x").isInteger()',
    "1 / 0 == 1",
)


def selectors(target: DrawnDevice, draw: Chooser, *, rich: bool) -> list[Json]:
    """Return one or two selectors, made to hold for the device; `rich` uses more of the language."""
    count = 2 if draw.chance(0.2) else 1
    return [{"cel": {"expression": _expression(target, draw, rich=rich)}} for _ in range(count)]


def _expression(target: DrawnDevice, draw: Chooser, *, rich: bool) -> str:
    if rich and draw.chance(0.02):
        return draw.choice(_BROKEN)
    if draw.chance(0.1):
        return draw.choice(("true", "true", "false", "device.allowMultipleAllocations"))
    if draw.chance(0.15):
        return f'device.driver == "{target.driver}"'
    if rich and draw.chance(0.3):
        found = _capacity(target, draw)
        if found:
            return found
    attributes = target.wire.get("attributes", {})
    if not attributes:
        return f'device.driver == "{target.driver}"'
    name = draw.choice(list(attributes))
    domain, _, identifier = name.rpartition("/")
    return _comparison(domain or target.driver, identifier, attributes[name], draw, rich=rich)


def _comparison(domain: str, name: str, attribute: Json, draw: Chooser, *, rich: bool) -> str:
    path = f'device.attributes["{domain}"].{name}'
    guard = f"has({path}) && " if draw.chance(0.96) else ""
    kind = next(iter(attribute), "int")
    value = attribute.get(kind, 1)
    if kind in _LISTS:
        return guard + _LISTS[kind](path, value[0]) if rich and value else f"has({path})"
    if kind == "version":
        return guard + f'{path}.compareTo(semver("1.0.0")) >= 0' if rich else f"has({path})"
    plain = f"{path} == {json.dumps(value)}"
    if not rich or draw.chance(0.5):
        return guard + plain
    optional = f'device.attributes["{domain}"].?{name}'
    forms = (
        f"{optional}.orValue({json.dumps(value)}) == {json.dumps(value)}",
        f"{optional}.hasValue()",
        f'"{domain}" in device.attributes && {guard}{plain}',
        f"({plain}) || device.allowMultipleAllocations",
        f"!({plain})",
        f"{path} in [{json.dumps(value)}]",
    )
    return draw.choice(forms)


_LISTS: Final[dict[str, Callable[[str, object], str]]] = {
    "ints": lambda path, value: f"{path}.exists(x, x == {value})",
    "strings": lambda path, value: f"{json.dumps(value)} in {path}",
    "bools": lambda path, value: f"{path}.all(x, x == {json.dumps(value)})",
    "versions": lambda path, value: f'{path}.exists(x, x.isLessThan(semver("3.0.0")))',
}


def _capacity(target: DrawnDevice, draw: Chooser) -> str | None:
    capacity = target.wire.get("capacity", {})
    if not capacity:
        return None
    name = draw.choice(list(capacity))
    path = f'device.capacity["{target.driver}"].{name}'
    guard = f"has({path}) && " if draw.chance(0.8) else ""
    test = draw.choice(
        ('compareTo(quantity("2")) >= 0', 'isGreaterThan(quantity("500m"))', 'isLessThan(quantity("3"))')
    )
    return f"{guard}{path}.{test}"
