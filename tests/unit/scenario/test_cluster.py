"""
A cluster answers without changing, and `after` leads on.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Unsatisfiable
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, UnknownReference
from dra_alloc.manifest import Documents
from dra_alloc.scenario.snapshot import load


def a_slice(node: str, devices: int) -> ResourceSlice:
    return ResourceSlice.from_wire(
        {
            "metadata": {"name": f"s-{node}"},
            "spec": {
                "driver": "gpu.example.com",
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
            },
        }
    )


def a_claim(name: str, count: int = 1, **fields: Any) -> ResourceClaim:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count, **fields}
    return ResourceClaim.from_wire(
        {"metadata": {"name": name}, "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
    )


CLASS = DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {}})
DOCUMENTS = Documents(slices=(a_slice("a", 2), a_slice("b", 4)), classes=(CLASS,))


def devices(outcome: object) -> list[str]:
    assert isinstance(outcome, Allocated), outcome
    return [
        result.device
        for claim in outcome.claims
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    ]


def test_nodes_are_tried_in_order_and_after_remembers() -> None:
    cluster = Cluster.of(DOCUMENTS)
    first = cluster.allocate([a_claim("c1", 2)])
    assert isinstance(first, Allocated)
    assert (first.node, devices(first)) == ("a", ["gpu-0", "gpu-1"])
    later = cluster.after(first)
    second = later.allocate([a_claim("c2", 2)])
    assert isinstance(second, Allocated)
    assert second.node == "b"
    # The first cluster has not changed.
    assert devices(cluster.allocate([a_claim("c2", 2)])) == ["gpu-0", "gpu-1"]


def test_claims_are_allocated_together() -> None:
    outcome = Cluster.of(DOCUMENTS).allocate([a_claim("c1"), a_claim("c2", 3)])
    assert isinstance(outcome, Allocated)
    assert outcome.node == "b"
    assert devices(outcome) == ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]


def test_an_allocated_claim_restricts_the_nodes() -> None:
    cluster = Cluster.of(DOCUMENTS)
    held = cluster.allocate([a_claim("c1")])
    assert isinstance(held, Allocated)
    (claim,) = held.claims
    after = cluster.after(held)
    outcome = after.allocate([claim, a_claim("c2", 3)])
    assert isinstance(outcome, Unsatisfiable)
    assert [refusal.code for refusal in outcome.refusals] == ["no-fit", "allocated-elsewhere"]
    together = after.allocate([claim, a_claim("c2", 1)])
    assert devices(together) == ["gpu-0", "gpu-1"]


def test_refusals_say_what_every_device_fell_to() -> None:
    cluster = Cluster.of(DOCUMENTS)
    held = cluster.after(cluster.allocate([a_claim("c1", 2)]))
    outcome = held.allocate([a_claim("c2")], node="a")
    assert isinstance(outcome, Unsatisfiable)
    (tally,) = outcome.refusals[0].explanation.requests
    (group,) = tally.pools[0].groups
    assert (group.code, group.holders, group.devices) == ("device-in-use", ("c1",), ("gpu-0", "gpu-1"))


def test_taint_rules_follow_their_gate() -> None:
    rule = DeviceTaintRule.from_wire(
        {
            "metadata": {"name": "r"},
            "spec": {"deviceSelector": {"device": "gpu-0"}, "taint": {"key": "k", "effect": "NoSchedule"}},
        }
    )
    documents = Documents(slices=DOCUMENTS.slices, classes=DOCUMENTS.classes, taint_rules=(rule,))
    assert devices(Cluster.of(documents).allocate([a_claim("c")])) == ["gpu-0"]
    on = Settings(gates={"DRADeviceTaintRules": True})
    assert devices(Cluster.of(documents, on).allocate([a_claim("c")])) == ["gpu-1"]
    tolerating = a_claim("c", tolerations=[{"operator": "Exists"}])
    assert devices(Cluster.of(documents, on).allocate([tolerating])) == ["gpu-0"]


def test_unknown_names_are_input_errors() -> None:
    cluster = Cluster.of(DOCUMENTS)
    with pytest.raises(UnknownReference, match="no node 'nowhere'"):
        cluster.allocate([a_claim("c")], node="nowhere")
    with pytest.raises(InputError, match="unknown release"):
        Cluster.of(DOCUMENTS, Settings(release="2.0"))


@pytest.mark.parametrize("claims", ["c", a_claim("c"), [{"kind": "ResourceClaim"}]])
def test_only_claims_are_taken(claims: Any) -> None:
    with pytest.raises(InputError, match="claims takes a sequence of ResourceClaim"):
        Cluster.of(DOCUMENTS).allocate(claims)


def test_a_node_may_be_given_as_an_object() -> None:
    node = Node.from_wire({"metadata": {"name": "b"}})
    assert isinstance(Cluster.of(DOCUMENTS).allocate([a_claim("c", 4)], node=node), Allocated)


def test_threads_get_the_same_answers() -> None:
    cluster = Cluster.of(DOCUMENTS)
    claims = [a_claim(f"c{number}", 1 + number % 4) for number in range(40)]
    expected = [devices(cluster.allocate([claim])) for claim in claims]
    found: list[list[list[str]]] = [[] for _ in range(4)]

    def ask(into: list[list[str]]) -> None:
        into.extend(devices(cluster.allocate([claim])) for claim in claims)

    threads = [threading.Thread(target=ask, args=(each,)) for each in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each == expected for each in found)


def test_claims_made_in_python_get_the_api_servers_defaults() -> None:
    cluster = Cluster.of(DOCUMENTS)
    spec = {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu"}}]}}
    claim = ResourceClaim.model_validate({"metadata": {"name": "c", "namespace": "n"}, "spec": spec})
    found = cluster.allocate([claim])
    assert isinstance(found, Allocated)
    allocation = found.claims[0].status.allocation
    assert allocation is not None
    assert len(allocation.devices.results) == 1
    assert "a" in cluster.filter([claim])
    assert cluster.place([[claim]]).placed == 1


def test_one_object_goes_as_well_as_several() -> None:
    cluster = Cluster.of(DOCUMENTS)
    claim = a_claim("c1", 2)
    one = DOCUMENTS.slices[0]
    name = one.metadata.name or ""
    assert cluster.with_claim(claim).state_hash == cluster.with_claims([claim]).state_hash
    assert cluster.with_claim(claim).without_claim("c1").state_hash == cluster.state_hash
    assert cluster.without_slice(name).state_hash == cluster.without_slices([name]).state_hash
    assert cluster.without_slice(name).with_slice(one).state_hash == cluster.state_hash


def test_warnings_of_the_load_stay_with_the_cluster(tmp_path: Path) -> None:
    """They are told by the command; who imports the library finds them on the cluster, changed or not."""
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n")
    cluster = load(tmp_path)
    (warning,) = cluster.warnings
    assert "values.yaml" in f"{warning.where} {warning.message}"
    assert cluster.with_claim(a_claim("c")).warnings == cluster.warnings


def test_what_claims_hold_cannot_be_changed() -> None:
    assert isinstance(Cluster.of(DOCUMENTS).known.holdings, tuple)
    assert isinstance(Cluster.of(DOCUMENTS).with_claim(a_claim("c")).known.holdings, tuple)
