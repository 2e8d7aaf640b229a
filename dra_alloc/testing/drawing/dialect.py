"""
Which fields and switches a random case may use: what one release's allocator channel supports.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dra_alloc.profiles import Feature, profile
from dra_alloc.testing.drawing.draw import Chooser

#: What can be mixed into a case, and how often it is mixed in where it is used at all.
INGREDIENTS: tuple[str, ...] = (
    "several-drivers",
    "pool-name-twice",
    "several-slices",
    "old-generation",
    "broken-pool",
    "other-nodes",
    "node-selector",
    "all-nodes",
    "per-device-nodes",
    "counters",
    "shareable",
    "capacity",
    "request-policy",
    "taints",
    "binding-conditions",
    "binds-to-node",
    "foreign-attributes",
    "lists",
    "odd-attributes",
    "allocated",
    "odd-state",
    "several-claims",
    "several-requests",
    "crowd",
    "bait",
    "count",
    "all",
    "admin",
    "alternatives",
    "selectors",
    "class-selectors",
    "match",
    "distinct",
    "partial-constraint",
    "tolerations",
    "capacity-requests",
    "config",
    "misfit",
    "odd-claim",
    "many-devices",
    "gates-off",
    "compatibility-groups",
    "odd-amounts",
    "derived-attributes",
    "node-operations",
    "wide-amounts",
)

#: What no API server would have stored, or only while a driver is at work.
SPOILING: tuple[str, ...] = ("broken-pool", "odd-attributes", "odd-state", "odd-claim")

#: An ingredient is left out, used sparingly, evenly, or nearly always.
_RATES = (0.0, 0.0, 0.15, 0.5, 0.9)
#: How often relative to that. What spoils most cases it is in is rare, what makes them interesting is not.
_SHARE = {
    "broken-pool": 0.07,
    "odd-attributes": 0.01,
    "odd-amounts": 0.06,
    "wide-amounts": 0.1,
    "node-operations": 0.5,
    "odd-claim": 0.02,
    "odd-state": 0.3,
    "many-devices": 0.04,
    "gates-off": 0.15,
    "misfit": 0.15,
    "crowd": 0.9,
    "bait": 4.5,
    "all": 0.35,
    "old-generation": 0.4,
    "binding-conditions": 0.5,
    "other-nodes": 0.4,
    "allocated": 0.5,
    "class-selectors": 0.5,
    "node-selector": 0.7,
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """
    A release with one channel, or "auto".

    `rich_selectors` uses all of CEL, not only comparisons. `pools` bounds the
    pools per case. With `selector_switch` requests say whether selectors read
    list-typed attributes where that is a switch of its own, for who knows
    `selectorLists`.
    """

    release: str
    channel: str = "auto"
    pools: int = 3
    rich_selectors: bool = True
    selector_switch: bool = False

    @property
    def features(self) -> frozenset[Feature]:
        """Return the switches that the channel may have on."""
        if self.channel == "auto":
            return frozenset(Feature) - profile(self.release, Feature, "experimental").unsupported
        return frozenset(Feature) - profile(self.release, Feature, self.channel).unsupported

    @property
    def knows_lists(self) -> bool:
        """Return whether devices may have list-typed attributes."""
        return profile(self.release, ()).release.line >= (1, 36)

    @property
    def counters_with_devices(self) -> bool:
        """Return whether counter sets are in the slice of the devices that use them."""
        line = profile(self.release, ()).release.line
        return line < (1, 35) or (line == (1, 35) and self.channel == "stable")


@dataclass(frozen=True, slots=True)
class Mix:
    """How much of each ingredient one case has."""

    rates: dict[str, float] = field(default_factory=dict)

    @classmethod
    def drawn(cls, draw: Chooser) -> Mix:
        """Return a random mix."""
        return cls({name: draw.choice(_RATES) * _SHARE.get(name, 1.0) for name in INGREDIENTS})

    def without(self, names: Iterable[str], share: float) -> Mix:
        """Return the mix with only a share of some ingredients."""
        return Mix(self.rates | {name: self.rates[name] * share for name in names})

    def with_half(self, names: Iterable[str]) -> Mix:
        """Return the mix with some ingredients in half of all places at least."""
        return Mix(self.rates | {name: max(self.rates[name], 0.5) for name in names})

    def has(self, draw: Chooser, name: str) -> bool:
        """Return whether the ingredient goes in at this place."""
        return draw.chance(self.rates[name])
