"""
Pods that want one partition each, packed into whole GPUs by the ways in which a GPU can be divided.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dra_alloc.api import ObjectMeta, ResourceClaimStatus
from dra_alloc.scenario.gang.cells import Cells, cells_of_nodes, wants_one_device
from dra_alloc.scenario.gang.gang import can_place, place_gang, place_most
from dra_alloc.scenario.gang.menus import Menus, Shapes
from dra_alloc.scenario.gang.types import Verdict
from tests.unit.scenario.test_gang import claim, device, node, of, pods, resource_slice

pytestmark = pytest.mark.usefixtures("solver")


def gpus(*counts):
    """Return nodes with so many GPUs, each one whole of 4, or halves of 2, or quarters of 1."""
    slices = [
        each
        for number, count in enumerate(counts)
        for place in range(count)
        for each in gpu(f"n{number}", f"gpu{place}")
    ]
    return of(slices, [node(f"n{number}") for number in range(len(counts))])


def gpu(where, name):
    parts = [device("whole", 4, kind="whole")]
    parts += [device(f"half-{number}", 2, kind="half") for number in range(2)]
    parts += [device(f"quarter-{number}", 1, kind="quarter") for number in range(4)]
    # Each GPU is a pool of its own, so that it has a counter set of its own.
    return resource_slice(f"{where}-{name}", parts, {"nodeName": where}, counters=4)


WHOLE, HALF, QUARTER = claim(kind="whole"), claim(kind="half"), claim(kind="quarter")


def ways(world, *claims):
    members = pods(*claims)
    shapes = Shapes.of(members)
    groups = cells_of_nodes(
        Menus(world, shapes).allocator, world.nodes, [group[0].claims for group in shapes.members], shapes.demand
    )
    return [(group.ways, group.number) for group in groups]


def test_a_gpu_is_divided_in_every_way_to_which_nothing_can_be_added():
    assert ways(gpus(2, 1), *[WHOLE] * 3, *[HALF] * 6, *[QUARTER] * 12) == [
        (((0, 0, 4), (0, 1, 2), (0, 2, 0), (1, 0, 0)), 3)
    ]


def test_no_more_than_what_is_asked_for():
    assert ways(gpus(1), HALF, QUARTER) == [(((1, 1),), 1)]


def test_plain_devices_are_cells_of_their_own():
    world = of(resource_slice("n0", [device(name, kind="x") for name in "abc"], {"nodeName": "n0"}), [node("n0")])
    assert ways(world, claim(kind="x"), claim(kind="x"), claim()) == [(((0, 1), (1, 0)), 3)]


def test_a_used_gpu_is_another_kind_of_cell():
    world = gpus(2)
    held = place_gang(world, pods(HALF)).joint.placements[0]
    status = ResourceClaimStatus(allocation=held.results[0])
    taken = world.with_claim(HALF.model_copy(update={"metadata": ObjectMeta(name="held"), "status": status}))
    assert dict(ways(taken, WHOLE, HALF, HALF)) == {((0, 1),): 1, ((0, 2), (1, 0)): 1}


def test_only_pods_with_one_device_are_packed_so():
    assert wants_one_device((HALF,))
    assert not wants_one_device((HALF, HALF))
    assert not wants_one_device((claim(2),))
    assert not wants_one_device((claim(alternatives=({"deviceClassName": "any"},)),))


def test_packing_that_first_fit_misses():
    # Quarters first: in order they would break up both GPUs only if spread; wholes come last.
    members = pods(QUARTER, HALF, WHOLE, QUARTER)
    answers = place_gang(gpus(1, 1), members)
    assert answers.joint.verdict is Verdict.PLACED
    assert can_place(gpus(1, 1), members) is Verdict.PLACED
    assert can_place(gpus(1, 1), [*members, *pods(QUARTER)]) is Verdict.NONE


def test_number_counts_cells_of_all_nodes():
    assert Cells(((1,),), ((node("a"), 2), (node("b"), 3))).number == 5


@pytest.mark.parametrize("seed", range(20))
def test_cells_and_whole_nodes_give_the_same_verdict(seed):
    """Nodes filled one by one, jointly, are the definition; cells a short cut."""
    draw = random.Random(seed)
    world = gpus(*[draw.randint(0, 2) for _ in range(2)])
    members = pods(*draw.choices([WHOLE, HALF, QUARTER], [1, 3, 4], k=draw.randint(1, 9)))
    shapes = Shapes.of(members)
    menus = Menus(world, shapes)
    first, second = (menus.largest(where, shapes.demand) for where in world.nodes)
    fits = any(
        all(a + b >= wanted for a, b, wanted in zip(one, other, shapes.demand, strict=True))
        for one in first
        for other in second
    )
    assert (can_place(world, members) is Verdict.PLACED) == fits
    most = max(
        sum(min(a + b, wanted) for a, b, wanted in zip(one, other, shapes.demand, strict=True))
        for one in first
        for other in second
    )
    placed = place_most(world, members).joint.placements
    assert len(placed) == most
    used = Counter((each.driver, each.pool, each.device) for one in placed for each in one.results[0].devices.results)
    assert max(used.values(), default=1) == 1
