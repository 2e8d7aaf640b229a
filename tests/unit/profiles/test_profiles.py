"""
Which allocator a release runs, and with which features.
"""

from __future__ import annotations

import pytest

from dra_alloc.profiles import (
    Channel,
    Feature,
    features_from_gates,
    gates_of,
    profile,
    profile_for,
    with_selector_lists,
)

PLAIN = {Feature.ADMIN_ACCESS, Feature.PRIORITIZED_LIST}


@pytest.mark.parametrize(
    ("release", "features", "channel"),
    [
        ("1.34", set(), Channel.STABLE),
        ("1.34", PLAIN, Channel.INCUBATING),
        ("1.34", {Feature.CONSUMABLE_CAPACITY}, Channel.EXPERIMENTAL),
        ("1.36", PLAIN, Channel.STABLE),
        ("1.36", {Feature.TAINTS, Feature.PARTITIONABLE}, Channel.STABLE),
        ("1.36", {Feature.CONSUMABLE_CAPACITY}, Channel.INCUBATING),
        ("1.37", {Feature.LIST_ATTRIBUTES}, Channel.EXPERIMENTAL),
    ],
)
def test_the_first_channel_that_supports_every_feature(release, features, channel):
    chosen = profile(release, features)
    assert chosen.channel is channel
    assert not chosen.unsupported


@pytest.mark.parametrize("release", ["1.34", "1.35", "1.36", "1.37"])
def test_features_follow_from_gates(release):
    gates = gates_of(release)
    on = features_from_gates(release, gates)
    assert (Feature.ADMIN_ACCESS in on) is gates["DRAAdminAccess"]
    # One feature of two gates: both have to be on.
    both = gates | {"DRADeviceBindingConditions": True, "DRAResourceClaimDeviceStatus": True}
    assert Feature.BINDING in features_from_gates(release, both)
    assert Feature.BINDING not in features_from_gates(release, both | {"DRAResourceClaimDeviceStatus": False})


@pytest.mark.parametrize(("release", "reaches"), [("1.36", False), ("1.37", True)])
def test_list_attributes_reach_the_selectors_before_they_reach_the_allocator(release, reaches):
    gates = gates_of(release) | {"DRAListTypeAttributes": True}
    assert (Feature.LIST_ATTRIBUTES in features_from_gates(release, gates)) is reaches
    assert profile_for(release, gates).cel_lists


@pytest.mark.parametrize(
    ("release", "asked"), [("1.36", True), ("1.37.0-alpha.2", True), ("1.37.0-beta.0", False), ("1.37", False)]
)
def test_selectors_read_lists_by_their_own_switch(release, asked):
    chosen = profile(release, ())
    assert with_selector_lists(chosen, on=True).cel_lists
    assert with_selector_lists(chosen, on=False).cel_lists is not asked
    assert profile_for(release, gates_of(release)).cel_lists is not asked


@pytest.mark.parametrize(
    ("release", "status", "binding", "channel"),
    [
        ("1.34", True, False, Channel.EXPERIMENTAL),
        ("1.34", False, True, Channel.EXPERIMENTAL),
        ("1.34", False, False, Channel.INCUBATING),
        ("1.35", True, False, Channel.INCUBATING),
        ("1.35", True, True, Channel.EXPERIMENTAL),
    ],
)
def test_either_gate_of_binding_chooses_the_channel_of_134(release, status, binding, channel):
    gates = gates_of(release) | {"DRAResourceClaimDeviceStatus": status, "DRADeviceBindingConditions": binding}
    chosen = profile_for(release, gates)
    assert chosen.channel is channel
    assert (Feature.BINDING in chosen.features) is (status and binding)
    assert profile_for(release, gates, "stable").channel is Channel.STABLE
