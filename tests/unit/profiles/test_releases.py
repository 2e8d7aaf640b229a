"""
Releases as data: spans that stay open, gates by stage, and a line nobody wrote down yet.
"""

from __future__ import annotations

import pytest

from dra_alloc import cel
from dra_alloc.cel.environments import declarations
from dra_alloc.errors import InputError
from dra_alloc.gates import GATES, gates_of, without_effect
from dra_alloc.profiles import ALLOCATOR_FEATURES, CHANNEL_GATES, profile, profile_for
from dra_alloc.releases import NEWEST, Release, Span, parse_release, start_of
from dra_alloc.traits import TRAITS, Channel, Trait, traits_of

NOW = parse_release(tuple(NEWEST)[-1])
#: The line after the newest: whatever holds now holds there, as nothing says that it ends.
NEXT = Release(NOW.major, NOW.minor + 1, 0)


@pytest.mark.parametrize("channel", Channel)
@pytest.mark.parametrize("defects", [True, False])
def test_the_release_after_the_newest_shows_every_trait_of_the_newest(channel, defects):
    assert traits_of(NEXT, channel, defects=defects) == traits_of(NOW, channel, defects=defects)
    assert traits_of(NEXT, Channel.STABLE, defects=False)


def test_the_release_after_the_newest_has_its_gates_features_and_channel():
    assert gates_of(NEXT) == gates_of(NOW)
    for features in ((), *((feature,) for feature in ALLOCATOR_FEATURES)):
        assert profile(NEXT, features).channel is profile(NOW, features).channel
        assert profile(NEXT, features).unsupported == profile(NOW, features).unsupported
    assert profile_for(NEXT, gates_of(NEXT)).cel_lists is profile_for(NOW, gates_of(NOW)).cel_lists


@pytest.mark.parametrize("lists", [True, False])
def test_the_release_after_the_newest_selects_as_the_newest(lists):
    now, later = (declarations(cel.environment(each, "stored", lists).settings) for each in (NOW, NEXT))
    assert _signatures(later) == _signatures(now)
    assert (later.macros, later.types, later.fields) == (now.macros, now.types, now.fields)
    for name in (
        "reading",
        "undeclared",
        "attribute_type",
        "quoted_names",
        "strict_optionals",
        "rereads_optionals",
        "rooted_names",
    ):
        assert getattr(later.settings, name) == getattr(now.settings, name)
    written = [declarations(cel.environment(each, "new", lists).settings) for each in (NOW, NEXT)]
    assert written[0].functions.keys() <= written[1].functions.keys()


def _signatures(known):
    return {
        name: [(each.id, each.params, each.result, each.run, each.cost) for each in function.overloads]
        for name, function in known.functions.items()
    }


@pytest.mark.parametrize(
    ("release", "holds"),
    [
        ("1.34.13", False),
        ("1.35.0-alpha.1", True),
        ("1.35.10", True),
        ("1.36.5", True),
        ("1.36.6", False),
        ("1.37.0-beta.0", True),
        ("1.37.0", False),
        ("1.37.2", False),
    ],
)
def test_a_span_ends_in_its_line_and_with_the_backports_of_others(release, holds):
    assert Span("1.35", "1.37.0", ("1.36.6",)).holds(parse_release(release)) is holds


def test_a_backport_does_not_reach_later_lines():
    span = Span(backports=("1.36.6",))
    assert [str(each) for each in map(start_of, ("1.36.5", "1.36.6", "1.37")) if span.holds(each)] == [
        "1.36.5",
        "1.37.0-alpha.0",
    ]


def test_every_trait_ends_after_it_begins_and_its_backports_lie_between():
    for trait, records in TRAITS.items():
        for start, end, backports in (record.span for record in records):
            first, last = start_of(start or "1.34"), start_of(end) if end else NEXT
            assert first < last, trait
            assert all(first < start_of(patch) < last for patch in backports), trait


def test_no_trait_is_named_without_a_record():
    assert set(TRAITS) == set(Trait)


@pytest.mark.parametrize(
    ("release", "overrides", "on", "off"),
    [
        ("1.36", {"AllAlpha": True}, {"DRAListTypeAttributes", "DRAAdminAccess"}, {"DRADeviceTaintRules"}),
        ("1.36", {"AllBeta": True}, {"DRADeviceTaintRules"}, {"DRAListTypeAttributes"}),
        ("1.36", {"AllBeta": False}, {"DRAAdminAccess"}, {"DRAConsumableCapacity", "DRADeviceTaints"}),
        (
            "1.37",
            {"AllAlpha": True, "DRAListTypeAttributes": False},
            {"DRADerivedAttributes"},
            {"DRAListTypeAttributes", "DRAFractionalCapacityRange"},
        ),
        ("1.37", {"AllAlpha": False, "AllBeta": False}, {"DRADeviceTaints"}, {"DRAConsumableCapacity"}),
    ],
)
def test_a_group_of_gates_sets_those_of_its_stage_that_are_not_set_by_themselves(release, overrides, on, off):
    gates = gates_of(release, overrides)
    assert {name for name in on | off if gates[name]} == on


@pytest.mark.parametrize(
    ("gate", "free", "locked"),
    [
        ("DRAAdminAccess", "1.35", "1.36"),
        ("DRAPrioritizedList", "1.36", "1.37"),
        ("DRAExtendedResource", "1.36", "1.37"),
        ("DRAResourceClaimDeviceStatus", "1.36", "1.37"),
        ("DRADeviceTaints", "1.37", "1.38"),
        ("DRADeviceTaintRules", "1.37", "1.38"),
        ("DRADeviceBindingConditions", "1.37", "1.38"),
        ("DRAPartitionableDevices", "1.37", "1.38"),
    ],
)
def test_a_gate_that_is_locked_cannot_be_switched_off(gate, free, locked):
    assert gates_of(free, {gate: False})[gate] is False
    assert gates_of(locked, {gate: True, "AllBeta": False})[gate] is True
    with pytest.raises(InputError, match=f"cannot set feature gate {gate} to false, feature is locked to true"):
        gates_of(locked, {gate: False})


def test_an_unknown_gate_is_told_with_the_groups():
    with pytest.raises(InputError) as caught:
        gates_of("1.36", {"AllGamma": True})
    assert "AllBeta" in str(caught.value.hint)


def test_gates_without_effect_are_known_and_reach_neither_allocator_nor_selectors():
    idle = set(without_effect(dict.fromkeys(GATES, True), NOW))
    assert "DRAResourcePoolStatus" in idle
    assert {*without_effect(dict.fromkeys(GATES, True), "1.36")} - idle == {"DRANodeAllocatableResources"}
    assert not idle & {gate for needed in ALLOCATOR_FEATURES.values() for gate in needed}
    assert not idle & {gate for row in CHANNEL_GATES.values() for gate in row}
    plain = profile_for(NOW, gates_of(NOW))
    assert profile_for(NOW, gates_of(NOW, dict.fromkeys(idle & gates_of(NOW).keys(), True))) == plain
