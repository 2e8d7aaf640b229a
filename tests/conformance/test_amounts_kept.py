"""
What kube-scheduler keeps of one pod's question in the objects that it asks the next one with.

Upstream answers one pod after the other on the same objects; we answer each on the objects as the API server has
them. Where amounts are held by reference and the release adds to them, the second answers differ.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from fuzz.differential import ours
from fuzz.observed.build import ON, claim, device, partitioned, slice_, want
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable

Json = dict[str, Any]

BEFORE, SINCE = "1.36.6", "1.37.2"
WIDE, NARROW = "100Ti", "100Gi"


def counted(amount: str) -> list[Json]:
    """Return a pool of three devices that draw the amount from a counter that has three times as much."""
    slices = partitioned(0, *(device(name, k=amount) for name in "abc"))
    slices[0]["spec"]["sharedCounters"][0]["counters"]["m"]["value"] = amount.replace("1", "3", 1)
    return slices


def shareable(amount: str) -> list[Json]:
    """Return a device that can be shared, in amounts from 1 on."""
    policy = {"default": amount, "validRange": {"min": "1"}}
    return [slice_("s", [device("a", multi=True, cap={"c": {"value": "1Pi", "requestPolicy": policy}})])]


def base(slices: list[Json]) -> Json:
    return {
        "channel": "incubating",
        "features": dict(ON),
        "slices": slices,
        "classes": [{"metadata": {"name": "any"}, "spec": {}}],
    }


def got(answer: Json) -> list[tuple[str, Json | None]] | None:
    results = answer["results"]
    if results is None:
        return None
    return [(each["device"], each.get("consumedCapacity")) for one in results for each in one["devices"]["results"]]


def anew(slices: list[Json], claims: list[Json], release: str, **state: Any) -> list[tuple[str, Json | None]] | None:
    asked = {**base(copy.deepcopy(slices)), "claims": copy.deepcopy(claims), "release": release, **state}
    return got(ours({**asked, "engine": "first-fit"}))


@pytest.fixture(params=[BEFORE, SINCE])
def oracle(request: pytest.FixtureRequest) -> Iterator[Oracle]:
    with Oracle(request.param) as opened:
        try:
            opened.ask({"op": "quantity", "value": "1"})
        except OracleUnavailable as reason:
            pytest.skip(f"needs go: {reason}")
        yield opened


@pytest.mark.needs_go
@pytest.mark.parametrize("amount", [WIDE, NARROW])
def test_a_slice_keeps_what_its_counters_lent(oracle: Oracle, amount: str) -> None:
    slices = counted(amount)
    first, second = [claim(want("r", 2))], [claim(want("r"))]
    kept = oracle.ask({**base(slices), "op": "sequence", "pods": [{"claims": first}, {"claims": second}]})["answers"]
    assert got(kept[0]) == anew(slices, first, oracle.release) == [("a", None), ("b", None)]
    fresh = anew(slices, second, oracle.release, allocated=[["d", "p", "a"], ["d", "p", "b"]])
    assert fresh == [("c", None)]
    grown = oracle.release == BEFORE and amount == WIDE
    assert got(kept[1]) == (None if grown else fresh)


@pytest.mark.needs_go
@pytest.mark.parametrize("amount", [WIDE, NARROW])
def test_a_claim_keeps_what_its_amounts_grew_by(oracle: Oracle, amount: str) -> None:
    slices, claims = shareable(amount), [claim(want("r0", c=amount), want("r1", c=amount))]
    pods = [{"claims": claims, "drop": True}, {"again": 0, "drop": True}]
    kept = oracle.ask({**base(slices), "op": "sequence", "pods": pods})["answers"]
    fresh = anew(slices, claims, oracle.release)
    assert got(kept[0]) == fresh
    grown = oracle.release == BEFORE and amount == WIDE
    assert (got(kept[1]) != fresh) is grown
