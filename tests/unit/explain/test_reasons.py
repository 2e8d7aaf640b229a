"""
Reasons within the work allowed, and hints about defects, releases and gates.
"""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.hard_cases import hard_cases
from dra_alloc.explain.facts import Whose, facts_of
from dra_alloc.explain.fewer import TWO_CHANGES
from dra_alloc.explain.fix import is_said
from dra_alloc.explain.reasons import WORK, Reasons, reasons
from dra_alloc.explain.world import World
from dra_alloc.problem.requests import claim_name
from fuzz.targets.reasons_hold import check_reasons, world_of
from tests.unit.solve.questions import ask, claim, device, request

CASES = {case.name: case for case in hard_cases()}


def world(asked: dict[str, object]) -> World:
    return world_of(asked)


@cache
def one_too_many() -> Reasons:
    return reasons(world(CASES["B7 one 3g too many"].request))


def test_hard_refusals_are_explained_within_the_work_allowed() -> None:
    found = one_too_many()
    # The last question asked may go beyond it.
    assert found.work < 2 * WORK
    assert not found.exact
    assert found.untried


@pytest.mark.usefixtures("solver")
def test_hard_refusals_have_fixes_with_the_solver() -> None:
    assert one_too_many().fixes


def test_without_any_work_nothing_is_claimed() -> None:
    found = reasons(world(CASES["B5 nine 4g"].request), 0)
    assert (found.facts, found.fixes, found.not_enough, found.exact) == ((), (), (), False)


def test_less_work_leaves_changes_untried_and_what_is_told_true() -> None:
    hard = world(CASES["E3 12 on 11"].request)
    full, part = reasons(hard), reasons(hard, 400)
    assert full.exact
    assert not full.untried
    assert not part.exact
    assert part.untried
    assert all(fix.change(hard).fits() for fix in (*full.fixes, *part.fixes))


def one_selector_too_many(*, spoilt: bool) -> tuple[World, World]:
    """Return worlds of two nodes; in the latter the second selector fails, if spoilt, once the first is dropped."""
    asked = ask(1, kind=2)
    asked["selectors"].append({"cel": {"expression": 'device.attributes["d"].size == 1'}})
    devices = device("a", kind=1, size=1), device("b", kind=1) if spoilt else device("b", kind=1, size=1)
    here, there = (world(request([each], claim(asked))) for each in devices)
    return here, there


@pytest.mark.parametrize("spoilt", [True, False])
def test_a_change_is_not_tried_where_another_node_may_end_the_question_with_an_error_then(spoilt: bool) -> None:
    told = set()
    for allowed in range(0, 200, 5):
        here, there = one_selector_too_many(spoilt=spoilt)
        fix = next(fact.fix for fact in facts_of(here) if "kind == 2" in fact.fix)
        found = reasons(here, allowed, refused=True, elsewhere=[there])
        singly = {"fix": map(str, found.fixes), "not enough": found.not_enough, "not tried": found.untried}
        told |= {kind for kind, changes in singly.items() if fix in changes}
    assert told == ({"not tried", "not enough"} if spoilt else {"not tried", "fix"})


def test_two_changes_are_found_where_all_would_take_more_without_its_selector() -> None:
    """What would be refused were all devices taken hides that a request beside it asks for what is not there."""
    asks = ask(5, kind=2), ask(None, kind=1), ask(1), ask(3)
    claims = [{**claim(each), "metadata": {"name": f"c{number}"}} for number, each in enumerate(asks)]
    there = world(request([device("a", kind=1), device("b", kind=3), device("c", kind=3)], *claims))
    found = reasons(there)
    dropping = [f"dropping claim {claim_name(there.claims[number])}" for number in (0, 3)]
    assert [sorted(fix.steps) for fix in found.fixes] == [dropping]
    assert all(fix.change(there).fits() for fix in found.fixes)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("d1: taint k:NoSchedule is not tolerated, and allocated to ns/h", True),
        ("d0 and d1: allocated to ns/h", True),
        ("d1: taint k:NoSchedule is not tolerated", False),
        ("d10: taint k:NoSchedule is not tolerated, and allocated to ns/h", False),
    ],
)
def test_what_a_first_change_leaves_is_said_of_the_device_itself(before: str, said: bool) -> None:
    assert is_said("d1: allocated to ns/h", before) is said


