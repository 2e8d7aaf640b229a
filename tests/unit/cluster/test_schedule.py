"""
Pods scheduled one after the other: gates, claims, nodes, and what earlier pods took.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from dra_alloc import NotAsked, Scheduled, Unschedulable, Waiting
from dra_alloc.api import (
    DeviceClass,
    Node,
    ObjectMeta,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
)
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import Unsettled
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.attempts.turns import attempts, scheduled
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.manifest import Documents

CLASS = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}


def node(name, **offered):
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10", **offered}
    labels = {"kubernetes.io/hostname": name}
    return Node.from_wire({"metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}})


def gpus(where, count):
    devices = [{"name": f"gpu-{number}"} for number in range(count)]
    pool = {"name": where, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "nodeName": where, "pool": pool, "devices": devices}
    return ResourceSlice.from_wire({"metadata": {"name": where}, "spec": spec})


def requests(count=1):
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def template(name, count=1):
    meta = {"name": name, "namespace": "ns"}
    return ResourceClaimTemplate.from_wire({"metadata": meta, "spec": {"spec": requests(count)}})


def claim(name, **status):
    meta = {"name": name, "namespace": "ns", **status.pop("metadata", {})}
    return ResourceClaim.from_wire({"metadata": meta, "spec": requests(), "status": status})


def pod(name, *claims, cpu="1", **spec):
    entries = [{"name": f"c{number}", **each} for number, each in enumerate(claims)]
    meta = {"name": name, "namespace": "ns", "uid": f"uid-{name}", **spec.pop("metadata", {})}
    container = {"name": "c", "resources": {"requests": {"cpu": cpu, **spec.pop("more", {})}}}
    wire = {"containers": [container], "resourceClaims": entries, **spec}
    return Pod.from_wire({"metadata": meta, "spec": wire})


def from_template(name="one"):
    return {"resourceClaimTemplateName": name}


def named(name):
    return {"resourceClaimName": name}


def cluster(*objects: Any, release: str = "1.37", semantics: str = "upstream") -> Cluster:
    def of(kind: type) -> Any:
        return tuple(each for each in objects if isinstance(each, kind))

    documents = Documents(
        slices=of(ResourceSlice),
        classes=(DeviceClass.from_wire(CLASS),),
        claims=of(ResourceClaim),
        templates=of(ResourceClaimTemplate),
        nodes=of(Node),
        pods=of(Pod),
        quotas=of(ResourceQuota),
    )
    return Cluster.of(documents, Settings(release, semantics=semantics))


def outcomes(schedule):
    return [each.node if isinstance(each, Scheduled) else type(each).__name__ for each in schedule]


def test_the_emptier_node_is_taken_and_room_is_room():
    made = cluster(node("a"), node("b"), pod("there", nodeName="a"))
    done = made.schedule([pod(f"p{number}", cpu="2") for number in range(4)])
    assert outcomes(done) == ["b", "a", "b", "Unschedulable"]
    last = done[3]
    assert isinstance(last, Unschedulable)
    assert last.message == "0/2 nodes are available: 2 Insufficient cpu."
    assert [each.code for each in last.refusals] == ["node-resources", "node-resources"]
    assert outcomes(done.cluster.schedule([pod("small", cpu="1"), pod("again", cpu="1")])) == ["a", "Unschedulable"]


def test_equal_nodes_are_listed_and_the_first_is_taken():
    made = cluster(node("a"), node("b"))
    (found,) = made.schedule([pod("p")])
    assert isinstance(found, Scheduled)
    assert (found.node, found.equal) == ("a", ("a", "b"))


def test_the_first_that_fits_on_request():
    made = cluster(node("a"), node("b"), pod("there", nodeName="a"))
    assert outcomes(made.schedule([pod("p")], node_choice="first")) == ["a"]
    with pytest.raises(InputError, match="node_choice"):
        made.schedule([], node_choice="last")


def test_devices_are_taken_and_claims_made_from_templates():
    made = cluster(node("a"), node("b"), gpus("a", 1), gpus("b", 2), template("one"), template("two", 2))
    done = made.schedule([pod("p", from_template("two")), pod("q", from_template()), pod("r", from_template())])
    assert outcomes(done) == ["b", "a", "Unschedulable"]
    first = done[0]
    assert isinstance(first, Scheduled)
    (made_claim,) = first.claims
    assert made_claim.metadata.full_name == "ns/p-c0-00000"
    assert made_claim.status.allocation is not None
    assert done.cluster.claims["ns/q-c0-00000"].status.allocation is not None
    last = done[2]
    assert isinstance(last, Unschedulable)
    assert last.message == "0/2 nodes are available: 2 cannot allocate all claims."


def test_higher_priority_goes_first():
    made = cluster(node("a"), gpus("a", 1), template("one"))
    low, high = pod("low", from_template(), priority=1), pod("high", from_template(), priority=2)
    assert outcomes(made.schedule([low, high])) == ["Unschedulable", "a"]
    system = pod("system", from_template(), priorityClassName="system-node-critical")
    assert outcomes(made.schedule([high, system])) == ["Unschedulable", "a"]


def test_a_shared_claim_keeps_its_users_together():
    made = cluster(node("a"), node("b"), gpus("b", 1), claim("shared"))
    assert outcomes(made.schedule([pod("p", named("shared")), pod("q", named("shared"))])) == ["b", "b"]


@pytest.mark.parametrize(
    ("asked", "objects", "code", "text"),
    [
        (
            pod("p", schedulingGates=[{"name": "x"}, {"name": "y"}]),
            (),
            "scheduling-gates",
            "waiting for scheduling gates: [x y]",
        ),
        (pod("p", named("none")), (), "claim-missing", 'could not find ResourceClaim "ns/none"'),
        (pod("p", from_template("none")), (), "claim-missing", 'pod "ns/p": ResourceClaim not created yet'),
        (
            pod("p", named("old")),
            (claim("old", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),),
            "claim-deleted",
            'resourceclaim "old" is being deleted',
        ),
    ],
)
def test_what_lets_a_pod_wait(asked, objects, code, text):
    (found,) = cluster(node("a"), *objects).schedule([asked])
    assert isinstance(found, Waiting)
    assert (found.code, found.text) == (code, text)


@pytest.mark.parametrize(("owner", "waits"), [("uid-p", False), ("uid-other", True)])
def test_a_generated_claim_serves_its_owner(owner, waits):
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": True}
    made = cluster(node("a"), gpus("a", 1), claim("c", metadata={"ownerReferences": [reference]}))
    status = {"resourceClaimStatuses": [{"name": "c0", "resourceClaimName": "c"}]}
    asked = Pod.from_wire({**pod("p", from_template()).to_wire(), "status": status})
    (found,) = made.schedule([asked])
    assert isinstance(found, Waiting) is waits


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"nodeName": "a"}, "bound"),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "terminating"),
    ],
)
def test_pods_that_are_not_asked(more, code):
    (found,) = cluster(node("a")).schedule([pod("p", **more)])
    assert isinstance(found, NotAsked)
    assert found.code == code


def test_a_bound_pod_of_the_input_uses_its_node():
    found = cluster(node("a")).schedule([pod("p", cpu="4", nodeName="a"), pod("q")])
    assert outcomes(found) == ["NotAsked", "Unschedulable"]


def test_at_most_256_consumers():
    result = {"request": "r", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    allocation = {"devices": {"results": [result]}, "allocationTimestamp": "2026-01-01T00:00:00Z"}
    users = [{"resource": "pods", "name": f"u{number}", "uid": f"u{number}"} for number in range(255)]
    made = cluster(node("a"), gpus("a", 1), claim("shared", allocation=allocation, reservedFor=users))
    done = made.schedule([pod("p", named("shared")), pod("q", named("shared"))])
    assert outcomes(done) == ["a", "Unschedulable"]
    last = done[1]
    assert isinstance(last, Unschedulable)
    assert last.message == "resourceclaim in use"


def test_a_class_that_there_is_not_is_told_in_the_schedulers_words():
    wire = {"devices": {"requests": [{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "x"}]}]}}
    asked = ResourceClaim.from_wire({"metadata": {"name": "c", "namespace": "ns"}, "spec": wire})
    (found,) = cluster(node("a"), asked).schedule([pod("p", named("c"))])
    assert isinstance(found, Unschedulable)
    assert found.message == "request r/s: device class x does not exist"


@pytest.mark.parametrize("release", ["1.37", "1.35"])
def test_extended_resources_of_nodes_and_of_classes(release):
    made = cluster(node("plugin", **{"example.com/gpu": "1"}), node("devices"), gpus("devices", 1), release=release)
    asked = [pod(f"p{number}", more={"example.com/gpu": "1"}) for number in range(3)]
    served = release == "1.37"
    found = outcomes(made.schedule(asked))
    assert sorted(found) == sorted(["plugin", "devices" if served else "Unschedulable", "Unschedulable"])


def test_failed_binding_makes_a_claim_unavailable():
    result: dict[str, Any] = {"request": "r", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    result |= {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
    device = {"driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    for condition, expected in (("Broken", ["Unschedulable"]), ("Ready", ["a"])):
        conditions = [{"type": condition, "status": "True", "reason": "x", "message": "", "lastTransitionTime": None}]
        users = [{"resource": "pods", "name": "q", "uid": "q"}]
        devices = [{**device, "conditions": conditions}]
        allocation = {"devices": {"results": [result]}, "allocationTimestamp": "2026-01-01T00:00:00Z"}
        held = claim("c", allocation=allocation, devices=devices, reservedFor=users)
        assert outcomes(cluster(node("a"), gpus("a", 1), held).schedule([pod("p", named("c"))])) == expected


def test_an_allocation_that_nobody_reserved_is_given_back():
    result = {"request": "r", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    names = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": names}}
    asked = pod("p", named("c"), nodeSelector={"kubernetes.io/hostname": "b"})
    for users, expected in (([], ["b"]), ([{"resource": "pods", "name": "q", "uid": "q"}], ["Unschedulable"])):
        held = claim("c", allocation=allocation, reservedFor=users)
        made = cluster(node("a"), node("b"), gpus("a", 1), gpus("b", 1), template("one"), held)
        done = made.schedule(
            [pod("first", from_template(), cpu="3", nodeSelector={"kubernetes.io/hostname": "b"}), asked]
        )
        assert outcomes(done) == ["b", "Unschedulable"]
        assert outcomes(made.schedule([asked])) == expected
        assert any("gives it back" in note for each in made.schedule([asked]) for note in each.notes) is (not users)


def test_earlier_alternatives_are_better():
    subs = [
        {"name": name, "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
        for name, count in (("two", 2), ("one", 1))
    ]
    wire = {"devices": {"requests": [{"name": "r", "firstAvailable": subs}]}}
    meta = {"name": "t", "namespace": "ns"}
    either = ResourceClaimTemplate.from_wire({"metadata": meta, "spec": {"spec": wire}})
    made = cluster(node("a"), node("b"), gpus("a", 1), gpus("b", 2), either)
    # Both nodes are as empty: 100 * 7 // 8 against 100, twice.
    assert outcomes(made.schedule([pod("p", from_template("t"))])) == ["b"]
    assert outcomes(made.schedule([pod("p", from_template("t"))], node_choice="first")) == ["a"]
    # The claim for extended resources beside it has no alternatives.
    made = cluster(node("a"), node("b"), gpus("a", 2), gpus("b", 3), either)
    assert outcomes(made.schedule([pod("p", from_template("t"), more={"example.com/gpu": "1"})])) == ["b"]


def test_a_pod_that_others_help_is_tried_again():
    near = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    friend = pod("friend", metadata={"labels": {"app": "a"}})
    assert outcomes(cluster(node("a"), node("b")).schedule([pod("p", affinity=affinity), friend])) == ["a", "a"]


def test_pods_come_as_dictionaries_and_as_models_of_the_client():
    made = cluster(node("a"))
    plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeSelector": {"x": "y"}}}
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    snake = {"metadata": {"name": "q", "creation_timestamp": moment}, "spec": {"node_selector": {"x": "y"}}}
    found = made.schedule([plain, SimpleNamespace(to_dict=lambda: snake)])
    assert outcomes(found) == ["Unschedulable", "Unschedulable"]
    with pytest.raises(InputError, match=r"pods\[0\] is a Job"):
        made.schedule([{"kind": "Job"}])
    with pytest.raises(InputError, match=r"pods\[0\]\.spec"):
        made.schedule([{"spec": {"containers": 3}}])


def test_what_is_not_looked_at_is_noted():
    asked = pod("p", schedulerName="other", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}])
    (found,) = cluster(node("a")).schedule([asked])
    assert any("scheduler other" in note for note in found.notes)
    assert any("volumes" in note for note in found.notes)


def test_in_a_large_cluster_only_some_nodes_are_scored():
    made = cluster(*(node(f"n{number}") for number in range(300)))
    (found,) = made.schedule([pod("p")])
    assert isinstance(found, Scheduled)
    assert found.sampled == 300 * (50 - 300 // 125) // 100
    assert len(found.equal) == 300


def test_hashes_and_copies_know_of_pods():
    made = cluster(node("a"))
    done = made.schedule([pod("p")])
    assert done.cluster.state_hash != made.state_hash
    assert done.cluster.state_hash == cluster(node("a"), pod("p", nodeName="a")).state_hash


def test_quotas_let_pods_and_claims_be_made_or_not():
    hard = {"pods": "3", "gpu.deviceclass.resource.k8s.io/devices": "1", "requests.example.com/gpu": "2"}
    quota = ResourceQuota.from_wire({"metadata": {"name": "q", "namespace": "ns"}, "spec": {"hard": hard}})
    there = cluster(node("a"), gpus("a", 4), template("one"), quota, pod("there", nodeName="a"))
    done = there.schedule([pod("p", from_template()), pod("q", from_template()), pod("r")])
    assert outcomes(done) == ["a", "Waiting", "Waiting"]
    second, third = done[1], done[2]
    assert isinstance(second, Waiting)
    assert isinstance(third, Waiting)
    assert second.code == third.code == "quota"
    assert second.text.startswith('resourceclaims.resource.k8s.io "q-c0-00000" is forbidden: exceeded quota: q')
    assert third.text.startswith('pods "r" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3')
    # What was made stays made; the pod that waits for its claim is there.
    assert outcomes(done.cluster.schedule([pod("q"), pod("r")])) == ["a", "Waiting"]


def test_a_quota_refuses_the_claim_that_the_scheduler_makes():
    hard = {"gpu.deviceclass.resource.k8s.io/devices": "1"}
    quota = ResourceQuota.from_wire({"metadata": {"name": "q", "namespace": "ns"}, "spec": {"hard": hard}})
    there = cluster(node("a"), gpus("a", 4), quota)
    done = there.schedule([pod(name, more={"example.com/gpu": "1"}) for name in "pq"])
    assert outcomes(done) == ["a", "Unschedulable"]
    refused = done[1]
    assert isinstance(refused, Unschedulable)
    assert refused.code == "quota"
    assert refused.message.startswith('resourceclaims.resource.k8s.io "q-extended-resources" is forbidden')
    assert outcomes(done.cluster.schedule([pod("r", more={"example.com/gpu": "1"})])) == ["Unschedulable"]


def test_pods_that_follow_each_other_wait_for_the_one_before():
    scheduling = Scheduling(cluster(node("a"), node("b")))
    near = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    first, second = pod("d-0", affinity=affinity), pod("d-1")
    queue = [Queued(first, follows="ns/d"), Queued(second, follows="ns/d")]
    assert outcomes(scheduled(scheduling, queue)) == ["Unschedulable", "Waiting"]
    other = Queued(pod("x", metadata={"labels": {"app": "x"}}, priority=-1))
    assert outcomes(scheduled(Scheduling(cluster(node("a"))), [*queue, other])) == ["a"] * 3


@pytest.mark.parametrize("first", [Unsettled("ns/w-0", ("a",), (), solver_could=True), Unschedulable("ns/w-0", "no")])
def test_what_is_made_once_another_pod_runs_is_as_undecided_as_that_one(first, monkeypatch):
    scheduling = Scheduling(Cluster.of(Documents(nodes=(node("a"),))))
    monkeypatch.setattr(scheduling, "attempt", lambda queued: first)
    pods = [Queued(Pod(metadata=ObjectMeta(name=f"w-{number}", namespace="ns")), follows="ns/w") for number in range(3)]
    outcomes = [turn.outcome for turn in attempts(scheduling, pods)]
    if isinstance(first, Unsettled):
        assert outcomes == [replace(first, pod=f"ns/w-{number}") for number in range(3)]
    else:
        assert [type(each).__name__ for each in outcomes] == ["Unschedulable", "Waiting", "Waiting"]
        assert "once ns/w-0 runs" in getattr(outcomes[2], "text", "")
