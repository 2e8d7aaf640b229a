"""
Gangs, replicas and as many pods as possible, in order and jointly.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, FrozenMap, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.alike_nodes import AlikeNodes
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.contents import Contents
from dra_alloc.cluster.known import Known
from dra_alloc.errors import InputError
from dra_alloc.problem.inventory import Inventory
from dra_alloc.scenario.gang import gang
from dra_alloc.scenario.gang.gang import can_place, fewest_nodes, place_gang, place_most, replicas
from dra_alloc.scenario.gang.menus import Menus, Shapes
from dra_alloc.scenario.gang.types import Member, Topology, Verdict
from dra_alloc.solve.best.objectives import Cheapest

ANY = DeviceClass.model_validate({"metadata": {"name": "any"}})


def resource_slice(name, devices, place, counters=0, driver="d"):
    pool = {"name": name, "generation": 1, "resourceSliceCount": 2 if counters else 1}
    spec = {"driver": driver, "pool": pool, **place}
    made = [{"metadata": {"name": name}, "spec": {**spec, "devices": devices}}]
    if counters:
        sets = [{"name": "set", "counters": {"m": {"value": str(counters)}}}]
        made.append({"metadata": {"name": f"{name}-counters"}, "spec": {**spec, "sharedCounters": sets}})
    return [ResourceSlice.model_validate(each) for each in made]


def device(name, size=0, **attributes):
    made = {"name": name, "attributes": {key: {"string": value} for key, value in attributes.items()}}
    if size:
        made["consumesCounters"] = [{"counterSet": "set", "counters": {"m": {"value": str(size)}}}]
    return made


def cluster(*counts, rack=2):
    """Return nodes with so many devices each, `rack` of them to a rack."""
    slices = [
        each
        for number, count in enumerate(counts)
        for each in resource_slice(
            f"n{number}", [device(f"g{place}") for place in range(count)], {"nodeName": f"n{number}"}
        )
    ]
    return of(slices, [node(f"n{number}", rack=f"r{number // rack}") for number in range(len(counts))])


def of(slices, nodes):
    return Cluster(Known(Contents(tuple(nodes), Inventory.build(slices), FrozenMap({"any": ANY}), FrozenMap())))


def node(name, **labels):
    return Node.model_validate({"metadata": {"name": name, "labels": labels}})


def ask(count=1, **attributes):
    cel = [{"cel": {"expression": f'device.attributes["d"].{key} == "{value}"'}} for key, value in attributes.items()]
    return {"deviceClassName": "any", "allocationMode": "ExactCount", "count": count, "selectors": cel}


def claim(count=1, alternatives=(), **attributes):
    request = {"name": "r", "exactly": ask(count, **attributes)}
    if alternatives:
        subs = [{"name": f"s{number}", **each} for number, each in enumerate(alternatives)]
        request = {"name": "r", "firstAvailable": subs}
    return ResourceClaim.model_validate({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})


def pods(*claims):
    return [Member(f"p{number}", (each,)) for number, each in enumerate(claims)]


def where(gang):
    return [placement.node for placement in gang.placements]


def test_a_gang_is_placed_as_a_whole_or_not_at_all():
    eight = claim(8)
    fits = place_gang(cluster(8, 8, 8), pods(eight, eight, eight))
    assert where(fits.joint) == ["n0", "n1", "n2"]
    short = place_gang(cluster(8, 8, 7), pods(eight, eight, eight))
    assert (short.greedy.verdict, short.joint.verdict) == (Verdict.NONE, Verdict.NONE)
    assert short.joint.placements == ()


def test_sixty_four_pods_of_eight():
    eight = claim(8)
    gang = pods(*[eight] * 64)
    assert place_gang(cluster(*[8] * 128), gang).joint.verdict is Verdict.PLACED
    assert place_gang(cluster(*[8] * 64), gang).joint.verdict is Verdict.PLACED
    assert place_gang(cluster(*[8] * 63, 7), gang).joint.verdict is Verdict.NONE


def test_the_first_pod_takes_the_whole_device_that_both_could_share():
    """Two pods want a whole GPU or else a half; in order the first leaves nothing. Upstream issue 138765."""
    devices = [device("whole", 2, kind="whole"), device("half-0", 1, kind="half"), device("half-1", 1, kind="half")]
    one_gpu = of(resource_slice("n0", devices, {"nodeName": "n0"}, counters=2), [node("n0")])
    either = claim(alternatives=(ask(kind="whole"), ask(kind="half")))
    answers = place_gang(one_gpu, pods(either, either))
    assert answers.greedy.verdict is Verdict.NONE
    assert answers.joint.verdict is Verdict.PLACED
    assert answers.lost_by_order
    picked = [placement.results[0].devices.results[0] for placement in answers.joint.placements]
    assert [(each.request, each.device) for each in picked] == [("r/s1", "half-0"), ("r/s1", "half-1")]


def test_three_replicas_on_two_devices():
    answers = replicas(cluster(2), (claim(),), 3)
    assert len(answers.joint.placements) == 2
    assert len(answers.greedy.placements) == 2


def test_more_replicas_than_are_looked_at_are_refused_at_once():
    with pytest.raises(InputError, match="1,000,000,000 copies are more than the 10,000"):
        replicas(cluster(2), (claim(),), 1_000_000_000)
    with pytest.raises(InputError, match="wanted is -1"):
        replicas(cluster(2), (claim(),), -1)
    assert len(replicas(cluster(2), (claim(),), 10_000).joint.placements) == 2


def test_claims_without_an_allocation_mode_are_completed_as_allocate_completes_them():
    bare = ResourceClaim.model_validate(
        {
            "metadata": {"name": "c"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any", "count": 2}}]}},
        }
    )
    subs = [{"name": "s", "deviceClassName": "any"}]
    either = ResourceClaim.model_validate(
        {"metadata": {"name": "e"}, "spec": {"devices": {"requests": [{"name": "r", "firstAvailable": subs}]}}}
    )
    world = cluster(2, 2)
    assert where(place_gang(world, pods(bare, either)).joint) == ["n0", "n1"]
    assert where(place_most(world, pods(bare, bare, either)).joint) == ["n0", "n1"]
    assert can_place(world, pods(bare, bare)) is Verdict.PLACED
    assert len(replicas(world, (bare,)).joint.placements) == 2
    assert world.on_node([bare], world.nodes[0])
    assert world.place([[bare], [either]]).placed == 2
    assert world.filter([bare]).nodes == ("n0", "n1")


def test_a_member_completes_its_claims_and_stays_the_member_placed():
    bare = ResourceClaim.model_validate(
        {
            "metadata": {"name": "c"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any"}}]}},
        }
    )
    member = Member("p", (bare,))
    exactly = member.claims[0].spec.devices.requests[0].exactly
    assert exactly is not None
    assert exactly.allocation_mode == "ExactCount"
    assert place_gang(cluster(1), [member]).joint.placements[0].member is member
    whole = claim()
    assert Member("p", (whole,)).claims[0] is whole


def test_replicas_without_a_wish_fill_the_cluster():
    assert len(replicas(cluster(3, 0, 5), (claim(2),)).joint.placements) == 3


def test_a_topology_label_must_be_equal():
    two = claim(2)
    racks = cluster(2, 2, 2, 2, 2, rack=2)
    assert where(place_gang(racks, pods(two, two), Topology("rack")).joint) == ["n0", "n1"]
    assert place_gang(racks, pods(two, two, two), Topology("rack")).joint.verdict is Verdict.NONE
    spread = place_gang(racks, pods(two, two, two), Topology("rack", must=False)).joint
    assert where(spread) == ["n0", "n1", "n2"]


def test_a_later_rack_is_used_if_the_first_is_too_small():
    two = claim(2)
    gang = place_gang(cluster(2, 0, 2, 2, rack=2), pods(two, two), Topology("rack")).joint
    assert where(gang) == ["n2", "n3"]


def test_nodes_without_the_label_have_no_part():
    assert place_gang(cluster(2), pods(claim()), Topology("zone")).joint.verdict is Verdict.NONE


def test_fewest_nodes():
    one = claim()
    answers = place_gang(cluster(1, 1, 4), pods(*[one] * 4), price=fewest_nodes)
    assert where(answers.greedy) == ["n0", "n1", "n2", "n2"]
    assert set(where(answers.joint)) == {"n2"}


def test_the_cheapest_nodes(solver):
    one = claim()
    prices = {"n0": 5, "n1": 3, "n2": 1, "n3": 1}
    answers = place_gang(cluster(4, 4, 2, 2), pods(*[one] * 4), price=lambda each: prices[each.metadata.name or ""])
    assert sorted(set(where(answers.joint))) == ["n2", "n3"]


def test_the_cheapest_rack(solver):
    two = claim(2)
    prices = {"n0": 5, "n1": 5, "n2": 4, "n3": 4, "n4": 1}
    racks = cluster(2, 2, 2, 2, 2)
    answers = place_gang(racks, pods(two, two), Topology("rack"), lambda each: prices[each.metadata.name or ""])
    assert where(answers.joint) == ["n2", "n3"]
    answers = place_gang(
        racks, pods(two, two), Topology("rack", must=False), lambda each: prices[each.metadata.name or ""]
    )
    assert where(answers.joint) == ["n2", "n3"]


def test_pods_of_two_shapes_are_packed_jointly(solver):
    # In order the small pods break up the only node that a large one fits on.
    answers = place_gang(cluster(4, 3), pods(claim(1), claim(2), claim(4)))
    assert answers.greedy.verdict is Verdict.NONE
    assert where(answers.joint) == ["n1", "n1", "n0"]


def test_pods_with_admin_access_are_not_said_to_have_no_place() -> None:
    """One of them looks over the other's shoulder, and a question about both does not let it."""
    wire = claim().to_wire()
    wire["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    overseer, plain = ResourceClaim.from_wire(wire), claim()
    assert place_gang(cluster(1), pods(overseer, plain)).joint.verdict is Verdict.PLACED
    assert can_place(cluster(1), pods(overseer, plain)) is Verdict.UNDECIDED
    assert not place_most(cluster(1), pods(overseer, plain, plain)).joint.proven
    assert can_place(cluster(1), pods(plain, plain)) is Verdict.NONE
    assert can_place(cluster(1), pods(overseer, claim(2))) is Verdict.NONE


def test_most_pods(solver):
    answers = place_most(cluster(4, 3), pods(claim(2), claim(3), claim(4), claim(1)))
    assert len(answers.greedy.placements) == 3
    assert len(answers.joint.placements) == 3
    assert answers.joint.proven


def test_shared_pools_are_not_given_out_twice():
    fabric = resource_slice("fabric", [device("f0"), device("f1")], {"allNodes": True})
    shared = of(fabric, [node("n0"), node("n1")])
    two = claim(2)
    assert place_gang(shared, pods(two)).joint.verdict is Verdict.PLACED
    answers = place_gang(shared, pods(two, two))
    assert answers.greedy.verdict is Verdict.NONE
    assert answers.joint.verdict is Verdict.NONE
    assert "share pools" in answers.joint.why
    assert place_gang(shared, pods(claim(3), two)).joint.verdict is Verdict.NONE


def test_a_broken_selector_is_reported():
    answers = place_gang(cluster(2), pods(claim(1, kind="x")))
    assert "no such key: kind" in answers.joint.why


def _fits(world, members):
    """Try every node for every pod, whole nodes at a time: the definition of a joint placement."""
    shapes = Shapes.of(members)
    menus = Menus(world, shapes)
    number = {member: shape for shape, group in enumerate(shapes.members) for member in group}
    best = 0
    for places in itertools.product([None, *world.nodes], repeat=len(members)):
        counts: dict[str, Any] = {}
        for member, place in zip(members, places, strict=True):
            if place is not None:
                at = counts.setdefault(place.metadata.name, [place, [0] * len(shapes.members)])
                at[1][number[member]] += 1
        if all(menus.takes(place, tuple(each)) for place, each in counts.values()):
            best = max(best, sum(place is not None for place in places))
    return best


@pytest.mark.parametrize("seed", range(25))
def test_joint_answers_equal_brute_force(seed, solver):
    draw = random.Random(seed)
    world = cluster(*[draw.randint(0, 4) for _ in range(draw.randint(1, 3))])
    members = pods(*[claim(draw.randint(1, 3)) for _ in range(draw.randint(1, 4))])
    most = _fits(world, members)
    assert len(place_most(world, members).joint.placements) == most
    assert (place_gang(world, members).joint.verdict is Verdict.PLACED) == (most == len(members))


def test_devices_that_choose_their_nodes_keep_nodes_apart():
    """Both nodes see the same slice; two of its devices are for the first, one for the second."""
    devices = [{"name": name, "nodeName": place} for name, place in (("a", "n0"), ("b", "n0"), ("c", "n1"))]
    both = of(resource_slice("pool", devices, {"perDeviceNodeSelection": True}), [node("n0"), node("n1")])
    alike = AlikeNodes(both.known.allocator, [claim(2)])
    assert len({alike.key(each) for each in both.nodes}) == 2
    assert where(place_gang(both, pods(claim(2), claim(1))).joint) == ["n0", "n1"]
    assert place_gang(both, pods(claim(2), claim(2))).joint.verdict is Verdict.NONE
    assert len(replicas(both, (claim(),)).joint.placements) == 3


def _best(there, price):
    return there.allocate([claim()], objectives=[price])


WRONG: list[tuple[Any, tuple[Any, ...], str]] = [
    (place_gang, (None,), "members takes a sequence of Member objects"),
    (place_gang, (Member("a", (claim(),)),), "members takes a sequence of Member objects"),
    (place_gang, ([claim()],), r"\[0\] is a ResourceClaim"),
    (place_gang, (pods(claim()), "zone"), "topology is a str"),
    (place_gang, (pods(claim()), None, None, ["stable"]), r"\[0\] is 'stable'"),
    (place_most, ("x",), "members takes a sequence of Member objects"),
    (replicas, (claim(),), "claims takes a sequence of ResourceClaim objects"),
    (replicas, ([claim()], 2.5), "wanted takes a whole number"),
    (lambda _, claims: Member("x", claims), (claim(),), "claims of member x takes a sequence"),
    (_best, (Cheapest(node_price=lambda _: 10**30),), "whole numbers from 0"),
    (_best, (Cheapest(lambda *_: float("nan")),), "is nan; prices"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("question", "arguments", "text"), WRONG)
def test_what_is_no_question_is_refused_by_name(question, arguments, text, solver):
    with pytest.raises(InputError, match=text):
        question(cluster(1), *arguments)


def test_as_many_as_fit_says_where_it_stops(monkeypatch):
    monkeypatch.setattr(gang, "MOST_COPIES", 3)
    many = replicas(cluster(4), [claim()]).joint
    assert (len(many.placements), many.proven) == (3, False)
    assert "not looked at" in many.why
    few = replicas(cluster(2), [claim()]).joint
    assert (len(few.placements), few.proven) == (2, True)
