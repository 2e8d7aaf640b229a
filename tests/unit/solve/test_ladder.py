"""
The ladder answers what explodes in little work, and says what it did.
"""

from __future__ import annotations

import pytest

from benchmarks.hard_cases import HardCase, hard_cases, mig_node, mig_requests
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.limits import DefaultSteps
from dra_alloc.rules import SearchStopped
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget, Engine, Ladder
from dra_alloc.solve.outcome import NoFit, Solved
from dra_alloc.solve.table.table import NotModelled
from dra_alloc.work import BudgetExhausted
from tests.unit.solve.questions import ask, claim, device, question, request, table

CASES = {case.name: case for case in hard_cases()}
#: Plain search steps within which an answer is compared with the plain search's own.
PLAIN = Budget(steps=1_000)


def climb(asked, engine=Engine.AUTO, budget=DEFAULT_BUDGET):
    """Return the picks, None for "no", or the text of a search that gave up; and the ladder."""
    ladder = Ladder(question(asked), engine, budget)
    try:
        found = ladder.climb()
    except BudgetExhausted as error:
        return str(error), ladder
    return (None if found is None else [(pick.ask.full_name, pick.device.key) for pick in found.picks]), ladder


def engines(ladder):
    return [(stage.engine, stage.verdict) for stage in ladder.stages]


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_a_question_that_explodes_is_answered_in_little_work(case: HardCase):
    answer, ladder = climb(case.request, budget=Budget(steps=3_000, pruned=2_000, solver=0))
    if case.name.startswith(("B4", "trap 11", "C1 12", "C2 12")):
        # Left to CP-SAT: see test_cpsat.
        assert answer == "gave up after 3008 search steps"
        return
    assert isinstance(answer, list) is case.fits
    assert ladder.steps <= 256


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_it_is_the_answer_of_the_plain_search_where_that_ends(case: HardCase):
    plain, ladder = climb(case.request, Engine.FIRST_FIT, PLAIN)
    if isinstance(plain, str):
        assert ladder.steps > 1_000
        return
    assert climb(case.request)[0] == plain


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_the_allocator_gives_the_same_verdict(case: HardCase, solver):
    allocator, node, claims = read_request(case.request)
    assert isinstance(allocator.allocate(node, claims), Solved if case.fits else NoFit)


def test_an_easy_question_costs_what_it_costs_upstream():
    _, ladder = climb(request([device("a"), device("b")], claim(ask(2))))
    assert [(stage.engine, stage.work, stage.verdict) for stage in ladder.stages] == [("first-fit", 5, "found")]


def test_each_engine_that_was_asked_is_reported():
    _, ladder = climb(CASES["trap 4"].request)
    assert engines(ladder) == [("first-fit", "undecided"), ("bounds", "undecided"), ("pruned", "found")]


def test_without_budget_the_question_stays_undecided():
    answer, ladder = climb(CASES["B4 tight, small first"].request, budget=Budget(steps=500, pruned=100, solver=0))
    assert answer == "gave up after 512 search steps"
    assert engines(ladder) == [("first-fit", "undecided"), ("bounds", "undecided"), ("pruned", "undecided")]


def test_without_or_tools_it_ends_early_and_says_what_could_help(monkeypatch):
    monkeypatch.setattr("dra_alloc.solve.ladder.is_installed", lambda: False)
    answer, ladder = climb(CASES["B4 tight, small first"].request, budget=Budget(pruned=100))
    assert answer.startswith("gave up after ")
    assert answer.endswith("OR-tools may decide it (pip install ortools)")
    assert ladder.steps < 1_100
    # Who asks for more steps gets them.
    assert climb(CASES["B4 tight, small first"].request, budget=Budget(steps=1_400, pruned=100))[1].steps > 1_400


@pytest.mark.parametrize(("small_first", "found"), [(False, True), (True, False)])
def test_without_or_tools_the_pruned_search_has_nearly_all_the_time(small_first, found, monkeypatch):
    """16 GPUs filled to the last slice: a second of work at most, and nearly all of it where it can decide."""
    monkeypatch.setattr("dra_alloc.solve.ladder.is_installed", lambda: False)
    requests = mig_requests((12, "3g.40gb"), (12, "4g.40gb"), (12, "2g.20gb"), (4, "1g.10gb"))
    (shown,) = CASES["B3 tight"].request["claims"]
    order = requests[::-1] if small_first else requests
    claims = [
        {"metadata": {"name": f"c{first}"}, "spec": {"devices": {**shown["spec"]["devices"], "requests": part}}}
        for first in (0, 20)
        if (part := order[first : first + 20])
    ]
    answer, ladder = climb({**CASES["B3 tight"].request, "slices": mig_node(16), "claims": claims})
    assert isinstance(answer, list) is found
    assert ladder.steps < 1_100
    assert ladder.stages[-1 if found else -2].engine == "pruned"


