"""
A cluster that followed events is one made anew of what there is then: nodes, answers and hash.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Outcome, Unsatisfiable
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents
from dra_alloc.problem.requests import claim_name

Wire = dict[str, Any]
GROUP = "resource.k8s.io/v1"
MODELS = {
    "ResourceSlice": ("slices", ResourceSlice),
    "DeviceClass": ("classes", DeviceClass),
    "Node": ("nodes", Node),
    "DeviceTaintRule": ("taint_rules", DeviceTaintRule),
    "ResourceClaim": ("claims", ResourceClaim),
}


def _object(kind: str, name: str, spec: Wire | None = None, **meta: str) -> Wire:
    version = "v1" if kind == "Node" else GROUP
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, **meta},
        **({} if spec is None else {"spec": spec}),
    }


def _slice(name: str, node: str, devices: Sequence[Wire | str] = ("d0",), *, count: int = 1, **spec: Any) -> Wire:
    """A slice of the node's own pool."""
    pool = {"name": spec.pop("pool", node), "generation": spec.pop("generation", 1), "resourceSliceCount": count}
    listed = [each if isinstance(each, dict) else {"name": each} for each in devices]
    return _object("ResourceSlice", name, {"driver": "drv", "nodeName": node, "pool": pool, "devices": listed, **spec})


def _class(name: str, expression: str | None = None) -> Wire:
    selectors = [] if expression is None else [{"cel": {"expression": expression}}]
    return _object("DeviceClass", name, {"selectors": selectors})


def _claim(name: str, mode: str = "ExactCount", of: str = "c") -> ResourceClaim:
    exactly = {"deviceClassName": of, "allocationMode": mode} | ({"count": 1} if mode == "ExactCount" else {})
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return ResourceClaim.from_wire(_object("ResourceClaim", name, spec, namespace="ns"))


def _made_of(objects: Sequence[Wire], settings: Settings | None = None) -> Cluster:
    members: dict[str, Any] = {member: [] for member, _ in MODELS.values()}
    for each in objects:
        member, model = MODELS[each["kind"]]
        members[member].append(model.from_wire(each))
    given: Any = {name: tuple(each) for name, each in members.items()}
    return Cluster.of(Documents(**given), settings or Settings("1.36"))


def _event(kind: str, item: Mapping[str, Any]) -> Wire:
    return {"type": kind, "object": dict(item)}


def _told(outcome: Outcome) -> object:
    match outcome:
        case Allocated(node, claims):
            return node, [
                each.device
                for claim in claims
                if claim.status.allocation is not None
                for each in claim.status.allocation.devices.results
            ]
        case Unsatisfiable(refusals, aborts):
            return aborts, [(each.node, each.code, each.error) for each in refusals]
        case _:
            return "undecided"


QUESTIONS = ([_claim("one")], [_claim("all", "All")], [_claim("fast", of="fast"), _claim("other")])
TAKES_ALL = [_claim("all", "All")]
COUNTERS = [{"name": "set", "counters": {"memory": {"value": "4"}}}]
CONSUMER = {"name": "d0", "consumesCounters": [{"counterSet": "set", "counters": {"memory": {"value": "1"}}}]}


def test_a_class_and_a_slice_may_change_at_once():
    cluster = _made_of([_object("Node", "a"), _object("Node", "b"), _class("c"), _slice("s", "a")])
    assert list(cluster.filter([_claim("q")])) == ["a"]
    other = _event("ADDED", _class("other"))
    gone = cluster.apply([other, _event("DELETED", _slice("s", "a"))])
    assert not gone.allocate([_claim("q")])
    changed = cluster.apply([other, _event("MODIFIED", _slice("s", "a", ["new"]))])
    assert _told(changed.allocate([_claim("q")])) == ("a", ["new"])
    more = cluster.apply([_event("MODIFIED", _class("c")), _event("ADDED", _slice("t", "b"))])
    assert list(more.filter([_claim("q")])) == ["a", "b"]


def test_other_nodes_see_that_a_pool_with_counters_is_incomplete():
    """Counter slices are looked at on every node, and All needs every pool it sees to be complete."""
    devices = _slice("n0-devices", "n0", [CONSUMER], count=2)
    counters = _slice("n0-counters", "n0", [], count=2, sharedCounters=COUNTERS)
    objects = [_object("Node", "n1"), _object("Node", "n0"), _class("c"), counters, devices, _slice("n1-devices", "n1")]
    whole = _made_of(objects)
    assert list(whole.filter(TAKES_ALL)) == ["n1", "n0"]
    partial = whole.without_slice("n0-devices")
    assert list(partial.filter(TAKES_ALL)) == []
    assert list(partial.with_slice(ResourceSlice.from_wire(devices)).filter(TAKES_ALL)) == ["n1", "n0"]


@pytest.mark.parametrize("release", ["1.34", "1.36"])
def test_rules_that_are_not_merged_leave_the_hash_alone(release):
    rule = _object(
        "DeviceTaintRule", "t", {"deviceSelector": {"driver": "drv"}, "taint": {"key": "k", "effect": "NoSchedule"}}
    )
    objects = [_object("Node", "a"), _class("c"), _slice("s", "a")]
    cluster = _made_of(objects, Settings(release))
    before = cluster.state_hash
    assert cluster.apply([_event("ADDED", rule)]).state_hash == before
    assert cluster.apply([_event("ADDED", rule)]).apply([_event("DELETED", rule)]).state_hash == before
    assert _made_of([*objects, rule], Settings(release)).state_hash == before


