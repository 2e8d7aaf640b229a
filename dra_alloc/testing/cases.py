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

#: Rarely off, because everything of their kind is then refused.
_OFTEN_ON: Final = frozenset({Feature.ADMIN_ACCESS, Feature.PRIORITIZED_LIST})


def random_request(draw: Draw, dialect: Dialect) -> Json:
    """Return a random question for the dialect's release and channel."""
    mix = Mix.drawn(draw)
    made = cluster(draw, mix, dialect)
    return {
        "release": dialect.release,
        "channel": dialect.channel,
        "engine": "first-fit",
        "features": _features(draw, mix, dialect),
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
        off = mix.has(draw, "gates-off") and not (feature in _OFTEN_ON and draw.chance(0.7))
        switches[str(feature)] = feature in dialect.features and not off
    return switches
