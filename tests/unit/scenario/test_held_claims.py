"""
Claims that are allocated already rule nodes out, whatever those nodes would say.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Outcome, Undecided, Unsatisfiable
from dra_alloc.cluster.standings import UNDECIDED, Asked, Standings
from dra_alloc.errors import InputError
from dra_alloc.manifest import Documents
from dra_alloc.scenario.gang.types import Member
from dra_alloc.solve.best.objectives import FewestNodes
from dra_alloc.solve.cpsat.solver import is_installed

SIZED = "device.attributes['drv'].size > 1"


def a_slice(node: str, devices: list[Any]) -> ResourceSlice:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "drv", "nodeName": node, "pool": pool, "devices": devices}
    return ResourceSlice.from_wire({"metadata": {"name": node}, "spec": spec})


def a_class(name: str, expression: str = "") -> DeviceClass:
    selectors = [{"cel": {"expression": expression}}] if expression else []
    return DeviceClass.from_wire({"metadata": {"name": name}, "spec": {"selectors": selectors}})


def a_claim(name: str, of_class: str, **more: Any) -> ResourceClaim:
    exactly = {"deviceClassName": of_class, "allocationMode": "ExactCount", "count": 1, **more}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "ns"}, "spec": spec})


def made(**devices: list[Any]) -> Cluster:
    nodes = tuple(Node.from_wire({"metadata": {"name": name}}) for name in devices)
    classes = (a_class("any"), a_class("picky", SIZED))
    slices = tuple(a_slice(name, each) for name, each in devices.items())
    return Cluster.of(Documents(slices=slices, classes=classes, nodes=nodes))


def plain(number: int = 2) -> list[Any]:
    return [{"name": f"d{each}"} for each in range(number)]


def sized(number: int = 2) -> list[Any]:
    return [{"name": f"d{each}", "attributes": {"size": {"int": 2}}} for each in range(number)]


def held_on(cluster: Cluster, node: str) -> tuple[Cluster, ResourceClaim]:
    found = cluster.allocate([a_claim("shared", "any")], node)
    assert isinstance(found, Allocated)
    return cluster.after(found), found.claims[0]


def told(outcome: Outcome) -> object:
    match outcome:
        case Allocated(node, claims, _):
            allocations = [claim.status.allocation for claim in claims]
            return node, [each.device for one in allocations if one for each in one.devices.results]
        case Unsatisfiable(refusals, aborts):
            return aborts, [(each.node, each.code, each.error) for each in refusals]
        case Undecided(nodes, _):
            return "undecided", nodes


def test_an_error_on_a_node_that_is_ruled_out_does_not_end_the_attempt():
    cluster, held = held_on(made(n0=plain(), n1=sized(), n2=plain()), "n1")
    pod = [held, a_claim("mine", "picky")]
    assert list(cluster.filter(pod)) == ["n1"]
    assert told(cluster.allocate(pod)) == ("n1", ["d0", "d1"])
    assert told(cluster.place([pod]).outcomes[0]) == ("n1", ["d0", "d1"])


def test_an_error_on_the_only_node_left_does():
    cluster, held = held_on(made(n0=sized(), n1=plain()), "n1")
    pod = [held, a_claim("mine", "picky")]
    placed = cluster.place([pod]).outcomes[0]
    assert isinstance(placed, Unsatisfiable)
    assert placed.aborts
    assert [each.node for each in placed.refusals] == ["n1"]


def test_errors_on_all_other_nodes_are_no_reasons():
    cluster, held = held_on(made(n0=plain(), n1=sized(1), n2=plain()), "n1")
    pod = [held, a_claim("mine", "picky")]
    expected = told(cluster.allocate(pod))
    assert told(cluster.place([pod]).outcomes[0]) == expected
    assert expected == (
        False,
        [
            ("n0", "allocated-elsewhere", "claim ns/shared is allocated for n1, and not for this node"),
            ("n1", "no-fit", ""),
            ("n2", "allocated-elsewhere", "claim ns/shared is allocated for n1, and not for this node"),
        ],
    )


def test_undecided_nodes_that_are_ruled_out_are_no_doubt(monkeypatch):
    cluster, held = held_on(made(n0=sized(), n1=plain(1)), "n1")
    pod = [held, a_claim("mine", "any")]
    search = Standings._judge

    def judge(standings: Standings, asked: Asked, place: int) -> int:
        return UNDECIDED if standings.roster.names[place] == "n0" else search(standings, asked, place)

    monkeypatch.setattr(Standings, "_judge", judge)
    monkeypatch.setattr(Standings, "_quick", lambda *_: None)
    assert cluster.filter(pod[1:]).undecided == ("n0",)
    placed = cluster.place([pod]).outcomes[0]
    assert isinstance(placed, Unsatisfiable)
    assert [(each.node, each.code) for each in placed.refusals] == [("n0", "allocated-elsewhere"), ("n1", "no-fit")]


@pytest.mark.skipif(not is_installed(), reason="OR-tools is not installed")
def test_the_best_on_a_node_that_is_ruled_out_is_none():
    cluster, held = held_on(made(n0=sized(), n1=sized()), "n1")
    pod = [held, a_claim("mine", "any")]
    assert isinstance(cluster.allocate(pod, "n0", objectives=[FewestNodes()]), Unsatisfiable)
    assert told(cluster.allocate(pod, "n1", objectives=[FewestNodes()])) == ("n1", ["d0", "d1"])


def test_a_gang_does_not_take_what_is_allocated():
    _, held = held_on(made(n0=plain()), "n0")
    with pytest.raises(InputError, match=r"claims\[1\] of member m, ns/shared, is allocated already"):
        Member("m", (a_claim("mine", "any"), held))
