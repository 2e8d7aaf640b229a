"""One purse for all work: paid before, shared evenly, never in the way of an answer that was found."""

from __future__ import annotations

import pytest

from benchmarks.hard_cases import hard_cases
from dra_alloc.api import DeviceAttribute
from dra_alloc.cel import EvaluationError, environment, prepare_device
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.solve.outcome import OutOfBudget
from dra_alloc.work import BudgetExhausted, Purse, Steps, evenly, finishing, owe, ran_out, solver_limit, sparing, spend

ENVIRONMENT = environment()
DEVICE = prepare_device("d", {}, {}, None, ENVIRONMENT.reading)


def nested(times: int, inner: str) -> str:
    """A selector that evaluates `inner` 2 ** `times` times."""
    for number in range(times):
        inner = f"[1, 2].all(x{number}, {inner})"
    return inner


def test_without_a_purse_nothing_is_counted():
    spend(1 << 40)
    owe(1 << 40)
    assert solver_limit(7.5) == 7.5
    assert ran_out() == ()


def test_what_is_left_is_spent_to_the_last_and_then_nothing_is_begun():
    with Purse(10) as purse:
        spend(9)
        spend(9)  # what is begun with something left is done
        with pytest.raises(BudgetExhausted, match=r"the budget of 10 units of work ran out.*--budget"):
            spend(0)
        assert len(ran_out()) == 1
        assert purse.left == -8
    spend(1)


def test_a_purse_ends_with_its_block_and_the_outer_one_goes_on():
    with Purse(5) as outer:
        with Purse(100):
            spend(50)
        spend(1)
    assert outer.left == 4


def test_work_that_is_done_is_owed():
    with Purse(10) as purse:
        owe(100)
        assert purse.left == -90
        with pytest.raises(BudgetExhausted):
            spend(1)


def test_an_answer_that_was_found_is_put_together():
    with Purse(1):
        spend(5)
        with finishing():
            spend(1000)
        with pytest.raises(BudgetExhausted):
            spend(1)


def test_steps_are_paid_once_and_cost_more_where_there_are_more_devices():
    with Purse(1_000_000) as purse:
        few = Steps(0)
        few.up_to(64)
        few.up_to(128)
        cost = 1_000_000 - purse.left
        Steps(640).up_to(128)
        assert 1_000_000 - purse.left - cost > 5 * cost


def test_the_solver_is_given_what_is_left():
    with Purse(2_000_000) as purse:
        assert solver_limit(10) == pytest.approx(2, rel=0.01)
        assert solver_limit(1) == 1
        purse.kept = 1_500_000
        assert solver_limit(10) == pytest.approx(0.5, rel=0.01)


def worked(wanted: list[int], units: int) -> list[int]:
    """What each of several gets who spend one by one as much as they want, or can."""

    def things():
        for most in wanted:
            got = 0
            try:
                while got < most:
                    spend(1)
                    got += 1
            except BudgetExhausted:
                pass
            yield got

    with Purse(units):
        return list(evenly(things(), len(wanted)))


def test_each_has_its_part_whatever_the_others_want():
    assert worked([1000, 1000, 1000, 1000], 800) == [500, 100, 100, 100]
    assert worked([5, 1000, 5, 5], 800) == [5, 595, 5, 5]
    assert worked([10] * 8, 800) == [10] * 8
    assert worked([10] * 8, 16) == [9, 1, 1, 1, 1, 1, 1, 1]


def test_shares_of_shares():
    with Purse(800) as purse:
        kept = [purse.kept for _ in evenly((list(evenly(iter("ab"), 2)) for _ in range(2)), 2)]
        assert kept == [200, 0]
        assert purse.kept == 0


def test_half_is_spared_for_what_comes_after():
    with Purse(100) as purse:
        with sparing():
            assert purse.kept == 50
            with sparing():
                assert purse.kept == 75
        assert purse.kept == 0


def test_more_turns_than_were_counted_have_what_is_left():
    with Purse(100) as purse:
        assert [purse.kept for _ in evenly(iter("abc"), 1)] == [0, 0, 0]


def test_nested_macros_cost_what_they_do():
    few, many = (
        ENVIRONMENT.compile(nested(4, "device.driver == 'd'")),
        ENVIRONMENT.compile(nested(10, "device.driver == 'd'")),
    )
    with Purse(1_000_000) as purse:
        assert few.matches(DEVICE)
        cost = 1_000_000 - purse.left
        assert many.matches(DEVICE)
        assert 1_000_000 - purse.left > 32 * cost


def test_the_counting_evaluation_is_paid_for():
    with Purse(1_000_000) as purse:
        _, cost = ENVIRONMENT.compile(nested(4, "device.driver == 'd'")).counted(DEVICE)
        assert 1_000_000 - purse.left >= cost


@pytest.mark.parametrize(("inner", "answer"), [("1 + 1 == 2", True), ("1 + 1 == 3", False)])
def test_a_selector_that_reads_nothing_of_a_device_is_evaluated_once(inner, answer):
    program = ENVIRONMENT.compile(nested(8, inner))
    with Purse(1_000_000) as purse:
        assert program.matches(DEVICE) is answer
        left = purse.left
        assert left < 1_000_000
        assert [program.matches(DEVICE) for _ in range(1000)] == [answer] * 1000
        assert purse.left == left


def test_its_error_is_that_of_every_device():
    program = ENVIRONMENT.compile("[1, 2].all(x, 1 / (x - x) == 1)")
    for _ in range(2):
        with pytest.raises(EvaluationError, match=r"^division by zero$"):
            program.matches(DEVICE)


def test_a_device_that_cannot_be_read_is_no_answer_for_others():
    attributes = {"v": DeviceAttribute(version="no version")}
    broken = prepare_device("d", attributes, {}, None, environment("1.34").reading)
    assert broken.problem
    program = ENVIRONMENT.compile("1 == 1")
    for _ in range(2):
        with pytest.raises(EvaluationError):
            program.matches(broken)
        assert program.matches(DEVICE)


@pytest.mark.parametrize("name", ["E1 3x8 of 10", "B4"])
def test_a_search_ends_with_the_work_that_is_left(name):
    case = next(each for each in hard_cases() if each.name.startswith(name))
    allocator, node, claims = read_request(case.request)
    with Purse(20_000) as purse:
        outcome = allocator.allocate(node, claims, engine="first-fit")
        assert isinstance(outcome, OutOfBudget)
        assert "the budget of 20,000 units" in outcome.text
        assert -10_000 < purse.left <= 0
        again = allocator.allocate(node, claims, engine="first-fit")
        assert isinstance(again, OutOfBudget)
