"""
Grove's sets placed by KAI: waves of gangs, the order in which cliques start, and sets that Grove refuses.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.scenario.admit.answers import AdmitVerdict
from tests.unit.scenario.kai import (
    admitted,
    binding,
    clique,
    clique_set,
    job,
    node,
    pod,
    pod_group,
    queue,
    running,
    topology,
)
from tests.unit.scenario.queueing import lines, only, reasons, verdicts

QUEUE = "kai.scheduler/queue"
FREE = queue("q", (-1, -1))
EXPLICIT: dict[str, Any] = {"cliqueStartupType": "CliqueStartupTypeExplicit"}


def scaled(replicas: int = 3, least: int = 1) -> list[dict[str, Any]]:
    return [{"name": "sg", "cliqueNames": ["decode"], "replicas": replicas, "minAvailable": least}]


def test_gangs_of_a_scaling_group_come_after_the_base_gang():
    """Nothing is placed of the scaled gangs, though there is room for them: their gates stay."""
    made = clique_set(clique("router", template="four"), clique("decode"), podCliqueScalingGroups=scaled())
    found = admitted([made], *node("n", 3), FREE)
    assert verdicts(found) == {
        "p-0": AdmitVerdict.NOT_ALLOCATABLE,
        "p-0-sg-0": AdmitVerdict.WAITING,
        "p-0-sg-1": AdmitVerdict.WAITING,
    }
    assert "its pods are gated until ns/p-0 is scheduled" in lines(found)


def test_the_base_gang_has_the_devices_before_scaled_ones():
    """One device for each of the base gang's pods, and one for one of the two gangs after it."""
    made = clique_set(clique("router", 2), clique("decode"), podCliqueScalingGroups=scaled())
    found = admitted([made], *node("n", 4), FREE)
    assert verdicts(found) == {
        "p-0": AdmitVerdict.PLACED,
        "p-0-sg-0": AdmitVerdict.PLACED,
        "p-0-sg-1": AdmitVerdict.NOT_ALLOCATABLE,
    }


def test_each_replica_of_a_set_has_a_base_gang_of_its_own():
    made = clique_set(clique("decode", template="two"), replicas=2, podCliqueScalingGroups=scaled(2))
    found = admitted([made], *node("n", 5), FREE)
    assert verdicts(found) == {
        "p-0": AdmitVerdict.PLACED,
        "p-0-sg-0": AdmitVerdict.NOT_ALLOCATABLE,
        "p-1": AdmitVerdict.PLACED,
        "p-1-sg-0": AdmitVerdict.NOT_ALLOCATABLE,
    }


def test_the_order_in_which_cliques_start_is_told_and_changes_no_demand():
    cliques = [
        clique("a"),
        clique("b", startsAfter=["a"]),
        clique("c", startsAfter=["a"]),
        clique("d", startsAfter=["b", "c"]),
    ]
    made = clique_set(*cliques, **EXPLICIT)
    assert "starts in order, all placed at once: a, then b and c, then d" in lines(
        admitted([made], *node("n", 4), FREE)
    )
    assert only(admitted([made], *node("n", 3), FREE)).verdict is AdmitVerdict.NOT_ALLOCATABLE


def test_cliques_start_in_order_of_the_list():
    made = clique_set(clique("a"), clique("b"), clique("c"), cliqueStartupType="CliqueStartupTypeInOrder")
    assert "a, then b, then c" in lines(admitted([made], *node("n", 4), FREE))


