"""
CP-SAT decides what explodes, within stated work, and can be done without.
"""

from __future__ import annotations

import sys

import pytest

from benchmarks.hard_cases import hard_cases
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.errors import EngineUnavailable
from dra_alloc.solve.cpsat.first import first_answer
from dra_alloc.solve.cpsat.solver import Model, SolveStatus
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget, Engine
from dra_alloc.solve.outcome import NoFit, OutOfBudget, Solved
from dra_alloc.solve.table.build import build_table
from tests.unit.solve.questions import ask, claim, device, request, table

CASES = {case.name: case for case in hard_cases()}


def allocate(asked, engine=Engine.CP_SAT, budget=DEFAULT_BUDGET):
    allocator, node, claims = read_request(asked)
    return allocator.allocate(node, claims, engine=engine, budget=budget)


@pytest.mark.parametrize("name", CASES)
def test_every_hard_question_is_decided(name, solver):
    outcome = allocate(CASES[name].request)
    assert isinstance(outcome, Solved if CASES[name].fits else NoFit)


#: Deterministic units, with room for one digit of drift; OR-tools' defaults never end on B7.
CANARIES = {
    "B3 tight": 0.3,
    "B4 tight, small first": 0.3,
    "B5 nine 4g": 0.05,
    "B7 one 3g too many": 0.2,
    "trap 8": 0.05,
}


@pytest.mark.parametrize(("name", "units"), CANARIES.items())
def test_this_version_of_or_tools_takes_the_parameters_well(name, units, solver):
    allocator, node, claims = read_request(CASES[name].request)
    question = allocator.question(node, claims)
    made = build_table(question.rows, question.candidates, question.table_rules())
    answer = first_answer(made, 5.0)
    assert answer.found is CASES[name].fits
    assert answer.work < units


def test_the_limit_ends_a_solve(solver):
    outcome = allocate(CASES["B4 tight, small first"].request, budget=Budget(steps=200, solver=0.0001))
    assert isinstance(outcome, OutOfBudget)
    assert ("cp-sat", "undecided") in [(stage.engine, stage.verdict) for stage in outcome.work.stages]


def test_the_same_work_twice(solver):
    first, second = (allocate(CASES["B3 tight"].request) for _ in range(2))
    assert first.work == second.work
    assert [pick.device.key for pick in first.picks] == [pick.device.key for pick in second.picks]


def test_amounts_beyond_int64_are_scaled(solver):
    # 80Gi in 1e-9 units is beyond int64; so is the sum.
    devices = [device("a", counters=80 * 2**30), device("b", counters=80 * 2**30), device("c", counters=60 * 2**30)]
    answer = first_answer(table(request(devices, claim(ask(1), ask(1)), counters=140 * 2**30)), 1.0)
    assert [pick.device.key.device for pick in answer.picks] == ["a", "c"]


def test_amounts_that_cannot_be_scaled_are_left_to_the_search(solver):
    devices = [device("a", counters=2**62 + 1), device("b", counters=2**62 - 1), device("c", counters=3)]
    # Upstream's own answer has no table at all: such amounts are held by reference.
    outcome = allocate(request(devices, claim(ask(1), ask(1)), counters=2**62 + 4, semantics="intended"))
    assert isinstance(outcome, Solved)
    assert "too large" in outcome.work.stages[0].verdict
    assert outcome.work.engine == "first-fit"


def test_where_refusals_leak_cp_sat_refutes_but_does_not_answer(solver):
    devices = [device("a", counters=8, tainted=True), device("b", counters=8)]
    asked = request(devices, claim(ask(1)), counters=8)
    outcome = allocate(asked)
    assert isinstance(outcome, NoFit)
    assert outcome.work.engine == "first-fit"
    intended = allocate({**asked, "semantics": "intended"})
    assert isinstance(intended, Solved)
    assert intended.work.engine == "cp-sat"


@pytest.fixture
def without_ortools(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "ortools"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ortools", None)


@pytest.mark.usefixtures("without_ortools")
def test_without_or_tools_the_engine_says_what_to_install():
    with pytest.raises(EngineUnavailable, match="needs OR-tools") as caught:
        allocate(request([device("a")], claim(ask(1))))
    assert caught.value.hint == "pip install ortools"
    with pytest.raises(EngineUnavailable):
        Model()


@pytest.mark.usefixtures("without_ortools")
def test_without_or_tools_the_ladder_goes_on():
    outcome = allocate(CASES["B3 tight"].request, Engine.AUTO)
    assert isinstance(outcome, Solved)


def test_the_door_speaks_of_no_solution_and_of_the_best(solver):
    model = Model()
    x = model.integer(0, 10)
    model.linear([(x, 2)], 7, None)
    best = model.best_solution([(x, 3)], 1.0)
    assert (best.verdict, best.values, best.objective, best.bound) == (SolveStatus.OPTIMAL, (4,), 12, 12)
    model.linear([(x, 1)], None, 3)
    assert model.any_solution(1.0).verdict is SolveStatus.NONE
