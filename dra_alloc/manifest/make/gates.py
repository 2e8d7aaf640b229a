"""
Fields of disabled feature gates, dropped from new objects as the API server drops them.

Only objects that are about to be applied are treated so: a stored object keeps
what it has, and the allocator decides what that means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.api import DeviceClaim, DeviceConstraint, DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dra_alloc.api.constraints import CONSTRAINT_KINDS

__all__ = ["DroppedField", "without_disabled"]

#: Gate -> the fields of a request, exact or alternative, that need it.
_REQUEST_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "DRAAdminAccess": ("admin_access",),
    "DRADeviceTaints": ("tolerations",),
    "DRAConsumableCapacity": ("capacity",),
    "DRADerivedAttributes": ("derived_attributes",),
}
_EMPTY: Final[Mapping[str, Any]] = {"tolerations": (), "derived_attributes": ()}


class DroppedField(NamedTuple):
    """A field below ``spec.devices`` that is not stored, and the gate that it needs."""

    path: str
    gate: str

    def __str__(self) -> str:
        return f"{self.path} ({self.gate})"


def without_disabled(devices: DeviceClaim, gates: Mapping[str, bool]) -> tuple[DeviceClaim, tuple[DroppedField, ...]]:
    """
    Return the claim's devices without what disabled gates take away, and what that was.

    A gate that the release does not have counts as off.

    Spec: GATE-1.
    """
    dropped: list[DroppedField] = []
    requests = tuple(
        _request(request, f"requests[{number}]", gates, dropped) for number, request in enumerate(devices.requests)
    )
    constraints = tuple(
        _constraint(constraint, f"constraints[{number}]", gates, dropped)
        for number, constraint in enumerate(devices.constraints)
    )
    if not dropped:
        return devices, ()
    return devices.model_copy(update={"requests": requests, "constraints": constraints}), tuple(dropped)


def _request(
    request: DeviceRequest, path: str, gates: Mapping[str, bool], dropped: list[DroppedField]
) -> DeviceRequest:
    changes: dict[str, Any] = {}
    if request.exactly is not None:
        changes["exactly"] = _fields(request.exactly, f"{path}.exactly", gates, dropped)
    if request.first_available and not gates.get("DRAPrioritizedList", False):
        changes["first_available"] = ()
        dropped.append(DroppedField(f"{path}.firstAvailable", "DRAPrioritizedList"))
    elif request.first_available:
        changes["first_available"] = _alternatives(request.first_available, path, gates, dropped)
    return request.model_copy(update=changes)


def _alternatives(
    alternatives: Sequence[DeviceSubRequest], path: str, gates: Mapping[str, bool], dropped: list[DroppedField]
) -> tuple[Any, ...]:
    return tuple(
        _fields(each, f"{path}.firstAvailable[{number}]", gates, dropped) for number, each in enumerate(alternatives)
    )


def _fields(
    request: ExactDeviceRequest | DeviceSubRequest, path: str, gates: Mapping[str, bool], dropped: list[DroppedField]
) -> ExactDeviceRequest | DeviceSubRequest:
    changes: dict[str, Any] = {}
    for gate, names in _REQUEST_FIELDS.items():
        if gates.get(gate, False):
            continue
        for name in names:
            if getattr(request, name, None):
                changes[name] = _EMPTY.get(name)
                wire = type(request).model_fields[name].alias or name
                dropped.append(DroppedField(f"{path}.{wire}", gate))
    return request.model_copy(update=changes) if changes else request


def _constraint(
    constraint: DeviceConstraint, path: str, gates: Mapping[str, bool], dropped: list[DroppedField]
) -> DeviceConstraint:
    gated = (kind for kind in CONSTRAINT_KINDS if kind.gate and not gates.get(kind.gate, False))
    gone = [kind for kind in gated if getattr(constraint, kind.member) is not None]
    dropped += [DroppedField(f"{path}.{kind.wire}", kind.gate) for kind in gone]
    return constraint.model_copy(update=dict.fromkeys(kind.member for kind in gone)) if gone else constraint
