"""What the wire models read, refuse and write."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from dra_alloc import api
from dra_alloc.api import (
    Device,
    DeviceAttribute,
    DeviceClass,
    DeviceTaintRule,
    ExactDeviceRequest,
    FrozenMap,
    KubeModel,
    Node,
    ObjectMeta,
    OpaqueDeviceConfiguration,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)

SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "node-a-gpu", "creationTimestamp": "2026-01-02T03:04:05Z"},
    "spec": {
        "devices": [
            {
                "allowMultipleAllocations": True,
                "attributes": {
                    "bool": {"bool": False},
                    "ints": {"ints": [1, 2]},
                    "model": {"string": ""},
                    "index": {"int": 0},
                },
                "capacity": {
                    "memory": {
                        "requestPolicy": {
                            "default": "1Gi",
                            "validRange": {"max": "40Gi", "min": "1Gi", "step": "512Mi"},
                        },
                        "value": "001Gi",
                    }
                },
                "consumesCounters": [{"counterSet": "gpu-0", "counters": {"slices": {"value": "3"}}}],
                "name": "gpu-0",
                "taints": [{"effect": "NoSchedule", "key": "example.com/dead"}],
            }
        ],
        "driver": "gpu.example.com",
        "nodeName": "node-a",
        "pool": {"generation": 0, "name": "node-a", "resourceSliceCount": 1},
    },
}

CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "train", "namespace": "team-a"},
    "spec": {
        "devices": {
            "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"a": [1, None, {}], "b": None}}}],
            "constraints": [{"matchAttribute": "example.com/numa", "requests": ["gpus"]}],
            "requests": [
                {
                    "exactly": {
                        "capacity": {"requests": {"memory": "8Gi"}},
                        "count": 2,
                        "deviceClassName": "gpu",
                        "selectors": [{"cel": {"expression": "true"}}],
                        "tolerations": [{"operator": "Exists", "tolerationSeconds": 0}],
                    },
                    "name": "gpus",
                },
                {"firstAvailable": [{"deviceClassName": "gpu", "name": "big"}], "name": "either"},
            ],
        }
    },
    "status": {
        "allocation": {
            "devices": {
                "results": [
                    {
                        "consumedCapacity": {"memory": "8Gi"},
                        "device": "gpu-0",
                        "driver": "gpu.example.com",
                        "pool": "node-a",
                        "request": "gpus",
                        "shareID": "c6ed0c2f-8b1d-4b0c-a7fb-6d2f0a7d3f11",
                    }
                ]
            },
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}
                ]
            },
        },
        "devices": [{"conditions": None, "device": "gpu-0", "driver": "gpu.example.com", "pool": "node-a"}],
        "reservedFor": [{"name": "pod", "resource": "pods", "uid": "1"}],
    },
}


@pytest.mark.parametrize(("model", "wire"), [(ResourceSlice, SLICE), (ResourceClaim, CLAIM)])
def test_what_is_read_is_written(model: type[KubeModel], wire: dict[str, Any]) -> None:
    read = model.from_wire(wire)
    assert read.to_wire() == wire
    assert list(read.to_wire()) == sorted(wire)
    assert model.from_json(json.dumps(wire)) == read
    assert hash(model.from_json(json.dumps(wire))) == hash(read)


@pytest.mark.parametrize(("model", "wire"), [(ResourceSlice, SLICE), (ResourceClaim, CLAIM)])
def test_objects_copy_and_pickle(model: type[KubeModel], wire: dict[str, Any]) -> None:
    read = model.from_wire(wire)
    for twin in (pickle.loads(pickle.dumps(read)), copy.deepcopy(read), read.model_copy()):
        assert twin == read
        assert hash(twin) == hash(read)
        assert twin.to_wire() == wire


def test_the_constructor_takes_python_names() -> None:
    request = ExactDeviceRequest(device_class_name="gpu", count=2)
    assert request.to_wire() == {"count": 2, "deviceClassName": "gpu"}
    assert DeviceAttribute(int_=1) == DeviceAttribute.from_wire({"int": 1})


def test_python_names_are_unknown_on_the_wire() -> None:
    with pytest.raises(ValidationError, match="device_class_name"):
        ExactDeviceRequest.from_wire({"device_class_name": "gpu"})


@pytest.mark.parametrize(
    ("model", "wire", "place"),
    [
        (
            ResourceClaim,
            {"spec": {"devices": {"requests": [{"name": "a", "count": 1}]}}},
            "spec.devices.requests.0.count",
        ),
        (
            DeviceTaintRule,
            {"spec": {"deviceSelector": {"deviceClassName": "gpu"}}},
            "spec.deviceSelector.deviceClassName",
        ),
        (Device, {"basic": {}}, "basic"),
        (DeviceAttribute, {"quantity": "80Gi"}, "quantity"),
        (ObjectMeta, {"nmae": "x"}, "nmae"),
        (ResourceSlice, {"Spec": {}}, "Spec"),
    ],
)
def test_unknown_fields_are_named(model: type[KubeModel], wire: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.from_wire(wire)
    (error,) = caught.value.errors()
    assert error["type"] == "extra_forbidden"
    assert ".".join(map(str, error["loc"])) == place


def test_core_objects_ignore_what_dra_does_not_read() -> None:
    node = Node.from_wire({"metadata": {"name": "n"}, "spec": {"podCIDR": "10.0.0.0/8"}, "status": {"images": []}})
    assert node.metadata.name == "n"
    pod = Pod.from_wire(
        {"spec": {"containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}]}}
    )
    assert pod.spec.containers[0].resources.claims[0].name == "gpu"


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        (ExactDeviceRequest, {"count": "2"}),
        (ExactDeviceRequest, {"count": 2.0}),
        (ExactDeviceRequest, {"count": True}),
        (ExactDeviceRequest, {"count": 2**63}),
        (ExactDeviceRequest, {"adminAccess": 1}),
        (ExactDeviceRequest, {"adminAccess": "true"}),
        (ExactDeviceRequest, {"deviceClassName": 5}),
        (ExactDeviceRequest, {"allocationMode": False}),
        (ExactDeviceRequest, {"selectors": {}}),
        (ExactDeviceRequest, {"selectors": "x"}),
        (ExactDeviceRequest, {"selectors": ["x"]}),
        (DeviceAttribute, {"string": 5}),
        (DeviceAttribute, {"bool": "yes"}),
        (DeviceAttribute, {"ints": [1, "2"]}),
        (DeviceAttribute, {"bools": [1]}),
        (Device, {"attributes": []}),
        (Device, {"attributes": {"a": "b"}}),
        (Device, {"capacity": {"memory": "5Gi"}}),
        (Device, {"capacity": {"memory": {"value": True}}}),
        (ObjectMeta, {"labels": {"a": 1}}),
        (ObjectMeta, {"creationTimestamp": "yesterday"}),
        (ObjectMeta, {"creationTimestamp": 5}),
        (DeviceClass, {"spec": {"config": {"opaque": {}}}}),
        (ResourceSlice, {"spec": {"pool": "name"}}),
        (ResourceSlice, []),
        (ResourceSlice, None),
    ],
)
def test_wrong_types_are_refused(model: type[KubeModel], wire: Any) -> None:
    with pytest.raises(ValidationError):
        model.from_wire(wire)
    with pytest.raises(ValidationError):
        model.from_json(json.dumps(wire))


ALL_MODELS = sorted(
    (value for value in vars(api).values() if isinstance(value, type) and issubclass(value, KubeModel)),
    key=lambda model: model.__name__,
)


@pytest.mark.parametrize("model", ALL_MODELS, ids=lambda model: model.__name__)
def test_null_is_as_good_as_absent(model: type[KubeModel]) -> None:
    """Go's decoder leaves a field alone that is null; only the version of an object has a default of ours."""
    model.model_rebuild()
    names = [info.alias or name for name, info in model.model_fields.items() if name not in ("api_version", "kind")]
    absent = model.from_wire({})
    assert model.from_wire(dict.fromkeys(names)) == absent
    assert model.from_json(json.dumps(dict.fromkeys(names))) == absent
    assert model() == absent
    assert model.from_wire(absent.to_wire()) == absent
    assert hash(absent) == hash(model())


