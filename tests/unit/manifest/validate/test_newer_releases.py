"""
What API servers of 1.37 and 1.38 say otherwise than those before, as they answered.
"""

from __future__ import annotations

from typing import Any

import pytest

import dra_alloc

NAME = "a valid C identifier must start with alphabetic character or '_'"
VALUE = "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
META = {"name": "a"}


def claim(**exactly: Any) -> dict[str, Any]:
    request = {"name": "r", "exactly": {"deviceClassName": "c", **exactly}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {**META, "namespace": "default"},
        "spec": {"devices": {"requests": [request]}},
    }


def constrained(**constraint: Any) -> dict[str, Any]:
    made = claim()
    made["spec"]["devices"]["constraints"] = [constraint]
    return made


def sliced(*devices: dict[str, Any], **spec: Any) -> dict[str, Any]:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    said = {"driver": "d.io", "pool": pool, **(spec or {"nodeName": "n"}), "devices": list(devices)}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": META, "spec": said}


def told(item: dict[str, Any], release: str, **asked: Any) -> list[tuple[str, str, str]]:
    """Type, path and the first words of each fault."""
    found = dra_alloc.validate(item, release=release, **asked)
    return sorted((each.type.removeprefix("FieldValue"), each.where.path, each.detail[:100]) for each in found)


def test_amounts_of_claims():
    path = "spec.devices.requests[0].exactly.capacity.requests"
    asked = claim(capacity={"requests": {"m": "-1", "-": "1", "a/b/c": "1"}})
    assert not told(asked, "1.37")
    found = told(asked, "1.38")
    assert [each[:2] for each in found] == [("Invalid", path), ("Invalid", path), ("Invalid", f"{path}[m]")]
    assert found[0][2].startswith(NAME)
    assert [each[2] for each in found[1:]] == [
        "must not contain more than one slash",
        "must be greater than or equal to 0",
    ]
    many = claim(capacity={"requests": {f"k{number}": "-1" for number in range(33)}})
    assert told(many, "1.38") == [("TooMany", path, "must have at most 32 items")]


def test_amounts_in_a_status():
    took = {"request": "r", "driver": "d.io", "pool": "p", "device": "d", "consumedCapacity": {"m": "-1"}}
    after = {**claim(), "status": {"allocation": {"devices": {"results": [took]}}}}
    path = "status.allocation.devices.results[0].consumedCapacity[m]"
    assert not told(after, "1.37", old=claim(), subresource="status")
    found = told(after, "1.38", old=claim(), subresource="status")
    assert found == [("Invalid", path, "must be greater than or equal to 0")]


@pytest.mark.parametrize("uses", [False, True])
def test_what_the_spec_uses_is_kept_in_its_status(uses: bool):
    before = claim(**({"capacity": {"requests": {"m": "1"}}} if uses else {}))
    took = {"request": "r", "driver": "d.io", "pool": "p", "device": "d", "shareID": "x"}
    after = {**before, "status": {"allocation": {"devices": {"results": [took]}}}}
    asked = {"old": before, "subresource": "status", "gates": {"DRAConsumableCapacity": False}}
    found = [
        ("Invalid", "status.allocation.devices.results[0].shareID", "error validating uid: invalid UUID length: 1")
    ]
    assert told(after, "1.36", **asked) == (found if uses else [])


@pytest.mark.parametrize("kind", ["matchAttribute", "distinctAttribute"])
def test_an_attribute_without_a_name_is_one(kind: str):
    for release in ("1.36", "1.37", "1.38"):
        found = told(constrained(**{kind: ""}), release)
        assert [each[:2] for each in found] == [("Invalid", f"spec.devices.constraints[0].{kind}")] * 2
    found = told(constrained(**{kind: "a/b/c"}), "1.38")
    assert [each[2] for each in found] == ["must not contain more than one slash"]
    assert not told(constrained(**{kind: "a/b/c"}), "1.37")


@pytest.mark.parametrize(
    ("version", "bounded"),
    [
        ("999999999999999999.0.0", True),
        ("1000000000000000000.0.0", False),
        ("1.0.0-1000000000000000000", False),
        ("1.0.0-a1000000000000000000", True),
        ("1.0.0+1000000000000000000", True),
    ],
)
def test_numbers_of_versions(version: str, bounded: bool):
    item = sliced({"name": "d", "attributes": {"v": {"version": version}}})
    text = "must be a string compatible with semver.org spec 2.0.0, with at most 18 digits in numbers"
    assert not told(item, "1.37")
    assert [each[2] for each in told(item, "1.38")] == ([] if bounded else [text])


