"""
Groups of Kubernetes that go together into one domain of their topology, as kube-scheduler tries them.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, Pod
from dra_alloc.cluster.settings import Settings
from dra_alloc.gates import without_effect
from dra_alloc.manifest import Documents
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from tests.unit.scenario.test_groups import CLAIM, TEMPLATE, gpus, group, pod

GATES = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True, "TopologyAwareWorkloadScheduling": True}
ON = Settings("1.37", GATES)
PACKED: dict[str, Any] = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}
GPU: dict[str, Any] = {"resourceClaims": [CLAIM]}


def node(name: str, rack: str | None, cpu: str = "9") -> Node:
    labels = {} if rack is None else {"rack": rack}
    status = {"allocatable": {"cpu": cpu, "pods": "10"}}
    return Node.from_wire({"metadata": {"name": name, "labels": labels}, "status": status})


def cluster(*devices: tuple[str | None, int], pods: tuple[Pod, ...] = ()) -> Documents:
    """A node for each rack and its number of devices."""
    names = [f"n{number}" for number in range(len(devices))]
    return Documents(
        nodes=tuple(node(name, rack) for name, (rack, _) in zip(names, devices, strict=True)),
        slices=tuple(gpus(name, count) for name, (_, count) in zip(names, devices, strict=True)),
        classes=(DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {}}),),
        templates=(TEMPLATE,),
        pods=pods,
    )


def asked(dump: Documents, count: int, least: int, settings: Settings = ON, **spec: Any) -> tuple[list[str], str]:
    """Return what becomes of so many pods with a device each, and all notes."""
    pods = tuple(pod(f"p{number}", **GPU) for number in range(count))
    groups = () if dump.pod_groups else (group(least, **{**PACKED, **spec}),)
    found = check(Documents(pods=pods, pod_groups=groups), dump, CheckOptions(settings=settings))
    said = [each.allocated.node if each.allocated else each.refusals[0].error for each in found.placements]
    return said, "\n".join(found.notes)


def test_a_group_goes_into_one_domain():
    said, notes = asked(cluster(("r1", 2), ("r2", 1), ("r2", 2), (None, 9)), 3, 3)
    assert set(said) == {"n1", "n2"}
    assert "its group ns/g goes together into rack r2, the only one that does" in notes


def test_of_several_domains_it_is_told_that_the_score_decides():
    said, notes = asked(cluster(("r1", 3), ("r2", 3)), 3, 3)
    assert len(set(said)) == 1
    assert "rack r1 here; r2 would do, too, and the scheduler takes the one of the best score" in notes


def test_the_domain_that_takes_more_pods_is_taken_here():
    said, _ = asked(cluster(("r1", 2), ("r2", 3)), 3, 2)
    assert set(said) == {"n1"}


def test_no_domain_that_does_is_no_with_what_there_is():
    said, notes = asked(cluster(("r1", 5), ("r2", 3)), 8, 8)
    assert "its group ns/g does not go together into one rack: r1 has room for 5 of 8, r2 has room for 3 of 8" in notes
    assert "0/2 placements are available, first placement status: pod group is unschedulable" in said[0]
    assert not {"n0", "n1"} & set(said)
    assert "if devices were chosen together" not in notes


def test_the_status_that_is_quoted_is_that_of_the_domain_tried_first():
    """Not of the one with the most room."""
    said, notes = asked(cluster(("r1", 3), ("r2", 5)), 8, 8)
    assert "r1 has room for 3 of 8, r2 has room for 5 of 8" in notes
    first = "first placement status: pod group is unschedulable, minCount (8) cannot be satisfied: 3 scheduled"
    assert any(first in each for each in said)


def test_what_a_try_took_is_free_for_the_next_domain_and_for_others():
    pods = (*(pod(f"p{number}", **GPU) for number in range(3)), pod("z", **{**GPU, "schedulingGroup": None}))
    dump = cluster(("r1", 2), ("r2", 1))
    found = check(Documents(pods=pods, pod_groups=(group(3, **PACKED),)), dump, CheckOptions(settings=ON))
    assert [each.allocated.node if each.allocated else "" for each in found.placements][-1] in ("n0", "n1")


def running(name: str, where: str) -> Pod:
    made = pod(name)
    return made.replaced(spec=made.spec.replaced(node_name=where))


def test_pods_that_run_hold_the_domain():
    dump = cluster(("r1", 9), ("r2", 1), pods=(running("r", "n1"),))
    said, notes = asked(dump, 2, 2)
    assert said[0] == "n1"
    assert "r1" not in notes
    assert asked(cluster(("r1", 9), ("r2", 1), pods=(running("r", "n1"),)), 2, 3)[0] != ["n0", "n0"]


@pytest.mark.parametrize(
    ("racks", "words"),
    [
        ((("r1", 1), ("r2", 1)), "more than 1 domain found"),
        (((None, 1), (None, 1), ("r1", 9)), "no topology domain found"),
    ],
)
def test_pods_that_run_in_no_one_domain_hold_the_others_back(racks, words):
    there = (running("r", "n0"), running("s", "n1"))
    said, _ = asked(cluster(*racks, pods=there), 1, 1)
    assert words in said[0]


def test_nodes_without_the_label_are_no_domain():
    said, _ = asked(cluster((None, 9)), 1, 1)
    assert "no node has the label rack" in said[0]


def test_without_the_gate_the_constraint_is_dropped_and_that_is_said():
    off = Settings("1.37", {**GATES, "TopologyAwareWorkloadScheduling": False})
    said, notes = asked(cluster(("r1", 1), ("r2", 1)), 2, 2, off)
    assert set(said) == {"n0", "n1"}
    assert "TopologyAwareWorkloadScheduling is off, its schedulingConstraints are dropped" in notes


@pytest.mark.parametrize("release", ["1.36", "1.37", "1.38"])
def test_a_gate_by_which_groups_are_refused_is_not_said_to_have_no_effect(release):
    assert "TopologyAwareWorkloadScheduling" not in without_effect(GATES, release)


def test_a_claim_of_the_group_pins_it_to_the_domain_that_reaches_it():
    """All pods share one claim, of a device that only rack r2's nodes reach."""
    dump = cluster(("r1", 0), ("r2", 0), ("r2", 0))
    here = {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r2"]}]}
    spec = {
        "driver": "imex",
        "pool": {"name": "r2", "generation": 1, "resourceSliceCount": 1},
        "nodeSelector": {"nodeSelectorTerms": [here]},
        "devices": [{"name": "channel"}],
    }
    channel = type(dump.slices[0]).from_wire({"metadata": {"name": "r2"}, "spec": spec})
    dump = Documents(nodes=dump.nodes, slices=(channel,), classes=dump.classes, templates=dump.templates)
    said, notes = asked(dump, 3, 3, resourceClaims=[CLAIM])
    assert set(said) <= {"n1", "n2"}
    assert "rack r2, the only one that does" in notes