@pytest.mark.parametrize("model", ALL_MODELS, ids=lambda model: model.__name__)
def test_no_model_can_be_changed(model: type[KubeModel]) -> None:
    for name in model.model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(model(), name, None)


def test_null_items_are_empty_objects() -> None:
    claim = ResourceClaim.from_wire({"spec": {"devices": {"requests": [None]}}})
    assert claim.spec.devices.requests[0].name == ""
    device = Device.from_wire({"attributes": {"a": None}, "capacity": {"b": None}, "bindingConditions": [None]})
    assert device.attributes["a"] == DeviceAttribute()
    assert str(device.capacity["b"].value) == "0"
    assert device.binding_conditions == ("",)


def test_presence_is_kept_where_it_matters() -> None:
    read = ResourceSlice.from_wire({"spec": {"nodeName": "", "allNodes": False}})
    assert read.spec.node_name == ""
    assert read.spec.all_nodes is False
    assert DeviceAttribute.from_wire({"ints": []}).ints == ()
    assert DeviceAttribute.from_wire({"ints": None}).ints is None
    assert ExactDeviceRequest.from_wire({"count": 0, "allocationMode": ""}) == ExactDeviceRequest()


def test_what_go_always_writes_is_written() -> None:
    assert ResourceClaim().to_wire() == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {},
        "spec": {"devices": {"requests": None}},
        "status": {},
    }
    assert ResourceClaimTemplate().to_wire()["spec"] == {"metadata": {}, "spec": {"devices": {"requests": None}}}
    assert api.AllocatedDeviceStatus().to_wire() == {"conditions": None, "device": "", "driver": "", "pool": ""}
    assert api.CapacityRequestPolicy().to_wire() == {"default": None}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_times_are_kept_in_utc_and_whole_seconds(text: str, kept: str) -> None:
    assert ObjectMeta.from_wire({"creationTimestamp": text}).creation_timestamp == kept


