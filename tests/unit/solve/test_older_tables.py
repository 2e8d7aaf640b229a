"""
What only older releases do, as a table says it: capacity of another device, values compared by identity, amounts lent.
"""

from __future__ import annotations

import pytest

from dra_alloc.rules import SearchStopped
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget, Engine, Ladder
from dra_alloc.solve.table.table import Knows
from tests.unit.solve.questions import ask, claim, device, question, request, table

ENGINES = pytest.mark.parametrize("engine", [Engine.FIRST_FIT, Engine.CP_SAT])
OLD = {"release": "1.34.13", "channel": "experimental"}
PANICS = "request {}: kube-scheduler panics on d/p/{}"


def asked(slices, *claims, **more):
    """Return a question about slices with a list of devices each, asked of 1.34."""
    made = request([], *claims, **{**OLD, **more})
    empty = made["slices"][0]
    pool = {**empty["spec"]["pool"], "resourceSliceCount": len(slices)}
    made["slices"] = [
        {"metadata": {"name": f"s{number}"}, "spec": {**empty["spec"], "pool": pool, "devices": devices}}
        for number, devices in enumerate(slices)
    ]
    return made


def climb(made, engine):
    budget = Budget(steps=20_000) if engine is Engine.FIRST_FIT else DEFAULT_BUDGET
    ladder = Ladder(question(made), engine, budget)
    found = ladder.climb()
    assert engine is Engine.FIRST_FIT or ladder.engine == "cp-sat"
    return None if found is None else [pick.device.key.device for pick in found.picks]


@ENGINES
def test_more_devices_than_a_slice_has_end_the_search(engine, solver):
    with pytest.raises(SearchStopped, match=PANICS.format("r0", "b")):
        climb(asked([[device("a")], [device("b")]], claim(ask(2))), engine)
    with pytest.raises(SearchStopped, match=PANICS.format("r0", "b")):
        climb(asked([[device("a")], [device("b")]], claim(ask(None))), engine)


@ENGINES
def test_they_do_not_where_the_search_ends_before(engine, solver):
    assert climb(asked([[device("a"), device("b")], [device("c")]], claim(ask(2))), engine) == ["a", "b"]
    # What is in use is passed over before, and so is what a constraint refuses.
    taken = claim(ask(1, numa=2))
    devices = [[device("a", numa=1)], [device("b", numa=2)]]
    assert climb(asked(devices, taken, claim(ask(2))), engine) is None
    assert climb(asked(devices, claim(ask(2), match="numa")), engine) is None


@ENGINES
def test_devices_come_in_the_order_in_which_the_search_ends_nowhere(engine, solver):
    """The second device of a request has to be of a slice with two, so the lone one comes first or not at all."""
    assert climb(asked([[device("a")], [device("b"), device("c")]], claim(ask(2, lone=0))), engine) is None
    slices = [[device("b", numa=1), device("c", numa=2)], [device("a", numa=1)]]
    with pytest.raises(SearchStopped, match=PANICS.format("r0", "a")):
        climb(asked(slices, claim(ask(2), match="numa")), engine)
    slices = [[device("a", numa=1)], [device("b", numa=1), device("c", numa=2)]]
    assert climb(asked(slices, claim(ask(2), match="numa")), engine) == ["a", "b"]


def test_a_refusal_for_another_device_makes_the_table_looser():
    slices = [[device("a", shares=4), device("b", shares=4)]]
    assert table(asked(slices, claim(ask(1, capacity=1))), Knows.ALL).exact
    made = table(asked(slices, claim(ask(1, capacity=5))), Knows.ALL)
    assert made.looser == ("a device refused for the capacity of another stays in use",)


@ENGINES
def test_values_that_are_not_one_and_the_same_differ(engine, solver):
    devices = [[device("a", numa=1), device("b", numa=1)]]
    assert climb(asked(devices, claim(ask(1), ask(1), distinct="numa")), engine) == ["a", "b"]
    assert climb(asked(devices, claim(ask(2), distinct="numa")), engine) == ["a", "b"]
    shared = [[device("a", numa=1, shares=9)]]
    assert climb(asked(shared, claim(ask(1, capacity=1), ask(1, capacity=1), distinct="numa")), engine) is None


def wide(amount, total):
    """Return a question about two devices that draw such an amount on a counter; it is held by reference."""
    made = request([device("a", counters=1), device("b", counters=1)], claim(ask(2)), counters=1)
    for each in made["slices"][0]["spec"]["devices"]:
        each["consumesCounters"][0]["counters"]["m"]["value"] = amount
    made["slices"][1]["spec"]["sharedCounters"][0]["counters"]["m"]["value"] = total
    return made