def test_where_more_pairs_let_all_take_other_devices_than_are_tried_that_is_told() -> None:
    claims = [{**claim(ask(None, kind=1)), "metadata": {"name": f"c{number}"}} for number in range(7)]
    there = world(request([device("a", kind=1), device("b", kind=3), device("c", kind=3)], *claims))
    found = reasons(there, 1_000_000)
    assert not found.fixes
    assert TWO_CHANGES in found.untried


def test_many_facts_that_play_no_part_do_not_use_up_the_work() -> None:
    """More is asked for than the device ever had: which of 200 claims hold some of it is all the same."""
    shares = [["d", "p", "a", str(number)] for number in range(200)]
    consumed = [{"id": ["d", "p", "a"], "cap": {"c": "1"}}]
    asked = request([device("a", shares=1_000)], claim(ask(1, capacity=2_000)))
    crowded = world({**asked, "allocatedShared": shares, "aggregated": consumed})
    found = reasons(crowded)
    assert len(crowded.allocations) == 200
    assert found.facts == (("request", 'claim c0 has the request "r0"'),)
    assert found.exact
    assert found.work < 2_000
    assert check_reasons(crowded, found) == []


def test_a_refusal_that_rests_on_everything_is_shown_to() -> None:
    """Each request is needed, and each try takes the pruned search."""
    assert_all_is_needed(world(CASES["C2 8 devices, one of 8"].request))


@pytest.mark.usefixtures("solver")
def test_a_larger_refusal_that_rests_on_everything_is_shown_to_with_the_solver() -> None:
    assert_all_is_needed(world(CASES["C2 12 devices, one of 8"].request))


def assert_all_is_needed(hard: World) -> None:
    found = reasons(hard)
    assert found.exact
    # With less memory for each of ten requests a glance does not tell.
    assert set(found.untried) <= {"asking for less of a capacity"}
    assert len(found.facts) == len(list(hard.asks()))


def test_reasons_are_the_same_every_time() -> None:
    hard = CASES["B7 one 3g too many"].request
    assert reasons(world(hard), 5_000) == reasons(world(hard), 5_000)


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (2, 3)])
def test_to_ask_for_nothing_at_all_is_no_fix(counts: tuple[int, int]) -> None:
    found = reasons(world(request([], claim(*map(ask, counts)))))
    assert found.facts
    assert found.fixes == ()


def test_fewer_devices_of_one_request_are_enough_beside_dropping_the_other() -> None:
    found = reasons(there := world(request([device("a")], claim(ask(2), ask(3)))))
    fewer = [f'asking for 1 instead of {count} devices in request "r{number}"' for number, count in ((0, 2), (1, 3))]
    steps = [(fewer[0], 'dropping request "r1"'), (fewer[1], 'dropping request "r0"')]
    assert [fix.steps for fix in found.fixes] == steps
    assert check_reasons(there, found) == []


def test_a_constraint_that_is_said_twice_is_one_fact_and_dropping_it_drops_both() -> None:
    asked = claim(ask(2), match="x")
    constraints = asked["spec"]["devices"]["constraints"]
    constraints.append(dict(constraints[0]))
    doubled = world(request([device("a", x="1"), device("b", x="2")], asked))
    found = reasons(doubled)
    assert "dropping matchAttribute d/x" in [str(fix) for fix in found.fixes]
    assert check_reasons(doubled, found) == []


LEAK = request(
    [device("a", counters=8, tainted=True), device("b", counters=8)], claim(ask(1)), counters=8, semantics="upstream"
)


def test_a_leaked_counter_is_named_as_the_defect() -> None:
    """The refused device keeps the counter that it reserved; without that the other one would be had."""
    found = reasons(world(LEAK))
    assert found.facts
    assert any("a defect of kube-scheduler 1.36.2 stands in the way" in hint for hint in found.hints)
    assert check_reasons(world(LEAK), found) == []


