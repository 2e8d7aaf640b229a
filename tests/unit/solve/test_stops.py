"""
A device that ends the search: CP-SAT says whether the search comes to it before it finds anything.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.rules import SearchStopped
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget, Engine, Ladder
from tests.unit.solve.questions import ask, claim, device, question, request

#: True or false of a device with `numa`, an error on one without.
FRAGILE = {"cel": {"expression": 'device.attributes["d"].numa == 0'}}
PLAIN_Z = {"cel": {"expression": '!("numa" in device.attributes["d"])'}}
DEVICES = [*(device(f"d{number:02}", numa=0) for number in range(11)), device("z")]


def climb(asked, engine):
    ladder = Ladder(question(asked), engine, Budget(steps=20_000) if engine is Engine.FIRST_FIT else DEFAULT_BUDGET)
    found = ladder.climb()
    return (None if found is None else [pick.device.key.device for pick in found.picks]), ladder


def fragile(count, **more):
    return {**ask(count, **more), "selectors": [FRAGILE]}


def test_the_error_is_the_answer_where_the_search_comes_to_it_first(solver):
    asked = request(DEVICES, claim(fragile(12)))
    for engine in (Engine.FIRST_FIT, Engine.CP_SAT):
        with pytest.raises(SearchStopped, match="no such key: numa"):
            climb(asked, engine)


def test_an_answer_before_the_error_is_the_answer(solver):
    asked = request(DEVICES, claim(fragile(3)))
    assert climb(asked, Engine.FIRST_FIT)[0] == ["d00", "d01", "d02"]
    found, ladder = climb(asked, Engine.CP_SAT)
    assert found == ["d00", "d01", "d02"]
    assert [stage.engine for stage in ladder.stages] == ["cp-sat"]


def test_a_device_in_use_is_passed_over_before_its_error_shows(solver):
    first = {**ask(1), "selectors": [PLAIN_Z]}
    asked = request([device("a", numa=1), device("z")], claim(first, fragile(1)))
    assert climb(asked, Engine.FIRST_FIT)[0] is None
    found, ladder = climb(asked, Engine.CP_SAT)
    assert found is None
    assert [(stage.engine, stage.verdict) for stage in ladder.stages] == [("cp-sat", "refuted")]


def test_a_search_that_explodes_before_it_comes_to_the_error_is_decided(solver):
    """Twelve requests on eleven devices: the plain search would need millions of steps to say so."""
    singles = [
        {**ask(1), "selectors": [{"cel": {"expression": '"numa" in device.attributes["d"]'}}]} for number in range(12)
    ]
    asked = request(DEVICES, claim(*singles, fragile(1)))
    found, ladder = climb(asked, Engine.AUTO)
    assert found is None
    assert ladder.engine == "cp-sat"


@pytest.mark.parametrize("engine", [Engine.FIRST_FIT, Engine.CP_SAT])
def test_all_that_does_not_go_with_an_earlier_pick_is_the_answer(engine, solver):
    devices = [device("a", numa=0, of=1), device("b", numa=1, of=2)]
    asked = request(devices, claim(ask(1), ask(None, of=2), match="numa"))
    with pytest.raises(SearchStopped, match="request r1: cannot add device d/p/b because a claim constraint"):
        climb(asked, engine)


@pytest.mark.parametrize("engine", [Engine.FIRST_FIT, Engine.CP_SAT])
def test_all_that_differs_too_little_within_itself_is_the_answer(engine, solver):
    """A device without a value of the attribute, and one with a value that is picked already."""
    several: tuple[dict[str, Any], ...] = ({}, {"numa": 0})
    for attributes in several:
        asked = request(
            [device("a", numa=0, of=1), device("b", of=2, **attributes)],
            claim(ask(1, of=1), ask(None, of=2), distinct="numa"),
        )
        with pytest.raises(SearchStopped, match="cannot add device d/p/b"):
            climb(asked, engine)


@pytest.mark.parametrize(
    ("devices", "first"),
    [
        pytest.param([device("a", numa=0), device("b", numa=1)], ask(1, numa=1), id="in use"),
        pytest.param([device("a", numa=0, counters=6), device("b", numa=1, counters=6)], ask(1, numa=0), id="counters"),
    ],
)
def test_what_refuses_a_device_of_all_before_constraints_do_is_no_error(devices, first, solver):
    taking = claim(first)
    misfit = claim(ask(None, numa=1), ask(None), match="numa")
    asked = request(devices, taking, misfit, counters=8)
    assert climb(asked, Engine.FIRST_FIT)[0] is None
    found, ladder = climb(asked, Engine.CP_SAT)
    assert found is None
    assert ladder.engine == "cp-sat"


def test_an_alternative_before_all_that_does_not_fit_is_the_answer(solver):
    devices = [device("a", numa=0), device("b", numa=1)]
    for alternatives, wanted in (([ask(1), ask(None)], ["a"]), ([ask(3), ask(1), ask(None)], ["a"])):
        asked = request(devices, claim(alternatives, match="numa"))
        assert climb(asked, Engine.FIRST_FIT)[0] == wanted
        found, ladder = climb(asked, Engine.CP_SAT)
        assert (found, ladder.engine) == (wanted, "cp-sat")


def test_a_search_that_explodes_before_all_can_fail_to_fit_is_decided(solver):
    devices = [*(device(f"d{number:02}", numa=0) for number in range(11)), device("z", numa=1)]
    asked = request(devices, claim(*[ask(1, numa=0)] * 12), claim(ask(None), match="numa"))
    found, ladder = climb(asked, Engine.AUTO)
    assert found is None
    assert ladder.engine == "cp-sat"
