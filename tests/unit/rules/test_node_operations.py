"""
Slices that skip node operations, as upstream 1.37.2 answered the same questions.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.solve.cpsat.first import first_answer
from dra_alloc.solve.table.pruned import PrunedSearch
from fuzz.observed.build import ON, claim, device, problem, slice_, want
from tests.unit.solve.questions import table

SWITCHES = {**ON, "OptionalNodeOperations": True}
BOTH = ["NodePrepareResources", "NodeUnprepareResources"]


def node(*declared):
    return {"metadata": {"name": "node-1"}, "status": {"declaredFeatures": list(declared)}}


ABLE = node("Other", "DRAOptionalNodeOperations")


def skipping(*names, operations=("*",), **more):
    return slice_("s", [device(name) for name in names], skipNodeOperations=list(operations), **more)


def ask(slices, *requests, features=SWITCHES, release="1.37.2", channel="experimental", **more):
    switches = {"features": features, "release": release, "channel": channel, "engine": "first-fit"}
    return {**problem(slices, claim(*(requests or (want("r"),)))), **switches, **more}


def results(*args, **more):
    answer = answer_allocate(ask(*args, **more))
    if answer["results"] is None:
        return answer.get("err")
    return [(each["device"], each.get("skipNodeOperations")) for each in answer["results"][0]["devices"]["results"]]


@pytest.mark.parametrize(
    ("operations", "where", "expected"),
    [
        (["*"], ABLE, [("a", ["*"])]),
        (BOTH, ABLE, [("a", BOTH)]),
        (["*"], node(), None),
        (["Unknown"], node("DRAOptionalNodeOperationsToo"), None),
        ([], node(), [("a", None)]),
    ],
)
def test_the_node_has_to_declare_that_it_can(operations, where, expected):
    assert results([skipping("a", operations=operations)], node=where) == expected


def test_other_slices_and_pools_are_not_touched():
    same_pool = [skipping("a", count=2), slice_("t", [device("b")], count=2)]
    assert results(same_pool) == [("b", None)]
    assert results(same_pool, want("r", 2), node=ABLE) == [("a", ["*"]), ("b", None)]


@pytest.mark.parametrize("request_", [want("r", None), want("r", adminAccess=True), want("r", cel="false")])
def test_it_is_found_when_the_device_is_taken(request_):
    slices = [skipping("a"), *([slice_("t", [device("b")], pool="q")] if "count" not in request_["exactly"] else [])]
    assert results(slices, request_) is None


def test_selectors_and_capacity_come_first():
    broken = 'device.attributes["d"].nope == "x"'
    assert "no such key: nope" in results([skipping("a")], want("r", cel=broken))


def test_the_feature_off():
    off = {**SWITCHES, "OptionalNodeOperations": False}
    assert results([skipping("a")], features=off, node=ABLE) is None
    assert results([skipping("a")], features=ON, channel="incubating", node=ABLE) == [("a", None)]
    for release in ("1.36.6", "1.37.0-alpha.2"):
        assert results([skipping("a")], features=off, release=release) == [("a", None)]


@pytest.mark.parametrize("where", [ABLE, node()])
def test_every_engine_sees_the_node(where, solver):
    slices = [skipping("a", count=2), slice_("t", [device("b")], count=2)]
    expected = None if where is not ABLE else ["a", "b"]
    request = ask(slices, want("r", 2), node=where)
    made = table(request)
    search = PrunedSearch(made)
    assert search.run(100) is (expected is not None)
    assert first_answer(made, 5.0).found is (expected is not None)
    direct = answer_allocate({**request, "engine": "auto"})
    assert (direct["results"] is not None) is (expected is not None)
