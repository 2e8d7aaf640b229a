"""
DeviceTaintRules without a selector: they taint nothing, before 1.37.0 every device.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import DeviceTaintRule
from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.edits.events import Event
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents
from dra_alloc.problem.tainting import has_effect
from dra_alloc.profiles import profile
from fuzz.observed.build import claim, device, problem, slice_, want

BARE = {"metadata": {"name": "bare"}, "spec": {"taint": {"key": "k", "effect": "NoSchedule"}}}
EMPTY = {"metadata": {"name": "empty"}, "spec": {"taint": {"key": "k", "effect": "NoSchedule"}, "deviceSelector": {}}}


@pytest.mark.parametrize(
    ("release", "semantics", "rule", "allocated"),
    [
        ("1.36.6", "upstream", BARE, False),
        ("1.37.0-alpha.2", "upstream", BARE, False),
        ("1.36.6", "intended", BARE, True),
        ("1.37.2", "upstream", BARE, True),
        ("1.37.2", "upstream", EMPTY, False),
    ],
)
def test_a_rule_without_a_selector(release, semantics, rule, allocated):
    asked = problem([slice_("s", [device("a")])], claim(want("r")), taintRules=[rule])
    answer = answer_allocate({**asked, "release": release, "semantics": semantics, "features": {"DeviceTaints": True}})
    assert (answer["verdict"] == "allocated") is allocated
    assert has_effect(DeviceTaintRule.model_validate(rule), profile(release, (), semantics=semantics)) is not allocated


@pytest.mark.parametrize(("release", "kept"), [("1.36", {"bare", "empty"}), ("1.37", {"empty"})])
def test_clusters_keep_the_rules_with_an_effect(release, kept):
    settings = Settings(release, {"DRADeviceTaintRules": True})
    rules = tuple(map(DeviceTaintRule.model_validate, (BARE, EMPTY)))

    def names(cluster):
        return {rule.metadata.name for rule in cluster.inventory.taint_rules}

    assert names(Cluster.of(Documents(taint_rules=rules), settings)) == kept
    none = Cluster.of(Documents(), settings)
    assert names(none.apply([Event("ADDED", rule) for rule in rules])) == kept