@pytest.mark.parametrize(
    "text",
    ["", "2026-13-02T03:04:05Z", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "٢٠٢٦-01-02T03:04:05Z"],
)
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="RFC 3339"):
        ObjectMeta.from_wire({"creationTimestamp": text})


def test_managed_fields_are_forgotten() -> None:
    busy = ObjectMeta.from_wire({"name": "a", "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}]})
    assert busy == ObjectMeta(name="a")
    assert busy.to_wire() == {"name": "a"}


def test_raw_json_is_immutable_and_exact() -> None:
    parameters = {"list": [1, 2.5, "x", None, True], "empty": {}, "deep": {"a": {"b": [[]]}}}
    read = OpaqueDeviceConfiguration.from_wire({"driver": "d", "parameters": parameters})
    assert isinstance(read.parameters, FrozenMap)
    assert isinstance(read.parameters["deep"]["a"], FrozenMap)
    assert read.to_wire()["parameters"] == parameters
    assert hash(read) == hash(copy.deepcopy(read))
    assert OpaqueDeviceConfiguration.from_wire({"parameters": {}}).to_wire()["parameters"] == {}
    with pytest.raises(TypeError):
        read.parameters["new"] = 1


def test_deep_raw_json_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(ValidationError, match="nested deeper than 200"):
        OpaqueDeviceConfiguration.from_wire({"parameters": deep})
    with pytest.raises(ValidationError):
        OpaqueDeviceConfiguration.from_json('{"parameters":' + "[" * 100_000 + "]" * 100_000 + "}")
    while deep:  # its own destructor would overflow the stack on some interpreters
        deep = deep["a"]


def test_raw_json_takes_json_only() -> None:
    for value in ({1: 2}, {"a": {1, 2}}, {"a": b"x"}):
        with pytest.raises(ValidationError):
            OpaqueDeviceConfiguration.from_wire({"parameters": value})


class _Loader(yaml.CSafeLoader):
    """YAML with times left as text, as kubectl reads it."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}

_KINDS: dict[str, type[KubeModel]] = {
    "DeviceClass": DeviceClass,
    "ResourceClaim": ResourceClaim,
    "ResourceClaimTemplate": ResourceClaimTemplate,
    "ResourceSlice": ResourceSlice,
}


def test_real_objects_survive_writing_and_reading(shared: Path) -> None:
    """Every v1 document of the real samples."""
    files = [file for file in sorted((shared / "samples").rglob("*.yaml")) if not {"invalid", "keps"} & set(file.parts)]
    seen = 0
    for file in files:
        for document in yaml.load_all(file.read_text("utf-8"), Loader=_Loader):
            if not document or document.get("apiVersion") != "resource.k8s.io/v1" or document["kind"] not in _KINDS:
                continue
            read = _KINDS[document["kind"]].from_json(json.dumps(document))
            assert read.from_wire(read.to_wire()) == read == read.from_wire(document)
            seen += 1
    assert seen > 20
