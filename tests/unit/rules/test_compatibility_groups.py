"""
Compatibility groups on counter sets, as upstream 1.37.2 answered the same questions.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.solve.cpsat.first import first_answer
from dra_alloc.solve.table.pruned import PrunedSearch
from fuzz.observed.build import ON, claim, counters, device, problem, slice_, want
from tests.unit.solve.questions import table

SWITCHES = {**ON, "CompatibilityGroups": True}


def grouped(name, *groups, counter_set="cs", **rest):
    use = {"counterSet": counter_set, "counters": {"m": {"value": "1"}}, "compatibilityGroups": list(groups)}
    return device(name, consumesCounters=[use], **rest)


def pool(*devices, count=2):
    sets = [{"name": name, "counters": {"m": {"value": "8"}}} for name in ("cs", "cs2")]
    return [
        slice_("a-counters", None, sharedCounters=sets, count=count),
        slice_("b-devices", list(devices), count=count),
    ]


def ask(slices, *claims, release="1.37.2", channel="experimental", features=SWITCHES, held=(), **more):
    return {
        **problem(slices, *claims),
        "release": release,
        "channel": channel,
        "features": features,
        "engine": "first-fit",
        "allocated": [["d", "p", name] for name in held],
        **more,
    }


def picked(request):
    answer = answer_allocate(request)
    if answer["results"] is None:
        return answer.get("err")
    return [each["device"] for result in answer["results"] for each in result["devices"]["results"]]


A, B, AB, NONE = ("a",), ("b",), ("a", "b"), ()
TWO = claim(want("r", 2))


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ((A, B), None),
        ((A, B, AB), ["x0", "x2"]),
        ((NONE, A, NONE), ["x0", "x2"]),
        ((NONE, NONE), ["x0", "x1"]),
        ((A, B, B), ["x1", "x2"]),
        (((""), NONE), ["x0", "x1"]),
    ],
)
def test_devices_of_a_counter_set_have_a_group_in_common(devices, expected):
    assert picked(ask(pool(*(grouped(f"x{n}", *groups) for n, groups in enumerate(devices))), TWO)) == expected


def test_one_group_is_common_to_all_not_one_to_each_pair():
    three = [grouped("x", "a", "b"), grouped("y", "b", "c"), grouped("z", "a", "c")]
    assert picked(ask(pool(*three), claim(want("r", 3)))) is None


def test_other_counter_sets_are_not_touched():
    assert picked(ask(pool(grouped("x", "a"), grouped("y", "b", counter_set="cs2")), TWO)) == ["x", "y"]


@pytest.mark.parametrize(
    ("first", "second", "accepted"),
    [
        (A, A, {A, AB}),
        (AB, A, {A, AB}),
        (A, B, set()),
        (NONE, A, {NONE}),
        (A, NONE, {A, AB}),
        (NONE, NONE, {NONE}),
    ],
)
def test_allocated_devices_that_do_not_go_together(first, second, accepted):
    for groups in (NONE, A, B, AB):
        devices = [grouped("x", *first), grouped("y", *second), grouped("z", *groups)]
        answer = picked(ask(pool(*devices), claim(want("r")), held=("x", "y")))
        assert answer == (["z"] if groups in accepted else None)


def test_a_device_that_contradicts_itself_is_never_picked():
    uses = [
        {"counterSet": "cs", "counters": {"m": {"value": "1"}}, "compatibilityGroups": [group]} for group in ("a", "b")
    ]
    assert picked(ask(pool(device("x", consumesCounters=uses)), claim(want("r")))) is None


def test_a_further_share_is_not_looked_at():
    devices = [grouped("x", "a", multi=True), grouped("y", "b", multi=True)]
    shared = {"allocatedShared": [["d", "p", "x", "s"], ["d", "p", "y", "s"]]}
    assert picked(ask(pool(*devices), TWO, **shared)) == ["x", "y"]
    assert picked(ask(pool(*devices), TWO)) is None


def test_admin_access_to_a_whole_device_is_no_further_share():
    devices = [grouped("x", "a", multi=True), grouped("y", "b")]
    admin = claim(want("r", adminAccess=True))
    assert picked(ask(pool(*devices), admin, held=("x", "y"))) is None
    assert picked(ask(pool(*devices), admin, held=("y",), allocatedShared=[["d", "p", "x", "s"]])) == ["x"]
    full = [counters(3), slice_("b-devices", [device("x", k=3, multi=True)], count=2)]
    assert picked(ask(full, admin, held=("x",))) is None
    assert picked(ask(full, admin, allocatedShared=[["d", "p", "x", "s"]])) == ["x"]


@pytest.mark.parametrize("channel", ["stable", "incubating", "experimental"])
def test_without_the_feature_the_slice_is_missing(channel):
    features = dict.fromkeys(("DeviceTaints", "PartitionableDevices", "PrioritizedList"), True)
    slices = pool(grouped("x", "a"), grouped("y"))
    everything = ask(slices, claim(want("r", None)), channel=channel, features=features)
    assert picked(ask(slices, claim(want("r")), channel=channel, features=features)) is None
    assert "resource pool d/p is currently being updated" in picked(everything)
    assert picked({**everything, "release": "1.36.6"}) == ["x", "y"]
    assert picked({**everything, "release": "1.37.0-alpha.2"}) == ["x", "y"]


def test_a_hidden_slice_still_is_a_newer_generation():
    features = {**SWITCHES, "CompatibilityGroups": False}
    newer = slice_("b", [grouped("y", "a")], generation=2)
    everything = claim(want("r", None))
    assert picked(ask([slice_("a", [device("x")], count=1), newer], everything, features=features)) == ["x"]
    assert picked(ask([slice_("a", [device("x")], count=2), newer], everything, features=features)) is None


def test_a_refusal_is_explained_and_gives_the_counters_back():
    devices = [grouped("x", "a"), grouped("y", "b"), grouped("z", "a")]
    slices = [counters(2), slice_("b-devices", devices, count=2)]
    assert picked(ask(slices, TWO)) == ["x", "z"]


def test_bounds_and_pruned_search_know_the_groups():
    clash = [grouped(f"x{n}", "a" if n % 2 else "b") for n in range(6)]
    plain = device("q")
    made = table(ask(pool(*clash, plain), claim(want("r", 4))))
    search = PrunedSearch(made)
    assert made.exact
    assert search.run(1000) is True
    assert [pick.device.key.device for pick in search.picks] == ["x0", "x2", "x4", "q"]
    assert PrunedSearch(table(ask(pool(*clash, plain), claim(want("r", 5))))).run(1000) is False


def test_cp_sat_knows_the_groups(solver):
    clash = [grouped(f"x{n}", "a" if n % 2 else "b") for n in range(6)]
    answer = first_answer(table(ask(pool(*clash, device("q")), claim(want("r", 4)))), 5.0)
    assert [pick.device.key.device for pick in answer.picks] == ["x0", "x2", "x4", "q"]
    assert first_answer(table(ask(pool(*clash), claim(want("r", 4)))), 5.0).found is False