def test_a_merged_rule_can_go_whatever_scheduler_is_asked_about():
    rule = _object(
        "DeviceTaintRule", "t", {"deviceSelector": {"driver": "drv"}, "taint": {"key": "k", "effect": "NoSchedule"}}
    )
    objects = [_object("Node", "a"), _class("c"), _slice("s", "a")]
    tainted = _made_of([*objects, rule], Settings("1.37"))
    assert not tainted.allocate([_claim("q")])
    free = tainted.with_settings(Settings("1.36")).apply([_event("DELETED", rule)])
    assert free.allocate([_claim("q")])
    assert free.with_settings(Settings("1.37")).state_hash == _made_of(objects, Settings("1.37")).state_hash


def test_the_hash_is_that_of_what_an_object_says():
    class Ours(ResourceClaim):
        """A caller's own."""

    wire = _claim("q").to_wire()
    beta = {**wire, "apiVersion": "resource.k8s.io/v1beta2"}
    brief = {**wire, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}}
    cluster = _made_of([_class("c")])
    wanted = cluster.with_claim(_claim("q")).state_hash
    assert cluster.with_claim(Ours.from_wire(wire)).state_hash == wanted
    assert cluster.with_claim(ResourceClaim.from_wire(beta)).state_hash == wanted
    assert cluster.apply([_event("ADDED", brief)]).state_hash == wanted
    assert cluster.with_claim(ResourceClaim.from_wire(brief)).state_hash == wanted


def test_nodes_follow_what_slices_name_while_there_are_no_node_objects():
    cluster = _made_of([_class("c"), _slice("s", "a")])
    more = cluster.apply([_event("ADDED", _slice("t", "b"))])
    assert list(more.filter([_claim("q")])) == ["a", "b"]
    assert [node.metadata.name for node in more.without_slice("s").nodes] == ["b"]
    real = more.apply([_event("ADDED", _object("Node", "x"))])
    assert [node.metadata.name for node in real.nodes] == ["x"]
    assert real.apply([_event("DELETED", _object("Node", "x"))]).nodes == more.nodes
    empty = Cluster.of(Documents()).apply([_event("ADDED", _class("c")), _event("ADDED", _slice("s", "a"))])
    assert _told(empty.allocate([_claim("q")])) == ("a", ["d0"])


def _some_object(draw: random.Random) -> Wire:
    """An object of few names, so that most replace another."""
    node = draw.choice("ab")
    match draw.randrange(9):
        case 0:
            return _object("Node", draw.choice("abx"))
        case 1:
            return _class(draw.choice(["c", "fast"]), draw.choice([None, "device.driver == 'drv'", "false"]))
        case 2:
            spec = {
                "deviceSelector": {"pool": node},
                "taint": {"key": "k", "effect": draw.choice(["NoSchedule", "None"])},
            }
            return _object("DeviceTaintRule", "t", spec)
        case 3:
            return _slice(f"{node}-counters", node, [], count=2, pool=f"{node}-parts", sharedCounters=COUNTERS)
        case 4:
            generation = draw.randint(1, 2)
            return _slice(f"{node}-parts", node, [CONSUMER], count=2, pool=f"{node}-parts", generation=generation)
        case _:
            names = [f"d{number}" for number in range(draw.randint(0, 3))]
            return _slice(f"{node}-{draw.randint(0, 1)}", node, names, count=draw.randint(1, 2))


def _steps(draw: random.Random, there: dict[tuple[str, str], Wire]) -> Iterator[list[Wire]]:
    """Batches of events, which `there` follows."""
    for _ in range(6):
        events = []
        for _ in range(draw.randint(1, 4)):
            item = _some_object(draw)
            key = item["kind"], item["metadata"]["name"]
            if key in there and draw.random() < 0.4:
                there.pop(key)
                events.append(_event("DELETED", item))
            else:
                events.append(_event("MODIFIED" if key in there else "ADDED", item))
                there[key] = item
        yield events


@pytest.mark.parametrize("settings", [Settings("1.36"), Settings("1.37"), Settings("1.34")], ids=str)
def test_what_followed_events_is_what_is_made_anew(settings):
    for seed in range(12):
        draw = random.Random(seed)
        there = {(each["kind"], each["metadata"]["name"]): each for each in (_class("c"), _slice("a-0", "a"))}
        cluster = _made_of(list(there.values()), settings)
        for events in _steps(draw, there):
            for claims in QUESTIONS:
                cluster.filter(claims)
            if draw.random() < 0.5:
                outcome = cluster.allocate([_claim(draw.choice(["h", "i"]))])
                cluster = cluster.after(outcome)
            elif draw.random() < 0.5:
                cluster = cluster.without_claim("ns/h")
            cluster = cluster.apply(events)
            # In the order of the one that followed: order decides which node comes first.
            nodes = [] if cluster.implied else [node.to_wire() for node in cluster.nodes]
            slices = [row.wire.to_wire() for row in cluster.inventory.slices]
            rest = [each for (kind, _), each in there.items() if kind in ("DeviceClass", "DeviceTaintRule")]
            assert {each["metadata"]["name"] for each in slices} == {n for k, n in there if k == "ResourceSlice"}
            anew = _made_of([*nodes, *slices, *rest], settings).with_claims(cluster.claims.values())
            assert sorted(map(claim_name, anew.claims.values())) == sorted(cluster.claims)
            assert anew.state_hash == cluster.state_hash, seed
            for claims in QUESTIONS:
                assert list(cluster.filter(claims)) == list(anew.filter(claims)), seed
                assert _told(cluster.allocate(claims)) == _told(anew.allocate(claims)), seed
                for node in cluster.nodes:
                    name = node.metadata.name or ""
                    assert _told(cluster.allocate(claims, name)) == _told(anew.allocate(claims, name)), seed