def test_without_the_defect_there_is_nothing_to_explain() -> None:
    assert reasons(world({**LEAK, "semantics": "intended"})).facts == ()


def test_a_gate_that_would_help_is_named() -> None:
    """List attributes agree where their gate is on, and it is off by default."""
    devices = [device("a", links=["x", "y"]), device("b", links=["y"])]
    asked = request(devices, claim(ask(1), ask(1), match="links"), release="1.37.2", channel="auto")
    found = reasons(world(asked))
    assert found.facts
    assert "Kubernetes 1.37.2 would allocate this with DRAListTypeAttributes switched on" in found.hints


def test_a_release_that_would_allocate_is_named() -> None:
    """Consumable capacity is on by default since 1.36."""
    asked = request([device("a", shares=4)], claim(ask(1, capacity=2), ask(1, capacity=2)), release="1.35.4")
    off = {name: on for name, on in asked["features"].items() if name not in ("ConsumableCapacity", "BindingAndStatus")}
    found = reasons(world({**asked, "features": off, "channel": "auto"}))
    assert found.facts
    assert "Kubernetes 1.36 with its default gates would allocate this" in found.hints


@pytest.mark.parametrize("drivers", [("d", "e")])
def test_pools_of_one_name_are_told_apart(drivers: tuple[str, str]) -> None:
    """Facts of two drivers' pools of one name have texts of their own."""
    asked = request([device("a", counters=8)], claim(ask(2)), counters=8)
    other = [
        {**each, "metadata": {"name": f"{each['metadata']['name']}-e"}, "spec": {**each["spec"], "driver": drivers[1]}}
        for each in asked["slices"]
    ]
    two = world({**asked, "slices": [*asked["slices"], *other], "claims": [{**asked["claims"][0]}]})
    from dra_alloc.explain.facts import facts_of  # noqa: PLC0415 - only this test looks at single facts

    texts = [fact.text for fact in facts_of(two)]
    assert len(set(texts)) == len(texts)
    assert any(f"p ({drivers[1]})" in text for text in texts)


@pytest.mark.parametrize(
    ("expressions", "steps"),
    [
        (["false"], ['dropping the selector false of request "r0"']),
        (["true\n && false", "1 > 2"], ["true && false of", "1 > 2 of"]),
        (["false", "false"], ["false (number 0) of", "false (number 1) of"]),
        (
            [f"{'true && ' * 12}false", f"{'true && ' * 12} 1 > 2"],
            ["true && ... (number 0) of", "true && ... (number 1) of"],
        ),
    ],
)
def test_a_selector_is_named_by_its_expression(expressions: list[str], steps: list[str]) -> None:
    asked = {**ask(1), "selectors": [{"cel": {"expression": each}} for each in expressions]}
    found = reasons(world(request([device("a")], claim(asked))))
    told = [*(step for fix in found.fixes for step in fix.steps), *found.not_enough]
    assert all(any(part in each for each in told) for part in steps), told


def test_what_is_changed_in_the_manifest_comes_first_and_what_others_lose_last() -> None:
    devices = [device("a", model="x"), device("b", model="y")]
    asked = request(devices, claim(ask(1, model="x")), allocated=[["d", "p", "a"]])
    found = reasons(world(asked)).fixes
    assert [(fix.whose, fix.steps[0].partition(" ")[0]) for fix in found] == [
        (Whose.MANIFEST, "dropping"),
        (Whose.OTHERS, "freeing"),
    ]
    assert found[0].cost > found[1].cost


@pytest.mark.parametrize(
    ("has", "step"),
    [
        pytest.param("h100", True, id="small letters"),
        pytest.param("H-100", True, id="a dash"),
        pytest.param("h200", False, id="another value"),
    ],
)
def test_a_value_in_other_letters_is_written_as_devices_have_it(has: str, step: bool) -> None:
    made = world(request([device("a", model=has)], claim(ask(1, model="H100"))))
    found = reasons(made)
    told = f'writing "{has}" for "H100" in request "r0"'
    assert ((told,) in [fix.steps for fix in found.fixes]) == step
    assert check_reasons(made, found) == []
