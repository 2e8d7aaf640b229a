"""
Fields of gates that are off: what is left has the values of objects that never had them.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import AllocationResult, FrozenMap, ResourceClaimStatus, ResourceSliceSpec
from dra_alloc.manifest.make.gates import without_disabled
from dra_alloc.manifest.make.records import record_from_model
from dra_alloc.releases import parse_release

SLICE = {
    "perDeviceNodeSelection": True,
    "devices": [
        {
            "name": "a",
            "taints": [{"key": "k", "effect": "NoExecute"}],
            "nodeAllocatableResourceMappings": {"cpu": {"allocationMultiplier": "1"}},
            "nodeAllocatableResources": {"cpu": {}},
            "bindsToNode": True,
            "attributes": {"x": {"strings": ["s"]}},
        }
    ],
}
RELEASE = parse_release("1.36")
RESULT = {"request": "r", "driver": "d", "pool": "p", "device": "a"}
GATED = {"shareID": "u", "consumedCapacity": {"m": "1"}, "bindingConditions": ["b"]}


@pytest.mark.parametrize("made", [lambda spec: spec, record_from_model])
def test_what_is_dropped_of_a_slice_was_never_there(made):
    bare = ResourceSliceSpec.from_wire({"devices": [{"name": "a", "attributes": {"x": {}}}]})
    stored, dropped = without_disabled(made(ResourceSliceSpec.from_wire(SLICE)), {}, "spec", release=RELEASE)
    assert stored == made(bare)
    assert str(dropped[0]) == "spec.perDeviceNodeSelection (DRAPartitionableDevices)"
    assert {each.path.partition("].")[2] for each in dropped[1:]} == {
        *("taints", "nodeAllocatableResourceMappings", "nodeAllocatableResources", "bindsToNode"),
        "attributes[x].strings",
    }


def test_what_is_dropped_of_a_status_was_never_there():
    def status(result):
        return ResourceClaimStatus(allocation=AllocationResult.from_wire({"devices": {"results": [result]}}))

    stored, dropped = without_disabled(status({**RESULT, **GATED}), {}, release=RELEASE)
    assert stored == status(RESULT)
    assert isinstance(stored.allocation.devices.results[0].consumed_capacity, FrozenMap)
    assert len(dropped) == 3
