"""
Where constraints read attributes: derived ones of the request first, then those of the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dra_alloc.api import DerivedAttribute, DeviceAttribute
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Feature, Trait
from dra_alloc.rules.base import Context, SearchStopped
from dra_alloc.rules.constraints.attribute_values import ValueSet, as_set, is_comparable, without_builds

Attributes: TypeAlias = dict[DeviceRow, DeviceAttribute]
AttributesByRequest: TypeAlias = dict[tuple[int, DeviceRow], DeviceAttribute]


class AttributeSource:
    """
    Reads the one attribute that a constraint compares.

    Spec: DERIVED-1, DERIVED-2, DERIVED-3, MATCH-6, MATCH-7.
    """

    __slots__ = ("_builds", "_checks", "_context", "_derived", "_knows", "_lists", "_names_request", "name")

    def __init__(self, context: Context, name: str) -> None:
        self.name = name
        self._context = context
        self._knows = context.profile.on(Feature.DERIVED_ATTRIBUTES)
        profile = context.profile
        self._lists = profile.lists and not profile.shows(Trait.CLASSIC_LISTS)
        self._checks = not profile.shows(Trait.ODD_VALUES_PICKED)
        self._names_request = not profile.shows(Trait.ODD_VALUES_UNNAMED)
        self._builds = profile.shows(Trait.BUILDS_COMPARED)
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

        Raises: SearchStopped for an expression that does not compile or fails, and for a value nobody can compare.
        """
        derived = self._of_request(ask)
        found = device.attribute(self.name) if derived is None else self._context.derive(derived, device)
        if found is None:
            return None
        if not self._comparable(found, derived=derived is not None):
            who = f"claim {self._context.claim_name(ask)}, request {ask.own_name}: " if self._names_request else ""
            text = f"{who}device {device.key}: unsupported attribute value for {self.name}"
            raise SearchStopped(text, code="attribute-unsupported")
        return found if self._builds else without_builds(found)

    def _comparable(self, attribute: DeviceAttribute, *, derived: bool) -> bool:
        if not self._checks or is_comparable(attribute, lists=self._lists):
            return True
        # An expression may yield a list of nothing, which has nothing in common with any.
        return derived and self._lists

    def values(self, attribute: DeviceAttribute) -> ValueSet | None:
        """Return the values and their kind; None if there are none, and a list of none is no reason to refuse."""
        found = as_set(attribute)
        return ("string", frozenset()) if found is None and self._checks else found

    def seen(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> tuple[Attributes, AttributesByRequest]:
        """
        Return the attribute of each device, and by request those of devices that requests see differently.

        Derived ones are found out only for devices that the request selects.
        Where reading one ends the search, the request sees none.
        """
        if all(self._of_request(ask) is None for ask in asks):
            found = ((device, self._published(device)) for device in devices)
            return {device: attribute for device, attribute in found if attribute is not None}, {}
        alike: Attributes = {}
        by_request: AttributesByRequest = {}
        for device in devices:
            seen = [(ask.id, self._read_if_any(ask, device)) for ask in asks if self.selects(ask, device)]
            if any(each != seen[0][1] for _, each in seen):
                by_request |= {(ask, device): each for ask, each in seen if each is not None}
            elif seen and seen[0][1] is not None:
                alike[device] = seen[0][1]
        return alike, by_request

    def _published(self, device: DeviceRow) -> DeviceAttribute | None:
        found = device.attribute(self.name)
        if found is None or not self._comparable(found, derived=False):
            return None
        return found if self._builds else without_builds(found)

    def _read_if_any(self, ask: Ask, device: DeviceRow) -> DeviceAttribute | None:
        try:
            return self.read(ask, device)
        except SearchStopped:
            return None

    def selects(self, ask: Ask, device: DeviceRow) -> bool:
        """Return whether a constraint can come to see the device picked for the request."""
        if ask.all_devices:
            return device in ask.recorded
        try:
            return self._context.selects(ask, device)
        except SearchStopped:
            # Looking at it ends the search, so that no constraint ever sees it.
            return False
