"""
Harness ops `quantity` and `cel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_alloc import cel
from dra_alloc.api import DeviceAttribute, Quantity
from dra_alloc.errors import InputError

__all__ = ["answer_cel", "answer_quantity"]


def _only(request: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(set(request) - known)
    if unknown:
        raise InputError(f"unknown keys: {', '.join(unknown)}")


def answer_quantity(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return `canonical` and `value`, or `err`."""
    _only(request, frozenset({"value"}))
    try:
        quantity = Quantity.parse(request["value"])
    except ValueError as error:
        return {"err": str(error)}
    return {"canonical": str(quantity), "value": quantity.value()}


def answer_cel(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `compile`, or `type`, `maxcost`, `cost` and `match` or `err`.

    Raises: InputError or ValueError for a request that cannot be understood.
    """
    _only(request, frozenset({"expr", "release", "mode", "list", "device"}))
    environment = cel.environment(
        request.get("release", "1.36"), request.get("mode", "stored"), bool(request.get("list", False))
    )
    try:
        program = environment.compile(request["expr"])
    except cel.CompileError as error:
        return {"compile": error.text}
    device = _device(request["device"], lists=environment.lists)
    answer = {"type": str(program.output_type), "maxcost": program.max_cost, "cost": program.cost(device)}
    try:
        return {**answer, "match": program.matches(device)}
    except cel.EvaluationError as error:
        return {**answer, "err": error.text}


def _device(wire: Mapping[str, Any], *, lists: bool) -> cel.CelDevice:
    unknown = sorted(set(wire) - {"driver", "attributes", "capacity", "multi"})
    if unknown:
        raise InputError(f"unknown device keys: {', '.join(unknown)}")
    return cel.prepare_device(
        wire.get("driver", ""),
        {name: DeviceAttribute.from_wire(value) for name, value in (wire.get("attributes") or {}).items()},
        {name: Quantity.from_wire(value) for name, value in (wire.get("capacity") or {}).items()},
        wire.get("multi"),
        lists=lists,
    )
