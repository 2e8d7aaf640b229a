"""
Releases as data: which allocator runs, with which features, showing which behaviours.

A :class:`Profile` is all that the floors above know about a release. Nothing
there asks for a release number: a rule asks whether a :class:`Trait` holds. A
trait is a behaviour that differs between releases or allocator channels, or a
defect of upstream; `semantics="intended"` switches the defects off and leaves
the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from dra_alloc.errors import InputError
from dra_alloc.gates import gates_of
from dra_alloc.releases import Release, parse_release, start_of
from dra_alloc.traits import Channel, Trait, traits_of

__all__ = [
    "ALLOCATOR_FEATURES",
    "CHANNEL_FEATURES",
    "CHANNEL_GATES",
    "Channel",
    "Feature",
    "Profile",
    "Release",
    "Semantics",
    "Trait",
    "features_from_gates",
    "gates_of",
    "parse_release",
    "profile",
    "profile_for",
    "with_selector_lists",
]


class Semantics(StrEnum):
    """Whose answer is wanted: upstream's, defects included, or what the API promises."""

    UPSTREAM = "upstream"
    INTENDED = "intended"


class Feature(StrEnum):
    """The allocator's switches, by upstream's names."""

    ADMIN_ACCESS = "AdminAccess"
    COMPATIBILITY_GROUPS = "CompatibilityGroups"
    CONSUMABLE_CAPACITY = "ConsumableCapacity"
    DERIVED_ATTRIBUTES = "DerivedAttributes"
    BINDING = "DeviceBindingAndStatus"
    TAINTS = "DeviceTaints"
    FRACTIONAL_RANGE = "FractionalCapacityRange"
    LIST_ATTRIBUTES = "ListTypeAttributes"
    OPTIONAL_NODE_OPERATIONS = "OptionalNodeOperations"
    PARTITIONABLE = "PartitionableDevices"
    PRIORITIZED_LIST = "PrioritizedList"


#: Which gates must all be on for a feature to reach the allocator.
ALLOCATOR_FEATURES: Final[Mapping[Feature, tuple[str, ...]]] = {
    Feature.ADMIN_ACCESS: ("DRAAdminAccess",),
    Feature.COMPATIBILITY_GROUPS: ("DRADeviceCompatibilityGroups",),
    Feature.CONSUMABLE_CAPACITY: ("DRAConsumableCapacity",),
    Feature.DERIVED_ATTRIBUTES: ("DRADerivedAttributes",),
    Feature.BINDING: ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
    Feature.TAINTS: ("DRADeviceTaints",),
    Feature.FRACTIONAL_RANGE: ("DRAFractionalCapacityRange",),
    Feature.LIST_ATTRIBUTES: ("DRAListTypeAttributes",),
    Feature.OPTIONAL_NODE_OPERATIONS: ("DRAOptionalNodeOperations",),
    Feature.PARTITIONABLE: ("DRAPartitionableDevices",),
    Feature.PRIORITIZED_LIST: ("DRAPrioritizedList",),
}

#: Gates that choose a channel by themselves in a release line: its scheduler hands each of them to the allocator.
CHANNEL_GATES: Final[Mapping[tuple[int, int], Mapping[str, Channel]]] = {
    (1, 34): {
        "DRADeviceBindingConditions": Channel.EXPERIMENTAL,
        "DRAResourceClaimDeviceStatus": Channel.EXPERIMENTAL,
    },
}

#: Since when stored selectors read list-typed attributes whatever the gate says.
_LISTS_SINCE: Final = start_of("1.37.0-alpha.3")
#: Since when the allocator is told whether list-typed attributes are on.
_LISTS_COMPARED: Final = start_of("1.37")

_STABLE_FEATURES: Final = frozenset(
    {Feature.ADMIN_ACCESS, Feature.PRIORITIZED_LIST, Feature.PARTITIONABLE, Feature.TAINTS}
)
_SHARING_FEATURES: Final = _STABLE_FEATURES | {Feature.BINDING, Feature.CONSUMABLE_CAPACITY}

