"""
Jobs that queues place together, beside others: of the same name, and with pods that the cluster has already.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict, WorkloadAnswer
from tests.reading import documents, read
from tests.unit.scenario import queueing
from tests.unit.scenario import test_admit_volcano as volcano
from tests.unit.scenario.kai import admitted, job, node, pod, pod_group, queue, running
from tests.unit.scenario.queueing import lines, only

FREE = queue("free", (-1, -1))


def verdicts(found: Admit) -> dict[tuple[str, str], AdmitVerdict]:
    return {(each.kind, each.name): each.verdict for each in found.workloads}


def of_volcano(name: str, claim: str = "one", **annotations: str) -> dict[str, Any]:
    made = pod(name, claim, at="", annotations=annotations)
    return {**made, "spec": {**made["spec"], "schedulerName": "volcano"}}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_jobs_of_one_name_are_told_apart(order):
    """A Pod, a Job and a PodGroup are all called a, and one of them asks for more than its queue ever has."""
    attached = pod("of-a", annotations={"pod-group-name": "a"})
    made = [pod("a", at="free"), job("a", "four", at="q"), attached]
    found = admitted([made[each] for each in order], *node("n", 8), queue("q", (1, 2)), FREE, pod_group("a", "free"))
    assert verdicts(found) == {
        ("Pod", "ns/a"): AdmitVerdict.PLACED,
        ("Job", "ns/a"): AdmitVerdict.NEVER,
        ("PodGroup", "ns/a"): AdmitVerdict.PLACED,
    }


def test_kinds_of_one_name_in_other_api_groups_are_no_gang():
    """A Job of Volcano whose pods KAI is to place is not the Job of Kubernetes that is called as it is."""
    other = volcano.job("a", ("w", 1, "four"))
    other["spec"]["tasks"][0]["template"]["spec"]["schedulerName"] = "kai-scheduler"
    found = admitted([job("a", at="free"), other], *node("n", 8), FREE, queue("default-queue", (1, 2)), system="kai")
    assert sorted(each.verdict for each in found.workloads) == [AdmitVerdict.NEVER, AdmitVerdict.PLACED]


@pytest.mark.parametrize("turned", [False, True])
def test_gangs_of_volcano_of_one_name_are_told_apart(turned):
    plain = job("a", at="")
    plain["spec"]["template"]["spec"]["schedulerName"] = "volcano"
    made = [volcano.job("a", ("w", 1, "four")), plain, of_volcano("a")]
    limited = volcano.queue("q", {volcano.GPU: "2"})
    found = admitted(made[::-1] if turned else made, *node("n", 8), limited)
    assert verdicts(found) == {
        ("Volcano Job", "ns/a"): AdmitVerdict.NEVER,
        ("Job", "ns/a"): AdmitVerdict.PLACED,
        ("Pod", "ns/a"): AdmitVerdict.PLACED,
    }


def train(name: str, claim: str = "one") -> dict[str, Any]:
    return pod(name, claim, annotations={"pod-group-name": "train"})


def volcano_group(least: int) -> dict[str, Any]:
    meta = {"name": "train", "namespace": "ns"}
    spec = {"minMember": least, "queue": "default"}
    return {"apiVersion": volcano.GROUP, "kind": "PodGroup", "metadata": meta, "spec": spec}


def test_a_gang_without_a_place_for_its_pod_of_the_cluster_is_not_placed():
    """There is room for the pod that is asked about, and none for the one that waits, which its gang needs."""
    group = pod_group("train", "free", minMember=2)
    found = admitted([train("m")], *node("n", 2), FREE, group, train("w", "two"))
    assert verdicts(found) == {("PodGroup", "ns/train"): AdmitVerdict.NOT_ALLOCATABLE}
    assert "ns/w, which waits in the cluster and is tried with it, finds no place" in lines(found)
    assert "its gang needs places for 2 pods at once" in lines(found)


def test_a_gang_of_volcano_without_a_place_for_its_pod_of_the_cluster_is_not_placed():
    attached = {"scheduling.k8s.io/group-name": "train"}
    waits = of_volcano("w", "two", **attached)
    found = admitted([of_volcano("m", **attached)], *node("n", 2), volcano_group(2), volcano.queue("q"), waits)
    assert verdicts(found) == {("PodGroup", "ns/train"): AdmitVerdict.NOT_ALLOCATABLE}
    assert "ns/w, which waits in the cluster and is tried with it, finds no place" in lines(found)


def test_a_gang_with_places_for_all_its_pods_is_placed():
    group = pod_group("train", "free", minMember=2)
    found = admitted([train("m")], *node("n", 3), FREE, group, train("w", "two"))
    assert verdicts(found) == {("PodGroup", "ns/train"): AdmitVerdict.PLACED}


def test_a_pod_beyond_a_gang_that_runs_is_not_placed_for_it():
    """The gang has what it needs, and the pod that is asked about is not of it."""
    runs = running("r", "1", "n", "0", annotations={"pod-group-name": "train"})
    group = pod_group("train", "free", minMember=1)
    found = admitted([train("m")], *node("n", 1), FREE, group, *runs)
    assert verdicts(found) == {("PodGroup", "ns/train"): AdmitVerdict.NOT_ALLOCATABLE}
    assert "0 of 1 pod placed" in lines(found)


def elsewhere(name: str, claim: str) -> dict[str, Any]:
    """A pod of another scheduler that runs, whose claim is of this name."""
    (made, _) = running(name, "1", "n", "0")
    spec = {**made["spec"], "resourceClaims": [{"name": "r", "resourceClaimName": claim}]}
    return {**made, "spec": {key: value for key, value in spec.items() if key != "schedulerName"}}


def test_running_pods_whose_claims_are_not_there_are_no_obstacle():
    gone = [elsewhere("x", "gone"), {**running("y", "1", "n", "0", at="free")[0]}]
    found = admitted([pod("a", at="free")], *node("n", 1), FREE, *gone)
    assert verdicts(found) == {("Pod", "ns/a"): AdmitVerdict.PLACED}


def test_pods_of_other_schedulers_that_wait_are_said_not_to_be_looked_at():
    waits = {**pod("w"), "spec": {**pod("w")["spec"], "schedulerName": "default-scheduler"}}
    found = admitted([pod("a", at="free")], *node("n", 1), FREE, waits)
    assert "pods of other schedulers that wait in the cluster are not looked at: 1" in found.notes
    assert not any("in the queue, too" in each for each in found.notes)


@pytest.mark.parametrize("at", ["not-there", "all"])
def test_nobody_goes_who_runs_in_no_queue_for_jobs(at):
    """What runs in a queue that is not there, or has others below it, is no victim that shares speak of."""
    queues = [queue("all", (9, -1)), queue("mine", (9, -1), "all"), queue("other", (0, -1), "all")]
    found = admitted([pod("a", "two", at="mine")], *node("n", 1), *queues, *running("r", "1", "n", "0", at=at))
    assert verdicts(found) == {("Pod", "ns/a"): AdmitVerdict.NOT_ALLOCATABLE}
    assert "there are not enough that may be evicted" in lines(found)


def test_what_others_have_leaves_no_less_than_nothing():
    """A driver's devices that KAI does not count, of a class that it does: what is left is 0, and not without limit."""
    holds = [elsewhere("x", "x-c"), running("x", "1", "n", "0")[1]]
    found = admitted([pod("a", at="free")], *node("n", 2, "cards.example.com"), FREE, *holds)
    assert found.queues["free"]["resources"]["gpu"]["fairShare"] == 0


