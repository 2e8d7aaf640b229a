"""
The best answer is that of brute force, objective by objective.
"""

from __future__ import annotations

import itertools

import pytest

from benchmarks.hard_cases import mig_node, profile_request
from dra_alloc.cli.harness_allocate import read_request
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.pools import GatherError
from dra_alloc.rules import Pick, SearchStopped
from dra_alloc.solve.freedom import freedom_of
from dra_alloc.solve.objectives import Cheapest, HighestRanked, LeastFragmented, Stable
from dra_alloc.solve.optimise import Status, optimise, ranks_of
from dra_alloc.solve.picking import Picking
from dra_alloc.solve.standing import judged
from dra_alloc.solve.table import NotModelled, bits, build_table
from dra_alloc.testing.cases import random_requests
from fuzz.engines import DIALECTS
from tests.unit.solve.questions import FEATURES, ask, claim, device, question, request

pytestmark = pytest.mark.usefixtures("solver")
LIMIT = 5.0
MOST_ANSWERS = 3_000


def intended(asked):
    return question({**asked, "semantics": "intended"})


def names(best):
    return [pick.device.key.device for pick in best.picks]


def solutions(table):
    """Every solution, in the order of the search, by trying everything."""
    picking = Picking(table)

    def serve(slot, chosen):
        if slot == len(table.slots):
            yield [Pick(taken.ask.ask, table.devices[taken.device]) for taken in picking.picks], chosen
            return
        for each in table.slots[slot].asks:
            if each.possible and picking.has_room(each, each.count):
                place = (table.slots[slot].claim, table.slots[slot].request)
                yield from take(slot, each, 0, 0, {**chosen, place: each.ask})

    def take(slot, each, taken, start, chosen):
        if taken == each.count:
            yield from serve(slot + 1, chosen)
            return
        only = None if each.recorded is None else 1 << each.recorded[taken]
        for index in bits((only if only is not None else -1 << start) & picking.candidates(each)):
            if picking.take(each, index):
                again = table.reuses and not table.dedicated >> index & 1
                yield from take(slot, each, taken + 1, index + (not again), chosen)
                picking.give_back()

    return serve(0, {})


def brute_force(asked, objectives):
    """The first of the best answers; None if there is none, NotModelled if too many to try."""
    made = intended(asked)
    rules = made.table_rules()
    table = judged(build_table(made.rows, made.candidates, rules), rules)
    freedom = freedom_of(made)
    answers = list(itertools.islice(solutions(table), MOST_ANSWERS))
    if len(answers) == MOST_ANSWERS:
        raise NotModelled("too many answers")

    def values(answer):
        picks, chosen = answer
        ranks = ranks_of(made, chosen)
        return [objective.value(picks, ranks, freedom) for objective in objectives]

    best = min(answers, key=values, default=None)
    return None if best is None else (values(best), [(pick.ask.id, pick.device.key) for pick in best[0]])


def price(key, device):
    return sum(map(ord, key.device)) % 7


LISTS = [
    (HighestRanked(), Cheapest(price)),
    (Cheapest(price), LeastFragmented()),
    (LeastFragmented(),),
    (LeastFragmented(), HighestRanked(), Cheapest(price)),
]


@pytest.mark.parametrize("objectives", LISTS, ids=lambda each: "+".join(objective.name for objective in each))
def test_the_best_answer_is_that_of_brute_force(objectives):
    compared = 0
    dialect = DIALECTS[4]
    for asked in itertools.islice(random_requests(30, dialect), 120):
        try:
            expected = brute_force(asked, objectives)
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
    assert compared > 15


def test_the_previous_devices_are_kept_where_they_can_be():
    devices = [device(name) for name in "abcd"]
    previous = {("c0", "r0"): frozenset({DeviceKey("d", "p", "c")}), ("c0", "r1"): frozenset({DeviceKey("d", "p", "a")})}
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
