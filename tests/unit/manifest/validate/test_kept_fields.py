"""
What API servers of 1.37 say of derived attributes, and of what a template or slice had before.
"""

from __future__ import annotations

import pytest

import dra_alloc
from tests.unit.manifest.validate.test_newer_releases import claim, sliced, told

ONE_OF = "must evaluate to a primitive scalar (string, integer, boolean, semver), not "


@pytest.mark.parametrize(
    ("expression", "told", "with_lists"),
    [
        *((each, "", "") for each in ("'x'", "1", "true", "dyn(1)", "semver('1.2.3')", "device.attributes['d.io'].x")),
        ("1.5", "double", "double"),
        ("['a']", "list(string)", ""),
        ("device", "kubernetes.DRADevice", "kubernetes.DRADevice"),
    ],
)
def test_what_derived_attributes_are(expression: str, told: str, with_lists: str):
    made = claim(derivedAttributes=[{"name": "d.io/x", "expression": expression}])
    made["spec"]["devices"]["constraints"] = [{"matchAttribute": "d.io/x"}]
    for lists, text in ((False, told), (True, with_lists)):
        gates = {"DRADerivedAttributes": True, "DRAListTypeAttributes": lists}
        faults = dra_alloc.validate(made, release="1.37", gates=gates)
        assert [each.detail.endswith(f"not {text}") for each in faults] == [True] * bool(text)
        assert lists or [each.detail for each in faults] == ([ONE_OF + text] if text else [])


def test_what_a_template_says_is_read_again_though_it_stays():
    template = {**claim(selectors=[{"cel": {"expression": "1"}}]), "kind": "ResourceClaimTemplate"}
    template["spec"] = {"spec": template["spec"]}
    for release in ("1.36", "1.37"):
        found = told(template, release, old=template)
        assert [path for _, path, _ in found] == ["spec.spec.devices.requests[0].exactly.selectors[0].cel.expression"]


def test_how_many_attributes_a_template_derives_is_looked_at_once():
    names = [f"d.io/x{number}" for number in range(33)]
    template = {**claim(derivedAttributes=[{"name": each, "expression": "'x'"} for each in names])}
    template["spec"]["devices"]["constraints"] = [{"matchAttribute": each} for each in names[:32]]
    template |= {"kind": "ResourceClaimTemplate", "spec": {"spec": template["spec"]}}
    gates = {"DRADerivedAttributes": True}
    assert "TooMany" in [kind for kind, _, _ in told(template, "1.37", gates=gates)]
    assert "TooMany" not in [kind for kind, _, _ in told(template, "1.37", gates=gates, old=template)]


@pytest.mark.parametrize(
    ("now", "before", "kinds"),
    [
        (["x"], ["*"], ["NotSupported"]),
        (["x"], ["x"], []),
        (["*", "x", "*"], ["x"], ["Duplicate"]),
        (["*", "*"], ["*", "*"], []),
        (["NodePrepareResources"], ["NodePrepareResources"], ["Invalid"]),
    ],
)
def test_node_operations_that_were_skipped_before(now: list[str], before: list[str], kinds: list[str]):
    new, old = (sliced(nodeName="n", skipNodeOperations=each) for each in (now, before))
    assert [kind for kind, _, _ in told(new, "1.37", old=old)] == kinds


@pytest.mark.parametrize(("before", "now", "kinds"), [("x", "y", ["Forbidden"]), (None, "y", []), ("x", None, [])])
def test_the_attribute_of_partition_types_may_go_but_not_change(before: str | None, now: str | None, kinds: list[str]):
    device = {
        "name": "d",
        "attributes": {name: {"string": "a"} for name in ("d.io/x", "d.io/y")},
        "consumesCounters": [{"counterSet": "c", "counters": {"m": {"value": "1"}}}],
    }
    old, new = (
        sliced(device, nodeName="n", **({"partitionTypeAttribute": f"d.io/{each}"} if each else {}))
        for each in (before, now)
    )
    assert [kind for kind, _, _ in told(new, "1.37", old=old)] == kinds


def test_a_generation_of_0_in_a_template_is_none():
    template = {**claim(), "kind": "ResourceClaimTemplate"}
    template["spec"] = {"spec": template["spec"]}
    numbered = {**template, "spec": {**template["spec"], "metadata": {"generation": 0}}}
    assert not told(numbered, "1.37", old=template)
    assert not told(template, "1.37", old=numbered)
