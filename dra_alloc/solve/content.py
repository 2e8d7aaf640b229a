"""
What tells the specifications of claims apart, quickly for plain ones.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from operator import attrgetter
from typing import Final

from dra_alloc.api import DeviceRequest, ResourceClaim
from dra_alloc.api.claims import AnyRequest
from dra_alloc.solve.frames import exact


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
    """Return the content of a request that has nothing unusual; None for others."""
    exactly, others = request.exactly, request.first_available
    asked = None if exactly is None else _asked(exactly)
    if not others:
        return None if asked is None else (request.name, asked)
    either = [_asked(each) for each in others]
    if None in either or (asked is None and exactly is not None):
        return None
    return request.name, asked, tuple([each.name for each in others]), tuple(either)


def _asked(asked: AnyRequest) -> Hashable:
    """Return what is asked for; None where that is unusual."""
    selectors = [each.cel.expression if each.cel is not None else None for each in asked.selectors]
    if asked.derived_attributes or None in selectors:
        return None
    capacity = None
    if asked.capacity is not None:
        capacity = tuple([(name, exact(amount)) for name, amount in asked.capacity.requests.items()])
    tolerations = tuple([_TOLERATED(each) for each in asked.tolerations]) if asked.tolerations else ()
    numbers = asked.allocation_mode, asked.count, getattr(asked, "admin_access", None)
    return asked.device_class_name, numbers, tuple(selectors), capacity, tolerations


_TOLERATED: Final = attrgetter("key", "operator", "value", "effect", "toleration_seconds")
