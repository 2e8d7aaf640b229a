"""
What tells the specifications of claims apart, quickly for plain ones.
"""

from __future__ import annotations

import json
from collections.abc import Hashable

from dra_alloc.api import DeviceRequest, ResourceClaim

__all__ = ["content"]


def content(claim: ResourceClaim) -> Hashable:
    """
    Return a value that equal specifications share and others do not.

    Amounts and parameters go through their text: Python holds 1 and true for equal.
    """
    devices = claim.spec.devices
    requests = [None if devices.config else _plain(request) for request in devices.requests]
    if None in requests:
        return json.dumps(claim.spec.to_wire())
    constraints = [(each.requests, each.stated) for each in devices.constraints]
    return tuple(requests), tuple(constraints)


def _plain(request: DeviceRequest) -> Hashable:
    """Return the content of a request that has neither alternatives nor anything unusual; None for others."""
    asked = request.exactly
    if asked is None or request.first_available or asked.capacity is not None or asked.tolerations:
        return None
    selectors = [each.cel.expression if each.cel is not None else None for each in asked.selectors]
    if asked.derived_attributes or None in selectors:
        return None
    numbers = asked.allocation_mode, asked.count, asked.admin_access
    return request.name, asked.device_class_name, numbers, tuple(selectors)
