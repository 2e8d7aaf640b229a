"""
Harness ops `quantity` and `cel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_alloc.api import Quantity
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
    """Return `compile`, or `type`, `maxcost`, `cost` and `match` or `err`."""
    raise InputError("op cel is not wired up")
