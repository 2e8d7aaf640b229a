"""
Records of slices are the models in another form: same fields, same content, same refusals.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dra_alloc.api import FrozenMap, Quantity, ResourceSlice
from dra_alloc.manifest.make.records import record_from_model, record_of, slice_from_json, slice_from_plain
from dra_alloc.manifest.make.schema import ListType, MapType, ObjectType, schema_of

REFUSED = (msgspec.MsgspecError, ValueError, RecursionError)


def models(shape, seen):
    if isinstance(shape, ObjectType):
        if shape.model not in seen:
            seen.add(shape.model)
            for inner in shape.fields.values():
                models(inner, seen)
    elif isinstance(shape, ListType):
        models(shape.item, seen)
    elif isinstance(shape, MapType):
        models(shape.value, seen)
    return seen


def test_every_field_of_every_model_is_there():
    found = models(schema_of(ResourceSlice), set())
    assert len(found) > 15
    for model in found:
        record = record_of(model)
        assert record.__struct_fields__ == tuple(model.model_fields)
        assert record.__struct_encode_fields__ == tuple(info.alias or name for name, info in model.model_fields.items())
        if model is not ResourceSlice:
            assert record().model() == model.model_construct()


FULL = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {
        "name": "s",
        "creationTimestamp": "2026-01-31T12:00:00+01:00",
        "labels": {"a": "b"},
        "managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {}}}],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}],
    },
    "spec": {
        "driver": "d",
        "pool": {"name": "p", "generation": 2, "resourceSliceCount": 1},
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]
        },
        "devices": [
            {
                "name": "a",
                "attributes": {
                    "i": {"int": 1},
                    "b": {"bool": False},
                    "s": {"string": ""},
                    "v": {"version": "1.0.0"},
                    "l": {"ints": []},
                },
                "capacity": {
                    "m": {"value": 5, "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "1"}}}
                },
                "consumesCounters": [{"counterSet": "c", "counters": {"x": {"value": "1Gi"}}}],
                "taints": [{"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-31T12:00:00Z"}],
                "allowMultipleAllocations": True,
                "bindingConditions": ["x"],
            }
        ],
    },
}


def test_content():
    record: Any = slice_from_json(json.dumps(FULL).encode())
    model = ResourceSlice.from_wire(FULL)
    assert record.model() == model
    assert record == slice_from_plain(FULL) == record_from_model(model)
    assert record.to_wire() == model.to_wire()
    device = record.spec.devices[0]
    assert device.capacity["m"].value == Quantity("5")
    assert device.attributes["l"].ints == ()
    assert record.metadata.creation_timestamp == "2026-01-31T11:00:00Z"
    assert record.metadata.managed_fields is None


def test_nothing_can_be_changed():
    record: Any = slice_from_json(json.dumps(FULL).encode())
    with pytest.raises(AttributeError):
        record.spec = None
    with pytest.raises(TypeError):
        record.spec.devices[0].attributes["x"] = 1
    assert isinstance(record.metadata.labels, FrozenMap)
    assert hash(record) == hash(slice_from_json(json.dumps(FULL).encode()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "driver"), 5),
        (("spec", "unknown"), 5),
        (("spec", "pool", "generation"), 2.0),
        (("spec", "pool", "generation"), "2"),
        (("spec", "pool", "generation"), True),
        (("spec", "pool", "generation"), 2**63),
        (("spec", "devices"), {}),
        (("spec", "devices", 0, "capacity", "m", "value"), "1 Gi"),
        (("spec", "devices", 0, "capacity", "m", "value"), True),
        (("spec", "devices", 0, "attributes", "i", "int"), "1"),
        (("metadata", "creationTimestamp"), "2026-13-31T12:00:00Z"),
        (("metadata", "creationTimestamp"), "2026-01-31"),
        (("metadata", "labels"), {"a": 1}),
    ],
)
def test_both_refuse(path, value):
    changed = json.loads(json.dumps(FULL))
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(ValidationError):
        ResourceSlice.from_wire(changed)
    with pytest.raises(REFUSED):
        slice_from_json(json.dumps(changed).encode())
    with pytest.raises(REFUSED):
        slice_from_plain(changed)


places = st.sampled_from(
    [
        "spec.driver",
        "spec.nodeName",
        "spec.partitionTypeAttribute",
        "spec.pool",
        "spec.pool.name",
        "spec.allNodes",
        "spec.devices",
        "spec.devices.0.attributes",
        "spec.devices.0.attributes.i",
        "spec.devices.0.taints.0.value",
        "metadata.namespace",
        "metadata",
    ]
)
values: Any = st.sampled_from([None, "", "x", 0, 1, True, False, [], {}, [None], {"a": None}, {"a": {}}, [{}], 1.5])


@given(places, values)
def test_what_a_record_takes_the_model_takes_alike(path, value):
    changed = json.loads(json.dumps(FULL))
    at = changed
    *steps, last = path.split(".")
    for step in steps:
        at = at[int(step) if step.isdigit() else step]
    at[last] = value
    try:
        record: Any = slice_from_json(json.dumps(changed).encode())
    except REFUSED:
        return
    assert record.model() == ResourceSlice.from_wire(changed)
    assert record == record_from_model(record.model())