def test_the_default_number_of_steps_can_be_asked_for():
    assert isinstance(DEFAULT_BUDGET.steps, DefaultSteps)
    assert not isinstance(Budget(steps=2_000_000).steps, DefaultSteps)


def test_the_pruned_search_goes_on_after_the_solver():
    budget = Budget(steps=500, pruned=3_000, solver=0)
    _, ladder = climb(CASES["B4 tight, small first"].request, budget=budget)
    assert [stage.work for stage in ladder.stages if stage.engine == "pruned"] == [1_600, 3_000]


def test_a_leak_is_left_to_the_plain_search():
    # The tainted device keeps the only counter, which upstream does not give back.
    devices = [device("a", counters=8, tainted=True), device("b", counters=8)]
    asked = request(devices, claim(ask(1)), counters=8)
    assert climb(asked)[0] is None
    assert climb({**asked, "semantics": "intended"})[0]
    assert not table(asked).exact
    assert table({**asked, "semantics": "intended"}).exact


def test_a_leak_by_a_constraint_is_left_to_the_plain_search():
    devices = [device("a", numa=1), device("b", numa=2, counters=1), device("c", numa=1, counters=1)]
    asked = request(devices, claim(ask(2), match="numa"), counters=1)
    assert not table(asked).exact
    assert table({**asked, "semantics": "intended"}).exact


def test_a_shareable_device_can_violate_distinct_attribute_with_itself():
    """All then ends the search with an error, so the table must not speak for it."""
    devices = [device("a", serial="x"), device("b", serial="y", shares=3), device("c", serial="z", shares=3)]
    with pytest.raises(NotModelled, match="could violate a constraint"):
        table(request(devices, claim(ask(2), [ask(None), ask(1)], distinct="serial")))
    assert table(request(devices[:1], claim([ask(None), ask(1)], distinct="serial"))).exact


def test_a_constraint_that_is_not_modelled_still_filters_its_own_request_only():
    # distinctAttribute forgets for r0, which upstream shows; no device has the attribute, but r1 does not care.
    asked = request([device("a"), device("b"), device("c")], claim([ask(2), ask(1)], ask(2)))
    asked["claims"][0]["spec"]["devices"]["constraints"] = [{"distinctAttribute": "d/gone", "requests": ["r0/s0"]}]
    first, second = table(asked).slots
    assert first.asks[0].usable == 0
    assert second.asks[0].usable == 0b111
    assert climb(asked)[0] is not None


def test_a_refutation_stands_although_something_could_leak():
    # 24 of 23 devices, and a tainted one that would leak its counters.
    devices = [device(f"d{number:02}") for number in range(23)] + [device("z", counters=8, tainted=True)]
    answer, ladder = climb(request(devices, claim(ask(24)), counters=8))
    assert answer is None
    assert ladder.engine == "bounds"


def test_a_selector_that_fails_keeps_bounds_silent():
    # The failing device comes last: whether the search gets there is for the search alone to say.
    broken = {"cel": {"expression": 'device.attributes["d"].numa == 0'}}
    devices = [device(f"d{number:02}", numa=0) for number in range(19)] + [device("z")]
    asked = request(devices, claim({**ask(20), "selectors": [broken]}))
    with pytest.raises(NotModelled, match="no such key: numa"):
        table(asked)
    with pytest.raises(SearchStopped, match="no such key: numa"):
        climb(asked)


def test_every_search_looks_at_the_clock_of_a_caller_who_insists(solver):
    name = next(name for name in CASES if name.startswith("C1 12"))
    answer, ladder = climb(CASES[name].request, budget=Budget(seconds=0))
    assert answer == "filter operation aborted: context deadline exceeded"
    assert all(stage.verdict == "undecided" for stage in ladder.stages)
    assert max(stage.work for stage in ladder.stages if stage.engine == "pruned") <= 1_000
