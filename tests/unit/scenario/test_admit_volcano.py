"""
Who Volcano lets in, and what it places together.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.scenario.admit.answers import AdmitVerdict
from tests.unit.scenario.kai import admitted, claiming, node, template
from tests.unit.scenario.queueing import only, reasons, verdicts

GPU = "deviceclass/gpu.example.com"
GROUP = "scheduling.volcano.sh/v1beta1"


def queue(name: str, capability: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    given = {"capability": capability} if capability is not None else {}
    return {"apiVersion": GROUP, "kind": "Queue", "metadata": {"name": name}, "spec": {**given, **spec}}


def pod_spec(template: str = "one", **more: Any) -> dict[str, Any]:
    return {**claiming(template), "schedulerName": "volcano", **more}


def job(name: str, *tasks: tuple[str, int, str], at: str = "q", **spec: Any) -> dict[str, Any]:
    """A Volcano Job of tasks: name, replicas, claim template."""
    made = [
        {"name": task, "replicas": count, "template": {"spec": pod_spec(claim, restartPolicy="Never")}}
        for task, count, claim in tasks
    ]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"queue": at, "schedulerName": "volcano", "tasks": made, **spec},
    }


def configured(**arguments: bool) -> dict[str, Any]:
    lines = "".join(f"          capacity.{name}: {str(value).lower()}\n" for name, value in arguments.items())
    text = f"tiers:\n- plugins:\n  - name: capacity\n    arguments:\n{lines}"
    meta = {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"volcano-scheduler.conf": text}}


def test_a_job_is_let_in_and_placed():
    answer = only(admitted([job("j", ("w", 2, "one"))], *node("a", 2), queue("q", {GPU: "2"})))
    assert (answer.verdict, answer.kind) == (AdmitVerdict.PLACED, "Volcano Job")
    assert "counts in queue q: 2 of class gpu.example.com" in reasons(answer)


def test_devices_of_a_class_are_limited():
    jobs = [job("first", ("w", 2, "one")), job("second", ("w", 1, "one")), job("third", ("w", 3, "one"))]
    found = admitted(jobs, *node("a", 8), queue("q", {GPU: "2"}))
    assert verdicts(found) == {
        "first": AdmitVerdict.PLACED,
        "second": AdmitVerdict.WAITING,
        "third": AdmitVerdict.NEVER,
    }
    assert "queue q: 1 of class gpu.example.com asked, 2 used of 2" in reasons(found.workloads[1])


@pytest.mark.parametrize(
    ("semantics", "verdict"), [("upstream", AdmitVerdict.PLACED), ("intended", AdmitVerdict.NEVER)]
)
def test_zero_limits_nothing(semantics, verdict):
    found = admitted([job("j", ("w", 1, "one"))], *node("a", 1), queue("q", {GPU: "0"}), semantics=semantics)
    assert only(found).verdict is verdict


def test_a_gang_is_placed_as_a_whole_or_not_at_all():
    """Four are needed, and there are three; what is kept for them in the queue others cannot have."""
    jobs = [job("four", ("w", 4, "one")), job("one", ("w", 1, "one"))]
    found = admitted(jobs, *node("a", 3), queue("q", {GPU: "4"}))
    assert verdicts(found) == {"four": AdmitVerdict.NOT_ALLOCATABLE, "one": AdmitVerdict.WAITING}
    assert "its gang needs places for 4 pods at once" in reasons(found.workloads[0])


def test_the_least_is_enough_and_others_come_as_far_as_there_is_room():
    answer = only(admitted([job("j", ("w", 4, "one"), minAvailable=2)], *node("a", 3), queue("q", {GPU: "3"})))
    assert answer.verdict is AdmitVerdict.IN_PART
    assert answer.running == 3
    assert "no more of its pods: queue q: 1 of class gpu.example.com asked, 3 used of 3" in reasons(answer)


def test_pods_beyond_the_least_hold_what_they_have_alone():
    """The wide pod finds no place: what it would have taken of the queue is there for the other job."""
    first = job("first", ("w", 1, "one"), ("wide", 1, "four"), minAvailable=1)
    found = admitted([first, job("second", ("w", 1, "one"))], *node("a", 3), queue("q", {GPU: "5"}))
    assert verdicts(found) == {"first": AdmitVerdict.IN_PART, "second": AdmitVerdict.PLACED}


def test_what_tasks_need_counts_only_if_the_gang_needs_all_of_it():
    tasks = (("master", 1, "four"), ("worker", 3, "one"))
    alone = admitted([job("j", *tasks, minAvailable=3)], *node("a", 3), queue("q"))
    assert only(alone).verdict is AdmitVerdict.IN_PART
    every = admitted([job("j", *tasks)], *node("a", 3), queue("q"))
    assert only(every).verdict is AdmitVerdict.NOT_ALLOCATABLE


def test_every_queue_above_has_to_have_room():
    queues = [queue("top", {GPU: "1"}), queue("q", {GPU: "4"}, parent="top")]
    answer = only(admitted([job("j", ("w", 2, "one"))], *node("a", 4), *queues))
    assert (answer.verdict, "queue top: 2 of class" in reasons(answer)) == (AdmitVerdict.NEVER, True)


def test_what_is_kept_for_another_queue_cannot_be_had():
    offered = {"cpu": "4", "memory": "4Gi", "pods": "10"}
    cluster = node("a", 1)
    cluster[0]["status"] = {"allocatable": offered}
    made = job("j", ("w", 1, "one"))
    container = made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    container["resources"]["requests"] = {"cpu": "2"}
    for kept, verdict in (("2", AdmitVerdict.PLACED), ("3", AdmitVerdict.NEVER)):
        other = queue("other", guarantee={"resource": {"cpu": kept}})
        assert only(admitted([made], *cluster, queue("q"), other)).verdict is verdict


def test_capacity_of_devices_is_one_sum():
    """What no device has may be asked for, as far as the queue goes."""
    asking = template("part")
    exactly = asking["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    exactly["capacity"] = {"requests": {"memory": "10Gi"}}
    cluster = node("a", 2)
    for each in cluster[1]["spec"]["devices"]:
        each |= {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "8Gi"}}}
    for most, verdict in (("16Gi", AdmitVerdict.NOT_ALLOCATABLE), ("8Gi", AdmitVerdict.NEVER)):
        dump = [*cluster, queue("q", {f"memory.{GPU}": most})]
        found = admitted([asking, job("j", ("w", 1, "part"))], *dump, gates={"DRAConsumableCapacity": True})
        assert only(found).verdict is verdict


@pytest.mark.parametrize(
    ("semantics", "expected"),
    [
        ("upstream", {"wide": AdmitVerdict.NOT_ALLOCATABLE, "narrow": AdmitVerdict.WAITING}),
        ("intended", {"wide": AdmitVerdict.WAITING, "narrow": AdmitVerdict.PLACED}),
    ],
)
def test_capacity_that_no_device_has_keeps_no_room_without_the_defect(semantics, expected):
    """10Gi and 4Gi are within 16Gi, and no card of 8Gi has 10Gi: kept for the first all the same."""
    asking = [template(name) for name in ("ten", "eight")]
    for each, amount in zip(asking, ("10Gi", "8Gi"), strict=True):
        exactly = each["spec"]["spec"]["devices"]["requests"][0]["exactly"]
        exactly["capacity"] = {"requests": {"memory": amount}}
    cluster = node("a", 2)
    for each in cluster[1]["spec"]["devices"]:
        each |= {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "8Gi"}}}
    jobs = [job("wide", ("w", 1, "ten")), job("narrow", ("w", 1, "eight"))]
    dump = [*cluster, queue("q", {f"memory.{GPU}": "16Gi"})]
    found = admitted([*asking, *jobs], *dump, gates={"DRAConsumableCapacity": True}, semantics=semantics)
    assert verdicts(found) == expected


def test_a_gang_of_the_same_pods_is_refused_as_the_first_was():
    found = admitted([job(name, ("w", 4, "one")) for name in ("first", "second")], *node("a", 3), queue("q"))
    first, second = found.workloads
    assert {each.verdict for each in found.workloads} == {AdmitVerdict.NOT_ALLOCATABLE}
    assert second.placements[0].same_as == first.placements[0].name


@pytest.mark.parametrize(
    ("gates", "verdict", "said"),
    [
        ({}, AdmitVerdict.PLACED, "is off in the scheduler's configuration"),
        ({"DynamicResourceAllocationEnable": True}, AdmitVerdict.NEVER, ""),
        (None, AdmitVerdict.NEVER, "no ConfigMap of Volcano's scheduler"),
    ],
)
def test_devices_are_limited_as_the_scheduler_is_configured(gates, verdict, said):
    dump = [*node("a", 2), queue("q", {GPU: "1"}), *([] if gates is None else [configured(**gates)])]
    found = admitted([job("j", ("w", 2, "one"))], *dump)
    assert only(found).verdict is verdict
    assert said in "; ".join(found.notes)


@pytest.mark.parametrize(
    ("at", "spec", "code"),
    [("gone", {}, "no-queue"), ("q", {"parent": "root"}, ""), ("top", {"parent": "top"}, "queue-not-leaf")],
)
def test_queues_that_take_nobody(at, spec, code):
    answer = only(admitted([job("j", ("w", 1, "one"), at=at)], *node("a", 1), queue("top"), queue("q", **spec)))
    assert answer.admission is not None
    assert answer.admission.code == code


def test_pods_of_a_group_that_an_annotation_names():
    meta = {"namespace": "ns", "annotations": {"scheduling.k8s.io/group-name": "g"}}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{each}", **meta}, "spec": pod_spec()}
        for each in range(2)
    ]
    assert only(admitted(pods, *node("a", 2), queue("q"))).verdict is AdmitVerdict.INADMISSIBLE
    group = {"apiVersion": GROUP, "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ns"}}
    for least, verdict in ((2, AdmitVerdict.PLACED), (3, AdmitVerdict.WAITING)):
        made = {**group, "spec": {"minMember": least, "queue": "q"}}
        assert only(admitted([*pods, made], *node("a", 2), queue("q"))).verdict is verdict


def test_pods_of_others_are_grouped_by_their_owners():
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}}
    labelled = {"labels": {"a": "b"}, "annotations": {"scheduling.volcano.sh/queue-name": "q"}}
    made = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ns"},
        "spec": {**spec, "template": {"metadata": labelled, "spec": pod_spec()}},
    }
    answer = only(admitted([made], *node("a", 2), queue("q", {GPU: "1"})))
    assert (answer.verdict, answer.admission.queue if answer.admission else "") == (
        AdmitVerdict.IN_PART,
        "q",
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (queue("q", {"cpu": "x"}), r"spec\.capability"),
        (queue("q", {"cpu": "-1"}), r"spec.capability\[cpu\]: has to be at least 0"),
        (queue("q", weight=0), r"spec.weight: has to be a whole number, at least 1"),
        (queue("q", {"cpu": "1"}, deserved={"cpu": "2"}), r"spec.deserved\[cpu\]: is more than spec.capability has"),
        (queue("q", deserved={"cpu": "1"}, guarantee={"resource": {"cpu": "2"}}), r"resource\[cpu\]: is more than"),
        (queue("q", parent="gone"), "there is no queue gone"),
        (queue("q", parent="q"), "queues are below one another in a circle: q"),
    ],
)
def test_what_is_wrong_with_objects_is_told_with_its_place(wrong, said):
    with pytest.raises(ManifestError, match=said):
        admitted([job("j", ("w", 1, "one"))], *node("a", 1), wrong)


@pytest.mark.parametrize(
    ("at", "there", "said"), [("default", "q", True), ("default", "default", False), ("q", "q", False)]
)
def test_a_default_queue_that_is_not_there_is_said_to_be_assumed(at, there, said):
    found = admitted([job("j", ("w", 1, "one"), at=at)], *node("a", 1), queue(there))
    assert only(found).verdict is AdmitVerdict.PLACED
    assert any("queue default is not among the files" in each for each in found.notes) is said


MODES = [
    ({"mode": "hard"}, AdmitVerdict.UNDECIDED),
    ({}, AdmitVerdict.UNDECIDED),
    ({"mode": "soft"}, AdmitVerdict.PLACED),
]


@pytest.mark.parametrize(("mode", "verdict"), MODES)
@pytest.mark.parametrize("of", ["job", "task"])
def test_of_a_network_topology_that_is_a_must_it_is_not_known(mode, verdict, of):
    wanted: dict[str, Any] = {"networkTopology": {"highestTierAllowed": 1, **mode}}
    made = job("j", ("w", 1, "one"), **(wanted if of == "job" else {}))
    if of == "task":
        made["spec"]["tasks"][0]["partitionPolicy"] = {"totalPartitions": 1, "partitionSize": 1, **wanted}
    answer = only(admitted([made], *node("a", 1), queue("q")))
    assert answer.verdict is verdict


def of_pods(**annotations: str) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "ns", "annotations": {"scheduling.volcano.sh/queue-name": "q", **annotations}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec()}


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"volcano.sh/network-topology-mode": "soft"}, AdmitVerdict.PLACED),
        ({"volcano.sh/network-topology-mode": "hard"}, AdmitVerdict.UNDECIDED),
        ({"volcano.sh/network-topology-highest-tier": "1"}, AdmitVerdict.UNDECIDED),
    ],
)
def test_of_pods_that_ask_for_a_domain_of_the_network_it_is_not_known(said, verdict):
    assert only(admitted([of_pods(**said)], *node("a", 1), queue("q"))).verdict is verdict


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        *(({"networkTopology": mode}, verdict) for mode, verdict in MODES),
        *(({"subGroupPolicy": [{"name": "s", "networkTopology": mode}]}, verdict) for mode, verdict in MODES),
        ({"subGroupPolicy": [{"name": "s", "minSubGroups": 2}]}, AdmitVerdict.UNDECIDED),
    ],
)
def test_of_a_pod_group_with_a_network_topology_it_is_not_known(more, verdict):
    meta = {"name": "g", "namespace": "ns"}
    spec = {"minMember": 1, "queue": "q", **more}
    group = {"apiVersion": GROUP, "kind": "PodGroup", "metadata": meta, "spec": spec}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "annotations": {"scheduling.k8s.io/group-name": "g"}},
        "spec": pod_spec(),
    }
    assert only(admitted([pod], *node("a", 1), queue("q"), group)).verdict is verdict


def test_of_tasks_that_wait_for_others_it_is_not_known():
    made = job("j", ("w", 1, "one"), ("x", 1, "one"))
    made["spec"]["tasks"][1]["dependsOn"] = {"name": ["w"]}
    answer = only(admitted([made], *node("a", 2), queue("q")))
    assert answer.verdict is AdmitVerdict.UNDECIDED
    assert "dependsOn" in reasons(answer)


def test_jobs_are_in_no_queue_that_is_above_others():
    for queues in ([queue("q"), queue("below", parent="q")], [queue("root"), queue("q")]):
        at = "root" if queues[0]["metadata"]["name"] == "root" else "q"
        answer = only(admitted([job("j", ("w", 1, "one"), at=at)], *node("a", 1), *queues))
        assert (answer.verdict, "is above others" in reasons(answer)) == (AdmitVerdict.INADMISSIBLE, True)


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown", "Open"])
def test_a_queue_that_is_not_open_takes_nobody(state):
    answer = only(admitted([job("j", ("w", 1, "one"))], *node("a", 1), queue("q") | {"status": {"state": state}}))
    assert answer.verdict is (AdmitVerdict.PLACED if state == "Open" else AdmitVerdict.INADMISSIBLE)