def test_a_list_of_nothing_is_no_value_to_generated_checks():
    on = {"gates": {"DRAListTypeAttributes": True}}
    path, empty = "spec.devices[0].attributes[x]", "must not be empty if specified"

    def found(value, release):
        return told(sliced({"name": "d", "attributes": {"x": value}}), release, **on)

    assert found({"strings": []}, "1.36") == [("Invalid", f"{path}.strings", empty)]
    assert found({"strings": []}, "1.37") == [("Invalid", path, VALUE), ("Invalid", f"{path}.strings", empty)]
    both = [("Invalid", path, "exactly one value must be specified"), ("Invalid", f"{path}.strings", empty)]
    assert found({"strings": [], "int": 1}, "1.37") == both


def test_long_finalizers_that_begin_alike_are_told_one_by_one():
    held = claim()
    held["metadata"] = {**held["metadata"], "finalizers": ["x.io/" + "a" * 2_000 + each for each in "1233"]}
    for release in ("1.37", "1.38"):
        assert [each[1] for each in told(held, release)] == ["metadata.finalizers"] * 3
    assert len(told(held, "1.36")) == 4


def test_words_of_1_38():
    owned = claim()
    owned["metadata"] = {
        **owned["metadata"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "", "name": "n", "uid": "u"}],
    }
    path = "metadata.ownerReferences[0].kind"
    assert told(owned, "1.37") == [("Required", path, "must not be empty")]
    assert told(owned, "1.38") == [("Required", path, "")]
    known = {"status": "True", "reason": "r", "lastTransitionTime": "2026-01-31T12:00:00Z"}
    got = {"driver": "d.io", "pool": "p", "device": "d"}
    status = {
        "allocation": {"devices": {"results": [{"request": "r", **got}]}},
        "devices": [{**got, "conditions": [known]}],
    }
    asked = {"old": claim(), "subresource": "status"}
    texts = [told({**claim(), "status": status}, each, **asked)[0][2] for each in ("1.37", "1.38")]
    assert texts == ["is required", ""]
    takes = {"cpu": {"mapping": {"capacityKey": "m"}}}
    item = sliced({"name": "d", "capacity": {"m": {"value": "1"}}, "nodeAllocatableResources": takes})
    gates = {"DRANodeAllocatableResources": True}
    texts = ["capacityMultiplier is required when capacityKey is set", "must be set when capacityKey is set"]
    assert [told(item, each, gates=gates)[0][2] for each in ("1.37", "1.38")] == texts
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}] * 2}
    several = sliced({"name": "d", "nodeSelector": terms}, perDeviceNodeSelection=True)
    assert not told(several, "1.37")
    assert [each[2] for each in told(several, "1.38")] == ["must have exactly one node selector term"]


def test_a_step_below_nothing():
    policy = {"default": "1", "validRange": {"min": "1", "step": "-1"}}
    shared = {
        "name": "d",
        "allowMultipleAllocations": True,
        "capacity": {"m": {"value": "10", "requestPolicy": policy}},
    }
    assert not told(sliced(shared), "1.36")
    assert [each[2] for each in told(sliced(shared), "1.37")] == ["must be greater than zero"]


@pytest.mark.parametrize(
    ("wrong", "same", "other_is_new"),
    [
        # what is told in 1.36, 1.37 and 1.38 where all devices stay, and where one comes
        ({"attributes": {"-": {"int": 1}}}, (1, 1, 0), (1, 1, 1)),
        ({"attributes": {"x": {}}}, (1, 1, 0), (1, 1, 1)),
        ({"capacity": {"-": {"value": "1"}}}, (1, 0, 0), (1, 0, 1)),
        ({"taints": [{"key": "-", "effect": "x"}]}, (0, 0, 0), (0, 1, 2)),
        ({"taints": [{"key": f"k{number}", "effect": "NoExecute"} for number in range(17)]}, (0, 0, 0), (0, 0, 1)),
        ({"bindingConditions": ["a"]}, (1, 1, 0), (1, 1, 1)),
        ({"nodeName": "-"}, (1, 1, 0), (1, 1, 1)),
        ({"consumesCounters": [{"counterSet": "-", "counters": {"a": {"value": "1"}}}]}, (1, 1, 0), (1, 1, 1)),
    ],
)
def test_devices_that_stay(wrong: dict[str, Any], same: tuple[int, ...], other_is_new: tuple[int, ...]):
    device = {"name": "d", **wrong}
    on = {"gates": {"DRAPartitionableDevices": True}, "old": sliced(device)}
    for devices, counts in (([device], same), ([device, {"name": "e"}], other_is_new)):
        for release, count in zip(("1.36", "1.37", "1.38"), counts, strict=True):
            assert len(told(sliced(*devices), release, **on)) == count, (release, devices)


