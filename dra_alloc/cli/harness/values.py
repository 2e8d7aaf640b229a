"""
Harness ops `quantity` and `cel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import DeviceAttribute, Quantity
from dra_alloc.cli.harness.reading import read_model, read_quantity
from dra_alloc.cli.harness.shapes import check_shape
from dra_alloc.errors import InputError
from dra_alloc.manifest.read.paths import MapKey

_CEL: Final = {"expr": str, "release": str, "mode": str, "list": bool, "device": dict}
_DEVICE: Final = {"driver": str, "attributes": dict, "capacity": dict, "multi": bool}


def answer_quantity(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return `canonical` and `value`, or `err`."""
    check_shape(request, {"value": str})
    text = request.get("value")
    if text is None:
        raise InputError("value is missing")
    try:
        quantity = Quantity.parse(text)
    except ValueError as error:
        return {"err": str(error)}
    return {"canonical": str(quantity), "value": quantity.value()}


def answer_cel(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `compile`, or `type`, `maxcost`, `cost` and `match` or `err`.

    Raises: InputError or ValueError for a request that cannot be understood.
    """
    check_shape(request, _CEL)
    expression = request.get("expr")
    if expression is None:
        raise InputError("expr is missing")
    environment = cel.environment(
        request.get("release") or "1.36", request.get("mode") or "stored", bool(request.get("list"))
    )
    try:
        program = environment.compile(expression)
    except cel.CompileError as error:
        return {"compile": error.text}
    device = _device(request.get("device") or {}, environment.reading)
    cost, said = program.weigh(device)
    answer = {"type": str(program.output_type), "maxcost": program.max_cost, "cost": cost}
    return {**answer, "err": said.text} if isinstance(said, cel.EvaluationError) else {**answer, "match": said}


def _device(wire: Mapping[str, Any], reading: cel.Reading) -> cel.CelDevice:
    check_shape(wire, _DEVICE, "device ")
    return cel.prepare_device(
        wire.get("driver") or "",
        {name: _attribute(name, value) for name, value in (wire.get("attributes") or {}).items()},
        {name: read_quantity(value, "device.capacity", name) for name, value in (wire.get("capacity") or {}).items()},
        wire.get("multi"),
        reading,
    )


def _attribute(name: str, value: Any) -> DeviceAttribute:
    return read_model(DeviceAttribute, value, ("device", "attributes", MapKey(name)))
