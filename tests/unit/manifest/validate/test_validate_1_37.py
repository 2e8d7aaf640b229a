"""
What the API server of 1.37.2 refuses in the fields that 1.37 added, with their gates on.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import ResourceClaim, ResourceSlice
from dra_alloc.manifest.validate.objects import validate_object

UNCOMPARED = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
SUPPORTED = 'supported values: "*", "NodePrepareResources", "NodeUnprepareResources"'
WHOLE = {"requests": [], "matchAttribute": "d/x"}


def refused(item):
    return [(each.where.path, each.message) for each in validate_object(item)]


def sliced(groups=(), **spec):
    use = {"counterSet": "cs", "counters": {"m": {"value": "1"}}, "compatibilityGroups": list(groups)}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "a", "consumesCounters": [use]}]
    body = {"driver": "d.io", "nodeName": "n", "pool": pool, "devices": devices, **spec}
    return ResourceSlice.model_validate({"metadata": {"name": "s"}, "spec": body})


@pytest.mark.parametrize(
    ("groups", "place", "text"),
    [
        (("a", "b", "c"), "", "Too many: 3: must have at most 2 items"),
        (("a", "a"), "[1]", 'Duplicate value: "a"'),
        (("A_",), "[0]", 'Invalid value: "A_": a lowercase RFC 1123 label must consist of'),
    ],
)
def test_compatibility_groups(groups, place, text):
    ((path, found),) = refused(sliced(groups))
    assert path == f"spec.devices[0].consumesCounters[0].compatibilityGroups{place}"
    assert found.startswith(text)
    assert not refused(sliced(("a", "b")))


@pytest.mark.parametrize(
    ("skipped", "expected"),
    [
        (
            ["NodePrepareResources"],
            [("", "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also")],
        ),
        (["Foo", "Foo"], [("[0]", SUPPORTED), ("[1]", "Duplicate"), ("[1]", SUPPORTED)]),
        (["*", "NodePrepareResources"], []),
        (["NodePrepareResources", "NodeUnprepareResources"], []),
    ],
)
def test_node_operations(skipped, expected):
    found = refused(sliced(skipNodeOperations=skipped))
    assert [path for path, _ in found] == [f"spec.skipNodeOperations{place}" for place, _ in expected]
    assert all(words in text for (_, words), (_, text) in zip(expected, found, strict=True))


def claimed(*derived, constraints=(WHOLE,), alternative=False):
    wanted = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1, "derivedAttributes": list(derived)}
    request = {"name": "r", **({"firstAvailable": [{"name": "s", **wanted}]} if alternative else {"exactly": wanted})}
    devices = {"requests": [request], "constraints": list(constraints)}
    return ResourceClaim.model_validate({"metadata": {"name": "c", "namespace": "n"}, "spec": {"devices": devices}})


def d(name, expression="1"):
    return {"name": name, "expression": expression}


@pytest.mark.parametrize(
    ("derived", "expected"),
    [
        ([d("d/x")], []),
        ([{}], [("[0].name", "Required value"), ("[0].expression", "Required value")]),
        ([d("d/y")], [("[0].name", UNCOMPARED)]),
        ([d("x")], [("[0].name", UNCOMPARED), ("[0].name", "a fully qualified name must be")]),
        ([d("d/x"), d("d/x", "2")], [("[1]", 'Duplicate value: "d/x"')]),
        ([d("d/x", "1" * 10241)], [("[0].expression", "may not be more than 10240 bytes")]),
    ],
)
def test_derived_attributes(derived, expected):
    found = refused(claimed(*derived))
    places = [path.removeprefix("spec.devices.requests[0].exactly.derivedAttributes") for path, _ in found]
    assert places == [place for place, _ in expected]
    assert all(words in text for (_, words), (_, text) in zip(expected, found, strict=True))


@pytest.mark.parametrize(("requests", "fine"), [(["r"], True), (["r/s"], True), ([], True), (["q"], False)])
def test_the_constraint_has_to_be_on_the_request(requests, fine):
    found = refused(claimed(d("d/x"), constraints=[{"requests": requests, "matchAttribute": "d/x"}], alternative=True))
    path = "spec.devices.requests[0].firstAvailable[0].derivedAttributes[0].name"
    assert ((path, f'Invalid value: "d/x": {UNCOMPARED}') in found) is not fine


def test_only_so_many():
    constraints = [{"matchAttribute": f"d/x{n}"} for n in range(32)]
    found = refused(claimed(*(d(f"d/x{n % 32}") for n in range(33)), constraints=constraints))
    assert ("spec.devices.requests[0].exactly.derivedAttributes", "Too many: 33: must have at most 32 items") in found
