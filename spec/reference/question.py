"""
The question: one node, claims, and what is known of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api import (
    Device,
    DeviceClass,
    DeviceSubRequest,
    ExactDeviceRequest,
    Node,
    Quantity,
    ResourceClaim,
    ResourceSlice,
)

#: Driver, pool, device.
Key = tuple[str, str, str]

#: Switches of 1.37 that the reference does not speak of.
NOT_COVERED: Final = ("CompatibilityGroups", "DerivedAttributes", "OptionalNodeOperations", "FractionalCapacityRange")


class NotCovered(Exception):
    """The question uses something that the reference does not speak of; the text says what."""


@dataclass(frozen=True, eq=False)
class Offer:
    """A device that a pool offers on this node, and the slice it is in."""

    device: Device
    slice: ResourceSlice

    @property
    def key(self) -> Key:
        """Return what names the device in the cluster."""
        spec = self.slice.spec
        return spec.driver, spec.pool.name, self.device.name


@dataclass(frozen=True)
class Wanted:
    """One request, or one alternative of it: `full` is how results name it."""

    claim: int
    request: str
    full: str
    wire: ExactDeviceRequest | DeviceSubRequest

    @property
    def admin(self) -> bool:
        """Return whether admin access is asked for."""
        return getattr(self.wire, "admin_access", None) is True

    @property
    def everything(self) -> bool:
        """Return whether all matching devices are asked for."""
        return self.wire.allocation_mode == "All"


@dataclass(frozen=True, eq=False)
class Pick:
    """One device for one request."""

    wanted: Wanted
    offer: Offer


@dataclass(frozen=True, eq=False)
class Question:
    """One call of the allocator."""

    features: frozenset[str]
    node: Node
    claims: tuple[ResourceClaim, ...]
    classes: Mapping[str, DeviceClass]
    slices: tuple[ResourceSlice, ...]
    held: frozenset[Key]
    shared: frozenset[Key]
    consumed: Mapping[Key, Mapping[str, int]]

    def on(self, feature: str) -> bool:
        """Return whether a feature is on."""
        return feature in self.features

    def shareable(self, device: Device) -> bool:
        """Return whether several allocations may have the device at once."""
        return self.on("ConsumableCapacity") and device.allow_multiple_allocations is True


def read(request: Mapping[str, Any]) -> Question:
    """
    Return the question of a harness request.

    Raises: NotCovered.
    """
    features = frozenset(name for name, on in (request.get("features") or {}).items() if on)
    slices = tuple(map(ResourceSlice.model_validate, request.get("slices") or ()))
    claims = tuple(map(ResourceClaim.model_validate, request.get("claims") or ()))
    for name in NOT_COVERED:
        if name in features:
            raise NotCovered(name)
    if any(
        draw.compatibility_groups
        for each in slices
        for device in each.spec.devices
        for draw in device.consumes_counters
    ):
        raise NotCovered("compatibility groups")
    if any(each.spec.skip_node_operations for each in slices):
        raise NotCovered("skipped node operations")
    if request.get("taintRules"):
        raise NotCovered("taint rules")
    consumed = {
        tuple(entry["id"]): {name: Quantity.parse(str(amount)).nano for name, amount in entry["cap"].items()}
        for entry in request.get("aggregated") or ()
    }
    return Question(
        features,
        Node.model_validate(request.get("node") or {"metadata": {"name": "node-1"}}),
        claims,
        {each.metadata.name or "": each for each in map(DeviceClass.model_validate, request.get("classes") or ())},
        slices,
        frozenset(map(tuple, request.get("allocated") or ())),
        frozenset(tuple(entry[:3]) for entry in request.get("allocatedShared") or ()),
        consumed,
    )


def alternatives(question: Question) -> list[list[Wanted]]:
    """
    Return for each request of each claim, in order, what can be done for it: the request itself, or its alternatives.

    Raises: NotCovered.
    """
    every = []
    claims = [claim.spec.devices for claim in question.claims]
    for number, claim in enumerate(question.claims):
        for request in claim.spec.devices.requests:
            if request.first_available:
                subs = request.first_available
                every.append([Wanted(number, request.name, f"{request.name}/{sub.name}", sub) for sub in subs])
            elif request.exactly is not None:
                every.append([Wanted(number, request.name, request.name, request.exactly)])
            else:
                raise NotCovered("a request that asks for nothing")
    for each in (wanted for wish in every for wanted in wish):
        _refuse_what_admission_does(each, question)
    if any(not (each.match_attribute or each.distinct_attribute) for claim in claims for each in claim.constraints):
        raise NotCovered("a constraint that says nothing")
    return every


def _refuse_what_admission_does(wanted: Wanted, question: Question) -> None:
    """Raise NotCovered for a request that no allocator takes: what it answers then is not about picks."""
    if getattr(wanted.wire, "derived_attributes", ()):
        raise NotCovered("derived attributes")
    if wanted.wire.device_class_name not in question.classes:
        raise NotCovered("a class that is not there")
    selectors = (*question.classes[wanted.wire.device_class_name].spec.selectors, *wanted.wire.selectors)
    if any(selector.cel is None for selector in selectors):
        raise NotCovered("a selector that says nothing")
    if wanted.wire.allocation_mode not in ("ExactCount", "All"):
        raise NotCovered("an odd mode")
