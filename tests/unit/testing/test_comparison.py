"""
Answers are compared by the allocator that the question's features choose.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.testing.comparison import NOT_COMPARED, compare
from dra_alloc.testing.drawing.questions import cel_judged

RIGHT: dict[str, Any] = {"results": [{"devices": {"results": [{"request": "r", "device": "a"}]}}]}
SLICE: dict[str, Any] = {"spec": {"driver": "d", "pool": {"name": "p"}}}


@pytest.mark.parametrize(("features", "same"), [({}, True), ({"ConsumableCapacity": True}, False)])
def test_other_pool_orders_are_tried_only_where_pools_have_none(features: dict[str, bool], same: bool):
    """With channel auto no feature means the stable allocator, which tries pools in a random order."""
    answers = [{"results": None}, RIGHT]
    request = {"release": "1.36.6", "channel": "auto", "features": features, "slices": [SLICE]}
    assert compare(request, RIGHT, lambda other: answers.pop(0)).same is same


def test_costs_that_one_answer_lacks_are_not_compared():
    known = {"type": "bool", "maxcost": 17, "match": True}
    assert cel_judged(known, {**known, "cost": 7}) is None
    assert cel_judged({**known, "cost": 7}, known) is None
    assert cel_judged({**known, "cost": 7}, {**known, "cost": 8}) is not None
    assert cel_judged(known, {**known, "match": False}) is not None


@pytest.mark.parametrize(("verdict", "rule"), [("allocated", "step-limit"), ("undecided", "both-gave-up")])
def test_where_upstream_ran_out_of_time_nothing_was_compared(verdict: str, rule: str):
    """Whatever ours says: a case like that is neither a difference nor a comparison."""
    request = {"release": "1.36.6", "features": {}, "slices": [SLICE]}
    found = compare(request, {"err": "operation aborted"}, lambda _: {**RIGHT, "verdict": verdict})
    assert (found.rule, found.rule in NOT_COMPARED) == (rule, True)


@pytest.mark.parametrize(("second", "rule"), [("unsatisfiable", ""), ("undecided", "gave-up")])
def test_a_search_that_keeps_no_statistics_and_is_long_is_asked_with_every_engine(second: str, rule: str):
    request = {"release": "1.34.13", "channel": "stable", "features": {}, "slices": [SLICE]}
    asked: list[Any] = []

    def ours(other: dict[str, Any]) -> dict[str, Any]:
        asked.append(other.get("engine"))
        undecided = {"results": None, "err": "gave up after 2000064 search steps", "verdict": "undecided"}
        return undecided if len(asked) == 1 or second == "undecided" else {"results": None, "verdict": second}

    found = compare(request, {"results": None}, ours)
    assert (found.same, found.rule, asked) == (True, rule, [None, "auto"])


def _capacity(amount: Any) -> dict[str, Any]:
    return {"results": [{"devices": {"results": [{"consumedCapacity": amount}]}}]}


WRONG: list[Any] = [
    0,
    1,
    "x",
    [],
    {},
    [1],
    [[]],
    [None],
    {"a": 1},
    True,
    False,
    1e300,
    "\ud800",
    -1,
    10**30,
    [{"a": [1]}],
]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("member", ["results", "err", "onNode", "consumed", "amount"])
def test_answers_of_another_type_are_wrong_and_nothing_worse(member: str, wrong: Any):
    right = _capacity({"mem": "1Gi"}) | {"onNode": True, "err": "e"}
    request = {"release": "1.36.6", "features": {}, "slices": [SLICE]}
    odd = {"consumed": _capacity(wrong), "amount": _capacity({"mem": wrong})}.get(member, {member: wrong})
    assert compare(request, right, lambda _: right | odd, steps=False).same is (member == "onNode" and wrong is True)


@pytest.mark.parametrize("wrong", [each for each in WRONG if each is not True])
def test_one_is_not_true(wrong: Any):
    assert cel_judged({"type": "bool", "match": True}, {"type": "bool", "match": wrong}) is not None
