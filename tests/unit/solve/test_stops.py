"""
A device on which a selector fails: CP-SAT says whether the search comes to it before it finds anything.
"""

from __future__ import annotations

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
