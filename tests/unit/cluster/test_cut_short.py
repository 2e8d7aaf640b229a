"""What a command's work did not suffice for is undecided in that command, and asked again by whoever has more."""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import Unschedulable, Unsettled
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.attempts.turns import attempts
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Undecided, Unsatisfiable
from dra_alloc.manifest import Documents
from dra_alloc.scenario.gang.books import Books
from dra_alloc.scenario.gang.gang import place_gang
from dra_alloc.scenario.gang.greedy import place_in_order
from dra_alloc.scenario.gang.menus import Menus, TooMuchWork
from dra_alloc.scenario.gang.types import Member, Topology, Verdict
from dra_alloc.solve.ladder import Budget
from dra_alloc.work import Purse, cuts, evenly, is_spent, solver_limit

API = {"apiVersion": "resource.k8s.io/v1"}
NAMES = ("n0", "n1", "n2", "n3")


def a_claim(name: str = "q", model: str = "none") -> ResourceClaim:
    selector = {"cel": {"expression": f'device.attributes["d"].model == "{model}"'}}
    exactly = {"deviceClassName": "any", "selectors": [selector]}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return ResourceClaim.from_wire({**API, "metadata": {"name": name}, "spec": spec})


@pytest.fixture
def cluster() -> Cluster:
    """Four nodes with a device each, no two alike."""

    def sliced(name: str) -> dict[str, Any]:
        device = {"name": "d", "attributes": {"model": {"string": name}}}
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        return {**API, "metadata": {"name": name}, "spec": spec(name, pool, device)}

    def spec(name: str, pool: dict[str, Any], device: dict[str, Any]) -> dict[str, Any]:
        return {"driver": "d", "nodeName": name, "pool": pool, "devices": [device]}

    return Cluster.of(
        Documents(
            slices=tuple(ResourceSlice.from_wire(sliced(name)) for name in NAMES),
            classes=(DeviceClass.from_wire({**API, "metadata": {"name": "any"}, "spec": {}}),),
            nodes=tuple(Node.from_wire({"metadata": {"name": name}}) for name in NAMES),
        )
    )


def test_a_later_question_without_a_purse_is_decided(cluster):
    with Purse(1):
        assert cluster.filter([a_claim()]).undecided == NAMES[1:]
    fits = cluster.filter([a_claim()])
    assert (fits.nodes, fits.undecided) == ((), ())


@pytest.mark.parametrize("asked", [None, NAMES[2:]])
def test_what_is_cut_short_is_undecided_and_a_new_purse_goes_on(cluster, asked):
    with Purse(1) as purse:
        cluster.filter([a_claim(model="n3")])
        assert purse.left <= 0
        assert cluster.filter([a_claim(model="n3")], asked).undecided == (asked or NAMES[1:])
    with Purse(1000):
        fits = cluster.filter([a_claim(model="n3")], asked)
        assert (fits.nodes, fits.undecided) == (("n3",), ())


def test_placing_leaves_nothing_undecided_behind(cluster):
    with Purse(1):
        assert isinstance(cluster.place([[a_claim()]]).outcomes[0], Undecided)
    assert isinstance(cluster.place([[a_claim()]]).outcomes[0], Unsatisfiable)
    assert cluster.filter([a_claim()]).undecided == ()


def test_an_equal_claim_has_its_part(cluster):
    """Each has a quarter kept for it, and goes on where the one before it was stopped."""
    with Purse(4):
        left = [cluster.filter([each]).undecided for each in evenly(iter([a_claim("a"), a_claim("b")]), 2)]
    assert len(NAMES) > len(left[0]) > len(left[1])


def test_an_equal_pod_is_asked_again_where_one_of_its_template_was_stopped(cluster):
    pods = [Pod.from_wire({"metadata": {"name": name}}) for name in "abc"]
    queued = [Queued(pod, (a_claim(f"claim-{pod.metadata.name}"),), template="t") for pod in pods]
    with Purse(4):
        first, second, third = evenly(attempts(Scheduling(cluster), queued), 2)
    assert first.outcome == Unsettled("a", NAMES[3:])
    assert isinstance(second.outcome, Unschedulable)
    assert (second.same_as, third.same_as) == (None, 1)


def test_a_budget_of_its_own_that_runs_out_is_remembered(cluster):
    """Whoever asks with the same budget gets the same answer, in a command or not."""
    with Purse(100_000):
        undecided = cluster.filter([a_claim("a"), a_claim("b")], budget=Budget(steps=0)).undecided
    assert cluster.filter([a_claim("a"), a_claim("b")], budget=Budget(steps=0)).undecided == undecided


def test_a_member_of_a_gang_asks_again_where_an_equal_one_was_stopped(cluster):
    members = [Member("a", (a_claim("a", "n3"),)), Member("b", (a_claim("b", "n3"),))]
    with Purse(4):
        found = place_in_order(Books(cluster.known.allocator), cluster.nodes, members)
    assert [each.member.name for each in found.placements] == ["b"]


def test_shorter_work_of_the_solver_counts_as_cut():
    with Purse(1_000_000):
        assert solver_limit(0.5) == 0.5
        assert cuts() == 0
        assert not is_spent()
        assert solver_limit(5.0) < 1
        assert cuts() == 1
    assert cuts() == 0
    assert not is_spent()


def test_a_gang_is_undecided_where_one_of_it_is(cluster):
    """The first has its place at once; what is left does not suffice to find the other's, with which all would fit."""
    members = [Member("a", (a_claim("a", "n0"),)), Member("b", (a_claim("b", "n3"),))]
    with Purse(2):
        most = place_in_order(Books(cluster.known.allocator), cluster.nodes, members)
    assert [each.member.name for each in most.placements] == ["a"]
    assert (most.verdict, most.proven) == (Verdict.PLACED, False)
    with Purse(2):
        answers = place_gang(cluster, members)
    assert answers.greedy.verdict is answers.joint.verdict is Verdict.UNDECIDED
    assert "budget of 2 units" in answers.greedy.why
    assert not answers.lost_by_order
    assert place_gang(cluster, members).joint.verdict is Verdict.PLACED


def test_the_cheapest_is_not_proven_where_a_rack_was_not_looked_at(cluster, monkeypatch):
    """Two racks: the second, cheaper one is undecided."""
    racks = {name: ("dear" if name in NAMES[:2] else "cheap") for name in NAMES}
    nodes = [Node.from_wire({"metadata": {"name": name, "labels": {"rack": racks[name]}}}) for name in NAMES]
    racked = Cluster(cluster.known.on_nodes(nodes))
    exactly = {"deviceClassName": "any"}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    claim = ResourceClaim.from_wire({**API, "metadata": {"name": "q"}, "spec": spec})
    price = {"dear": 2, "cheap": 1}

    def priced(node: Node) -> int:
        return price[node.metadata.labels["rack"]]

    whole = place_gang(racked, [Member("a", (claim,))], Topology("rack"), priced).joint
    assert (whole.nodes, whole.proven) == (("n2",), True)
    asked = Menus.takes

    def takes(self: Menus, node: Node, counts: tuple[int, ...]) -> bool:
        if racks[node.metadata.name or ""] == "cheap":
            raise TooMuchWork("no more work")
        return asked(self, node, counts)

    monkeypatch.setattr(Menus, "takes", takes)
    found = place_gang(racked, [Member("a", (claim,))], Topology("rack"), priced).joint
    assert (found.nodes, found.proven) == (("n0",), False)
