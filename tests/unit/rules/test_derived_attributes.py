"""
Derived attributes of requests, as upstream 1.37.2 answered the same questions.
"""

from __future__ import annotations

import pytest

from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.solve.cpsat.first import first_answer
from dra_alloc.solve.table.pruned import PrunedSearch
from dra_alloc.solve.table.table import Knows, NotModelled
from fuzz.observed.build import ON, alternative, attribute, claim, device, first, problem, slice_, want
from tests.unit.solve.questions import table

SWITCHES = {**ON, "DerivedAttributes": True, "ListTypeAttributes": True}
T = 'device.attributes["d"].t'
MISSING = 'device.attributes["d"].nope'
XYX = (device("d1", t="X"), device("d2", t="Y"), device("d3", t="X"))
NO_ATTRIBUTE = "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars"
MATCH, DISTINCT = [{"matchAttribute": "d/x"}], [{"distinctAttribute": "d/x"}]


def derived(expression, name="d/x"):
    return {"derivedAttributes": [{"name": name, "expression": expression}]}


def ask(*requests, constraints=MATCH, devices=XYX, features=SWITCHES, release="1.37.2", channel="experimental", **more):
    return {
        **problem([slice_("s", list(devices))], claim(*requests, constraints=constraints)),
        "release": release,
        "channel": channel,
        "features": features,
        "engine": "first-fit",
        **more,
    }


def picked(*requests, **more):
    answer = answer_allocate(ask(*requests, **more))
    if answer["results"] is None:
        return answer.get("err")
    return [each["device"] for result in answer["results"] for each in result["devices"]["results"]]


def test_constraints_compare_the_derived_value():
    assert picked(want("r", 2, **derived(T))) == ["d1", "d3"]
    assert picked(want("r", 2, **derived(T)), constraints=DISTINCT) == ["d1", "d2"]
    assert picked(want("r", 3, **derived(T)), constraints=DISTINCT) is None


def test_it_stands_before_the_devices_own():
    own = (device("d1", t="X", x="1"), device("d2", t="Y", x="1"), device("d3", t="X", x="2"))
    assert picked(want("r", 2), devices=own) == ["d1", "d2"]
    assert picked(want("r", 2, **derived(T)), devices=own) == ["d1", "d3"]


def test_a_request_without_sees_the_devices_own():
    devices = (device("d1", x="X"), device("d2", t="X"))
    requests = want("r0", cel=f"has({T})", **derived(T)), want("r1")
    assert picked(*requests, devices=devices) == ["d2", "d1"]
    assert picked(*requests) is None


def test_two_of_one_name_and_short_names():
    devices = (device("d1", t="X", u="1"), device("d2", t="Y", u="1"), device("d3", t="X", u="2"))
    twice = [{"name": "d/x", "expression": T}, {"name": "d/x", "expression": 'device.attributes["d"].u'}]
    assert picked(want("r", 2, derivedAttributes=twice), devices=devices) == ["d1", "d2"]
    assert picked(want("r", 2, **derived(T, name="x"))) is None


@pytest.mark.parametrize("constraints", [None, [{"requests": ["other"], "matchAttribute": "d/x"}]])
def test_what_no_constraint_compares_is_never_compiled(constraints):
    assert picked(want("r", **derived("nope(")), constraints=constraints) == ["d1"]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (MISSING, "evaluate derived attribute d/x on device d/p/d1 failed: no such key: nope"),
        ("1/0 == 1", "evaluate derived attribute d/x on device d/p/d1 failed: division by zero"),
        ("dyn(1.5)", "evaluate derived attribute d/x on device d/p/d1 failed: unsupported CEL return type: float64"),
        ('dyn({"a": 1})', "... failed: unsupported CEL return type: map[ref.Val]ref.Val"),
        ("dyn(device)", "... failed: unsupported CEL return type: map[string]interface {}"),
        ("dyn(null)", "... failed: unsupported CEL return type: structpb.NullValue"),
        ("dyn(optional.none())", "... failed: unsupported CEL return type: <nil>"),
        ('dyn(duration("1s"))', "... failed: unsupported CEL return type: time.Duration"),
        ("dyn([1.5])", "... failed: unsupported list element type: float64"),
        ('[dyn(1), dyn("a")]', "... failed: expected list element at index 1 to be int, got string"),
        (
            '[dyn("a"), dyn(semver("1.0.0"))]',
            "... failed: expected list element at index 1 to be string, got semver.Version",
        ),
        (
            "1.5",
            f"compile derived attribute d/x failed: {NO_ATTRIBUTE}, not double",
        ),
    ],
)
@pytest.mark.parametrize("count", [1, None])
def test_errors_end_the_question(expression, text, count):
    answer = picked(want("r", count, **derived(expression)))
    assert answer == text.replace("...", "evaluate derived attribute d/x on device d/p/d1")


def test_an_expression_that_does_not_compile():
    assert picked(want("r", **derived("nope"))).startswith(
        "compile derived attribute d/x failed: compilation failed: ERROR: "
    )
    assert picked(want("r", **derived("nope")), devices=()) is None


@pytest.mark.parametrize(
    "expression",
    [
        "1",
        "true",
        '"s"',
        'semver("1.0.0")',
        "[1, 2]",
        '["a"]',
        "dyn(1)",
        "dyn(optional.of(1))",
        "[dyn(type(1)), dyn('int')]",
    ],
)
def test_values_that_attributes_can_have(expression):
    assert picked(want("r", 2, **derived(expression))) == ["d1", "d2"]


