"""
Random questions: harness requests for op `allocate`, reproducible from seed and number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_alloc.profiles import Feature
from dra_alloc.testing.claims import claims, classes
from dra_alloc.testing.cluster import cluster
from dra_alloc.testing.devices import Json
from dra_alloc.testing.dialect import Dialect, Mix
from dra_alloc.testing.draw import Draw, Seeded

__all__ = ["random_request", "random_requests"]

#: What claims mostly leave out while a switch is off, because it is refused as a whole.
_NEEDS: Final = {
    Feature.ADMIN_ACCESS: ("admin",),
    Feature.PRIORITIZED_LIST: ("alternatives",),
    Feature.CONSUMABLE_CAPACITY: ("capacity-requests",),
}


def random_request(draw: Draw, dialect: Dialect) -> Json:
    """Return a random question for the dialect's release and channel."""
    mix = Mix.drawn(draw)
    made = cluster(draw, mix, dialect)
    switches = _features(draw, mix, dialect)
    off = [name for feature, names in _NEEDS.items() if not switches[feature] for name in names]
    mix = mix.without(off, 0.1)
    return {
        "release": dialect.release,
        "channel": dialect.channel,
        "engine": "first-fit",
        "features": switches,
        "node": made.node,
        "claims": claims(made, draw, mix, dialect),
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


def _features(draw: Draw, mix: Mix, dialect: Dialect) -> dict[str, bool]:
    switches = {}
    for feature in Feature:
        off = mix.has(draw, "gates-off")
        switches[str(feature)] = feature in dialect.features and not off
    return switches
