"""
Pods of a PodGroup in a check: together or not at all, with claims that they share, and said where the gate is off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dra_alloc.api import (
    DeviceClass,
    Node,
    Pod,
    PodGroup,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
)
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from dra_alloc.scenario.expand import expand

ON = Settings("1.37", {"GenericWorkload": True, "DRAWorkloadResourceClaims": True})
OLD = Settings("1.36", {"GenericWorkload": True, "GangScheduling": True})
CLAIM = {"name": "gpu", "resourceClaimTemplateName": "gpu"}
REQUEST = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
TEMPLATE = ResourceClaimTemplate.from_wire(
    {"metadata": {"name": "gpu", "namespace": "ns"}, "spec": {"spec": {"devices": {"requests": [REQUEST]}}}}
)


def node(name: str, cpu: str) -> Node:
    return Node.from_wire({"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "pods": "10"}}})


def gpus(where: str, count: int) -> ResourceSlice:
    pool = {"name": where, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{number}"} for number in range(count)]
    spec = {"driver": "gpu.example.com", "nodeName": where, "pool": pool, "devices": devices}
    return ResourceSlice.from_wire({"metadata": {"name": where}, "spec": spec})


def group(least: int | None = None, **spec: Any) -> PodGroup:
    policy = {"basic": {}} if least is None else {"gang": {"minCount": least}}
    return PodGroup.from_wire(
        {"metadata": {"name": "g", "namespace": "ns"}, "spec": {"schedulingPolicy": policy, **spec}}
    )


def pod(name: str, cpu: str = "1", **spec: Any) -> Pod:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    wire = {"containers": [container], "schedulingGroup": {"podGroupName": "g"}, **spec}
    return Pod.from_wire({"metadata": {"name": name, "namespace": "ns"}, "spec": wire})


def cluster(cpu: str = "3", count: int = 0) -> Documents:
    slices = (gpus("a", count),) if count else ()
    classes = (DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {}}),)
    return Documents(nodes=(node("a", cpu),), slices=slices, classes=classes, templates=(TEMPLATE,))


def asked(dump: Documents, pods: list[Pod], *groups: PodGroup, settings: Settings = ON) -> tuple[list[str], str]:
    """Return what becomes of each pod: its node, or why it has none on the first; and all notes."""
    found = check(Documents(pods=tuple(pods), pod_groups=groups), dump, CheckOptions(settings=settings))
    said = [
        each.allocated.node if each.allocated else f"{each.refusals[0].code}: {each.refusals[0].error}"
        for each in found.placements
    ]
    return said, "\n".join(found.notes)


def test_a_gang_runs_whole_or_not_at_all():
    pods = [pod(f"p{number}") for number in range(4)]
    said, notes = asked(cluster(), pods, group(4))
    refused = "pod-group: pod group is unschedulable, minCount (4) cannot be satisfied: 3 scheduled, 0 remaining"
    assert said == [*[refused] * 3, "node-resources: Insufficient cpu"]
    assert "PodGroup ns/g: a gang of at least 4 (minCount): 0 of 4 pods find a node" in notes
    said, notes = asked(cluster(), pods, group(3))
    assert said == ["a", "a", "a", "node-resources: Insufficient cpu"]
    assert "a gang of at least 3 (minCount): 3 of 4 pods find a node" in notes


def test_a_gang_that_cannot_be_any_more_is_given_up_from_1_37_on():
    pods = [pod(f"p{number}") for number in range(4)]
    short = "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining"
    cpu = "node-resources: Insufficient cpu"
    said, _ = asked(cluster("1"), pods, group(4))
    assert said == [f"pod-group: pod group is unschedulable, {short}", cpu, *[f"pod-group: {short}"] * 2]
    said, _ = asked(cluster("1"), pods, group(4), settings=OLD)
    assert said[0].startswith("pod-group: pod group is unschedulable, waiting for minCount pods")
    assert said[1:] == [cpu] * 3


def test_what_a_failed_gang_took_is_free_for_the_next():
    pods = [pod("p0"), pod("p1"), pod("other", "3", schedulingGroup=None)]
    said, _ = asked(cluster(), [pod("big", "4"), *pods], group(3))
    assert said[-1] == "a"
    assert not {"a"} & {*said[:-1]}


def test_pods_wait_for_their_group_and_for_each_other():
    pods = [pod("p0"), pod("p1")]
    said, notes = asked(cluster(), pods)
    assert said == ['pod-group: waiting for pods\'s pod group "g" to appear in scheduling queue'] * 2
    assert "PodGroup ns/g is not there: its pods wait for it" in notes
    said, _ = asked(cluster(), pods, group(3))
    assert said == ["pod-group: waiting for minCount pods from a gang to appear in scheduling queue"] * 2
    gated = pod("p0", schedulingGates=[{"name": "later"}])
    said, _ = asked(replace(cluster(), pods=(gated,)), [pod("p1"), pod("p2")], group(2))
    assert said == ["pod-group: waiting for all pods of its group: ns/p0 may not be scheduled yet"] * 2


def test_pods_that_run_count_as_well():
    there = pod("there", nodeName="a")
    said, _ = asked(replace(cluster("2"), pods=(there,)), [pod("p0")], group(2))
    assert said == ["a"]


def test_pods_of_a_group_have_its_priority_from_1_37_on():
    said, _ = asked(cluster(), [pod("p0", priority=10)], group(1))
    alike = "all pods in a single pod group should have the same priority as the pod group's priority, got 10 and 0"
    assert said == [f"pod-group: {alike}"]
    assert asked(cluster(), [pod("p0", priority=10)], group(1), settings=OLD)[0] == ["a"]
    assert asked(cluster(), [pod("p0", priority=10)], group(1, priority=10))[0] == ["a"]


def test_pods_of_a_group_have_one_scheduler_and_one_preemption_policy():
    said, _ = asked(cluster(), [pod("p0"), pod("p1", schedulerName="mine")], group(1))
    assert all('.spec.schedulerName set, got: "mine" and "default-scheduler"' in each for each in said)
    said, _ = asked(cluster(), [pod("p0"), pod("p1", preemptionPolicy="Never")], group(1))
    assert all("preemption policy, got Never and PreemptLowerPriority" in each for each in said)


def test_an_error_ends_the_attempt_for_all():
    bad = DeviceClass.from_wire(
        {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": "device.attributes['x'].y == 1"}}]}}
    )
    dump = replace(cluster(count=1), classes=(bad,))
    said, _ = asked(dump, [pod("p0"), pod("p1", resourceClaims=[CLAIM]), pod("p2")], group(1))
    assert said[0].startswith("pod-group: failed to schedule other pod from a pod group: ")
    assert "no such key" in said[1]
    assert said[2] == said[0]


@pytest.mark.parametrize(("on", "runs"), [(True, ["a", "a"]), (False, ["a", None])])
def test_a_claim_of_the_group_is_one_for_all_its_pods(on, runs):
    settings = Settings("1.37", {"GenericWorkload": True, "DRAWorkloadResourceClaims": on})
    pods = [pod(f"p{number}", resourceClaims=[CLAIM]) for number in range(2)]
    said, notes = asked(cluster(count=1), pods, group(1, resourceClaims=[CLAIM]), settings=settings)
    assert [each if each == "a" else None for each in said] == runs
    assert ("DRAWorkloadResourceClaims is off" in notes) is not on
    objects = Documents(pods=tuple(pods), pod_groups=(group(1, resourceClaims=[CLAIM]),), templates=(TEMPLATE,))
    made = expand(objects, settings=settings).claims
    assert [each.metadata.owner_references[0].kind for each in made] == (["PodGroup"] if on else ["Pod", "Pod"])


def test_a_claim_that_is_not_the_groups_in_all_is_the_pods_own():
    other = {**CLAIM, "name": "other"}
    pods = [pod(f"p{number}", resourceClaims=[other]) for number in range(2)]
    said, _ = asked(cluster(count=1), pods, group(1, resourceClaims=[CLAIM]))
    assert said[0] == "a"
    assert said[1] != "a"


def test_a_joint_choice_stands_beside_an_attempt_that_failed():
    pods = [pod(f"p{number}", resourceClaims=[CLAIM]) for number in range(3)]
    _, notes = asked(cluster(count=2), pods, group(3))
    assert "chosen together, there are devices for 2 at most" in notes
    half = {"firstAvailable": [{"name": str(count), "deviceClassName": "gpu", "count": count} for count in (2, 1)]}
    greedy = ResourceClaimTemplate.from_wire(
        {
            "metadata": {"name": "gpu", "namespace": "ns"},
            "spec": {"spec": {"devices": {"requests": [{"name": "r", **half}]}}},
        }
    )
    said, notes = asked(replace(cluster(count=3), templates=(greedy,)), pods, group(3))
    assert "a" not in said
    assert "chosen together, there are devices for 3: kube-scheduler never goes back on a pod of a group" in notes


def test_without_its_gate_there_is_no_group():
    pods = [pod("p0"), pod("p1")]
    off = Settings("1.37")
    said, notes = asked(cluster(), pods, group(4), settings=off)
    assert said == ["a", "a"]
    assert "GenericWorkload is off in 1.37, so that there is no PodGroup: its pods are scheduled one by one" in notes
    assert "not as a gang of at least 4 (--gate GenericWorkload=true)" in notes
    assert "pods name groups (ns/g), which 1.37 drops" in asked(cluster(), pods, settings=off)[1]
    assert "1.35 has no PodGroup" in asked(cluster(), pods, group(4), settings=Settings("1.35"))[1]
    single = Settings("1.36", {"GenericWorkload": True})
    said, notes = asked(cluster(), pods, group(4), settings=single)
    assert said == ["a", "a"]
    assert "GangScheduling is off" in notes


def test_a_group_in_the_cluster_shows_that_the_gate_is_on_there():
    dump = replace(cluster(), pod_groups=(group(4),))
    with pytest.raises(ManifestError, match="is in the cluster, so that its scheduler has GenericWorkload on"):
        asked(dump, [pod("p0")], settings=Settings("1.37"))


MORE = {"name": "more", "resourceClaimTemplateName": "gpu"}
CLAIMS_MADE = "count/resourceclaims.resource.k8s.io"


@pytest.mark.parametrize(
    ("hard", "least", "entries", "pods", "said"),
    [
        ({CLAIMS_MADE: "2"}, 1, [CLAIM, MORE], [[CLAIM], [MORE]], ["a", "a"]),
        ({CLAIMS_MADE: "1"}, 1, [CLAIM, MORE], [[CLAIM], [MORE]], ["a", '"g-more-00000" is forbidden: exceeded quota']),
        ({CLAIMS_MADE: "0"}, 1, [CLAIM], [[CLAIM], [CLAIM]], ['"g-gpu-00000" is forbidden: exceeded quota'] * 2),
        # What a pod has for itself is made after what its group has, and lets all of the group wait.
        (
            {CLAIMS_MADE: "1"},
            2,
            [CLAIM],
            [[CLAIM], [CLAIM, MORE]],
            ["waiting for all pods of its group: ns/p1 may not be scheduled yet", '"p1-more-00000" is forbidden'],
        ),
        (
            {"count/podgroups.scheduling.k8s.io": "0"},
            1,
            [CLAIM],
            [[CLAIM], []],
            ['podgroups.scheduling.k8s.io "g" is'] * 2,
        ),
    ],
)
def test_claims_of_a_group_are_charged_to_quotas(hard, least, entries, pods, said) -> None:
    """As 1.37.2 did it: a refused claim of a group, or a refused group, lets those pods wait that name it."""
    meta = {"name": "q", "namespace": "ns"}
    dump = replace(cluster(count=4), quotas=(ResourceQuota.from_wire({"metadata": meta, "spec": {"hard": hard}}),))
    named = [pod(f"p{number}", "0", resourceClaims=each) for number, each in enumerate(pods)]
    found, _ = asked(dump, named, group(least, resourceClaims=entries))
    assert all(text in each for text, each in zip(said, found, strict=True)), found


def test_claims_of_a_group_that_is_there_are_charged_first() -> None:
    meta = {"name": "q", "namespace": "ns"}
    quota = ResourceQuota.from_wire({"metadata": meta, "spec": {"hard": {CLAIMS_MADE: "1"}}})
    there = group(1, resourceClaims=[CLAIM])
    dump = replace(cluster(count=4), quotas=(quota,), pod_groups=(there,))
    found, _ = asked(dump, [pod("p0", "0", resourceClaims=[MORE]), pod("p1", "0", resourceClaims=[CLAIM])])
    assert '"p0-more-00000" is forbidden' in found[0]