def test_lists_and_the_feature_for_lists():
    off = {**SWITCHES, "ListTypeAttributes": False}
    assert picked(want("r", **derived("[]"))) is None
    assert picked(want("r", **derived("[]")), features=off) == ["d1"]
    assert picked(want("r", 2, **derived("[1]")), features=off) is None


@pytest.mark.parametrize(
    "more",
    [
        {"allocated": [["d", "p", "d1"]]},
        {"devices": [device("d1", taints=[{"key": "bad", "effect": "NoSchedule"}])]},
        {"constraints": [{"matchAttribute": "d/none"}, *MATCH]},
    ],
)
def test_what_comes_before(more):
    devices = more.pop("devices", XYX[:1])
    assert picked(want("r", **derived(MISSING)), devices=devices, **more) is None


@pytest.mark.parametrize("channel", ["stable", "incubating", "experimental"])
def test_the_feature_off(channel):
    features = {"PrioritizedList": True}
    off = {"features": features, "channel": channel}
    text = "claim c, request {}: cannot handle request with derived attributes, the feature is disabled"
    assert picked(want("r", selectors=[{}], **derived(T)), **off) == text.format("r")
    either = first("r", alternative("s1"), alternative("s2", **derived(T)))
    assert picked(either, **off) == text.format("s2")
    for release in ("1.36.6", "1.37.0-alpha.2"):
        assert picked(want("r", **derived(T)), **off, release=release) is None


def test_bounds_and_pruned_search_know_them():
    many = [device(f"x{n}", t="AB"[n % 2]) for n in range(6)]
    made = table(ask(want("r", 3, **derived(T)), devices=many))
    search = PrunedSearch(made)
    assert (made.exact, search.run(1000)) == (True, True)
    assert [pick.device.key.device for pick in search.picks] == ["x0", "x2", "x4"]
    assert PrunedSearch(table(ask(want("r", 4, **derived(T)), devices=many))).run(1000) is False


def test_cp_sat_knows_them(solver):
    gpus = [device(f"g{n}", kind="gpu", numa=str(n % 3)) for n in range(3)]
    nics = [device(f"n{n}", kind="nic", slot=str(2 - n)) for n in range(2)]
    requests = (
        want("gpu", cel=attribute("kind", "gpu"), **derived('device.attributes["d"].numa')),
        want("nic", cel=attribute("kind", "nic"), **derived('device.attributes["d"].slot')),
    )
    answer = first_answer(table(ask(*requests, devices=gpus + nics)), 5.0)
    assert [pick.device.key.device for pick in answer.picks] == ["g1", "n1"]
    assert picked(*requests, devices=gpus + nics) == ["g1", "n1"]


@pytest.mark.parametrize("constraints", [MATCH, DISTINCT])
@pytest.mark.parametrize("literal", ['"X"', '"Y"', '"Z"'])
def test_cp_sat_alone_knows_what_depends_on_the_request(constraints, literal, solver):
    requests = want("r0", **derived(T)), want("r1", **derived(literal)), want("r2", **derived('"Q"', name="d/other"))
    devices = (*XYX, device("d4", x="Z", t="Y"))
    for asked in (requests[:2], requests):
        wanted = picked(*asked, constraints=constraints, devices=devices)
        question = ask(*asked, constraints=constraints, devices=devices)
        with pytest.raises(NotModelled, match="d/x: the value of a device depends on the request that picks it"):
            table(question)
        answer = first_answer(table(question, Knows.ALL), 5.0)
        assert (answer.found, [pick.device.key.device for pick in answer.picks]) == (wanted is not None, wanted or [])


FRAGILE = derived('device.attributes["d"].x')


@pytest.mark.parametrize(
    ("constraints", "devices", "count"),
    [
        pytest.param(MATCH, (device("d1", x="1"), device("d2")), 1, id="found before"),
        pytest.param(MATCH, (device("d1", x="1"), device("d2")), 2, id="read"),
        pytest.param(MATCH, (device("d1"), device("d2", x="1")), 1, id="read at once"),
        pytest.param([], (device("d1"), device("d2", x="1")), 2, id="never read"),
        pytest.param(DISTINCT, (device("d1", x="1"), device("d2", x="1"), device("d3")), 2, id="passed"),
    ],
)
def test_cp_sat_knows_where_reading_one_ends_the_search(constraints, devices, count, solver):
    requests = [want(f"r{number}", **FRAGILE) for number in range(count)]
    wanted = picked(*requests, constraints=constraints, devices=devices)
    question = ask(*requests, constraints=constraints, devices=devices, engine="cp-sat")
    answer = answer_allocate(question)
    made = table(question, Knows.ALL)
    known = first_answer(made, 5.0)
    assert made.exact
    assert (known.stopped is not None) == ("err" in answer)
    got = [each["device"] for result in answer["results"] or () for each in result["devices"]["results"]]
    assert (got or answer.get("err")) == wanted


def test_a_constraint_before_the_one_that_reads_makes_the_table_looser():
    devices = device("d1", x="1", t="X"), device("d2", t="Y")
    first = [{"matchAttribute": "d/t"}, *MATCH]
    made = table(ask(want("r", 2, **FRAGILE), constraints=first, devices=devices), Knows.ALL)
    assert made.stops
    assert "a constraint before it may keep the search from an end" in made.looser[0]
    assert table(ask(want("r", 2, **FRAGILE), constraints=first[::-1], devices=devices), Knows.ALL).exact
