"""
Devices that take cpu, memory and huge pages of their node (DRANodeAllocatableResources), as 1.37 counts them.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc import Scheduled, Unschedulable
from dra_alloc.api import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents

GATE = "DRANodeAllocatableResources"
CPU = {"cpu": {"mapping": {"deviceMultiplier": "1500m"}}}
OVERHEAD = {"memory": {"overhead": {"perPod": "1Gi", "perContainer": "2Gi"}}}
KEYED = {"memory": {"mapping": {"capacityKey": "memory", "capacityMultiplier": "500m"}}}
SHARED = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "16Gi"}}}
COVER = "insufficient to cover the aggregated container and node-allocatable DRA"
ONE_POD = "node allocatable resource claim c has a mapped device and cannot be shared across pods"


def cluster(
    *devices: dict[str, Any], gate: bool = True, pods: tuple[Pod, ...] = (), release: str = "1.37", memory: str = "8Gi"
) -> Cluster:
    allocatable = {"cpu": "4", "memory": memory, "pods": "10", "hugepages-2Mi": "64Mi"}
    node = Node.from_wire({"metadata": {"name": "n"}, "status": {"allocatable": allocatable}})
    named = [{"name": f"d{number}", **each} for number, each in enumerate(devices)]
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": named}
    made = Documents(
        slices=(ResourceSlice.from_wire({"metadata": {"name": "s"}, "spec": spec}),),
        claims=tuple([claim(name) for name in "cd"]),
        classes=(DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "x.y/gpu"}}),),
        nodes=(node,),
        pods=pods,
    )
    return Cluster.of(made, Settings(release=release, gates={GATE: gate}))


def claim(name: str) -> ResourceClaim:
    devices = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "ns"}, "spec": {"devices": devices}})


def pod(name: str, named: str = "c", uses: int = 1, resources: dict[str, Any] | None = None, **spec: Any) -> Pod:
    entries = [{"name": each, "resourceClaimName": each} for each in named]
    claims = [{"name": each} for each in named]
    containers = [{"name": f"k{number}", "resources": {"claims": claims}} for number in range(uses)]
    containers[0]["resources"] = {"requests": {"cpu": "1"}, **(resources or {}), "claims": claims}
    meta = {"name": name, "namespace": "ns", "uid": name}
    return Pod.from_wire({"metadata": meta, "spec": {"containers": containers, "resourceClaims": entries, **spec}})


def both(there: Cluster, first: Pod, second: Pod) -> tuple[Any, Any]:
    made = there.schedule([first, second])
    return made[0], made[1]


def only(there: Cluster, pod: Pod) -> Any:
    return there.schedule([pod])[0]


def taking(takes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"nodeAllocatableResources": takes, **more}


def test_devices_take_of_their_node():
    there = cluster(taking(CPU), taking(CPU))
    first, second = both(there, pod("a"), pod("b", "d"))
    assert isinstance(first, Scheduled)
    assert [(each.name, str(each.quantity)) for each in first.takes[0].mapping] == [("cpu", "1500m")]
    assert isinstance(second, Unschedulable)
    assert second.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert second.refusals[0].code == "node-resources"
    assert "with its devices 2.5 cpu asked, 1.5 of 4 left" in second.refusals[0].text
    assert isinstance(only(there.schedule([pod("a")]).cluster, pod("b", "d")), Unschedulable)
    for containers, fits in ((1, True), (3, True), (4, False)):
        told = only(cluster(taking(OVERHEAD)), pod("a", uses=containers))
        assert isinstance(told, Scheduled) is fits, containers


def test_without_the_gate_nothing_is_taken():
    running = pod("a", "d", nodeName="n")
    status = {
        "nodeAllocatableResourceClaimStatuses": [
            {"resourceClaimName": "d", "mapping": [{"name": "cpu", "quantity": "3"}]}
        ]
    }
    running = Pod.from_wire({**running.to_wire(), "status": status})
    huge = taking({"cpu": {"mapping": {"deviceMultiplier": "64"}}})
    for there in (cluster(huge, gate=False, pods=(running,)), cluster(huge, release="1.36", pods=(running,))):
        assert isinstance(only(there, pod("b")), Scheduled)
    assert isinstance(only(cluster({}, pods=(running,)), pod("b")), Unschedulable)


def test_what_running_pods_devices_take_is_in_their_status():
    status = {
        "resourceClaimName": "d",
        "containers": ["k0", "k1"],
        "overhead": [{"name": "memory", "perContainer": "3Gi"}],
    }
    running = Pod.from_wire(
        {**pod("a", "d", nodeName="n").to_wire(), "status": {"nodeAllocatableResourceClaimStatuses": [status]}}
    )
    there = cluster({}, pods=(running,))
    assert isinstance(only(there, pod("b", resources={"requests": {"memory": "2Gi"}})), Scheduled)
    told = only(there, pod("b", resources={"requests": {"memory": "2049Mi"}}))
    assert told.message == "0/1 nodes are available: 1 Insufficient memory."


def test_a_capacity_that_is_consumed_is_taken_of_the_node():
    assert isinstance(only(cluster(taking(KEYED, **SHARED)), pod("a")), Scheduled)
    told = only(cluster(taking(KEYED, **SHARED), memory="8191Mi"), pod("a"))
    assert told.message == "0/1 nodes are available: 1 Insufficient memory."


def test_a_capacity_of_a_device_taken_whole_ends_the_attempt():
    told = only(cluster(taking(KEYED, capacity=SHARED["capacity"])), pod("a"))
    assert told.aborts
    assert told.message == (
        'running "DynamicResources" filter plugin: claim ns/c, device d0: ConsumedCapacity is nil, but Capacity key '
        "'memory' is set in NodeAllocatableResources for resource memory"
    )


@pytest.mark.parametrize(
    ("takes", "whole", "own", "said"),
    [
        (CPU, {"requests": {"cpu": "2500m"}}, {}, ""),
        (CPU, {"requests": {"cpu": "2499m"}}, {}, f"pod level request for cpu is {COVER} requests"),
        # What a pod leaves out that asks for anything as a whole is what its containers ask for.
        (CPU, {"requests": {"memory": "1Gi"}}, {}, f"pod level request for cpu is {COVER} requests"),
        (CPU, {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}, {"limits": {"cpu": "1500m"}}, ""),
        (
            CPU,
            {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}},
            {"limits": {"cpu": "2"}},
            "pod level limit for cpu is insufficient to cover the limit and DRA overhead for container k0",
        ),
        (
            {"hugepages-2Mi": {"overhead": {"perPod": "4Mi"}}},
            {"requests": {"hugepages-2Mi": "8Mi"}, "limits": {"hugepages-2Mi": "2Mi"}},
            {},
            f"pod level limit for hugepages-2Mi is {COVER} limits",
        ),
    ],
)
def test_what_a_pod_asks_for_as_a_whole_covers_its_devices(takes, whole, own, said):
    there = cluster(taking(takes))
    wire = pod("a", resources={"requests": {"cpu": "1"}, **own}).to_wire()
    told = only(there, Pod.from_wire({**wire, "spec": {**wire["spec"], "resources": whole}}))
    assert isinstance(told, Scheduled) if not said else told.message == f"0/1 nodes are available: 1 {said}."


def test_a_claim_with_a_mapped_device_serves_one_pod():
    first, second = both(cluster(taking(CPU)), pod("a"), pod("b"))
    assert isinstance(first, Scheduled)
    assert second.message == f"0/1 nodes are available: 1 {ONE_POD}."
    assert second.refusals[0].code == "claim-in-use"
    first, second = both(cluster(taking(OVERHEAD)), pod("a"), pod("b"))
    assert isinstance(second, Scheduled)


def test_a_status_that_the_api_server_refuses_lets_the_pod_wait():
    written = "updating pod ns/a NodeAllocatableResourceClaimStatuses"
    refused = f'running PreBind plugin "DynamicResources": {written}: Pod "a" is invalid: '
    path = "status.nodeAllocatableResourceClaimStatuses[0]"
    asks = pod("a", "", resources={"limits": {"x.y/gpu": "1"}})
    told = only(cluster(taking(CPU)), asks)
    name = 'resourceClaimName: Invalid value: "<extended-resources>": no mapping found in pod reference'
    assert told.message == f"{refused}{path}.{name}"
    assert isinstance(only(cluster({}), asks), Scheduled)
    wire = pod("a").to_wire()
    wire["spec"]["containers"][0]["resources"]["claims"] = [{"name": "c", "request": each} for each in "rq"]
    told = only(cluster(taking(CPU)), Pod.from_wire(wire))
    assert told.message == f'{refused}{path}.containers[1]: Duplicate value: "k0"'
