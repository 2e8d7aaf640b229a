"""
A check goes by what pods want of nodes, by what runs there, and takes the node that the scheduler would.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, Pod, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from dra_alloc.manifest import Documents
from dra_alloc.report.check_report import check_report
from dra_alloc.report.formats.text import render
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from tests.reading import read


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
    container: dict[str, Any] = {
        "name": "c",
        "image": "i",
        "resources": {"requests": {"cpu": cpu}, "claims": [{"name": "gpu"}]},
    }
    claims = [] if "nodeName" in spec else [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    wire = {"containers": [container], "resourceClaims": claims, **spec}
    if not wire["resourceClaims"]:
        del container["resources"]["claims"]
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
    assert last.refusals[1].text == "Insufficient cpu: 5 cpu asked, 4 of 4 left"


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


def test_pods_without_devices_are_asked_and_count():
    web, large = pod("web", cpu="2", resourceClaims=[]), pod("large", cpu="5", resourceClaims=[])
    found = check(Documents(pods=(web, large, pod("p", cpu="4"))), DUMP)
    # What the first took is missing to the last.
    assert [each.verdict for each in found.placements] == ["allocated", "unsatisfiable", "unsatisfiable"]
    lines = render(check_report(found), verbose=False).splitlines()
    assert "ns/web: would run, without devices" in lines
    assert lines[-1].startswith("1 allocated, 2 cannot be allocated")


def test_pods_that_wait_in_the_dump_are_in_the_queue_too():
    dump = replace(DUMP, pods=(*DUMP.pods, pod("first", cpu="4")))
    found = check(Documents(pods=(pod("p", cpu="4"),)), dump)
    assert [(each.name, each.verdict) for each in found.placements] == [("ns/p", "unsatisfiable")]
    assert "pods that wait in the cluster are in the queue, too: 1, of which 1 find a node" in found.notes
    found = check(Documents(pods=(pod("p", cpu="4", priority=1),)), dump)
    assert found.placements[0].verdict == "allocated"
    # The same pod in both is one.
    assert check(Documents(pods=(pod("first", cpu="4"),)), dump).placements[0].verdict == "allocated"


@pytest.mark.parametrize(
    ("spec", "code", "said"),
    [
        ({"cpu": "2"}, "", ""),
        (
            {"cpu": "3"},
            "node-resources",
            "OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000",
        ),
        ({"cpu": "1", "nodeSelector": {"no": "such"}}, "node-affinity", "Predicate NodeAffinity failed"),
    ],
)
def test_the_kubelet_rejects_a_pod_that_names_its_node(spec, code, said):
    named, other = pod("x", nodeName="a", **spec), pod("y", cpu="2")
    found, after = check(Documents(pods=(named, other)), DUMP, CheckOptions(node="a")).placements
    assert [(each.node, each.code) for each in found.refusals] == ([("a", code)] if code else [])
    assert all(said in each.text for each in found.refusals)
    # Only a pod that runs takes its room.
    assert (found.verdict, found.nodes_asked) == ("unsatisfiable" if code else "allocated", 1)
    assert after.verdict == ("allocated" if code else "unsatisfiable")


def test_nobody_allocates_the_claims_of_a_pod_that_names_its_node():
    entry = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    asking, bare = pod("x", nodeName="a", resourceClaims=entry), pod("x", nodeName="b", resourceClaims=[])
    found = check(stateful_set(asking), DUMP)
    assert [each.verdict for each in found.placements] == ["unsatisfiable"] * 2
    assert {each.code for each in found.placements[0].refusals} == {"node-name"}
    assert "no scheduler allocates its claims: ns/d-0-gpu-00000" in found.placements[0].refusals[0].text
    assert [each.verdict for each in check(stateful_set(bare), DUMP).placements] == ["allocated"] * 2


def stateful_set(pod: Pod) -> Documents:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod.to_wire()["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "serviceName": "s", "template": template}
    meta = {"name": "d", "namespace": "ns"}
    item = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}
    return read(json.dumps(item))


def test_a_claim_that_nobody_reserved_is_given_back():
    result = {"request": "r", "driver": "gpu.example.com", "pool": "b", "device": "gpu-0"}
    place = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    status = {"allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [place]}}}
    meta = {"name": "held", "namespace": "ns"}
    held = ResourceClaim.from_wire({"metadata": meta, "spec": {"devices": {"requests": [REQUEST]}}, "status": status})
    asked = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "held"}], cpu="1", schedulerName="x")
    busy = replace(DUMP, claims=(held,), pods=(*DUMP.pods, pod("full", nodeName="b", cpu="4")))
    found = check(Documents(pods=(asked,)), busy)
    assert found.placements[0].allocated is not None
    assert found.placements[0].allocated.node == "a"
    assert any(note.startswith("ns/p: claim ns/held cannot be used") for note in found.notes)
    assert any("scheduler x decides" in note for note in found.notes)