def test_devices_that_stay_are_looked_at_where_their_nodes_are_told_otherwise():
    device = {"name": "d", "nodeName": "n"}
    on = {"gates": {"DRAPartitionableDevices": True}, "old": sliced(device, perDeviceNodeSelection=True)}
    for release in ("1.37", "1.38"):
        ((kind, path, _),) = told(sliced(device, allNodes=True), release, **on)
        assert (kind, path) == ("Invalid", "spec.devices[0]")


def test_keys_of_counters_are_cut_as_labels_are():
    key = "A" * 200
    shared = sliced(nodeName="n", sharedCounters=[{"name": "c", "counters": {key: {"value": "1"}}}])
    del shared["spec"]["devices"]
    found = told(shared, "1.35", gates={"DRAPartitionableDevices": True})
    assert {each[1] for each in found} == {f"spec.sharedCounters[0].counters[{'A' * 30}...{'A' * 30}]"}


def test_names_longer_than_paths_show_them():
    name = "a" * 120
    item = sliced({"name": "d", "attributes": {name: {}}})
    one_of = "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
    found = {text: path for _, path, text in told(item, "1.37")}
    assert found[one_of] == f"spec.devices[0].attributes[{name}]"
    assert "a...a" in found["exactly one value must be specified"]
    pages = f"hugepages-{name}"
    item = sliced({"name": "d", "nodeAllocatableResources": {pages: {}}})
    ((_, path, _),) = told(item, "1.37", gates={"DRANodeAllocatableResources": True})
    assert path == f"spec.devices[0].nodeAllocatableResources[{pages}]"
    paths = [path for _, path, _ in told(claim(capacity={"requests": {name: "-1"}}), "1.38")]
    assert f"spec.devices.requests[0].exactly.capacity.requests[{name}]" in paths


def test_members_of_a_list_of_derived_attributes_that_is_too_long():
    derived = [{"name": f"n{number}"} for number in range(33)]
    found = told(claim(derivedAttributes=derived), "1.37", gates={"DRADerivedAttributes": True})
    # Each is compared by no constraint, which hand-written checks say; that it has no expression is not told.
    assert [kind for kind, _, _ in found] == ["Invalid"] * 33 + ["TooMany"]


@pytest.mark.parametrize(("key", "kind"), [("a/b/c", "Invalid"), ("a" * 33, "TooLong"), ("x.io/y", "NotFound")])
def test_names_of_capacities_that_devices_take_of_their_node(key, kind):
    takes = {"cpu": {"mapping": {"capacityKey": key, "capacityMultiplier": "1"}}}
    item = sliced({"name": "d", "nodeAllocatableResources": takes})
    gates = {"DRANodeAllocatableResources": True}
    assert [each[0] for each in told(item, "1.38", gates=gates)] == [kind]
    assert [each[0] for each in told(item, "1.37", gates=gates)] == ["NotFound"]


def test_names_of_derived_attributes_are_those_of_generated_checks():
    item = claim(derivedAttributes=[{"name": "/a", "expression": "true"}, {"name": "a b/c", "expression": "true"}])
    found = [text for _, _, text in told(item, "1.37", gates={"DRADerivedAttributes": True})]
    assert "prefix must not be empty" in found
    assert any(text.startswith("prefix: a lowercase RFC 1123 subdomain") for text in found)


TYPED = {"DRAPartitionableDevicesType": True, "DRAResourcePoolStatus": True}
MISSING = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
NO_TEXT = "must be a string value because `partitionTypeAttribute` names this attribute"
TYPE = "spec.partitionTypeAttribute"


def consuming(name: str = "a", counters: int = 1, /, **attributes: Any) -> dict[str, Any]:
    amounts = {f"m{number}": {"value": "1"} for number in range(counters)}
    found = {key.replace("_", "/"): value for key, value in attributes.items()}
    return {"name": name, "attributes": found, "consumesCounters": [{"counterSet": "cs", "counters": amounts}]}


def typed(name: str, *devices: dict[str, Any]) -> dict[str, Any]:
    return sliced(*devices, nodeName="n", partitionTypeAttribute=name)