@pytest.mark.parametrize("of", ["quota", "limit", "overQuotaWeight"])
def test_amounts_of_queues_are_finite(of):
    made = queue("q", (1, 1))
    made["spec"]["resources"]["gpu"][of] = "AMOUNT"
    text = json.dumps(made).replace('"AMOUNT"', "1e999")
    there = read(text)
    with pytest.raises(ManifestError, match=rf"spec.resources.gpu.{of}: has to be a number"):
        admit(documents(pod("a")), there, AdmitOptions(Settings("1.36")))


def test_parts_of_devices_are_finite():
    found = admitted([pod("a", annotations={"gpu-fraction": "inf"})], *node("n", 1), queue("q", (1, 1)))
    assert verdicts(found) == {("Pod", "ns/a"): AdmitVerdict.UNDECIDED}


def test_a_least_of_very_many_digits_is_malformed():
    made = job("j")
    made["metadata"]["annotations"]["kai.scheduler/batch-min-member"] = "9" * 5000
    assert verdicts(admitted([made], *node("n", 1), queue("q", (-1, -1)))) == {
        ("Job", "ns/j"): AdmitVerdict.INADMISSIBLE
    }


@pytest.mark.parametrize(
    ("tasks", "spec", "said"),
    [
        ([("w", 1, "one")], {"minAvailable": -1}, "spec.minAvailable: Invalid value: -1"),
        ([("w", 1, "one")], {"minAvailable": "1"}, "spec.minAvailable: expected a whole number"),
        ([("w", 2, "one")], {"minAvailable": 3}, "spec.minAvailable: 3 is more than the replicas, which are 2"),
        ([("w", 1, "one"), ("w", 1, "one")], {}, "spec.tasks[1].name: there is a task w before"),
    ],
)
def test_jobs_that_volcano_refuses_are_not_let_in(tasks, spec, said):
    (answer,) = admitted([volcano.job("j", *tasks, **spec)], *node("n", 1), volcano.queue("q")).workloads
    assert answer.verdict is AdmitVerdict.INADMISSIBLE
    assert said in queueing.reasons(answer)