@ENGINES
def test_a_counter_that_is_never_short_matters_to_no_table(engine, solver):
    assert climb(wide("100Ti", "400Ti"), engine) == ["a", "b"]


def test_a_counter_whose_amounts_change_makes_the_table_looser():
    assert table(wide("100Ti", "400Ti")).exact
    assert table(wide("100Ti", "399Ti")).looser == ("what a device takes of a counter changes with what others take",)
    assert table({**wide("100Ti", "200Ti"), "semantics": "intended"}).exact


@ENGINES
def test_an_invalid_pool_ends_the_search_that_comes_to_it(engine, solver):
    made = asked([[device("a"), device("z")]], claim(ask(1)))
    twice = asked([[device("b"), device("b")]], claim(ask(1)))["slices"][0]
    twice["metadata"]["name"], twice["spec"]["pool"] = "s9", {**twice["spec"]["pool"], "name": "q"}
    made["slices"].append(twice)
    assert climb(made, engine) == ["a"]
    more = {**made, "claims": asked([[]], claim(ask(3)))["claims"]}
    with pytest.raises(SearchStopped, match="pool q is invalid: duplicate device name b"):
        climb(more, engine)


def test_an_all_alternative_that_goes_on_as_the_first_one_makes_the_table_looser(solver):
    """Two devices are asked for, or all of three, of which the first one has to be free: it is not."""
    devices = [device("a", of=1), device("b", of=1), device("c", of=1), device("x", of=2)]
    alternatives = [ask(2, of=2), ask(None, of=1)]
    made = asked([devices], claim(ask(3, of=1)), claim(alternatives))
    assert table(made, Knows.ALL).looser == ("r0/s1 goes on as the first alternative",)
    assert climb(made, Engine.FIRST_FIT) is None
    assert climb(made, Engine.CP_SAT) is None
    ladder = Ladder(question(asked([devices], claim([ask(1, of=3), ask(None, of=1)]))), Engine.CP_SAT, DEFAULT_BUDGET)
    found = ladder.climb()
    assert found is not None
    assert [pick.device.key.device for pick in found.picks] == ["a"]
    assert ladder.engine == "first-fit"


def negative(amount, capacity):
    """Return a question about shares of one device, of which the last takes less than nothing."""
    shared = {**device("a"), "allowMultipleAllocations": True, "capacity": {"c": {"value": str(capacity)}}}
    picks = [ask(1, capacity=each) for each in (1, amount, -2)]
    return request([shared], claim(*picks), release="1.36.2", channel="experimental")


@ENGINES
def test_capacity_that_suffices_without_negative_amounts_matters_to_no_table(engine, solver):
    assert climb(negative(1, 2), engine) == ["a", "a", "a"]


def test_capacity_that_needs_negative_amounts_makes_the_table_looser(solver):
    assert table(negative(1, 2)).exact
    made = negative(3, 3)
    assert table(made).looser == ("what d/p/a has in flight depends on the order of the search",)
    assert climb(made, Engine.FIRST_FIT) is None


@ENGINES
def test_values_that_forgetting_does_not_bring_back_are_in_the_table(engine, solver):
    """One value per request is remembered (DISTINCT-4): that shows only where a value can come twice."""
    devices = [device("a", uuid="1"), device("b", uuid="2"), device("c", uuid="1", spare=1)]
    now = {"release": "1.36.2", "channel": "incubating"}
    made = asked([devices[:2]], claim(ask(2), distinct="uuid"), **now)
    assert climb(made, engine) == ["a", "b"]
    assert table(made).exact
    assert table(asked([devices], claim(ask(2, uuid="1"), distinct="uuid"), **now)).looser == (
        "distinctAttribute d/uuid remembers one value per request",
    )
    # What no request may take does not matter.
    assert table(asked([devices], claim(ask(2, uuid="2"), distinct="uuid"), **now)).exact


@ENGINES
def test_what_a_refused_device_leaves_to_a_constraint_ends_the_search_at_all(engine, solver):
    """The first alternative is refused for the capacity of another: its value stays, and All does not fit it."""
    shared = [device("z", of=1, numa=2), device("a", shares=9, of=2, numa=1)]
    alternatives = [ask(1, capacity=1, of=2), ask(None, of=1)]
    made = asked([shared], claim(alternatives, match="numa"))
    with pytest.raises(SearchStopped, match="request s1: cannot add device d/p/z"):
        climb_anyhow(made, engine)


def climb_anyhow(made, engine):
    return Ladder(question(made), engine, DEFAULT_BUDGET).climb()