@pytest.mark.parametrize(
    ("name", "devices", "expected"),
    [
        pytest.param("d.io/t", [consuming(**{"d.io_t": {"string": "x"}})], [], id="by its full name"),
        pytest.param("d.io/t", [consuming(t={"string": "x"})], [], id="the driver's own by the short name"),
        pytest.param("x.io/t", [consuming(t={"string": "x"})], [("Required", "x.io/t", MISSING)], id="another's by it"),
        pytest.param("d.io/t", [consuming(t={"int": 1})], [("Invalid", "d.io/t", NO_TEXT)], id="a number"),
        pytest.param(
            "D.io/t", [consuming()], [("Required", "D.io/t", MISSING), ("Invalid", "", "prefix: a lower")], id="form"
        ),
        pytest.param("t", [consuming()], [("Invalid", "", "a fully qualified name must be")], id="without a domain"),
        pytest.param("", [consuming()], [("Invalid", "", "a fully qualified"), ("Invalid", "", NAME)], id="empty"),
        pytest.param(
            "d.io/t",
            [consuming(t={"string": "x"}), {"name": "b", "attributes": {"t": {"int": 1}}}],
            [],
            id="who consumes nothing is free",
        ),
        pytest.param(
            "d.io/t", [{"name": "a"}], [("Invalid", "", "may only be set on a slice which")], id="no counters"
        ),
    ],
)
def test_the_attribute_of_partition_types(name: str, devices: list[Any], expected: list[tuple[str, str, str]]) -> None:
    found = told(typed(name, *devices), "1.37", gates=TYPED)
    paths = [f"spec.devices[0].attributes[{at}]" if at else TYPE for _, at, _ in expected]
    assert sorted(each[:2] for each in found) == sorted(zip([kind for kind, _, _ in expected], paths, strict=True))
    assert all(any(each[2].startswith(words) for each in found) for _, _, words in expected)
    old = typed("t", consuming())
    assert not told(old, "1.37", gates=TYPED, old=old)


def test_of_devices_beyond_their_number_generated_checks_alone_speak() -> None:
    item = sliced(*(consuming(f"d{number}", A={"strings": []}, b={"string": "x" * 65}) for number in range(65)))
    assert [each[1] for each in told(item, "1.36")] == ["spec.devices"]
    found = told(item, "1.37", gates={"DRAListTypeAttributes": True})
    assert {each for _, path, each in found if path != "spec.devices"} == {VALUE}
    assert len(found) == 66


def test_amounts_of_counters_have_no_path_of_an_earlier_version() -> None:
    item = sliced({"name": "a", "basic": {"consumesCounters": consuming("a", 33)["consumesCounters"]}})
    path = "spec.devices[0].consumesCounters[0].counters"
    assert [each[1] for each in told({**item, "apiVersion": "resource.k8s.io/v1beta1"}, "1.37")] == [path]


def test_derived_attributes_beyond_their_number_have_one() -> None:
    item = claim()
    (request,) = item["spec"]["devices"]["requests"]
    derived = [{"name": f"x.io/d{number}", "expression": "1"} for number in range(33)]
    item["spec"]["devices"]["requests"] = [{"name": "r", **request["exactly"], "derivedAttributes": derived}]
    found = told({**item, "apiVersion": "resource.k8s.io/v1beta1"}, "1.37", gates={"DRADerivedAttributes": True})
    assert [path for kind, path, _ in found if kind == "TooMany"] == ["spec.devices.requests[0].derivedAttributes"]


def test_tolerations_of_what_is_allocated() -> None:
    device = {"request": "r", "driver": "d.io", "pool": "p", "device": "a"}
    kept = {"key": "k", "operator": "Exists", "value": "v"}
    status = {"allocation": {"devices": {"results": [{**device, "tolerations": [kept]}]}}}
    asked = {"old": claim(), "subresource": "status"}
    assert not told({**claim(), "status": status}, "1.36", **asked)
    path = "status.allocation.devices.results[0].tolerations[0].value"
    assert told({**claim(), "status": status}, "1.37", **asked) == [
        ("Invalid", path, "must be empty for operator `Exists`")
    ]


def test_of_keys_that_are_too_long_one_is_told():
    device = {"name": "d", "attributes": {"a" * 33: {"int": 1}, "b" * 33: {"int": 1}}}
    fault = ("TooLong", "spec.devices[0].attributes", "may not be more than 32 bytes")
    for release, times in (("1.36", 2), ("1.37", 1), ("1.38", 1)):
        assert told(sliced(device), release) == [fault] * times


def test_names_of_counters_are_looked_at_beyond_their_number():
    counters = {f"k{number}": {"value": "1"} for number in range(32)} | {"a.b": {"value": "1"}}
    shared = sliced(nodeName="n", sharedCounters=[{"name": "cs", "counters": counters}])
    path = "spec.sharedCounters[0].counters"
    many, dots = ("TooMany", path, "must have at most 32 items"), ("Invalid", path, "must not contain dots")
    assert told(shared, "1.36") == [many]
    assert told(shared, "1.37") == told(shared, "1.38") == [dots, many]
