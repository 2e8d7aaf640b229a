"""
What is noted of claims comes to the same as a look at their allocations.
"""

from __future__ import annotations

import random

import pytest

from dra_alloc.api import ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents
from dra_alloc.manifest.make.holdings import holding_of, holdings_of
from dra_alloc.problem.ledger import Ledger
from dra_alloc.problem.occupancy import Held, Occupancy
from dra_alloc.problem.usage import Usage

KINDS: list[dict[str, object]] = [{}, {}, {"adminAccess": True}, {"shareID": "s", "consumedCapacity": {"c": "1"}}]


def _claim(draw: random.Random, number: int) -> ResourceClaim:
    """Return a claim with some results: whole devices, shares, admin access; or without an allocation."""
    results = [
        {
            "request": "r",
            "driver": "d",
            "pool": f"p{draw.randint(0, 2)}",
            "device": f"x{draw.randint(0, 4)}",
            **draw.choice(KINDS),
        }
        for _ in range(draw.randint(0, 3))
    ]
    meta = {"name": f"c{number}", **({"namespace": "ns"} if number % 2 else {})}
    wire = {"metadata": meta, "spec": {"devices": {"requests": []}}}
    allocated = {"status": {"allocation": {"devices": {"results": results}}}} if draw.random() < 0.9 else {}
    return ResourceClaim.from_wire({**wire, **allocated})


def _slice(pool: str) -> ResourceSlice:
    # A name twice, as pools have that are not valid.
    devices = [{"name": name} for name in ("x0", "x1", "x2", "x1")]
    spec = {"driver": "d", "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}, "nodeName": "n"}
    return ResourceSlice.from_wire({"metadata": {"name": pool}, "spec": {**spec, "devices": devices}})


@pytest.mark.parametrize("sharing", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_notes_come_to_what_allocations_say(seed: int, *, sharing: bool) -> None:
    draw = random.Random(seed)
    claims = [_claim(draw, number) for number in range(draw.randint(0, 8))]
    allocations = [claim.status.allocation for claim in claims]
    holdings = [holding_of(claim) for claim in claims]
    special = [each for each, note in zip(allocations, holdings, strict=True) if note.special and each is not None]
    there = [each for each in allocations if each is not None]
    beyond, all_of_it = (Usage.of(each, sharing=sharing) for each in (special, there))
    assert Held.noted(holdings_of(claims, {}), beyond) == Held.by(all_of_it)
    settings = Settings("1.36", {} if sharing else {"DRAConsumableCapacity": False})
    cluster = Cluster.of(Documents(slices=tuple(map(_slice, ("p0", "p1"))), claims=tuple(claims)), settings)
    named = [(note.name, each) for note, each in zip(holdings, allocations, strict=True) if each is not None]
    ledger = Ledger(named, sharing=sharing)
    assert dict(cluster.known.ledger.holds) == dict(ledger.holds)
    fresh = Cluster.of(Documents(slices=tuple(map(_slice, ("p0", "p1"))), claims=tuple(claims)), settings)
    from_usage = Occupancy.of(ledger.usage, fresh.inventory.by_pool)
    assert dict(fresh.known.occupancy.masks) == dict(from_usage.masks)
    rows = fresh.inventory.slices
    assert dict(fresh.known.occupancy.changed(rows, rows, None).masks) == dict(from_usage.masks)


def test_a_claim_that_is_not_the_one_read_is_looked_at_itself() -> None:
    claim = _claim(random.Random(3), 1)
    other = _claim(random.Random(4), 2)
    documents = Documents(claims=(claim, other), noted=holdings_of((other,), {}))
    assert documents.held.each == (holding_of(claim), holding_of(other))
    assert documents.held.distinct
