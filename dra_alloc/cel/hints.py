"""
Advice that upstream lacks, kept apart from upstream's words.

Hints come from the text of an error and from the devices at hand; they change
no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from dra_alloc.cel.device import CelDevice
from dra_alloc.cel.program import Program
from dra_alloc.cel.reads import Read
from dra_alloc.errors import did_you_mean

_MAP: Final = re.compile(r"found no matching overload for '[^']*' applied to '[^']*map\(string, (?:any|dyn)\)")
_CAPACITY_MAP: Final = re.compile(
    r"found no matching overload for '[^']*' applied to '[^']*map\(string, kubernetes\.Quantity\)"
)
_ORDERED: Final = re.compile(
    r"found no matching overload for '_(?:<|<=|>|>=)_' applied to '\([^']*kubernetes\.(Quantity|Semver)"
)
_QUOTED_QUANTITY: Final = re.compile(
    r"found no matching overload for '(?:isGreaterThan|isLessThan|compareTo|_==_|orValue)' applied to"
    r" '[^']*kubernetes\.Quantity[^']*(?:string|int)"
)
_NO_KEY: Final = re.compile(r"no such key: (.+)")
_DOMAIN_FIRST: Final = (
    "attribute maps are indexed by domain first, then by name: "
    'device.attributes["DOMAIN"].NAME, where DOMAIN is the driver name unless the attribute has one of its own'
)


def compile_hints(text: str, expression: str) -> tuple[str, ...]:
    """What to do about a compile error."""
    hints: list[str] = []
    if not expression.strip():
        hints.append("the selector is empty")
    if _MAP.search(text):
        hints.append(_DOMAIN_FIRST)
    if _CAPACITY_MAP.search(text):
        hints.append('capacity maps are indexed by domain first, then by name: device.capacity["DOMAIN"].NAME')
    if _ORDERED.search(text):
        hints.append("quantities and versions have no < or >: use isGreaterThan, isLessThan or compareTo")
    if _QUOTED_QUANTITY.search(text):
        hints.append('compare a quantity with a quantity: quantity("40Gi")')
    if "undefined field 'allowMultipleAllocations'" in text:
        hints.append("this environment lacks device.allowMultipleAllocations: the gate DRAConsumableCapacity is off")
    if "undeclared reference to 'includes'" in text:
        hints.append("includes needs release 1.36 and the gate DRAListTypeAttributes; use in for lists")
    if "not optional_type(" in text:
        hints.append("end an optional chain with orValue(...), or test it with hasValue()")
    if "Syntax error" in text and "'=" in text and "==" not in expression:
        hints.append("equality is ==")
    return tuple(hints)


def evaluation_hints(text: str, program: Program, device: CelDevice) -> tuple[str, ...]:
    """What to do about a run-time error on `device`."""
    match = _NO_KEY.search(text)
    if match is None:
        return ()
    name = match[1]
    hints = [f"guard {name} with has(), or read it with .?{name} and orValue()"]
    for read in program.reads:
        if read.name == name and read.kind in ("attribute", "capacity"):
            hints.extend(_near(read, device))
    return tuple(hints)


def _near(read: Read, device: CelDevice) -> Iterable[str]:
    """Where the device has what was meant: another kind of map, another domain, another spelling."""
    maps = {"attribute": device.attributes, "capacity": device.capacity}
    own = maps[read.kind]
    other = "capacity" if read.kind == "attribute" else "attribute"
    if read.name in maps[other].get(read.domain, {}):
        yield f"{read.domain}/{read.name} is published as {'an ' if other == 'attribute' else ''}{other}"
    for domain, names in own.items():
        if domain != read.domain and read.name in names:
            yield f"{read.name} is published in domain {domain}"
    if read.domain not in own:
        meant = did_you_mean(read.domain, own)
        yield f"no {read.kind} in domain {read.domain}" + (f"; {meant}" if meant else "")
        return
    meant = did_you_mean(read.name, own[read.domain])
    if meant:
        yield meant


def missing_hints(program: Program, devices: Sequence[CelDevice]) -> tuple[str, ...]:
    """Which of the names a selector reads some of `devices` lack."""
    hints = []
    for read in program.reads:
        if read.kind not in ("attribute", "capacity"):
            continue
        lacking = sum(1 for device in devices if not _has(read, device))
        if lacking:
            hints.append(f"{read.name} is missing on {lacking} of {len(devices)} devices: guard it")
    return tuple(hints)


def _has(read: Read, device: CelDevice) -> bool:
    maps = device.attributes if read.kind == "attribute" else device.capacity
    return read.name in maps.get(read.domain, {})
