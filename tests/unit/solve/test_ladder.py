from __future__ import annotations

import pytest

from benchmarks.hard_cases import HardCase, hard_cases
from dra_alloc.cli.harness_allocate import read_request
from dra_alloc.solve.allocator import DEFAULT_BUDGET, Budget, Engine
from dra_alloc.solve.outcome import NoFit, OutOfBudget, Solved
from tests.unit.solve.questions import ask, claim, device, request, table

CASES = list(hard_cases())
#: Plain search steps within which an answer is compared with the plain search's own.
PLAIN = Budget(steps=1_000)


def allocate(asked, engine=Engine.AUTO, budget=DEFAULT_BUDGET):
    allocator, node, claims = read_request(asked)
    return allocator.allocate(node, claims, engine=engine, budget=budget)


def keys(outcome):
    return [(pick.ask.full_name, pick.device.key) for pick in outcome.picks] if isinstance(outcome, Solved) else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_question_that_explodes_is_answered_in_little_work(case: HardCase):
    outcome = allocate(case.request, budget=Budget(steps=3_000, pruned=2_000, solver=0))
    if case.name.startswith(("B4", "trap 11")):
        # Left to CP-SAT: see test_cpsat.
        assert isinstance(outcome, OutOfBudget)
        return
    assert isinstance(outcome, Solved if case.fits else NoFit)
    assert outcome.work.steps <= 256


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_the_answer_of_the_plain_search_where_that_ends(case: HardCase):
    plain = allocate(case.request, Engine.FIRST_FIT, PLAIN)
    if isinstance(plain, OutOfBudget):
        assert plain.work.steps > 1_000
        return
    outcome = allocate(case.request)
    assert type(outcome) is type(plain)
    assert keys(outcome) == keys(plain)


def test_an_easy_question_costs_what_it_costs_upstream():
    outcome = allocate(request([device("a"), device("b")], claim(ask(2))))
    assert [(stage.engine, stage.work, stage.verdict) for stage in outcome.work.stages] == [("first-fit", 5, "found")]


def test_each_engine_that_was_asked_is_reported():
    case = next(case for case in CASES if case.name == "trap 4")
    stages = allocate(case.request).work.stages
    assert [(stage.engine, stage.verdict) for stage in stages] == [
        ("first-fit", "undecided"),
        ("bounds", "undecided"),
        ("pruned", "found"),
    ]


def test_without_budget_the_question_stays_undecided():
    case = next(case for case in CASES if case.name == "B4 tight, small first")
    outcome = allocate(case.request, budget=Budget(steps=500, pruned=100, solver=0))
    assert isinstance(outcome, OutOfBudget)
    assert outcome.text == "gave up after 512 search steps"
    assert [stage.engine for stage in outcome.work.stages] == ["first-fit", "bounds", "pruned"]


def test_a_leak_is_left_to_the_plain_search():
    # The tainted device keeps the only counter, which upstream does not give back.
    devices = [device("a", counters=8, tainted=True), device("b", counters=8)]
    asked = request(devices, claim(ask(1)), counters=8)
    assert isinstance(allocate(asked), NoFit)
    assert isinstance(allocate({**asked, "semantics": "intended"}), Solved)


def test_a_leak_by_a_constraint_is_left_to_the_plain_search():
    devices = [device("a", numa=1), device("b", numa=2, counters=1), device("c", numa=1, counters=1)]
    asked = request(devices, claim(ask(2), match="numa"), counters=1)
    assert not table(asked).exact
    assert table({**asked, "semantics": "intended"}).exact


def test_a_refutation_stands_although_something_could_leak():
    # 24 of 23 devices, and a tainted one that would leak its counters.
    devices = [device(f"d{number:02}") for number in range(23)] + [device("z", counters=8, tainted=True)]
    outcome = allocate(request(devices, claim(ask(24)), counters=8))
    assert isinstance(outcome, NoFit)
    assert outcome.work.engine == "bounds"


def test_a_selector_that_fails_keeps_every_other_engine_silent():
    # The failing device comes last: whether the search gets there is for the search alone to say.
    broken = {"cel": {"expression": 'device.attributes["d"].numa == 0'}}
    one = {**ask(20), "selectors": [broken]}
    devices = [device(f"d{number:02}", numa=0) for number in range(19)] + [device("z")]
    outcome = allocate(request(devices, claim(one)), budget=Budget(steps=2_000))
    assert outcome.text.endswith("no such key: numa")
