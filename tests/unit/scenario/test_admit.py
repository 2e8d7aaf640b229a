"""
Who Kueue admits, and what becomes of those that it does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import load
from dra_alloc.queues.standing import Standing
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict, WorkloadAnswer
from dra_alloc.work import Purse
from tests.reading import documents
from tests.unit.scenario.queueing import (
    CLASS,
    COMMON,
    CONFIGURATION,
    group,
    job,
    kueue,
    node,
    of_kueue,
    only,
    queue,
    template,
    verdicts,
)


def admitted(jobs: list[dict[str, Any]], *dump: dict[str, Any], **settings: Any) -> Admit:
    return admit(documents(*jobs), documents(*COMMON, *dump), AdmitOptions(Settings("1.36", **settings)))


def reasons(answer: WorkloadAnswer) -> str:
    assert answer.admission is not None
    return "; ".join(answer.admission.reasons)


def test_quota_is_there_and_no_node_has_the_devices():
    """Kueue's leading complaint: eight in the queue, four on a node."""
    found = admitted([job("big", "three")], *node("a"), *node("b"), *queue("q", group(("f", 4))))
    answer = only(found)
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert answer.refused[0].refusals


def test_who_comes_first_is_in_and_the_others_wait():
    jobs = [job("first", pods=2), job("second", pods=2), job("third", "three")]
    found = admitted(jobs, *node("a", 8), *queue("q", group(("f", 2))))
    assert verdicts(found) == {
        "first": AdmitVerdict.PLACED,
        "second": AdmitVerdict.WAITING,
        "third": AdmitVerdict.NEVER,
    }
    assert reasons(found.workloads[1]) == "flavor f: cards: 2 asked, 0 available now (quota 2, 2 used)"
    assert "at most ever" in reasons(found.workloads[2])


def test_priority_goes_before_time():
    classes = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "value": 9}
    high = {**classes, "metadata": {"name": "high"}}
    jobs = [job("first", "two"), job("second", "two", labels={"kueue.x-k8s.io/priority-class": "high"})]
    found = admitted(jobs, high, *node("a", 8), *queue("q", group(("f", 2))))
    assert verdicts(found) == {"first": AdmitVerdict.WAITING, "second": AdmitVerdict.PLACED}


def test_who_borrows_comes_after_who_does_not():
    """One of each queue in a cycle: what the second leaves is not enough for the first."""
    queues = [*queue("q", group(("f", 1)), cohortName="all"), *queue("p", group(("f", 2)), cohortName="all")]
    found = admitted([job("borrows", "two"), job("own", "two", at="p")], *node("a", 8), *queues)
    assert verdicts(found) == {"borrows": AdmitVerdict.WAITING, "own": AdmitVerdict.PLACED}


def test_a_cohort_that_nobody_wrote_lends():
    queues = [*queue("q", group(("f", 1)), cohortName="all"), *queue("p", group(("f", 2)), cohortName="all")]
    assert only(admitted([job("borrows", "three")], *node("a", 8), *queues)).verdict is AdmitVerdict.PLACED


@pytest.mark.parametrize(
    ("strategy", "last"), [("BestEffortFIFO", AdmitVerdict.PLACED), ("StrictFIFO", AdmitVerdict.WAITING)]
)
def test_who_does_not_fit_blocks_a_strict_queue_alone(strategy, last):
    dump = queue("q", group(("f", 1)), queueingStrategy=strategy)
    found = admitted([job("large", "two"), job("small")], *node("a", 8), *dump)
    assert verdicts(found) == {"large": AdmitVerdict.NEVER, "small": last}


def test_used_is_what_the_status_says():
    status = {"flavorsReservation": [{"name": "f", "resources": [{"name": "cards", "total": 1}]}]}
    cluster_queue, local = queue("q", group(("f", 2)))
    found = admitted([job("two", "two")], *node("a", 8), {**cluster_queue, "status": status}, local)
    assert reasons(only(found)) == "flavor f: cards: 2 asked, 1 available now (quota 2, 1 used)"


