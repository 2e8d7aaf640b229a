"""
Pools gathered for many nodes are those gathered for each alone.
"""

from __future__ import annotations

from itertools import islice

import pytest

from dra_alloc.api import FrozenMap, Node, ObjectMeta, ResourceSlice
from dra_alloc.problem.gathering import Gathering
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.pools import GatherError, Pool, gather
from dra_alloc.profiles import Profile, profile
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect

NODES = [
    Node(metadata=ObjectMeta(name=name, labels=FrozenMap({"zone": zone, "rack": "a"})))
    for name in ("n1", "n2", "n3")
    for zone in ("a", "b")
]
CHANNELS = [
    (release, channel)
    for release in ("1.34", "1.35", "1.36", "1.37")
    for channel in ("stable", "incubating", "experimental")
]


def _told(pool: Pool) -> tuple[object, ...]:
    return pool.key, pool.devices, pool.elsewhere, dict(pool.counters), pool.late


def _defined(inventory: Inventory, node: Node, chosen: Profile) -> object:
    try:
        pools = gather(inventory, node, chosen)
    except GatherError as error:
        return str(error)
    offering = [_told(pool) for pool in pools if pool.usable and pool.devices]
    return offering, any(pool.invalid for pool in pools)


def _offered(gathering: Gathering, node: Node) -> object:
    try:
        offer = gathering.offer(node)
    except GatherError as error:
        return str(error)
    return [_told(pool) for pool in offer.pools if pool.devices], offer.invalid


def _cases(release: str, channel: str, count: int):
    dialect = Dialect(release, channel)
    for request in islice(random_requests(11, dialect), count):
        features = [name for name, on in request["features"].items() if on]
        yield [ResourceSlice.from_wire(each) for each in request["slices"]], profile(release, features, channel)


@pytest.mark.parametrize(("release", "channel"), CHANNELS)
def test_offers_are_the_pools_with_devices(release, channel):
    for slices, chosen in _cases(release, channel, 60):
        inventory = Inventory.build(slices)
        gathering = Gathering(inventory, chosen)
        for node in NODES:
            assert _offered(gathering, node) == _defined(inventory, node, chosen)


@pytest.mark.parametrize(("release", "channel"), CHANNELS)
def test_a_changed_pool_is_looked_at_anew(release, channel):
    for slices, chosen in _cases(release, channel, 40):
        for left_out in slices[:3]:
            before = Inventory.build(slices)
            after, keys = before.changed((), [left_out.metadata.name])
            gathering = Gathering(before, chosen)
            for node in NODES:
                _offered(gathering, node)
            changed = gathering.changed(keys, after)
            for node in NODES:
                assert _offered(changed, node) == _defined(after, node, chosen)
            again, keys = after.changed([left_out])
            changed = changed.changed(keys, again)
            for node in NODES:
                assert _offered(changed, node) == _defined(again, node, chosen)
