"""
A check goes by what pods want of nodes, by what runs there, and takes the node that the scheduler would.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.api import DeviceClass, Node, Pod, ResourceClaimTemplate, ResourceSlice
from dra_alloc.manifest import Documents
from dra_alloc.scenario.check import CheckOptions, check


def node(name: str, **offered: str) -> Node:
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10", **offered}}
    return Node.from_wire({"metadata": {"name": name}, "status": status})


def gpus(where: str, count: int) -> ResourceSlice:
    pool = {"name": where, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{number}"} for number in range(count)]
    spec = {"driver": "gpu.example.com", "nodeName": where, "pool": pool, "devices": devices}
    return ResourceSlice.from_wire({"metadata": {"name": where}, "spec": spec})


def pod(name: str, **spec: Any) -> Pod:
    cpu = spec.pop("cpu", "1")
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}, "claims": [{"name": "gpu"}]}}
    claims = [] if "nodeName" in spec else [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    wire = {"containers": [container], "resourceClaims": claims, **spec}
    return Pod.from_wire({"metadata": {"name": name, "namespace": "ns"}, "spec": wire})


REQUEST = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
TEMPLATE = ResourceClaimTemplate.from_wire(
    {"metadata": {"name": "gpu", "namespace": "ns"}, "spec": {"spec": {"devices": {"requests": [REQUEST]}}}}
)
DUMP = Documents(
    slices=(gpus("a", 2), gpus("b", 2)),
    classes=(DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {}}),),
    templates=(TEMPLATE,),
    nodes=(node("a"), node("b")),
    pods=(pod("there", nodeName="a", cpu="2"),),
)


def nodes_of(*pods: Pod, **options: Any) -> list[str | None]:
    found = check(Documents(pods=pods), DUMP, CheckOptions(**options))
    return [None if each.allocated is None else each.allocated.node for each in found.placements]


def test_the_emptier_node_is_taken_unless_the_first_is_wanted():
    assert nodes_of(pod("p")) == ["b"]
    assert nodes_of(pod("p"), node_choice="first") == ["a"]


def test_room_is_taken_as_devices_are():
    assert nodes_of(pod("p", cpu="4"), pod("q", cpu="2"), pod("r", cpu="1")) == ["b", "a", None]
    last = check(Documents(pods=(pod("p", cpu="5"),)), DUMP).placements[0]
    assert {each.code for each in last.refusals} == {"node-resources"}
    assert last.refusals[1].error == "Insufficient cpu: asks for 5000m cpu, 4000m of 4000m are left"


def test_higher_priority_goes_first():
    found = check(Documents(pods=(pod("low", cpu="4"), pod("high", cpu="4", priority=1))), DUMP)
    assert [(each.name, each.verdict) for each in found.placements] == [
        ("ns/high", "allocated"),
        ("ns/low", "unsatisfiable"),
    ]


def test_nodes_that_say_nothing_are_told():
    silent = Documents(
        DUMP.slices, DUMP.classes, (), DUMP.templates, (), (Node.from_wire({"metadata": {"name": "a"}}),)
    )
    found = check(Documents(pods=(pod("p", cpu="100"),)), silent)
    assert found.placements[0].allocated is not None
    assert any("no status.allocatable" in note for note in found.notes)
