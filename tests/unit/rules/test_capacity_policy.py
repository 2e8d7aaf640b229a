"""
Amounts of consumable capacity: steps, fractions, and what cannot be computed. Texts are upstream 1.37.2's.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import DeviceCapacity, Quantity
from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.profiles import Feature, profile
from dra_alloc.rules.capacity.policy import AmountError, Arithmetic, consumed_amount, violates_policy
from fuzz.observed.build import ON, alternative, claim, device, first, problem, slice_, want

OLD, WHOLE, MILLI = Arithmetic(False, False), Arithmetic(True, False), Arithmetic(True, True)
BEYOND = "capacity request cannot be represented in the device's range arithmetic: "
STEP_TOO_FAR = BEYOND + "rounding request {} up to the next step passes "


def capacity(value="20E", default=None, **span):
    policy = {}
    if span:
        policy["validRange"] = span
    if default is not None:
        policy["default"] = default
    return DeviceCapacity.model_validate({"value": value, **({"requestPolicy": policy} if policy else {})})


def taken(requested, arithmetic, **made):
    amount = consumed_amount(capacity(**made), Quantity.parse(requested), arithmetic)
    return str(amount)


@pytest.mark.parametrize(
    ("low", "step", "requested", "whole", "milli"),
    [
        ("500m", "500m", "100m", "500m", "500m"),
        ("500m", "500m", "500m", "1", "500m"),
        ("500m", "500m", "1200m", "2", "1500m"),
        ("500m", "300m", "801m", "1", "1100m"),
        ("1", "300m", "2", "2", "2200m"),
        ("500m", "1", "1501m", "2", "2500m"),
        ("1500u", "1", "1600u", "1", "1"),
        ("1", "1500u", "1001500u", "2", "2"),
        ("1Ki", "500m", "1500100m", "1501", "1500500m"),
        ("1Ki", "1Ki", "1500", "2Ki", "2Ki"),
        ("1k", "1k", "1500", "2k", "2k"),
        ("1e3", "1e3", "1500", "2e3", "2e3"),
        ("0", "1", "-1", "0", "0"),
    ],
)
def test_steps_are_counted_in_whole_numbers_or_in_thousandths(low, step, requested, whole, milli):
    assert taken(requested, WHOLE, min=low, step=step) == whole
    assert taken(requested, MILLI, min=low, step=step) == milli


@pytest.mark.parametrize(
    ("low", "step", "requested", "taken_"),
    [
        ("1", "4", "10E", "5"),
        ("3", "10", "1e30", "13"),
        ("0", "7", "9223372036854775808", "-9223372036854775800"),
        ("1", "4", "9223372036854775807", "-9223372036854775807"),
        ("1", "1", "18446744073709551620", "4"),
    ],
)
def test_older_releases_wrap_around(low, step, requested, taken_):
    """As upstream 1.36.6 answered."""
    assert taken(requested, OLD, min=low, step=step) == taken_


def test_older_releases_print_in_powers_of_two():
    assert taken("1500", OLD, min="1k", step="1k") == "2000"


@pytest.mark.parametrize(
    ("arithmetic", "span", "requested", "text"),
    [
        (
            WHOLE,
            {"min": "1", "step": "1"},
            "9223372036854775808",
            BEYOND + "request 9223372036854775808 exceeds MaxInt64",
        ),
        (WHOLE, {"min": "1", "step": "2"}, "10E", BEYOND + "request 10E exceeds MaxInt64"),
        (WHOLE, {"min": "1", "step": "10P"}, "9223372036854775807", STEP_TOO_FAR + "MaxInt64"),
        (WHOLE, {"min": "-1", "step": "1"}, "-500m", "capacity value is negative"),
        (WHOLE, {}, "-1n", "capacity value is negative"),
        (MILLI, {"min": "1", "step": "1"}, "10P", BEYOND + "request 10P is not a representable milli value"),
        (MILLI, {"min": "0", "step": "300m"}, "1n", BEYOND + "request 1n is not a representable milli value"),
        (MILLI, {"min": "1", "step": "2"}, "9223372036854775806m", STEP_TOO_FAR + "the milli-value range"),
        (MILLI, {"min": "-1", "step": "1"}, "500m", STEP_TOO_FAR + "the milli-value range"),
    ],
)
def test_amounts_that_cannot_be_computed(arithmetic, span, requested, text):
    with pytest.raises(AmountError) as raised:
        taken(requested, arithmetic, **span)
    assert str(raised.value) == text.format(requested)


@pytest.mark.parametrize("largest", ["9223372036854775807", "9223372036854775806500m"])
def test_the_largest_amounts_that_can(largest):
    assert taken(largest, WHOLE, min="1", step="1") == "9223372036854775807"
    assert taken("9223372036854774807m", MILLI, min="1", step="1") == "9223372036854775"


def test_a_range_that_is_too_large_for_thousandths_is_counted_in_whole_numbers():
    assert taken("9223372036854776", MILLI, min="1", step="1", max="10P") == "9223372036854776"
    assert taken("10E", OLD, min="1", step="1") == "0"


@pytest.mark.parametrize(
    ("amount", "step", "whole", "milli"),
    [
        ("2500m", "1", False, True),
        ("2500m", "500m", False, False),
        ("20E", "1", False, True),
        ("2500m", "1500u", False, False),
    ],
)
def test_what_is_off_the_steps(amount, step, whole, milli):
    policy = capacity(min="1", step=step).request_policy
    assert violates_policy(policy, Quantity.parse(amount), WHOLE) is whole
    assert violates_policy(policy, Quantity.parse(amount), MILLI) is milli


def test_which_allocators_count_how():
    def of(release, *features, channel="incubating"):
        return Arithmetic.of(profile(release, features, channel))

    assert of("1.37.2", Feature.FRACTIONAL_RANGE) == MILLI
    assert of("1.37.2") == WHOLE
    assert of("1.37.0-alpha.2") == of("1.36.6") == OLD
    assert profile("1.37.2", [Feature.FRACTIONAL_RANGE]).channel == "incubating"
    assert profile("1.36.6", [Feature.FRACTIONAL_RANGE]).unsupported == {Feature.FRACTIONAL_RANGE}


def ask(request, devices=None, **more):
    bad = device("a", multi=True, cap={"c": "-1"})
    return answer_allocate(
        {
            **problem([slice_("s", devices or [bad])], claim(request)),
            "release": "1.37.2",
            "channel": "incubating",
            "features": ON,
            **more,
        }
    )


@pytest.mark.parametrize(
    ("request_", "who", "named"),
    [
        (want("r"), "r", "d/p/a"),
        (want("r", None), "r", "a"),
        (want("r", adminAccess=True), "r", "d/p/a"),
        (first("r", alternative("s1"), alternative("s2")), "s1", "d/p/a"),
    ],
)
def test_a_negative_amount_ends_the_question(request_, who, named):
    text = f'claim c, request {who}: checking capacity for device {named}: capacity "c": capacity value is negative'
    answer = ask(request_)
    assert (answer["err"], answer["verdict"], answer.get("onNode")) == (text, "error", None)
    assert ask(request_, release="1.36.6")["verdict"] == "allocated"


@pytest.mark.parametrize(
    "more",
    [
        {"allocated": [["d", "p", "a"]]},
        {"request": want("r", cel="false")},
        {"request": want("r", capacity={"requests": {"x": "1"}})},
    ],
)
def test_what_comes_before_the_amounts(more):
    assert ask(more.pop("request", want("r")), **more)["verdict"] == "unsatisfiable"


def test_a_bad_amount_wins_over_one_that_is_too_much():
    devices = [device("a", multi=True, cap={"a": "4", "b": "-1"})]
    assert 'capacity "b"' in ask(want("r", capacity={"requests": {"a": "5"}}), devices)["err"]
