"""
Joint questions of manifests go by what pods and nodes say of each other, as one by one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.manifest import load
from dra_alloc.scenario.gang.joint import JointAnswer, JointOptions, place_jointly

GROUP = "resource.k8s.io/v1"


def _slice(node: str, devices: int) -> dict[str, Any]:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu", "nodeName": node, "pool": pool, "devices": [{"name": f"g{n}"} for n in range(devices)]}
    return {"apiVersion": GROUP, "kind": "ResourceSlice", "metadata": {"name": node}, "spec": spec}


def _node(name: str, zone: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }


CLUSTER = [
    _node("n1", "z1"),
    _node("n2", "z2", taints=[{"key": "special", "effect": "NoSchedule"}]),
    _node("n3", "z1"),
    _node("n4", "z1", unschedulable=True),
    *(_slice(name, 2) for name in ("n1", "n2", "n4")),
    _slice("n3", 1),
    {
        "apiVersion": GROUP,
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "x.io/gpu"},
    },
]
TEMPLATE: dict[str, Any] = {
    "apiVersion": GROUP,
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "t"},
    "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}},
}
CLAIMS = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}


def _pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", **spec.pop("container", {})}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def _asked(tmp_path: Path, pods: list[dict[str, Any]], **options: Any) -> JointAnswer:
    files = []
    for name, items in (("cluster", CLUSTER), ("pods", pods)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    options = {"settings": Settings("1.36", {"DRAExtendedResource": True}), **options}
    return place_jointly(load([files[1]]), load([files[0]]), JointOptions(**options))


@pytest.mark.parametrize(
    ("spec", "fit"),
    [
        ({}, 3),
        ({"nodeSelector": {"kubernetes.io/hostname": "n3"}}, 1),
        ({"nodeSelector": {"zone": "z1"}}, 3),
        ({"nodeSelector": {"zone": "z9"}}, 0),
        ({"tolerations": [{"operator": "Exists"}]}, 7),
    ],
)
def test_only_nodes_on_which_the_pods_may_run_count(tmp_path, spec, fit):
    for options in ({"copies": 8}, {"copies": 0}):
        answers = _asked(tmp_path, [TEMPLATE, _pod("p", **CLAIMS, **spec)], **options).answers
        assert len(answers.joint.placements) == len(answers.greedy.placements) == fit


def test_what_is_left_out_is_said(tmp_path):
    (note,) = [each for each in _asked(tmp_path, [TEMPLATE, _pod("p", **CLAIMS)]).notes if "left out" in each]
    assert note.startswith("2 of 4 nodes")


def test_pods_of_different_nodes_are_no_joint_question(tmp_path):
    pods = [TEMPLATE, _pod("p", **CLAIMS, nodeSelector={"kubernetes.io/hostname": "n1"}), _pod("q", **CLAIMS)]
    with pytest.raises(InputError, match=r"default/p may run on 1 of 4 nodes and default/q on 2"):
        _asked(tmp_path, pods)


def test_extended_resources_are_asked_for(tmp_path):
    three, two = ({"resources": {"limits": {"x.io/gpu": count}}} for count in ("3", "2"))
    assert not _asked(tmp_path, [_pod("p", container=three)]).answers.joint.placements
    assert len(_asked(tmp_path, [_pod("p", container=two)], copies=0).answers.joint.placements) == 1


def test_without_the_gate_no_devices_stand_behind_extended_resources(tmp_path):
    """As one by one: the scheduler looks for a node that offers them itself."""
    pod = _pod("p", container={"resources": {"limits": {"x.io/gpu": "1"}}})
    answer = _asked(tmp_path, [pod], settings=Settings("1.35"))
    assert not answer.answers.joint.placements
    assert any(note.startswith("4 of 4 nodes are left out") for note in answer.notes)


def test_copies_of_a_claim_by_its_name_are_refused(tmp_path):
    claim = {**TEMPLATE, "kind": "ResourceClaim", "metadata": {"name": "own"}, "spec": TEMPLATE["spec"]["spec"]}
    pod = _pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "own"}])
    with pytest.raises(InputError, match="would share it"):
        _asked(tmp_path, [claim, pod], copies=3)
