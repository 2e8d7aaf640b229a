"""
Random questions: harness requests for op `allocate`, reproducible from seed and number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_alloc.profiles import Feature, Trait, profile, with_selector_lists
from dra_alloc.testing.admitted import admit_claim, admit_slice
from dra_alloc.testing.drawing.claims import claims, classes
from dra_alloc.testing.drawing.cluster import cluster
from dra_alloc.testing.drawing.devices import Json
from dra_alloc.testing.drawing.dialect import SPOILING, Dialect, Mix
from dra_alloc.testing.drawing.draw import Chooser, Seeded

#: What is mostly left out while a switch is off, because it is refused as a whole.
_NEEDS: Final = {
    Feature.ADMIN_ACCESS: ("admin",),
    Feature.PRIORITIZED_LIST: ("alternatives",),
    Feature.CONSUMABLE_CAPACITY: ("capacity-requests",),
    Feature.PARTITIONABLE: ("counters", "per-device-nodes"),
    Feature.BINDING: ("binding-conditions",),
    Feature.COMPATIBILITY_GROUPS: ("compatibility-groups",),
    Feature.DERIVED_ATTRIBUTES: ("derived-attributes",),
    Feature.OPTIONAL_NODE_OPERATIONS: ("node-operations",),
}
#: How much is left of what is refused, and in how many cases all of it is there after all, so that each meets each.
_LEFT: Final = 0.02
_SPREE: Final = 0.05
#: Alpha features, which are off as often as not.
_ALPHA: Final = frozenset(
    {
        Feature.COMPATIBILITY_GROUPS,
        Feature.DERIVED_ATTRIBUTES,
        Feature.FRACTIONAL_RANGE,
        Feature.OPTIONAL_NODE_OPERATIONS,
    }
)


def random_request(draw: Chooser, dialect: Dialect, *, spoilt: bool = True) -> Json:
    """Return a random question for the dialect's release and channel; some hold what is not valid, if `spoilt`."""
    mix = Mix.drawn(draw)
    if not spoilt:
        mix = mix.without(SPOILING, 0.0)
    switches = _features(draw, mix, dialect)
    own = _selector_switch(draw, switches, dialect)
    refused = _refused(switches, dialect, lists=own.get("selectorLists"))
    mix = mix.with_half(refused) if spoilt and draw.chance(_SPREE) else mix.without(refused, _LEFT)
    if profile(dialect.release, (), dialect.channel).shows(Trait.PERMUTATIONS):
        mix = mix.without(("crowd", "bait", "several-claims", "count"), 0.75)  # else too many cases explode
    made = cluster(draw, mix, dialect)
    if not spoilt:
        for each in made.slices:
            admit_slice(each)
    asked = claims(made, draw, mix, dialect)
    if not spoilt:
        for claim in asked:
            admit_claim(claim)
    return {
        "release": dialect.release,
        "channel": dialect.channel,
        "engine": "first-fit",
        "features": switches,
        **own,
        "node": made.node,
        "claims": asked,
        "classes": classes(made, draw, mix, dialect),
        "slices": made.slices,
        "allocated": made.allocated,
        "allocatedShared": made.allocated_shared,
        "aggregated": made.aggregated,
    }


def random_requests(seed: int, dialect: Dialect, *, start: int = 0) -> Iterator[Json]:
    """Return endless questions; each is named after its seed and number, from which alone it is made."""
    number = start
    while True:
        draw = Seeded(f"{seed}/{dialect.release}/{dialect.channel}/{number}")
        name = f"{seed}/{dialect.release}/{dialect.channel}/{number}"
        yield {"name": name, **random_request(draw, dialect)}
        number += 1


def _features(draw: Chooser, mix: Mix, dialect: Dialect) -> dict[str, bool]:
    switches = {}
    for feature in Feature:
        off = mix.has(draw, "gates-off") or (feature in _ALPHA and draw.chance(0.4))
        switches[str(feature)] = feature in dialect.features and not off
    return switches


def _selector_switch(draw: Chooser, switches: dict[str, bool], dialect: Dialect) -> dict[str, bool]:
    """Return the selectors' own switch for lists; schedulers of 1.36 set it without the allocator's."""
    if not dialect.selector_switch or not dialect.knows_lists or draw.chance(0.5):
        return {}
    return {"selectorLists": switches[Feature.LIST_ATTRIBUTES] or draw.chance(0.7)}


def _refused(switches: dict[str, bool], dialect: Dialect, *, lists: bool | None) -> list[str]:
    on = [feature for feature in Feature if switches[feature]]
    chosen = profile(dialect.release, on, dialect.channel)
    names = [name for feature, needing in _NEEDS.items() if not switches[feature] for name in needing]
    if lists is not None:
        chosen = with_selector_lists(chosen, on=lists)
    if not chosen.cel_lists:
        names.append("lists")
    if chosen.shows(Trait.NO_DISTINCT):
        names.append("distinct")
    return names
