"""
Where constraints read attributes: derived ones of the request first, then those of the device.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import DerivedAttribute, DeviceAttribute
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Feature
from dra_alloc.rules.base import Context

__all__ = ["AttributeSource"]


class AttributeSource:
    """
    Reads the one attribute that a constraint compares.

    Spec: DERIVED-1, DERIVED-2, DERIVED-3.
    """

    __slots__ = ("_context", "_derived", "_knows", "name")

    def __init__(self, context: Context, name: str) -> None:
        self.name = name
        self._context = context
        self._knows = context.profile.on(Feature.DERIVED_ATTRIBUTES)
        self._derived: dict[int, DerivedAttribute | None] = {}

    def _of_request(self, ask: Ask) -> DerivedAttribute | None:
        if not self._knows:
            return None
        if ask.id not in self._derived:
            named = [each for each in ask.wire.derived_attributes if each.name == self.name]
            self._derived[ask.id] = named[-1] if named else None
        return self._derived[ask.id]

    def read(self, ask: Ask, device: DeviceRow) -> DeviceAttribute | None:
        """
        Return the attribute of the device as the request sees it; None if there is none.

        Raises: SearchStopped for an expression that does not compile or fails.
        """
        derived = self._of_request(ask)
        return device.attribute(self.name) if derived is None else self._context.derive(derived, device)

    def by_device(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> dict[DeviceRow, DeviceAttribute] | None:
        """
        Return the attribute of each device, whichever of the requests picks it; None where that matters.

        Derived ones are found out only for devices that the request selects.

        Raises: SearchStopped.
        """
        if all(self._of_request(ask) is None for ask in asks):
            return {device: found for device in devices if (found := device.attribute(self.name)) is not None}
        made: dict[DeviceRow, DeviceAttribute] = {}
        for device in devices:
            seen = [self.read(ask, device) for ask in asks if self._selects(ask, device)]
            if any(each != seen[0] for each in seen):
                return None
            if seen and seen[0] is not None:
                made[device] = seen[0]
        return made

    def _selects(self, ask: Ask, device: DeviceRow) -> bool:
        return device in ask.recorded if ask.all_devices else self._context.selects(ask, device)
