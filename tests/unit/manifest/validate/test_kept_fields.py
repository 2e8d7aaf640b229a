"""
What API servers say of derived attributes, of what was there before, and of labels once.
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


@pytest.mark.parametrize(("release", "times"), [("1.36", 3), ("1.37", 1), ("1.38", 1)])
def test_a_wrong_value_of_labels_is_told_once(release: str, times: int):
    labels = {"a": "-", "b": "-", "c": "-", "d": "v"}
    template = {**claim(), "kind": "ResourceClaimTemplate"}
    template["spec"] = {"spec": template["spec"], "metadata": {"labels": labels}}
    assert [path for _, path, _ in told(template, release)] == ["spec.metadata.labels"] * times
    template["metadata"] = {**template["metadata"], "labels": labels}
    assert [path for _, path, _ in told(template, release)].count("metadata.labels") == times
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}}
    pod["spec"] = {"containers": [{"name": "c", "image": "i"}], "nodeSelector": labels}
    assert [path for _, path, _ in told(pod, release)] == ["spec.nodeSelector"] * times


def test_annotations_that_differ_in_case_are_told_each():
    made = claim()
    made["metadata"] = {**made["metadata"], "annotations": {"-A": "", "-a": ""}}
    assert len(told(made, "1.37")) == 2


@pytest.mark.parametrize("mapping", [{}, {"capacityKey": "m", "capacityMultiplier": "1", "deviceMultiplier": "1"}])
def test_which_of_two_members_a_mapping_has_is_not_asked_of_devices_that_stay(mapping: dict[str, str]):
    device = {"name": "d", "capacity": {"m": {"value": "1"}}, "nodeAllocatableResources": {"cpu": {"mapping": mapping}}}
    on = {"gates": {"DRANodeAllocatableResources": True}}
    for release in ("1.37", "1.38"):
        assert not told(sliced(device), release, old=sliced(device), **on)
        for old in ({}, {"old": sliced({"name": "e"})}):
            assert [path for _, path, _ in told(sliced(device), release, **on, **old)] == [
                "spec.devices[0].nodeAllocatableResources[cpu].mapping"
            ]


@pytest.mark.parametrize(("release", "beyond"), [("1.36", []), ("1.37", []), ("1.38", [0, 128])])
def test_nodes_of_devices_are_looked_at_beyond_their_number(release: str, beyond: list[int]):
    on = {"gates": {"DRAPartitionableDevices": True}}
    devices = [{"name": f"d{number}", **({"nodeName": "n"} if number in (0, 128) else {})} for number in range(129)]
    assert [path for _, path, _ in told(sliced(*devices[:128]), release, **on)] == ["spec.devices[0]"]
    expected = ["spec.devices", *(f"spec.devices[{at}]" for at in beyond)]
    assert sorted(path for _, path, _ in told(sliced(*devices), release, **on)) == expected


def test_of_devices_that_stay_nodes_alone_are_looked_at_where_these_are_told_otherwise():
    device = {"name": "d", "nodeName": "n", "attributes": {"x": {}}}
    on = {"gates": {"DRAPartitionableDevices": True}}
    for before, now in (
        ({"perDeviceNodeSelection": True}, {"allNodes": True}),
        ({"perDeviceNodeSelection": False}, {}),
    ):
        old, new = (sliced(device, nodeName="n", **each) for each in (before, now))
        found = told(new, "1.38", old=old, **on)
        assert ("Invalid", "spec.devices[0]") in [each[:2] for each in found]
        assert "spec.devices[0].attributes[x]" not in [each[1] for each in found]


def test_a_member_beside_another_is_missed_by_a_generated_check_from_1_38_on():
    mapping = {"nodeAllocatableResources": {"cpu": {"mapping": {"deviceMultiplier": "1", "capacityMultiplier": "1"}}}}
    devices = [{"name": f"d{number}", **(mapping if not number else {})} for number in range(129)]
    for release, paths in (
        ("1.37", []),
        ("1.38", ["spec.devices[0].nodeAllocatableResources[cpu].mapping.capacityKey"]),
    ):
        found = told(sliced(*devices), release, gates={"DRANodeAllocatableResources": True})
        assert [path for _, path, _ in found if path != "spec.devices"] == paths


@pytest.mark.parametrize(
    ("release", "paths"), [("1.34", ["spec.devices[0].taints[0].key"]), ("1.35", []), ("1.37", [])]
)
def test_taints_that_stay_are_looked_at_in_1_34(release: str, paths: list[str]):
    item = sliced({"name": "d", "taints": [{"key": "-", "effect": "NoExecute"}]})
    assert [path for _, path, _ in told(item, release, old=item, gates={"DRADeviceTaints": True})] == paths


def test_too_many_binding_conditions_that_stay_have_no_path_of_an_earlier_version():
    device = {"name": "d", "basic": {"bindingConditions": list("abcde"), "bindingFailureConditions": ["f"]}}
    old = {**sliced(device), "apiVersion": "resource.k8s.io/v1beta1"}
    for before, path in ((old, "spec.devices[0].bindingConditions"), (None, "spec.devices[0].basic.bindingConditions")):
        asked = {"old": before} if before else {}
        gates = {"DRADeviceBindingConditions": True, "DRAResourceClaimDeviceStatus": True}
        assert [where for _, where, _ in told(old, "1.37", gates=gates, **asked)] == [path]