def test_used_is_what_workloads_have_where_the_status_does_not_say():
    part = {"name": "main", "flavors": {"cards": "f"}, "resourceUsage": {"cards": "1"}}
    workload = kueue("Workload", "w", {}, status={"admission": {"clusterQueue": "q", "podSetAssignments": [part]}})
    workload["spec"]["podSets"] = [{"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]
    found = admitted([job("two", "two")], *node("a", 8), workload, *queue("q", group(("f", 2))))
    assert reasons(only(found)) == "flavor f: cards: 2 asked, 1 available now (quota 2, 1 used)"


def test_who_has_quota_already_is_not_charged_again_and_keeps_its_flavor():
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "first", "uid": "1"}
    part = {"name": "main", "flavors": {"cards": "g"}, "resourceUsage": {"cards": "2"}}
    workload = kueue("Workload", "", {}, status={"admission": {"clusterQueue": "q", "podSetAssignments": [part]}})
    workload["metadata"] = {"name": "job-first", "namespace": "ns", "ownerReferences": [owner]}
    workload["spec"]["podSets"] = [{"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]
    flavor = kueue("ResourceFlavor", "g", {"nodeLabels": {"kind": "new"}})
    nodes = [*node("a", 8, kind="old"), *node("b", 8, kind="new")]
    found = admitted([job("first", "two")], *nodes, flavor, workload, *queue("q", group(("g", 0))))
    assert verdicts(found) == {"first": AdmitVerdict.PLACED}
    assert list(only(found).placements[0].nodes) == ["b"]


def waiting(name: str, template: str, **spec: Any) -> dict[str, Any]:
    """A Workload of the dump that has no quota yet."""
    pod = job("w", template)["spec"]["template"]["spec"]
    sets = [{"name": "main", "count": 1, "template": {"spec": pod}}]
    found = kueue("Workload", name, {"queueName": "q", "podSets": sets, **spec})
    found["metadata"] |= {"namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return found


@pytest.mark.parametrize(
    ("spec", "verdict", "said"),
    [
        ({}, AdmitVerdict.WAITING, "too: 1; 1 of them would be admitted"),
        ({"priority": -1}, AdmitVerdict.PLACED, "too: 1; 0 of them would be admitted"),
        ({"active": False}, AdmitVerdict.PLACED, ""),
    ],
)
def test_who_waits_in_the_dump_goes_by_the_queues_too(spec, verdict, said):
    found = admitted([job("late", "two")], *node("a", 8), waiting("w", "two", **spec), *queue("q", group(("f", 2))))
    assert verdicts(found) == {"late": verdict}
    assert said in "; ".join(found.notes)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (job("j", at="none"), "no-local-queue"),
        (job("j", "all"), "all-devices"),
        (job("j", "other"), "class-unmapped"),
    ],
)
def test_what_is_inadmissible(changed, code):
    other = {**CLASS, "metadata": {"name": "unmapped"}}
    answer = only(admitted([changed], other, *node("a"), *queue("q", group(("f", 4)))))
    assert answer.verdict is AdmitVerdict.INADMISSIBLE
    assert answer.admission is not None
    assert answer.admission.code == code


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"stopPolicy": "Hold"}, "queue-stopped"),
        ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, "namespace-selector"),
        ({"namespaceSelector": None}, "namespace-selector"),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, ""),
    ],
)
def test_queues_that_take_nobody(spec, code):
    answer = only(admitted([job("j")], *node("a"), *queue("q", group(("f", 4)), **spec)))
    assert answer.admission is not None
    assert answer.admission.code == code


def test_a_named_claim_is_inadmissible():
    named = job("j")
    named["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "r", "resourceClaimName": "c"}]
    request = {"name": "r", "exactly": {"deviceClassName": "card"}}
    meta = {"name": "c", "namespace": "ns"}
    spec = {"devices": {"requests": [request]}}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec}
    answer = only(admitted([named, claim], *node("a"), *queue("q", group(("f", 4)))))
    assert "does not support use of resource claims" in reasons(answer)


def test_an_extended_resource_is_charged_by_its_mapping():
    asking = job("j", pods=2)
    pod = asking["spec"]["template"]["spec"]
    del pod["resourceClaims"]
    amounts = {"d.example.com/card": "1"}
    pod["containers"] = [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]
    extended = {**CLASS, "spec": {"extendedResourceName": "d.example.com/card"}}
    dump = [each for each in COMMON if each is not CLASS]
    options = AdmitOptions(Settings("1.36", {"DRAExtendedResource": True}))
    cluster = documents(*dump, extended, *node("a"), *queue("q", group(("f", 2))))
    answer = only(admit(documents(asking), cluster, options))
    assert answer.verdict is AdmitVerdict.PLACED
    assert of_kueue(answer).assignment.usage == {("f", "cards"): 2}


def test_flavors_are_tried_in_order_and_give_their_labels():
    dump = [
        *node("a", 4, kind="old"),
        *node("b", 4, kind="new"),
        kueue("ResourceFlavor", "old", {"nodeLabels": {"kind": "old"}}),
        kueue("ResourceFlavor", "new", {"nodeLabels": {"kind": "new"}}),
        *queue("q", group(("new", 2), ("old", 2))),
    ]
    found = admitted([job("first", "two"), job("second", "two"), job("third", "two")], *dump)
    assert verdicts(found) == {
        "first": AdmitVerdict.PLACED,
        "second": AdmitVerdict.PLACED,
        "third": AdmitVerdict.WAITING,
    }
    assert [list(each.placements[0].nodes) for each in found.workloads[:2]] == [["b"], ["a"]]