def test_a_task_that_needs_more_than_its_replicas_is_refused():
    made = volcano.job("j", ("w", 2, "one"), ("x", 2, "one"))
    made["spec"]["tasks"][1]["minAvailable"] = 3
    (answer,) = admitted([made], *node("n", 4), volcano.queue("q")).workloads
    assert answer.verdict is AdmitVerdict.INADMISSIBLE
    assert "spec.tasks[1].minAvailable: 3 is more than the replicas, which are 2" in queueing.reasons(answer)


def test_the_part_of_a_gang_that_lacks_pods_is_told():
    attached = of_volcano("m", **{"scheduling.k8s.io/group-name": "train"})
    group = volcano_group(1)
    group["spec"]["minTaskMember"] = {"x": 1}
    (answer,) = admitted([attached], *node("n", 1), group, volcano.queue("q")).workloads
    assert answer.verdict is AdmitVerdict.WAITING
    assert "its gang needs pods of every part: 1 in x, and there are 0" in queueing.reasons(answer)


def test_claims_of_the_own_gang_are_none_to_free():
    """Two pods want four devices each of five: freeing what the first has would help the second, and not the gang."""
    group = pod_group("train", "free", minMember=2)
    found = admitted([train("a", "four"), train("b", "four")], *node("n", 5), FREE, group)
    (answer,) = found.workloads
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    (refusal,) = answer.refused[0].refusals
    assert "chosen for other pods of the gang" in refusal.explanation.cause
    assert refusal.reasons is not None
    assert [str(each) for each in refusal.reasons.fixes if "freeing" in str(each)] == []


def _freeing(answer: WorkloadAnswer) -> list[str]:
    fixes = (
        each for one in answer.refused for refusal in one.refusals if refusal.reasons for each in refusal.reasons.fixes
    )
    return [str(each) for each in fixes if "freeing" in str(each)]


def test_claims_of_pods_that_were_placed_before_are_none_to_free():
    """Pods beyond the least come one by one, or join those that run: what these hold is of the same gang."""
    elastic = only(admitted([job("j", pods=4, least=2)], *node("a", 3), queue("q", (-1, -1))))
    assert (elastic.verdict, _freeing(elastic)) == (AdmitVerdict.IN_PART, [])
    group, attached = pod_group("g", "q", minMember=1), {"pod-group-name": "g"}
    there = [*node("a", 1), queue("q", (-1, -1)), group]
    own = only(admitted([pod("p", annotations=attached)], *there, *running("r", "1", "a", "0", annotations=attached)))
    assert (len(own.refused), _freeing(own)) == (1, [])
    other = only(admitted([pod("p", annotations=attached)], *there, *running("r", "1", "a", "0")))
    assert _freeing(other) == ["freeing claim ns/r-c"]
    dump = documents(*queueing.COMMON, *queueing.node("n"), *queueing.queue("q", queueing.group(("f", 8))))
    held = only(admit(documents(queueing.job("j", pods=3)), dump, AdmitOptions(Settings("1.36"))))
    assert (len(held.refused), _freeing(held)) == (1, [])


def test_another_order_is_no_help_where_something_else_is_short():
    """There are devices for all of it, and no node has so much cpu."""
    made, nodes = job("j", pods=2, least=2), node("n", 4)
    made["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "100"}
    nodes[0]["status"] = {"allocatable": {"cpu": "64", "memory": "1Gi", "pods": "9"}}
    found = admitted([made], *nodes, queue("q", (-1, -1)))
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "another order" not in lines(found)


def test_a_spec_that_is_no_object_is_bad_input():
    group = {**pod_group("g", "q"), "spec": [1]}
    with pytest.raises(ManifestError, match="spec: has to be an object"):
        admitted([group], *node("n", 1), queue("q", (-1, -1)))


def test_marks_that_are_nearly_those_of_kai_are_named():
    marks: dict[str, Any] = {"kai.scheduler/queu": "q"}
    made = job("j", at="", **marks)
    made["metadata"]["annotations"] = {"kai.scheduler/topology-required-placment": "rack", "kai.scheduler/user": "me"}
    found = admitted([made], *node("n", 1), queue("default-queue", (-1, -1)))
    told = [each for each in found.notes if "is nothing to KAI" in each]
    assert [each.partition(" is ")[0] for each in told] == [
        "ns/j: kai.scheduler/queu",
        "ns/j: kai.scheduler/topology-required-placment",
    ]
    assert "kai.scheduler/topology-required-placement" in told[1].partition(" is ")[2]


def test_a_topology_on_the_pods_of_an_owner_is_nothing_to_kai():
    made = job("j", at="q")
    said = {"kai.scheduler/topology": "net", "kai.scheduler/topology-required-placement": "rack"}
    made["spec"]["template"]["metadata"] = {"annotations": said}
    found = admitted([made], *node("n", 1), queue("q", (-1, -1)))
    assert any(
        "ns/j: annotations kai.scheduler/topology and the like count on the object" in each for each in found.notes
    )
    alone = admitted([pod("p", annotations=said)], *node("n", 1), queue("q", (-1, -1)))
    assert not any("count on the object" in each for each in alone.notes)
