"""
Objects of each kind of resource.k8s.io that every API server takes, with as many fields as one can have, in v1.
"""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]
_META: Final[Json] = {"name": "a", "labels": {"x.io/l": "v"}, "annotations": {"x.io/A": "any"}}
_OWNED: Final[Json] = {
    **_META,
    "generateName": "a-",
    "finalizers": ["d.io/f", "orphan"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "1", "controller": True}],
}
_SELECTORS: Final = [{"cel": {"expression": "device.driver == 'd.io'"}}]
_TOLERATIONS: Final = [
    {"key": "x.io/t", "operator": "Equal", "value": "v", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
]
_ASK: Final[Json] = {
    "deviceClassName": "gpu.d.io",
    "selectors": _SELECTORS,
    "allocationMode": "ExactCount",
    "count": 2,
    "tolerations": _TOLERATIONS,
    "capacity": {"requests": {"mem": "5Gi", "d.io/bw": "1"}},
    "derivedAttributes": [{"name": "d.io/x", "expression": "device.attributes['d.io'].model"}],
}
_OPAQUE: Final[Json] = {"driver": "d.io", "parameters": {"a": [1, {"b": None}]}}
_DEVICES: Final[Json] = {
    "requests": [
        {"name": "r", "exactly": {**_ASK, "adminAccess": True}},
        {"name": "all", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
        {"name": "q", "firstAvailable": [{"name": "s", **_ASK}, {"name": "t", "deviceClassName": "c"}]},
    ],
    "constraints": [{"requests": ["r", "q/s"], "matchAttribute": "d.io/x"}, {"distinctAttribute": "d.io/x"}],
    "config": [{"requests": ["r", "q", "q/t"], "opaque": _OPAQUE}, {"opaque": _OPAQUE}],
}
_TERM: Final[Json] = {
    "matchExpressions": [
        {"key": "x.io/zone", "operator": "In", "values": ["a", "b"]},
        {"key": "n", "operator": "Gt", "values": ["1"]},
        {"key": "e", "operator": "Exists"},
    ],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}],
}
_TAINT: Final[Json] = {"key": "x.io/t", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-31T12:00:00Z"}
_DEVICE: Final[Json] = {
    "name": "gpu-0",
    "attributes": {
        "model": {"string": "x"},
        "d.io/i": {"int": 1},
        "b": {"bool": True},
        "v": {"version": "1.2.3-a.1+b"},
        "many": {"strings": ["a", "b"]},
    },
    "capacity": {
        "mem": {
            "value": "40Gi",
            "requestPolicy": {"default": "5Gi", "validRange": {"min": "5Gi", "max": "30Gi", "step": "5Gi"}},
        },
        "bw": {"value": "10", "requestPolicy": {"default": "1", "validValues": ["1", "2", "5"]}},
    },
    "allowMultipleAllocations": True,
    "taints": [_TAINT, {"key": "k", "effect": "NoExecute"}],
    "bindsToNode": True,
    "bindingConditions": ["x.io/ready"],
    "bindingFailureConditions": ["x.io/failed"],
    "consumesCounters": [
        {"counterSet": "cs", "counters": {"m": {"value": "1Gi"}}, "compatibilityGroups": ["a", "b"]},
    ],
}
_PLAIN: Final[Json] = {
    "name": "gpu-1",
    "attributes": {"model": {"string": "y"}},
    "capacity": {"mem": {"value": "1"}},
    "nodeAllocatableResources": {
        "cpu": {"mapping": {"capacityKey": "mem", "capacityMultiplier": "2"}, "overhead": {"perPod": "1"}},
        "hugepages-2Mi": {"mapping": {"deviceMultiplier": "1"}, "overhead": {"perContainer": "1"}},
    },
    "nodeAllocatableResourceMappings": {"cpu": {"capacityKey": "mem"}, "memory": {"allocationMultiplier": "2"}},
}
_POOL: Final[Json] = {"name": "node-a", "generation": 1, "resourceSliceCount": 2}
_SLICE: Final[Json] = {"driver": "d.io", "pool": _POOL}
_SHARED: Final[Json] = {
    **_SLICE,
    "allNodes": True,
    "sharedCounters": [{"name": "cs", "counters": {"m": {"value": "80Gi"}, "copy-engines": {"value": "8"}}}],
}
_SELECTED: Final[Json] = {"nodeSelector": {"nodeSelectorTerms": [_TERM]}}
_PARTS: Final[Json] = {
    **_SLICE,
    "nodeName": "node-a",
    "skipNodeOperations": ["NodePrepareResources", "NodeUnprepareResources"],
    "partitionTypeAttribute": "d.io/model",
    "devices": [_DEVICE, {**_DEVICE, "name": "gpu-1"}],
}
_EACH: Final[Json] = {
    **_SLICE,
    "perDeviceNodeSelection": True,
    "devices": [{**_DEVICE, "nodeName": "node-a"}, {**_PLAIN, **_SELECTED}, {"name": "z", "allNodes": True}],
}

#: Kind -> what is in objects of it beside apiVersion, kind and metadata.
_BODIES: Final[dict[str, tuple[Json, ...]]] = {
    "ResourceClaim": ({"spec": {"devices": _DEVICES}}, {"spec": {}}),
    "ResourceClaimTemplate": (
        {"spec": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": {"devices": _DEVICES}}},
    ),
    "DeviceClass": (
        {"spec": {"selectors": _SELECTORS, "config": [{"opaque": _OPAQUE}], "extendedResourceName": "d.io/gpu"}},
        {"spec": {}},
    ),
    "ResourceSlice": (
        {"spec": {**_SLICE, "nodeName": "node-a", "devices": [_DEVICE, _PLAIN]}},
        {"spec": {**_SLICE, **_SELECTED, "devices": [_DEVICE, _PLAIN]}},
        {"spec": _SHARED},
        {"spec": _EACH},
        {"spec": _PARTS},
    ),
    "DeviceTaintRule": (
        {"spec": {"deviceSelector": {"driver": "d.io", "pool": "p/q", "device": "d"}, "taint": _TAINT}},
        {"spec": {"taint": {"key": "k", "effect": "None"}}},
    ),
}
_GOT: Final[Json] = {"driver": "d.io", "pool": "p", "device": "d"}
_HELD: Final[Json] = {
    "tolerations": _TOLERATIONS,
    "bindingConditions": ["x.io/ready"],
    "bindingFailureConditions": ["x.io/failed"],
    "shareID": "6b9a2d3e-0000-4000-8000-000000000001",
    "consumedCapacity": {"mem": "1Gi"},
    "skipNodeOperations": ["*"],
}
_CONDITION: Final[Json] = {
    "type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": "2026-01-31T12:00:00Z",
}  # fmt: skip
_STATUS: Final[Json] = {
    "allocation": {
        "devices": {
            "results": [{"request": "r", **_GOT, **_HELD}, {"request": "q/s", **_GOT, "device": "e"}],
            "config": [
                {"source": "FromClass", "opaque": _OPAQUE},
                {"source": "FromClaim", "requests": ["r"], "opaque": _OPAQUE},
            ],
        },
        "nodeSelector": {"nodeSelectorTerms": [_TERM]},
    },
    "reservedFor": [{"resource": "pods", "name": "p", "uid": "1"}],
    "devices": [
        {
            **_GOT,
            "shareID": _HELD["shareID"],
            "conditions": [_CONDITION],
            "data": {"a": 1},
            "networkData": {"interfaceName": "eth0", "ips": ["10.0.0.1/24", "2001:db8::1/64"], "hardwareAddress": "a"},
        }
    ],
}
#: The status of objects of the kinds that have one; of claims, that of the first.
STATUSES: Final[dict[str, Json]] = {"ResourceClaim": _STATUS, "DeviceTaintRule": {"conditions": [_CONDITION]}}
BASES: Final[dict[str, tuple[Json, ...]]] = {
    kind: tuple(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": kind,
            "metadata": {
                **(_META if number == 0 else _OWNED),
                **({"namespace": "default"} if kind.startswith("ResourceClaim") else {}),
            },
            **body,
        }
        for number, body in enumerate(bodies)
    )
    for kind, bodies in _BODIES.items()
}
_COUNTERS: Final = {f"c{number}": {"value": "1"} for number in range(32)}
_FULL: Final = [{"name": f"d{n}", "consumesCounters": [{"counterSet": "cs", "counters": _COUNTERS}]} for n in range(32)]
#: Slices as 1.34 alone takes them: devices consume the counters that these share, as many as there may be.
TOGETHER: Final[tuple[Json, ...]] = tuple(
    {**BASES["ResourceSlice"][0], "spec": {**BASES["ResourceSlice"][0]["spec"], **body}}
    for body in (
        {"sharedCounters": _SHARED["sharedCounters"]},
        {"sharedCounters": [{"name": "cs", "counters": _COUNTERS}], "devices": _FULL},
    )
)
