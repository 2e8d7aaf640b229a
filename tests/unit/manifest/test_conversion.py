"""
Older versions in v1 shape, and paths back to them.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from dra_alloc.manifest.convert.conversion import OtherShape, document_path, reshape, rewrite, to_v1
from dra_alloc.manifest.make.field_releases import known_in
from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, schema_of
from dra_alloc.profiles import parse_release


def claim(*requests):
    return {"spec": {"devices": {"requests": list(requests)}}}


def sliced(**spec):
    return {"spec": spec}


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_v1_shapes_stay(version):
    value = claim({"name": "a", "deviceClassName": "c"})
    assert to_v1(value, "ResourceClaim", version) is value


@pytest.mark.parametrize(
    ("flat", "nested"),
    [
        ({"deviceClassName": "c", "count": 2}, {"exactly": {"deviceClassName": "c", "count": 2}}),
        ({"selectors": []}, {"exactly": {"selectors": []}}),
        ({"tolerations": []}, {"exactly": {"tolerations": []}}),
        ({"adminAccess": False}, {"exactly": {"adminAccess": False}}),
        ({"deviceClassName": "", "count": 0, "allocationMode": "", "selectors": None}, {}),
        ({"firstAvailable": [{"name": "x"}]}, {"firstAvailable": [{"name": "x"}]}),
        ({"unknown": 1}, {"unknown": 1}),
    ],
)
@pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
def test_flat_requests(version, flat, nested):
    value = claim({"name": "a", **flat})
    assert to_v1(value, "ResourceClaim", version) == claim({"name": "a", **nested})
    template = {"spec": value}
    assert to_v1(template, "ResourceClaimTemplate", version) == {"spec": claim({"name": "a", **nested})}


def test_devices():
    value = sliced(
        devices=[{"name": "a", "basic": {"attributes": {"x": {"int": 1}}}}, {"name": "b"}, {"name": "c", "basic": None}]
    )
    assert to_v1(value, "ResourceSlice", "v1beta1") == sliced(
        devices=[{"name": "a", "attributes": {"x": {"int": 1}}}, {"name": "b"}, {"name": "c"}]
    )


def test_bare_capacities():
    old = sliced(devices=[{"name": "a", "basic": {"capacity": {"memory": "80Gi", "cores": 5}}}])
    new = sliced(devices=[{"name": "a", "capacity": {"memory": {"value": "80Gi"}, "cores": {"value": 5}}}])
    assert to_v1(old, "ResourceSlice", "v1alpha3") == new


def test_unset_nodes():
    assert to_v1(sliced(nodeName="", allNodes=False), "ResourceSlice", "v1beta1") == sliced()
    assert to_v1(sliced(nodeName="n", allNodes=True), "ResourceSlice", "v1beta1") == sliced(nodeName="n", allNodes=True)
    assert to_v1(sliced(nodeName="", allNodes=0), "ResourceSlice", "v1beta1") == sliced(allNodes=0)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("ResourceClaim", claim({"name": "a", "exactly": {}})),
        ("ResourceSlice", sliced(devices=[{"name": "a", "attributes": {}}])),
        ("ResourceSlice", sliced(devices=[{"name": "a", "basic": []}])),
        ("ResourceSlice", sliced(devices=[{"name": "a", "basic": {"name": "b"}}])),
        ("ResourceSlice", sliced(devices=[{"name": "a", "basic": {"capacity": {"x": {"value": "1"}}}}])),
    ],
)
def test_another_versions_shape_is_refused(kind, value):
    with pytest.raises(OtherShape):
        to_v1(value, kind, "v1alpha3")


@pytest.mark.parametrize("value", [None, 5, [], {}, {"spec": 5}, {"spec": {"devices": "x"}}, claim(5, None, [1])])
def test_nonsense_is_left_alone(value):
    assert to_v1(value, "ResourceClaim", "v1beta1") == value


def test_nothing_is_changed_in_place():
    value = claim({"name": "a", "count": 1})
    to_v1(value, "ResourceClaim", "v1beta1")
    assert value == claim({"name": "a", "count": 1})


def test_rewriting():
    def double(value):
        return {"n": value["n"] * 2}

    value = {"a": [{"b": {"n": 1}}, {"c": 1}, 5], "d": 1}
    assert rewrite(value, ("a", "*", "b"), double) == {"a": [{"b": {"n": 2}}, {"c": 1}, 5], "d": 1}


def test_paths_lead_back():
    request = ("spec", "devices", "requests", "0")
    assert document_path((*request, "exactly", "count"), "ResourceClaim", "v1beta1") == (*request, "count")
    assert document_path((*request, "firstAvailable", "0"), "ResourceClaim", "v1beta1") == (
        *request,
        "firstAvailable",
        "0",
    )
    assert document_path((*request, "exactly", "count"), "ResourceClaim", "v1") == (*request, "exactly", "count")
    device = ("spec", "devices", "3")
    assert document_path((*device, "taints", "0"), "ResourceSlice", "v1beta1") == (*device, "basic", "taints", "0")
    assert document_path((*device, "name"), "ResourceSlice", "v1beta1") == (*device, "name")


def test_shapes_of_old_versions():
    claim_shape: Any = reshape(schema_of(ResourceClaim), "v1beta1")
    request = claim_shape.fields["spec"].fields["devices"].fields["requests"].item
    assert "exactly" not in request.fields
    assert {"name", "deviceClassName", "firstAvailable", "count"} <= set(request.fields)
    slice_shape: Any = reshape(schema_of(ResourceSlice), "v1alpha3")
    device = slice_shape.fields["spec"].fields["devices"].item
    assert set(device.fields) == {"name", "basic"}
    assert device.fields["basic"].fields["capacity"] == MapType(Leaf.QUANTITY, 32)
    slice_shape = reshape(schema_of(ResourceSlice), "v1")
    assert slice_shape.fields["spec"].fields["devices"].item.name == "Device"


def limits(shape, path=()):
    if isinstance(shape, ListType):
        yield shape.most, tuple(each for each in path if each not in ("exactly", "basic"))
        yield from limits(shape.item, (*path, "*"))
    elif isinstance(shape, MapType):
        yield shape.most, tuple(each for each in path if each not in ("exactly", "basic"))
    elif isinstance(shape, ObjectType):
        for name, inner in shape.fields.items():
            yield from limits(inner, (*path, name))


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
@pytest.mark.parametrize("model", [ResourceSlice, ResourceClaim, ResourceClaimTemplate, DeviceClass])
def test_lists_and_maps_keep_their_limits_in_every_version_and_release(model, version):
    shape = schema_of(model)
    wanted = set(limits(shape))
    older = set(limits(reshape(known_in(shape, parse_release("1.34")), version)))
    assert older <= wanted
    assert {each for each in older if each[0]}
