"""
The best answer is that of brute force, objective by objective.
"""

from __future__ import annotations

import contextlib
import itertools
from functools import cache

import pytest

from benchmarks.hard_cases import mig_node, profile_request
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.cli.options import OBJECTIVES
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.pools import GatherError
from dra_alloc.rules import SearchStopped
from dra_alloc.solve.best.objectives import Cheapest, FewestNodes, HighestRanked, LeastFragmented, Stable
from dra_alloc.solve.best.optimise import Status, optimise
from dra_alloc.solve.table.table import NotModelled
from dra_alloc.testing.cases import random_requests
from fuzz.engines import DIALECTS
from tests.unit.solve.brute_force import answers_of, best_of
from tests.unit.solve.questions import FEATURES, ask, claim, device, question, request

pytestmark = pytest.mark.usefixtures("solver")
LIMIT = 5.0


def intended(asked):
    return question({**asked, "semantics": "intended"})


def names(best):
    return [pick.device.key.device for pick in best.picks]


@cache
def tried():
    """Random requests with every answer there is: each list of objectives is held against these."""
    found = []
    for asked in itertools.islice(random_requests(30, DIALECTS[4]), 18):
        with contextlib.suppress(NotModelled, SearchStopped, GatherError):
            made = intended(asked)
            found.append((asked, made, answers_of(made), previous(asked)))
    return found


def brute_force(made, objectives, answers):
    """The values and picks of the best answer, or None."""
    best = best_of(made, objectives, answers)
    return None if best is None else (best[0], [(pick.ask.id, pick.device.key) for pick in best[1]])


def price(key, device):
    return sum(map(ord, key.device)) % 7


def node_price(node):
    return len(node.metadata.name or "")


def previous(asked):
    """Some device or other for every request."""
    devices = [
        DeviceKey(pool.key.driver, pool.key.pool, device.key.device)
        for pool in intended(asked).context.pools
        for device in pool.devices
    ]
    asks = [(row.name, ask.full_name) for row in intended(asked).rows for each in row.requests for ask in each.asks]
    return (
        {place: frozenset(devices[number % len(devices) :][:2]) for number, place in enumerate(asks)} if devices else {}
    )


EACH = (FewestNodes(), HighestRanked(), Cheapest(price, node_price), LeastFragmented(), Stable)
#: Every objective by itself, every two in either order, and three.
LISTS = [
    *((each,) for each in EACH),
    *itertools.permutations(EACH, 2),
    (LeastFragmented(), HighestRanked(), Cheapest(price)),
]


def test_every_objective_there_is_is_compared():
    assert {each.name for each in EACH} == set(OBJECTIVES)


@pytest.mark.parametrize("objectives", LISTS, ids=lambda each: "+".join(objective.name for objective in each))
def test_the_best_answer_is_that_of_brute_force(objectives):
    wanted = objectives
    compared = 0
    for asked, made, answers, before in tried():
        objectives = [each(before) if each is Stable else each for each in wanted]
        expected = brute_force(made, objectives, answers)
        try:
            best = optimise(intended(asked), objectives, LIMIT)
        except (NotModelled, SearchStopped, GatherError):
            continue
        if expected is None:
            assert best.status is Status.NONE
            continue
        compared += 1
        assert [score.value for score in best.scores] == expected[0]
        assert all(score.proven for score in best.scores)
        assert best.first
        assert [(pick.ask.id, pick.device.key) for pick in best.picks] == expected[1]
    assert compared > 3


def test_the_previous_devices_are_kept_where_they_can_be():
    devices = [device(name) for name in "abcd"]
    previous = {
        ("c0", "r0"): frozenset({DeviceKey("d", "p", "c")}),
        ("c0", "r1"): frozenset({DeviceKey("d", "p", "a")}),
    }
    best = optimise(intended(request(devices, claim(ask(1), ask(1)))), [Stable(previous)], LIMIT)
    assert names(best) == ["c", "a"]
    assert best.scores[0].value == 0


def test_what_cannot_be_kept_is_counted():
    previous = {("c0", "r0"): frozenset({DeviceKey("d", "p", "gone"), DeviceKey("d", "p", "b")})}
    best = optimise(intended(request([device("a"), device("b")], claim(ask(2)))), [Stable(previous)], LIMIT)
    assert best.scores[0].value == 1


def test_a_cheaper_device_comes_before_an_earlier_one():
    prices = {"a": 3, "b": 1, "c": 2}
    asked = request([device(name) for name in "abc"], claim(ask(2)))
    best = optimise(intended(asked), [Cheapest(lambda key, device: prices[key.device])], LIMIT)
    assert names(best) == ["b", "c"]
    assert best.scores[0].value == 3


def test_the_first_objective_decides_the_next_breaks_ties():
    asked = request(
        [device("a", kind=1), device("b", kind=2), device("c", kind=2)], claim([ask(1, kind=1), ask(1, kind=2)])
    )
    prices = {"a": 3, "b": 2, "c": 1}
    cheap = Cheapest(lambda key, device: prices[key.device])
    assert names(optimise(intended(asked), [HighestRanked(), cheap], LIMIT)) == ["a"]
    assert names(optimise(intended(asked), [cheap, HighestRanked()], LIMIT)) == ["c"]


def mig(*requests, allocated=()):
    return {
        **request([], claim()),
        "slices": mig_node(2),
        "classes": [{"metadata": {"name": "gpu"}, "spec": {}}],
        "claims": [{"metadata": {"name": "c"}, "spec": {"devices": {"requests": list(requests)}}}],
        "allocated": [["gpu.example.com", "node-1", name] for name in allocated],
        "features": FEATURES,
        "node": {"metadata": {"name": "node-1"}},
    }


def test_a_broken_card_is_used_up_before_a_whole_one():
    asked = mig(profile_request("r", "1g.10gb"), allocated=["gpu-001-1g-10gb-at-6"])
    assert names(optimise(intended(asked), [], LIMIT)) == ["gpu-000-1g-10gb-at-0"]
    best = optimise(intended(asked), [LeastFragmented()], LIMIT)
    assert names(best)[0].startswith("gpu-001-1g-10gb-at-")


def test_without_budget_it_is_undecided():
    asked = mig(*(profile_request(f"r{number}", "1g.10gb") for number in range(8)))
    assert optimise(intended(asked), [LeastFragmented()], 0.0).status is Status.UNDECIDED


def test_objectives_are_for_intended_semantics():
    leaky = request([device("a", counters=8, tainted=True), device("b", counters=8)], claim(ask(1)), counters=8)
    with pytest.raises(ValueError, match="intended semantics"):
        optimise(question(leaky), [LeastFragmented()], LIMIT)


def test_read_request_is_what_the_questions_come_from():
    allocator, _, _ = read_request({**request([device("a")], claim(ask(1))), "semantics": "intended"})
    assert allocator.profile.semantics == "intended"
