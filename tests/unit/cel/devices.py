"""Devices for the tests of selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import DeviceAttribute, Quantity

#: As releases before lists read a device.
_SCALARS: Final = cel.Reading(lists=False)


def device(value: Mapping[str, Any], reading: cel.Reading = _SCALARS) -> cel.CelDevice:
    """The prepared device of a document: driver, attributes, capacity, multi."""
    attributes = {
        name: DeviceAttribute.model_validate(attribute) for name, attribute in value.get("attributes", {}).items()
    }
    capacity = {name: Quantity.parse(amount) for name, amount in value.get("capacity", {}).items()}
    return cel.prepare_device(value.get("driver", "d"), attributes, capacity, value.get("multi"), reading)
