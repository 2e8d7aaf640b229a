"""
One device in slices of several nodes is given out once.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Outcome
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.manifest import Documents
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.namesakes import Namesakes
from dra_alloc.scenario.gang.gang import can_place, place_gang, place_most
from dra_alloc.scenario.gang.types import Member, Verdict

NODES = ("n0", "n1", "n2")


def a_slice(name: str, where: str, devices: tuple[Any, ...], generation: int = 1, count: int = 1) -> ResourceSlice:
    """`where` is pool@node."""
    pool, _, node = where.partition("@")
    made = [each if isinstance(each, dict) else {"name": each} for each in devices]
    of = {"name": pool, "generation": generation, "resourceSliceCount": count}
    spec = {"driver": "drv", "nodeName": node, "pool": of, "devices": made}
    return ResourceSlice.from_wire({"metadata": {"name": name}, "spec": spec})


def a_claim(name: str, **more: Any) -> ResourceClaim:
    exactly = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1, **more}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "ns"}, "spec": spec})


def made(*slices: ResourceSlice, settings: Settings = DEFAULT_SETTINGS) -> Cluster:
    nodes = tuple(Node.from_wire({"metadata": {"name": name}}) for name in NODES)
    classes = (DeviceClass.from_wire({"metadata": {"name": "c"}, "spec": {}}),)
    return Cluster.of(Documents(slices=slices, classes=classes, nodes=nodes), settings)


def told(outcome: Outcome) -> object:
    if not isinstance(outcome, Allocated):
        return "no"
    allocations = [claim.status.allocation for claim in outcome.claims]
    return outcome.node, [each.device for one in allocations if one for each in one.devices.results]


GENERATIONS = (
    a_slice("new", "shared@n2", ("d0",), generation=2),
    a_slice("old", "shared@n0", ("d0",), generation=1),
)
ONE_GENERATION = (
    a_slice("one", "shared@n2", ("d0",), count=2),
    a_slice("two", "shared@n0", ("d0",), count=2),
)


@pytest.mark.parametrize("slices", [GENERATIONS, ONE_GENERATION], ids=["generations", "one generation"])
@pytest.mark.parametrize("settings", [Settings(), Settings("1.34"), Settings(semantics="intended")], ids=str)
def test_a_device_in_slices_of_two_nodes_is_placed_once(slices, settings):
    cluster = made(*slices, settings=settings)
    pods = [[a_claim("a")], [a_claim("b")]]
    assert [told(each) for each in cluster.place(pods).outcomes] == [("n0", ["d0"]), "no"]


@pytest.mark.parametrize("slices", [GENERATIONS, ONE_GENERATION], ids=["generations", "one generation"])
def test_a_gang_does_not_get_it_twice(slices):
    cluster = made(*slices, settings=Settings(semantics="intended"))
    members = [Member(name, (a_claim(name),)) for name in "ab"]
    answers = place_gang(cluster, members)
    assert answers.joint.verdict is Verdict.NONE
    assert answers.joint.proven
    assert can_place(cluster, members) is Verdict.NONE
    assert can_place(cluster, members[:1]) is Verdict.PLACED
    most = place_most(cluster, members).joint
    assert [each.node for each in most.placements] == ["n0"]
    assert most.proven


def test_a_gang_goes_where_devices_are_others():
    """One node has a device that no other has: in order it would be taken by whoever needs no such device."""
    size = {"size": {"int": 2}}
    slices = [
        a_slice("old", "shared@n0", ("d0",), 1),
        a_slice("new", "shared@n1", ({"name": "d0", "attributes": size}, {"name": "d1"}), 2),
    ]
    cluster = made(*slices, settings=Settings(semantics="intended"))
    picky = a_claim("b", selectors=[{"cel": {"expression": "'size' in device.attributes['drv']"}}])
    answers = place_gang(cluster, [Member("a", (a_claim("a"),)), Member("b", (picky,))])
    assert answers.greedy.verdict is Verdict.NONE
    joint = answers.joint
    assert [(each.node, each.results[0].devices.results[0].device) for each in joint.placements] == [
        ("n1", "d1"),
        ("n1", "d0"),
    ]


def test_a_look_at_all_devices_with_admin_access_takes_none():
    cluster = made(*GENERATIONS, settings=Settings(semantics="intended"))
    watching = a_claim("w", adminAccess=True)
    members = [Member("a", (a_claim("a"),)), *(Member(f"w{number}", (watching,)) for number in range(2))]
    assert place_gang(cluster, members).joint.verdict is Verdict.PLACED


def test_capacity_of_a_device_that_two_nodes_have_is_consumed_for_both():
    amount = {"memory": {"value": "10", "requestPolicy": {"default": "10"}}}
    shared = {"name": "d0", "allowMultipleAllocations": True, "capacity": amount}
    cluster = made(
        a_slice("new", "shared@n2", (shared,), 2),
        a_slice("old", "shared@n0", (shared,), 1),
        settings=Settings("1.36", {"DRAConsumableCapacity": True}),
    )
    pods = [[a_claim("a")], [a_claim("b")]]
    assert [told(each) for each in cluster.place(pods).outcomes] == [("n0", ["d0"]), "no"]


@pytest.mark.parametrize("seed", range(20))
def test_random_generations_fill_up_as_one_question_after_the_other(seed):
    draw = random.Random(seed)
    slices = []
    for number in range(6):
        names = tuple(draw.sample(["d0", "d1", "d2", "d3"], draw.randint(1, 3)))
        generation, count = draw.randint(1, 2), draw.choice((1, 1, 2))
        slices.append(a_slice(f"s{number}", f"{draw.choice('pq')}@{draw.choice(NODES)}", names, generation, count))
    cluster = current = made(*slices, settings=Settings(draw.choice(("1.34", "1.36"))))
    pods = [[a_claim(f"c{number}", count=draw.randint(1, 2))] for number in range(6)]
    for claims, outcome in zip(pods, cluster.place(pods).outcomes, strict=True):
        expected = current.allocate(claims)
        assert told(outcome) == told(expected)
        current = current.after(expected)


def test_a_pool_on_one_node_has_no_namesakes():
    inventory = Inventory.build([a_slice("one", "p@n0", ("d0", "d1"), count=2), a_slice("two", "p@n0", ("d2",))])
    row = inventory.slices[0]
    assert Namesakes(inventory.by_pool).of(row, 1) == ((row, 1),)
