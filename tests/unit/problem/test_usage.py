"""
What existing allocations take of devices.
"""

from __future__ import annotations

from dra_alloc.api import AllocationResult
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.usage import Usage

A = DeviceKey("d", "p", "a")


def allocation(**more):
    entry = {"request": "r", "driver": "d", "pool": "p", "device": "a", **more}
    return AllocationResult.model_validate({"devices": {"results": [entry]}})


def test_what_allocations_take():
    assert Usage.of([allocation()], sharing=True).exclusive == {A}
    assert Usage.of([allocation(adminAccess=True)], sharing=True) == Usage()
    shares = [allocation(shareID=f"s{n}", consumedCapacity={"c": amount}) for n, amount in enumerate(("1", "500m"))]
    shared = Usage.of(shares, sharing=True)
    assert (shared.exclusive, shared.shared) == (frozenset(), {A})
    assert shared.consumed == {A: {"c": 1_500_000_000}}
    assert Usage.of(shares, sharing=False).exclusive == {A}