@pytest.mark.parametrize(
    ("flavor", "pod", "said"),
    [
        ({"nodeTaints": [{"key": "t", "effect": "NoSchedule"}]}, {}, "its taint t is not tolerated"),
        ({"nodeLabels": {"kind": "old"}}, {"nodeSelector": {"kind": "new"}}, "its node labels"),
        ({"nodeLabels": {"kind": "old"}}, {"nodeSelector": {"zone": "z", "kind": "old"}}, ""),
        ({"nodeTaints": [{"key": "t", "effect": "NoSchedule"}]}, {"tolerations": [{"operator": "Exists"}]}, ""),
    ],
)
def test_flavors_that_do_not_suit_the_pods(flavor, pod, said):
    asking = job("j")
    asking["spec"]["template"]["spec"].update(pod)
    dump = [*node("a", 4, kind="old", zone="z"), kueue("ResourceFlavor", "g", flavor), *queue("q", group(("g", 2)))]
    answer = only(admitted([asking], *dump))
    assert answer.verdict is (AdmitVerdict.INADMISSIBLE if said else AdmitVerdict.PLACED)
    assert answer.admission is not None
    assert answer.admission.code == ("flavors-unsuitable" if said else "")
    assert said in reasons(answer)


def test_a_flavor_that_suits_and_never_holds_it_counts():
    """Where a flavor that suits the pods is too small for ever, that is what is said of it."""
    tainted = kueue("ResourceFlavor", "g", {"nodeTaints": [{"key": "t", "effect": "NoSchedule"}]})
    answer = only(admitted([job("j", "two")], *node("a", 4), tainted, *queue("q", group(("g", 2), ("f", 1)))))
    assert answer.admission is not None
    assert (answer.verdict, answer.admission.code) == (AdmitVerdict.NEVER, "exceeds-quota")


def test_a_queue_that_names_a_flavor_that_is_not_there_admits_nobody():
    answer = only(admitted([job("j")], *node("a"), *queue("q", group(("f", 4), ("gone", 4)))))
    assert answer.admission is not None
    assert (answer.verdict, answer.admission.code) == (AdmitVerdict.INADMISSIBLE, "flavor-missing")
    assert reasons(answer) == "ClusterQueue q is inactive, as there is no ResourceFlavor gone"


@pytest.mark.parametrize(("borrow", "flavor"), [("MayStopSearch", "f"), ("TryNextFlavor", "g")])
def test_whether_the_next_flavor_is_tried_before_borrowing(borrow, flavor):
    fungible = {"flavorFungibility": {"whenCanBorrow": borrow}}
    queues = [
        *queue("q", group(("f", 0), ("g", 2)), cohortName="all", **fungible),
        *queue("p", group(("f", 2)), cohortName="all"),
    ]
    found = admitted([job("j", "two")], kueue("ResourceFlavor", "g", {}), *node("a", 4), *queues)
    assert of_kueue(only(found)).assignment.flavors == {"main": {"cards": flavor}}


def test_what_the_queue_has_no_quota_of_never_fits():
    asking = job("j")
    asking["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1"}
    answer = only(admitted([asking], *node("a"), *queue("q", group(("f", 2)))))
    assert answer.verdict is AdmitVerdict.NEVER
    assert reasons(answer) == "cpu: in no resource group of the queue"


def test_pods_without_a_queue_are_placed_beside_the_others():
    free = job("free", "two", at="")
    free["spec"]["suspend"] = False
    found = admitted([free, job("late", "two")], *node("a", 2), *queue("q", group(("f", 4))))
    assert verdicts(found) == {"free": AdmitVerdict.PLACED, "late": AdmitVerdict.NOT_ALLOCATABLE}
    assert next(each for each in found.workloads if each.name == "ns/free").admission is None


def test_pods_of_a_group_and_of_a_deployment():
    """Pods of one group are admitted as one, those of a Deployment one by one."""
    spec = job("j")["spec"]["template"]["spec"]
    queued = {"kueue.x-k8s.io/queue-name": "q"}
    labels = {**queued, "kueue.x-k8s.io/pod-group-name": "g"}
    marked = {"labels": labels, "annotations": {"kueue.x-k8s.io/pod-group-total-count": "3"}}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}", "namespace": "ns", **marked},
            "spec": spec,
        }
        for number in range(3)
    ]
    always = {**spec, "restartPolicy": "Always"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ns", "labels": queued},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": always},
        },
    }
    found = admitted([*pods, deployment], *node("a", 8), *queue("q", group(("f", 4))))
    assert [(each.kind, each.count, each.verdict) for each in found.workloads] == [
        ("pod group", 3, AdmitVerdict.PLACED),
        ("Pod", 1, AdmitVerdict.PLACED),
        ("Pod", 1, AdmitVerdict.WAITING),
    ]


