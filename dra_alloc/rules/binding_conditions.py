"""
Devices that have to be prepared before a pod may be bound.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import ALLOCATOR_FEATURES, Feature
from dra_alloc.rules.base import Reason, Rule

_GATES: Final = " or ".join(ALLOCATOR_FEATURES[Feature.BINDING])


class BindingConditions(Rule):
    """
    While the feature is off, a device with binding conditions is never chosen.

    Installed only then.

    Spec: BIND-1.
    """

    code = "binding-conditions-disabled"
    spec = ("BIND-1",)
    gathers = True
    fixed = True
    __slots__ = ()

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        return device.has_binding_conditions

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return not row.outline.waits

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        return Reason(self.code, f"has binding conditions, and {_GATES} is off")
