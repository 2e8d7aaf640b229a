"""
Devices that have to be prepared before a pod may be bound.
"""

from __future__ import annotations

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules.base import Reason, Rule

__all__ = ["BindingConditions"]


class BindingConditions(Rule):
    """
    While the feature is off, a device with binding conditions is never chosen.

    Installed only then.

    Spec: BIND-1.
    """

    code = "binding-conditions-disabled"
    spec = ("BIND-1",)
    gathers = True
    __slots__ = ()

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        return device.has_binding_conditions

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        return Reason(self.code, "has binding conditions, whose feature gates are off")