def test_without_a_startup_type_no_order_is_told():
    made = clique_set(clique("a"), clique("b", startsAfter=["a"]))
    assert "starts in order" not in lines(admitted([made], *node("n", 4), FREE))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            clique_set(clique("a", startsAfter=["b"]), clique("b", startsAfter=["a"]), **EXPLICIT),
            "cliques start after one another in a circle: a, b",
        ),
        (clique_set(clique("a", startsAfter=["x"]), **EXPLICIT), "cliques[0].spec.startsAfter: there is no clique x"),
        (clique_set(clique("a", 2, minAvailable=3)), "cliques[0].spec.minAvailable: 3 is not from 1 to the replicas"),
        (
            clique_set(clique("decode"), podCliqueScalingGroups=scaled(1, 2)),
            "podCliqueScalingGroups[0].minAvailable: 2 is not from 1 to the replicas, which are 1",
        ),
        (clique_set(clique("a"), clique("b"), clique("a", 2)), "cliques[2].name: a is there before"),
        (
            clique_set(clique("decode"), podCliqueScalingGroups=[*scaled(), *scaled()]),
            "podCliqueScalingGroups[1].name: sg is there before",
        ),
        (clique_set(clique("a"), cliqueStartupType="Explicit"), "cliqueStartupType: there is no Explicit, but Clique"),
        (
            clique_set(clique("a"), resourceClaimTemplates=[{"name": "t", "templateSpec": {}}]),
            "resourceClaimTemplates[0].templateSpec.spec.devices.requests: a claim template has at least one request",
        ),
        (clique_set(clique("a" * 45)), "have at most 45 characters together, not 46: p and aaaa"),
    ],
)
def test_sets_that_grove_refuses(made, said):
    found = admitted([made], *node("n", 8), FREE)
    assert set(verdicts(found).values()) == {AdmitVerdict.INADMISSIBLE}
    assert said in reasons(found.workloads[0])


def test_names_of_45_characters_are_taken():
    assert only(admitted([clique_set(clique("a" * 44))], *node("n", 1), FREE)).verdict is AdmitVerdict.PLACED


def without_kai(made: dict[str, Any]) -> dict[str, Any]:
    for each in made["spec"]["template"]["cliques"]:
        del each["spec"]["podSpec"]["schedulerName"]
    return made


def test_sets_that_grove_refuses_are_refused_whoever_schedules():
    """Nor do their pods take devices: the other job has the only one."""
    made = without_kai(clique_set(clique("a", 1, minAvailable=2)))
    found = admitted([made, job("j")], *node("n", 1), FREE)
    assert verdicts(found) == {"p-0-a-00000": AdmitVerdict.INADMISSIBLE, "j": AdmitVerdict.PLACED}
    assert "minAvailable: 2 is not from 1 to the replicas, which are 1" in reasons(found.workloads[0])


def test_what_a_set_requires_is_not_asked_of_pods_that_kai_does_not_see():
    """Each pod for itself may be placed; whether they are in one rack is not known."""
    constraint = {"topologyName": "net", "pack": {"required": "rack"}}
    made = without_kai(clique_set(clique("a"), topologyConstraint=constraint))
    found = admitted([made], *node("n", 1, rack="r"), FREE, binding(rack="rack"))
    assert only(found).verdict is AdmitVerdict.UNDECIDED
    assert "its set requires domains of a topology, and without schedulerName" in reasons(only(found))
    plain = admitted([without_kai(clique_set(clique("a")))], *node("n", 1), FREE)
    assert only(plain).verdict is AdmitVerdict.PLACED
    for each in (found, plain):
        assert any("PodCliqueSet ns/p: without schedulerName kai-scheduler its gangs" in note for note in each.notes)


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        ({"minMember": 2}, AdmitVerdict.UNDECIDED),
        ({"topologyConstraint": {"topology": "net", "requiredTopologyLevel": "rack"}}, AdmitVerdict.UNDECIDED),
        ({"minMember": 1}, AdmitVerdict.PLACED),
    ],
)
def test_what_a_group_asks_for_is_not_asked_of_pods_that_kai_does_not_see(spec, verdict):
    made = pod("p", at="", annotations={"pod-group-name": "g"}, schedulerName="default-scheduler")
    found = admitted([made, pod_group("g", "q", **spec)], *node("n", 1, rack="r"), FREE, topology("rack"))
    assert only(found).verdict is verdict
    assert any("PodGroup ns/g: pods are attached, and without schedulerName" in each for each in found.notes)


def test_a_group_without_a_queue():
    made = pod("p", at="", annotations={"pod-group-name": "g"})
    group = pod_group("g", "")
    del group["spec"]["queue"]
    assert reasons(only(admitted([made, group], *node("n", 1), FREE))) == "it names no queue"