#: What each channel's allocator supports, since the release given; the first channel that fits is used.
CHANNEL_FEATURES: Final[tuple[tuple[str, Mapping[Channel, frozenset[Feature]]], ...]] = (
    (
        "1.38",
        {
            Channel.STABLE: _SHARING_FEATURES | {Feature.FRACTIONAL_RANGE},
            Channel.INCUBATING: frozenset(Feature),
            Channel.EXPERIMENTAL: frozenset(Feature),
        },
    ),
    (
        "1.37.0",
        {
            Channel.STABLE: _STABLE_FEATURES,
            Channel.INCUBATING: _SHARING_FEATURES | {Feature.FRACTIONAL_RANGE},
            Channel.EXPERIMENTAL: frozenset(Feature),
        },
    ),
    (
        "1.36",
        {
            Channel.STABLE: _STABLE_FEATURES,
            Channel.INCUBATING: _SHARING_FEATURES,
            Channel.EXPERIMENTAL: _SHARING_FEATURES | {Feature.LIST_ATTRIBUTES},
        },
    ),
    (
        "1.34",
        {
            Channel.STABLE: frozenset(),
            Channel.INCUBATING: _STABLE_FEATURES,
            Channel.EXPERIMENTAL: _SHARING_FEATURES,
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Profile:
    """
    One allocator of one release with one feature set: what the engines and rules are installed with.

    `unsupported` are features the channel does not know; `cel_lists` says that
    selectors can read list attributes.
    """

    release: Release
    channel: Channel
    features: frozenset[Feature]
    traits: frozenset[Trait]
    semantics: Semantics
    unsupported: frozenset[Feature] = frozenset()
    cel_lists: bool = False

    def on(self, feature: Feature) -> bool:
        """Return whether the feature is switched on."""
        return feature in self.features

    @property
    def lists(self) -> bool:
        """Return whether constraints compare list-typed attributes."""
        return Feature.LIST_ATTRIBUTES in self.features

    @property
    def shares(self) -> bool:
        """Return whether a device that allows several allocations can have them."""
        return self.on(Feature.CONSUMABLE_CAPACITY) and not self.shows(Trait.NO_SHARING)

    def shows(self, trait: Trait) -> bool:
        """Return whether this allocator shows the behaviour or defect."""
        return trait in self.traits


def features_from_gates(release: str | Release, gates: Mapping[str, bool]) -> frozenset[Feature]:
    """
    Return the features the scheduler of the release hands to the allocator under these gates.

    Before 1.37 list attributes reach the selectors only.

    Spec: PROFILE-2.
    """
    on = {feature for feature, needed in ALLOCATOR_FEATURES.items() if all(gates.get(gate, False) for gate in needed)}
    if parse_release(release) < _LISTS_COMPARED:
        on.discard(Feature.LIST_ATTRIBUTES)
    return frozenset(on)


def profile_for(
    release: str | Release, gates: Mapping[str, bool], channel: str = "auto", semantics: str | Semantics = "upstream"
) -> Profile:
    """
    Return the profile of the scheduler of a release under these gates.

    Under the default gates of 1.34 it is the experimental one.

    Spec: PROFILE-1, PROFILE-4.
    Raises: InputError.
    """
    if channel == "auto":
        choosing = CHANNEL_GATES.get(parse_release(release).line, {})
        channel = next((each for gate, each in choosing.items() if gates.get(gate, False)), channel)
    made = profile(release, features_from_gates(release, gates), channel, semantics)
    return with_selector_lists(made, on=gates.get("DRAListTypeAttributes", False))


def with_selector_lists(chosen: Profile, *, on: bool) -> Profile:
    """
    Return the profile with the selectors' own switch for list-typed attributes; newer releases do not ask it.

    Spec: PROFILE-5.
    """
    return replace(chosen, cel_lists=on or chosen.release >= _LISTS_SINCE)


def profile(
    release: str | Release,
    features: Iterable[Feature],
    channel: str = "auto",
    semantics: str | Semantics = Semantics.UPSTREAM,
) -> Profile:
    """
    Return the profile of an allocator.

    With channel "auto" it is the first of stable, incubating and experimental
    that supports every feature that is on.

    Spec: PROFILE-1 (channel choice).
    Raises: InputError for an unknown release, channel or semantics.
    """
    if channel not in ("auto", *Channel):
        raise InputError(f"unknown channel {channel!r}", hint=f"channels: auto, {', '.join(Channel)}")
    if semantics not in tuple(Semantics):
        raise InputError(f"unknown semantics {semantics!r}", hint=f"semantics: {', '.join(Semantics)}")
    wanted = None if channel == "auto" else Channel(channel)
    meaning = Semantics(semantics)
    return _profile(parse_release(release), frozenset(features), wanted, meaning)


@lru_cache(maxsize=1024)
def _profile(release: Release, features: frozenset[Feature], channel: Channel | None, semantics: Semantics) -> Profile:
    supported = next(table for since, table in CHANNEL_FEATURES if release >= start_of(since))
    if channel is None:
        fitting = (each for each, able in supported.items() if features <= able)
        channel = next(fitting, Channel.EXPERIMENTAL)
    traits = traits_of(release, channel, defects=semantics is Semantics.UPSTREAM)
    lists = Feature.LIST_ATTRIBUTES in features or release >= _LISTS_COMPARED
    return Profile(release, channel, features, traits, semantics, features - supported[channel], lists)
