"""
Volumes let pods wait, keep them off nodes, or are a note.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from dra_alloc.api import Pod
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import InputError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import Check, check
from dra_alloc.scenario.gang.joint_nodes import common_ground
from dra_alloc.scenario.prepare.subjects import Subject

Json = dict[str, Any]
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
DONE = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
POD: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns"}}


def read(*items: Json) -> Documents:
    return load(["-"], stdin=io.BytesIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()))


def stored(kind: str, name: str, meta: Json | None = None, version: str = "v1", **more: Any) -> Json:
    space = {"namespace": "ns"} if kind == "PersistentVolumeClaim" else {}
    found = {"name": name, "uid": f"uid-{name}", **space, **(meta or {})}
    return {"apiVersion": version, "kind": kind, "metadata": found, **more}


def claim(meta: Json | None = None, mode: str = "ReadWriteOnce", name: str = "p", **spec: Any) -> Json:
    size = {"requests": {"storage": "1Gi"}}
    return stored("PersistentVolumeClaim", name, meta, spec={"accessModes": [mode], "resources": size, **spec})


def volume(meta: Json | None = None, mode: str = "ReadWriteOnce", name: str = "v", **spec: Any) -> Json:
    return stored("PersistentVolume", name, meta, spec={"accessModes": [mode], "capacity": {"storage": "2Gi"}, **spec})


def storage(name: str, mode: str = "WaitForFirstConsumer", by: str = "made", **meta: Any) -> Json:
    version = "storage.k8s.io/v1"
    return stored("StorageClass", name, meta, version, provisioner=by, volumeBindingMode=mode)


def bound(mode: str = "ReadWriteOnce", labels: Json | None = None, zone: str = "") -> list[Json]:
    near = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    spec: Json = {"nodeAffinity": {"required": {"nodeSelectorTerms": [near]}}} if zone else {}
    return [volume({"labels": labels or {}}, mode, **spec), claim(DONE, mode, volumeName="v")]


def pod(name: str = "a", *volumes: Json, on: str | None = None) -> Json:
    named = volumes or ({"name": "d", "persistentVolumeClaim": {"claimName": "p"}},)
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": named, "nodeName": on}
    return {**POD, "metadata": {**POD["metadata"], "name": name}, "spec": spec}


def node(name: str, **labels: str) -> Json:
    amounts = {"allocatable": {"cpu": "4", "memory": "4Gi", "pods": "9"}}
    keys = {"zone": ZONE, "old": OLD_ZONE, "region": REGION}
    found = {keys[key]: value for key, value in labels.items()}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": found}, "status": amounts}


def asked(*there: Json, new: tuple[Json, ...] = (), nodes: tuple[Json, ...] = (node("n"),)) -> Check:
    return check(read(*new, pod()), read(*nodes, *there))


def codes(answer: Check) -> set[str]:
    (placement,) = answer.placements
    return {each.code for each in placement.refusals}


LATE, EAGER, NOBODY = storage("late"), storage("eager", "Immediate"), storage("none", by="kubernetes.io/no-provisioner")
DEFAULT = storage("def", annotations={"storageclass.kubernetes.io/is-default-class": "true"})
GONE = 'persistentvolumeclaim "p" bound to non-existent persistentvolume "v"'
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


@pytest.mark.parametrize(
    ("there", "new", "text"),
    [
        ([LATE], [], 'persistentvolumeclaim "p" not found'),
        ([claim(name="other")], [], 'persistentvolumeclaim "p" not found'),
        ([LATE], [claim(storageClassName="late")], ""),
        ([], [], ""),
        ([claim({"deletionTimestamp": "2026-01-01T00:00:00Z"})], [], 'persistentvolumeclaim "p" is being deleted'),
        (
            [LATE, claim(DONE, volumeName="v")],
            [],
            GONE,
        ),
        ([claim(DONE, volumeName="v")], [], ""),
        ([EAGER, claim(storageClassName="eager")], [], ""),
        ([EAGER, claim(storageClassName="gone")], [], UNBOUND),
        ([EAGER, claim()], [], UNBOUND),
        ([DEFAULT, claim()], [], ""),
        (
            [LATE, claim(storageClassName="late", volumeName="v")],
            [],
            UNBOUND,
        ),
        ([claim(storageClassName="gone")], [], ""),
    ],
)
def test_what_lets_the_pod_wait(there: list[Json], new: list[Json], text: str) -> None:
    for each in new:
        each["metadata"].pop("uid", None)
    (placement,) = asked(*there, new=tuple(new)).placements
    assert (placement.verdict == "allocated", text in str(placement)) == (not text, True)


@pytest.mark.parametrize(
    ("given", "wanted", "could"),
    [
        ({}, {}, True),
        ({"capacity": {"storage": "1Mi"}}, {}, False),
        ({"volumeMode": "Block"}, {}, False),
        ({"storageClassName": "other"}, {}, False),
        ({"claimRef": {"namespace": "ns", "name": "p"}}, {}, True),
        ({"claimRef": {"namespace": "ns", "name": "p", "uid": "older"}}, {}, False),
        ({"claimRef": {"namespace": "ns", "name": "q"}}, {}, False),
        ({}, {"accessModes": ["ReadWriteMany"]}, False),
        ({}, {"selector": {"matchLabels": {"a": "b"}}}, False),
        ({}, {"volumeName": "v"}, True),
        ({}, {"volumeName": "other"}, False),
    ],
)
def test_which_volumes_could_be_bound(given: Json, wanted: Json, could: bool) -> None:
    answer = asked(volume(**given), claim(storageClassName="", **wanted))
    assert codes(answer) == (set() if could else {"volume-unbound"})


@pytest.mark.parametrize(("zone", "kept"), [("a", set()), ("b", {"node-volumes"})])
def test_volumes_keep_pods_off_nodes(zone: str, kept: set[str]) -> None:
    nodes = (node("n", zone="a"),)
    assert codes(asked(*bound(zone=zone), nodes=nodes)) == kept
    (here, _) = bound(zone=zone)
    here["spec"]["storageClassName"] = "none"
    assert codes(asked(NOBODY, here, claim(storageClassName="none"), nodes=nodes)) == kept
    assert codes(asked(NOBODY, claim(storageClassName="none"), nodes=nodes)) == {"node-volumes"}
    assert codes(asked(LATE, here, claim(storageClassName="late"), nodes=nodes)) == set()


@pytest.mark.parametrize(
    ("labels", "there", "kept"),
    [
        ({ZONE: "b"}, {"zone": "a"}, True),
        ({ZONE: "a__b"}, {"zone": "a"}, False),
        ({OLD_ZONE: "b"}, {"zone": "a"}, True),
        ({OLD_ZONE: "a"}, {"zone": "a"}, False),
        ({OLD_ZONE: "b"}, {"zone": "a", "old": "b"}, False),
        ({REGION: "r"}, {"zone": "a"}, True),
        ({ZONE: "b"}, {}, False),
    ],
)
def test_labels_of_volumes_keep_pods_off_nodes(labels: Json, there: dict[str, str], kept: bool) -> None:
    answer = asked(*bound(labels=labels), nodes=(node("n", **there),))
    assert codes(answer) == ({"node-volumes"} if kept else set())


@pytest.mark.parametrize(("mode", "used"), [("ReadWriteOncePod", {"volume-in-use"}), ("ReadWriteOnce", set())])
def test_one_pod_alone_uses_the_volume(mode: str, used: set[str]) -> None:
    assert codes(asked(*bound(mode), pod("old", on="n"))) == used
    assert codes(asked(*bound(mode))) == set()
    both = check(read(pod("a"), pod("b")), read(node("n"), *bound(mode)))
    assert {each.code for placement in both.placements for each in placement.refusals} == used


@pytest.mark.parametrize(
    ("there", "volumes", "said"),
    [
        ([], [], "PersistentVolumeClaim ns/p is not among the files"),
        ([LATE, claim(storageClassName="late")], [], "PersistentVolumeClaim ns/p is not bound yet"),
        ([claim(DONE, volumeName="v")], [], "PersistentVolume v is not among the files"),
        (bound(), [], "how many volumes its node can attach"),
        ([], [{"name": "d", "ephemeral": {"volumeClaimTemplate": {}}}], "how many volumes its node can attach"),
    ],
)
def test_what_stays_a_note(there: list[Json], volumes: list[Json], said: str) -> None:
    answer = check(read(pod("a", *volumes)), read(node("n"), *there))
    assert any(said in each for each in answer.notes)
    assert answer.placements[0].verdict == "allocated"


def test_a_claim_that_is_applied_again_stays_bound() -> None:
    again = claim(volumeName="v")
    del again["metadata"]["uid"]
    assert codes(asked(*bound(zone="b"), new=(again,), nodes=(node("n", zone="b"),))) == set()


def test_pods_placed_jointly_keep_to_the_nodes_of_their_volumes() -> None:
    nodes = node("here", zone="a"), node("there", zone="b")
    subjects = [Subject("Pod", "ns/a", (), Pod.from_wire(pod()))]
    on = [Cluster.of(read(*nodes, *each)) for each in (bound(zone="b"), [LATE])]
    assert [each.metadata.name for each in common_ground(subjects, on[0]).cluster.nodes] == ["there"]
    with pytest.raises(InputError, match="not found"):
        common_ground(subjects, on[1])