@pytest.mark.parametrize("template", [{}, {"cliques": []}])
def test_a_set_without_cliques_is_refused(template):
    """It makes no pods: the input is wrong, also beside what makes some."""
    made = clique_set()
    made["spec"]["template"] = template
    with pytest.raises(ManifestError, match="a set has at least one clique"):
        admitted([made, job("j")], *node("n", 1), FREE)


def test_refused_sets_without_pods_are_bad_input():
    made = clique_set(clique("a"), clique("a"), replicas=0)
    with pytest.raises(ManifestError, match="Grove refuses the set: a is there before"):
        admitted([made], *node("n", 1), FREE)


def test_cliques_of_two_schedulers_are_refused():
    made = clique_set(clique("a"), clique("b"))
    del made["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["schedulerName"]
    found = admitted([made], *node("n", 8), FREE)
    assert "the schedulerName of all cliques has to be the same" in lines(found)


def test_a_scaled_gang_goes_where_the_base_gang_runs():
    """The base gang's pod runs in the dump already."""
    made = clique_set(clique("decode"), podCliqueScalingGroups=scaled(2))
    made["metadata"]["uid"] = "u"
    owner = [{"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "p-0-sg-0-decode", "uid": "c"}]
    labels = {"grove.io/podclique": "p-0-sg-0-decode", "app.kubernetes.io/part-of": "p"}
    there, claim = running("p-0-sg-0-decode-x", "1", "n", "0", labels=labels)
    there["metadata"]["ownerReferences"] = owner
    found = admitted([made], *node("n", 2), FREE, there, claim)
    assert verdicts(found)["p-0-sg-0"] is AdmitVerdict.PLACED


def test_labels_of_a_clique_that_are_no_object_are_bad_input():
    made = clique_set({**clique("a"), "labels": "x"})
    with pytest.raises(ManifestError, match="expected an object, got"):
        admitted([made], *node("n", 1), FREE)


def test_a_set_of_more_cliques_than_are_tried_is_bad_input():
    """Neither its replicas nor those of its scaling group are too many alone, and its cliques have no pods."""
    made = clique_set(clique("a"), clique("b", 0), replicas=500)
    made["spec"]["template"]["podCliqueScalingGroups"] = [{"name": "g", "cliqueNames": ["b"], "replicas": 2000}]
    with pytest.raises(ManifestError, match="asks for 1,000,500 cliques at once, more than the 10,000 that are tried"):
        admitted([made], *node("n", 1), FREE)


@pytest.mark.parametrize(
    ("of_set", "of_clique", "said"),
    [
        ({"labels": {QUEUE: "free"}}, {}, ""),
        ({"annotations": {QUEUE: "free"}}, {}, ""),
        ({}, {"labels": {QUEUE: "free"}}, ""),
        ({}, {"annotations": {QUEUE: "free"}}, ""),
        ({"labels": {QUEUE: "free"}, "annotations": {QUEUE: "other"}}, {}, ""),
        ({}, {}, "Grove refuses the set: no kai.scheduler/queue is on it"),
        ({"labels": {QUEUE: "free"}}, {"labels": {QUEUE: "other"}}, "name several queues of KAI: free, other"),
    ],
)
def test_the_queue_of_a_set_is_on_it_or_on_its_cliques(of_set, of_clique, said):
    made = clique_set(clique("a", **of_clique))
    made["metadata"] = {"name": "p", "namespace": "ns", **of_set}
    answer = only(admitted([made], *node("n", 1), queue("free", (-1, -1)), queue("default-queue", (-1, -1))))
    assert answer.verdict is (AdmitVerdict.INADMISSIBLE if said else AdmitVerdict.PLACED)
    assert said in reasons(answer)


@pytest.mark.parametrize("scheduler", ["kai-scheduler", "volcano"])
@pytest.mark.parametrize("wrong", ["x", ["x"], {QUEUE: ["x"]}])
def test_annotations_of_a_clique_that_are_no_texts_are_bad_input(scheduler, wrong):
    made = clique("a", annotations=wrong)
    made["spec"]["podSpec"]["schedulerName"] = scheduler
    with pytest.raises(ManifestError, match=r"spec.template.cliques\[0\].annotations.*: expected a"):
        admitted([clique_set(made)], *node("n", 1), FREE)
