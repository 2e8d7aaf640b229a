"""
Queues that Kueue's API refuses, those that admit nobody by their own word, and workloads that it leaves alone.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario.queueing import COMMON, CONFIGURATION, group, job, kueue, lines, node, of_kueue, only, queue

RESOURCE = "spec.resourceGroups[0].flavors[0].resources[0]"
OTHER = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}
TWO = {"coveredResources": ["cards", "cpu"], "flavors": group(("f", 1))["flavors"]}


def asked(*made: dict[str, Any], dump: list[dict[str, Any]]) -> Admit:
    return admit(documents(*made), documents(*COMMON, *node("n", 4), *dump), AdmitOptions(Settings("1.36")))


@pytest.mark.parametrize(
    ("groups", "spec", "said"),
    [
        ([group(("f", -1))], {}, f"{RESOURCE}.nominalQuota: has to be at least 0"),
        ([group(("f", 8), borrowingLimit=1)], {}, f"{RESOURCE}.borrowingLimit: is for what has a cohort above it"),
        ([group(("f", 8), lendingLimit=9)], {"cohortName": "c"}, f"{RESOURCE}.lendingLimit: is more than the nominal"),
        ([group(("f", 1), ("f", 2))], {}, r"flavors[1].name: flavor f is there before"),
        ([group(("f", 8)), OTHER], {}, r"spec.resourceGroups[1].flavors[0].name: flavor f is there before"),
        ([group(("f", 8)), group(("g", 8))], {}, "spec.resourceGroups[1].coveredResources[0]: resource cards is there"),
        ([TWO], {}, "flavors[0].resources: have to be those of coveredResources, in their order: cards, cpu"),
        ([group(("f", 8))], {"queueingStrategy": "strictFIFO"}, "strictFIFO is none of StrictFIFO, BestEffortFIFO"),
        ([group(("f", 8))], {"stopPolicy": "hold"}, "spec.stopPolicy: hold is none of None, Hold, HoldAndDrain"),
        ([group(("f", 8))], {"flavorFungibility": {"whenCanBorrow": "Borrow"}}, "whenCanBorrow: Borrow is none of"),
        ([group(("f", 8))], {"preemption": {"withinClusterQueue": "Any"}}, "withinClusterQueue: Any is none of Never"),
        (
            [group(("f", 8))],
            {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}},
            "borrowWithinCohort.policy: needs a reclaimWithinCohort other than Never",
        ),
    ],
)
def test_queues_that_the_api_refuses(groups, spec, said):
    with pytest.raises(ManifestError) as told:
        asked(job("j"), dump=queue("q", *groups, **spec))
    assert [said in str(each) for each in told.value.problems] == [True]


def test_cohorts_may_lend_more_than_they_have():
    cohort = kueue("Cohort", "c", {"parentName": "all", "resourceGroups": [group(("f", 1), lendingLimit=2)]})
    dump = [*queue("q", group(("f", 0)), cohortName="c"), cohort]
    assert only(asked(job("j"), dump=dump)).verdict is AdmitVerdict.PLACED


def test_words_of_the_older_version():
    made, local = queue(
        "q", group(("f", 1)), flavorFungibility={"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
    )
    dump = [{**made, "apiVersion": "kueue.x-k8s.io/v1beta1"}, local]
    assert only(asked(job("j"), dump=dump)).verdict is AdmitVerdict.PLACED


def inactive(reason: str) -> dict[str, Any]:
    return {"conditions": [{"type": "Active", "status": "False", "reason": reason, "message": "no"}]}


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"metadata": {"name": "q", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, AdmitVerdict.INADMISSIBLE),
        ({"status": inactive("MultipleMultiKueueAdmissionChecks")}, AdmitVerdict.INADMISSIBLE),
        # What it lacked may be there by now: that is found out.
        ({"status": inactive("FlavorNotFound")}, AdmitVerdict.PLACED),
    ],
)
def test_queues_that_take_nobody_by_their_own_word(more, verdict):
    made, local = queue("q", group(("f", 1)))
    answer = only(asked(job("j"), dump=[{**made, **more}, local]))
    assert answer.verdict is verdict
    assert of_kueue(answer).code == ("queue-inactive" if verdict is AdmitVerdict.INADMISSIBLE else "")


def test_a_queue_may_say_without_a_word_why_that_it_takes_nobody():
    made, local = queue("q", group(("f", 1)))
    status = {"conditions": [{"type": "Active", "status": "False"}]}
    answer = only(asked(job("j"), dump=[{**made, "status": status}, local]))
    assert of_kueue(answer).reasons == ("ClusterQueue q is inactive, as its status says so",)


def workload(**more: Any) -> dict[str, Any]:
    """The Workload that Kueue made of a Job, which it has admitted."""
    podsets = [{"name": "main", "count": 1, "template": job("j")["spec"]["template"]}]
    given = [{"name": "main", "count": 1, "flavors": {"cards": "f"}, "resourceUsage": {"cards": "1"}}]
    meta = {"name": "job-j", "namespace": "ns", "ownerReferences": [{"kind": "Job", "name": "j", "controller": True}]}
    admission = {"clusterQueue": "q", "podSetAssignments": given}
    spec = {"queueName": "q", "podSets": podsets, **more}
    return kueue("Workload", "job-j", spec, status={"admission": admission}) | {"metadata": meta}


@pytest.mark.parametrize(
    ("policy", "more", "verdict"),
    [
        ("None", {}, AdmitVerdict.PLACED),
        ("Hold", {}, AdmitVerdict.PLACED),
        ("HoldAndDrain", {}, AdmitVerdict.INADMISSIBLE),
        ("None", {"active": False}, AdmitVerdict.INADMISSIBLE),
    ],
)
def test_who_was_admitted_stays_unless_it_is_taken_back(policy, more, verdict):
    dump = [*queue("q", group(("f", 1)), stopPolicy=policy), workload(**more)]
    assert only(asked(job("j"), dump=dump)).verdict is verdict


@pytest.mark.parametrize("before", [False, True])
def test_pods_that_run_in_another_cluster_are_not_placed_here(before):
    check = kueue("AdmissionCheck", "far", {"controllerName": "kueue.x-k8s.io/multikueue"})
    dump = [*queue("q", group(("f", 1)), admissionChecks=["far"]), check, *([workload()] if before else [])]
    found = asked(job("j"), *([] if before else [job("k")]), dump=dump)
    assert found.workloads[0].verdict is AdmitVerdict.UNDECIDED
    assert "AdmissionCheck far has its pods run in other clusters" in lines(found)
    # Its quota it has all the same.
    assert before or found.workloads[1].verdict is AdmitVerdict.WAITING


@pytest.mark.parametrize(
    ("frameworks", "placed"), [(["batch/job"], False), (["jobset.x-k8s.io/jobset"], True), ([], False)]
)
def test_a_queue_is_nothing_to_kueue_for_kinds_that_it_is_not_configured_for(frameworks, placed):
    """The queue has nothing, and what Kueue does not see asks for nothing of it."""
    running = job("j")
    running["spec"]["suspend"] = False
    configured = {**CONFIGURATION, "integrations": {"frameworks": frameworks}}
    found = asked(running, dump=[configured, *queue("q", group(("f", 0)))])
    assert only(found).verdict is (AdmitVerdict.PLACED if placed else AdmitVerdict.NEVER)
    assert any("Kueue does not manage Job ns/j" in each for each in found.notes) is placed


@pytest.mark.parametrize(
    ("shares", "wanted", "verdicts_said"),
    [
        ({"preemptionStrategies": []}, (6, 6), ["undecided", "undecided"]),
        ({"enable": True}, (6, 6), ["undecided", "undecided"]),
        ({"enable": False}, (6, 6), ["placed", "waiting"]),
        # Nobody borrows, or all have room.
        ({"enable": True}, (4, 5), ["placed", "waiting"]),
        ({"enable": True}, (5, 3), ["placed", "placed"]),
    ],
)
def test_who_borrows_first_is_for_shares_to_say(shares, wanted, verdicts_said):
    queues = [each for name in "pq" for each in queue(name, group(("f", 4)), cohortName="c")]
    dump = [*node("m", 8), {**CONFIGURATION, "fairSharing": shares}, *queues]
    found = asked(job("a", pods=wanted[0], at="p"), job("b", pods=wanted[1], at="q"), dump=dump)
    assert [each.verdict for each in found.workloads] == verdicts_said


@pytest.mark.parametrize("local", ["p", "gone"])
def test_who_waits_for_its_own_pods_asks_nobody_for_a_share(local):
    """Of its three pods one is there; the other queue borrows, and nobody else wants that."""
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", "image": "i"}]}}
    labels = {"kueue.x-k8s.io/queue-name": local, "kueue.x-k8s.io/pod-group-name": "g"}
    annotations = {"kueue.x-k8s.io/pod-group-total-count": "3"}
    pod["metadata"] = {"name": "p0", "namespace": "ns", "labels": labels, "annotations": annotations}
    queues = [each for name in "pq" for each in queue(name, group(("f", 2)), cohortName="c")]
    found = asked(pod, job("b", pods=3, at="q"), dump=[{**CONFIGURATION, "fairSharing": {}}, *queues])
    assert [each.verdict for each in found.workloads] == [AdmitVerdict.WAITING, AdmitVerdict.PLACED]


def test_what_is_transformed_is_not_known():
    made = job("j")
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["limits"] = {"example.com/x": "1"}
    transformed = [{"input": "example.com/x", "outputs": {"cards": 2}}]
    configured: dict[str, Any] = copy.deepcopy(CONFIGURATION)
    configured["resources"]["transformations"] = transformed
    dump = [configured, *queue("q", group(("f", 4)))]
    assert only(asked(made, dump=dump)).verdict is AdmitVerdict.UNDECIDED
    assert only(asked(job("j"), dump=dump)).verdict is AdmitVerdict.PLACED


def elastic(least: str, pods: int = 4, **more: Any) -> dict[str, Any]:
    made = job("j", pods=pods, **more)
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": least}
    return made


@pytest.mark.parametrize(
    ("least", "quota", "verdict", "placed"),
    [
        ("2", 4, AdmitVerdict.PLACED, 4),
        ("2", 3, AdmitVerdict.PLACED, 3),
        ("2", 2, AdmitVerdict.PLACED, 2),
        ("2", 1, AdmitVerdict.NEVER, 0),
        ("4", 8, AdmitVerdict.INADMISSIBLE, 0),
        ("x", 8, AdmitVerdict.INADMISSIBLE, 0),
    ],
)
def test_a_job_may_be_admitted_with_fewer_pods(least, quota, verdict, placed):
    found = asked(elastic(least), dump=queue("q", group(("f", quota))))
    answer = only(found)
    assert (answer.verdict, answer.running) == (verdict, placed)
    assert (f"admitted with {placed} of 4 pods at once" in lines(found)) is (0 < placed < 4)


def test_of_one_pod_there_are_no_fewer():
    answer = only(asked(elastic("1", pods=1), dump=queue("q", group(("f", 8)))))
    assert of_kueue(answer).reasons == ("annotation kueue.x-k8s.io/job-min-parallelism is for several pods",)


def test_who_is_admitted_with_fewer_pods_leaves_the_rest():
    """The first takes two of three cards, of which it would have had four; each pod of the second wants two."""
    second = job("k", "two", pods=1)
    found = asked(elastic("2", template="one"), second, dump=queue("q", group(("f", 3))))
    assert [each.verdict for each in found.workloads] == [AdmitVerdict.PLACED, AdmitVerdict.WAITING]
    assert of_kueue(found.workloads[0]).assignment.usage["f", "cards"] == 3


def test_whether_a_queue_preempts_or_admits_with_fewer_is_not_known():
    """What it would be admitted with is nobody else's; of a StrictFIFO queue all behind it are undecided, too."""
    for strict, behind in (({}, AdmitVerdict.WAITING), ({"queueingStrategy": "StrictFIFO"}, AdmitVerdict.UNDECIDED)):
        preempting = queue("q", group(("f", 3)), preemption={"withinClusterQueue": "LowerPriority"}, **strict)
        found = asked(elastic("2"), job("k"), dump=preempting)
        assert [each.verdict for each in found.workloads] == [AdmitVerdict.UNDECIDED, behind]
        assert "admitted with 3" not in lines(found)


def test_nothing_is_in_a_queue_that_is_not_there():
    _, local = queue("nope", group(("f", 1)))
    found = asked(job("j", at="nope"), dump=[local])
    assert only(found).verdict is AdmitVerdict.INADMISSIBLE
    assert lines(found).splitlines() == [
        "ns/j (Job): inadmissible",
        "  there is no ClusterQueue nope, to which LocalQueue ns/nope leads",
    ]