def test_without_the_defect_a_wide_request_gives_way():
    wide = {"cel": {"expression": 'device.driver == "d.example.com"'}}
    narrow = {"cel": {"expression": 'device.attributes["d.example.com"].big'}}
    requests = [
        {"name": name, "exactly": {"deviceClassName": "card", "selectors": [selector]}}
        for name, selector in (("wide", wide), ("narrow", narrow))
    ]
    the_node, slices = node("a")
    for number, device in enumerate(slices["spec"]["devices"]):
        device["attributes"] = {"big": {"bool": number == 0}}
    dump = [template("both", *requests), the_node, slices, *queue("q", group(("f", 2)))]
    assert only(admitted([job("j", "both")], *dump)).verdict is AdmitVerdict.INADMISSIBLE
    assert only(admitted([job("j", "both")], *dump, semantics="intended")).verdict is AdmitVerdict.PLACED


def test_a_budget_that_ends_in_one_charge_leaves_the_others_answered():
    selector = {"cel": {"expression": 'device.driver == "d.example.com"'}}
    dear = template("dear", {"name": "r", "exactly": {"deviceClassName": "card", "selectors": [selector]}})
    with Purse(0):
        found = admitted([job("dear", "dear"), job("free")], dear, *node("a"), *queue("q", group(("f", 4))))
    dear_one, free = found.workloads
    assert dear_one.admission is not None
    assert free.admission is not None
    assert (dear_one.verdict, dear_one.admission.code) == (AdmitVerdict.UNDECIDED, "budget")
    assert free.admission.standing is Standing.ADMITTED


def test_claims_and_templates_without_a_pod_are_named():
    request = {"name": "r", "exactly": {"deviceClassName": "card"}}
    meta, spec = {"name": "c", "namespace": "ns"}, {"devices": {"requests": [request]}}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec}
    found = admitted([claim, template("idle", request)], *node("a"), *queue("q", group(("f", 4))))
    assert not found.workloads
    said = "which are not asked about: ResourceClaim ns/c, ResourceClaimTemplate ns/idle"
    assert any(said in each for each in found.notes)


def test_what_is_not_modelled_is_said():
    configured = {**CONFIGURATION, "fairSharing": {"preemptionStrategies": []}, "waitForPodsReady": {"timeout": "5m"}}
    dump = [
        *node("a"),
        kueue("AdmissionCheck", "c", {}),
        *queue("q", group(("f", 1)), admissionChecks=["c"]),
    ]
    notes = "\n".join(
        admit(
            documents(job("j")), documents(*[each for each in COMMON if each is not CONFIGURATION], configured, *dump)
        ).notes
    )
    for said in ("not modelled: preemption", "waitForPodsReady", "q (c)"):
        assert said in notes


def test_samples_of_kueue(shared):
    """The walk-through of Kueue's own pages, with its Configurations, on a node with two shared devices."""
    folder = shared / "samples" / "kueue"
    capacity = {"memory": {"value": "16Gi"}}
    device = {"allowMultipleAllocations": True, "capacity": capacity}
    (the_node, slices), kind = node("n"), "gpu.example.com"
    slices["spec"].update(driver=kind, devices=[{"name": f"g{each}", **device} for each in range(2)])
    the_class = {**CLASS, "metadata": {"name": kind}, "spec": {"extendedResourceName": "example.com/gpu"}}
    settings = Settings("1.38", {"DRAConsumableCapacity": True})
    found = {}
    for asked, queues, configuration in (
        ("rct", "queues", "whole-device"),
        ("extended-resource", "queues", "whole-device"),
        ("capacity", "capacity-queues", "capacity"),
        ("counter", "counter-queues", "counter"),
    ):
        manifests = load(
            [str(folder / f"dra-sample-dra-{asked}-job.yaml"), str(folder / f"dra-sample-dra-{queues}.yaml")]
        )
        settled = load([str(folder / f"dra-{configuration}-controller_manager_config.yaml")])
        dump = documents(the_node, slices, the_class)
        dump = replace(dump, queueing=settled.queueing, places={**dump.places, **settled.places})
        found[asked] = only(admit(manifests, dump, AdmitOptions(settings)))
    # Their queues have a quota of example.com/gpu, and the mapping charges gpu.
    assert found["rct"].verdict is found["extended-resource"].verdict is AdmitVerdict.NEVER
    assert found["capacity"].verdict is AdmitVerdict.PLACED
    assert "no consumesCounters entry" in reasons(found["counter"])
