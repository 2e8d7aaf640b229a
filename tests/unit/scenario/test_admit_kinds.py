"""
What Kueue makes of each kind of workload: pod sets, groups, and what is held back.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.pods.workloads.shapes import taught_by
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict, WorkloadAnswer
from tests.reading import documents, read
from tests.unit.scenario.queueing import CLASS, COMMON, CONFIGURATION, group, job, kueue, node, of_kueue, queue


def asked(made: dict[str, Any], *dump: dict[str, Any]) -> Admit:
    return admit(documents(made), documents(*COMMON, *dump), AdmitOptions(Settings("1.36")))


def reasons(answer: WorkloadAnswer) -> str:
    assert answer.admission is not None
    return "; ".join(answer.admission.reasons)


def test_extended_resources_of_one_mapping_add_up():
    names = ("ca", "cb")
    classes = [{**CLASS, "metadata": {"name": n}, "spec": {"extendedResourceName": f"example.com/{n}"}} for n in names]
    configured = {
        **CONFIGURATION,
        "resources": {"deviceClassMappings": [{"name": "cards", "deviceClassNames": list(names)}]},
    }
    asking = job("j")
    pod = asking["spec"]["template"]["spec"]
    del pod["resourceClaims"]
    amounts = {f"example.com/{n}": "1" for n in names}
    pod["containers"] = [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]
    common = [each for each in COMMON if each is not CONFIGURATION]
    for quota, verdict in ((1, AdmitVerdict.NEVER), (2, AdmitVerdict.PLACED)):
        cluster = documents(*common, configured, *classes, *node("a"), *queue("q", group(("f", quota))))
        (answer,) = admit(
            documents(asking), cluster, AdmitOptions(Settings("1.36", {"DRAExtendedResource": True}))
        ).workloads
        assert answer.verdict is verdict
        assert ("2 asked" in reasons(answer)) == (quota == 1)


def pod_spec(**more: Any) -> dict[str, Any]:
    return {**job("j")["spec"]["template"]["spec"], **more}


def leader_workers(replicas: int, size: int, **templates: Any) -> dict[str, Any]:
    """A LeaderWorkerSet in a queue, its templates by the kind of nodes that they want."""
    made = {f"{name}Template": {"spec": {**spec, "restartPolicy": "Always"}} for name, spec in templates.items()}
    marks = {"kueue.x-k8s.io/queue-name": "q"}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "l", "namespace": "ns", "labels": marks},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": size, **made}},
    }


def made_for(group: int, admitted: dict[str, str] | None, called: str = "leaderworkerset-l-{}-a1b2c") -> dict[str, Any]:
    """Kueue's Workload of a group: with the flavors of its pod sets, or waiting."""
    sets = [{"name": "main", "count": 1, "template": {"spec": pod_spec()}}]
    owner = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "l", "uid": "1"}
    found = kueue("Workload", "", {"queueName": "q", "podSets": sets})
    found["metadata"] = {"name": called.format(group), "namespace": "ns", "ownerReferences": [owner]}
    if admitted is not None:
        parts = [
            {"name": name, "flavors": {"cards": f}, "resourceUsage": {"cards": "1"}} for name, f in admitted.items()
        ]
        found["status"] = {"admission": {"clusterQueue": "q", "podSetAssignments": parts}}
    return found


@pytest.mark.parametrize("called", ["leaderworkerset-l-{}-a1b2c", "l-{}"])
@pytest.mark.parametrize("first", [0, 1])
def test_each_group_has_a_workload_of_its_own(first, called):
    """One group is in, the other waits for quota that the first has; both in any order of the dump."""
    workloads = [made_for(0, {"main": "f"}, called), made_for(1, None, called)]
    dump = [*node("a"), *workloads[first:], *workloads[:first], *queue("q", group(("f", 1)))]
    found = asked(leader_workers(2, 1, worker=pod_spec()), *dump)
    assert {each.name: each.verdict for each in found.workloads} == {
        "ns/l-0": AdmitVerdict.PLACED,
        "ns/l-1": AdmitVerdict.WAITING,
    }
    assert not [each for each in found.notes if "wait in the dump" in each]


def test_only_the_workload_that_is_asked_about_is_left_out():
    """The Workload of a group that the manifests no longer have waits on, by its annotation."""
    third = made_for(9, None)
    third["metadata"]["annotations"] = {"kueue.x-k8s.io/component-workload-index": "2"}
    dump = [*node("a"), made_for(0, {"main": "f"}), third, *queue("q", group(("f", 1)))]
    found = asked(leader_workers(1, 1, worker=pod_spec()), *dump)
    assert "Workloads that wait in the dump go by the queues, too: 1; 0 of them" in "; ".join(found.notes)


KINDS = [
    *node("a", 4, kind="old"),
    *node("b", 4, kind="new"),
    *(kueue("ResourceFlavor", kind, {"nodeLabels": {"kind": kind}}) for kind in ("old", "new")),
]


@pytest.mark.parametrize("given", [(), (made_for(0, {"leader": "old", "worker": "new"}),)])
def test_leader_and_workers_have_flavors_of_their_own(given):
    selected = {} if given else {"nodeSelector": {"kind": "new"}}
    leader = {} if given else {"nodeSelector": {"kind": "old"}}
    made = leader_workers(1, 2, leader=pod_spec(**leader), worker=pod_spec(**selected))
    (answer,) = asked(made, *KINDS, *given, *queue("q", group(("old", 2), ("new", 2)))).workloads
    assert answer.verdict is AdmitVerdict.PLACED
    assert [list(each.nodes) for each in answer.placements] == [["a"], ["b"]]
    assert set(of_kueue(answer).assignment.flavors) == {"leader", "worker"}


@pytest.mark.parametrize(("own", "runs", "count"), [(None, True, 1), (True, True, 0), (True, None, 0), (None, None, 1)])
def test_runs_that_are_held_back_and_cron_jobs_that_a_person_stopped(own, runs, count):
    a_job = job("j")
    labels = a_job["metadata"].pop("labels")
    made = {
        **a_job,
        "kind": "CronJob",
        "spec": {
            "schedule": "0 0 * * *",
            "suspend": own,
            "jobTemplate": {"metadata": {"labels": labels}, "spec": {**a_job["spec"], "suspend": runs}},
        },
    }
    found = asked(made, *node("a"), *queue("q", group(("f", 1))))
    assert [each.verdict for each in found.workloads] == [AdmitVerdict.PLACED] * count
    assert all(each.admission is not None for each in found.workloads)


@pytest.mark.parametrize(("own", "runs"), [(False, True), (True, False), (True, True)])
def test_the_queue_of_a_cron_job_is_that_of_its_jobs(own, runs):
    """Its Jobs have the labels of its jobTemplate, and their priority is that of these."""
    a_job = job("j", labels={"kueue.x-k8s.io/priority-class": "high"})
    labels = a_job["metadata"].pop("labels")
    template = {"metadata": {"labels": labels if runs else {}}, "spec": {**a_job["spec"], "suspend": False}}
    made = {**a_job, "kind": "CronJob", "spec": {"schedule": "0 0 * * *", "jobTemplate": template}}
    made["metadata"] = {**made["metadata"], "labels": labels if own else {}}
    high = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "value": 9}
    found = asked(made, {**high, "metadata": {"name": "high"}}, *node("a"), *queue("q", group(("f", 1))))
    (answer,) = found.workloads
    assert (answer.verdict, answer.admission is not None) == (AdmitVerdict.PLACED, runs)
    if answer.admission is not None:
        assert of_kueue(answer).workload.priority == 9
    assert any("only on themselves: ns/j" in each for each in found.notes) == (not runs)


@pytest.mark.parametrize("labelled", ["the object", "its pods"])
def test_kinds_of_which_it_is_not_known_are_named(labelled):
    marks = {"kueue.x-k8s.io/queue-name": "nobody"}
    of_pods = {} if labelled == "the object" else {"labels": marks}
    made = {
        "apiVersion": "example.com/v1",
        "kind": "Trainer",
        "metadata": {"name": "t", "namespace": "ns", "labels": marks if labelled == "the object" else {}},
        "spec": {"template": {"metadata": of_pods, "spec": pod_spec()}},
    }
    options = AdmitOptions(Settings("1.36"), taught=(taught_by("Trainer=spec.template"),))
    cluster = documents(*COMMON, *node("a"), *queue("q", group(("f", 1))))
    text = json.dumps(made, indent=1)
    with pytest.raises(ManifestError, match=r"Trainer ns/t: .*not modelled") as told:
        admit(read(text), cluster, options)
    (at,) = [each.where for each in told.value.problems]
    assert at.path == f"{'spec.template.' * (labelled != 'the object')}metadata.labels[kueue.x-k8s.io/queue-name]"
    assert at.file == "<stdin>"
    assert at.line is not None
    assert "queue-name" in text.split("\n")[at.line - 1]


def test_a_priority_class_that_is_not_there():
    made = job("j", labels={"kueue.x-k8s.io/priority-class": "high"})
    (answer,) = asked(made, *node("a"), *queue("q", group(("f", 1)))).workloads
    assert answer.verdict is AdmitVerdict.INADMISSIBLE
    assert reasons(answer) == "there is no WorkloadPriorityClass high, Kueue tries again"


def grouped(name: str, total: str = "", at: str = "q", template: str = "one", **annotations: str) -> dict[str, Any]:
    """A pod of group g that says of how many."""
    said = {f"kueue.x-k8s.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    meta = {
        "name": name,
        "namespace": "ns",
        "labels": {"kueue.x-k8s.io/queue-name": at, "kueue.x-k8s.io/pod-group-name": "g"},
        "annotations": {**said, **({"kueue.x-k8s.io/pod-group-total-count": total} if total else {})},
    }
    spec = job("j", template)["spec"]["template"]["spec"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    ("pods", "verdict", "said"),
    [
        ([grouped("a", "3"), grouped("b", "3")], AdmitVerdict.WAITING, "its group has 2 pods"),
        ([grouped("a", "2"), grouped("b", "3")], AdmitVerdict.INADMISSIBLE, "total-count: 2, 3"),
        ([grouped("a"), grouped("b", "2")], AdmitVerdict.INADMISSIBLE, "total-count is missing"),
        ([grouped("a", "two")], AdmitVerdict.INADMISSIBLE, "has to be a whole number above 0"),
        ([grouped("a", "0")], AdmitVerdict.INADMISSIBLE, "has to be a whole number above 0"),
        ([grouped("a", "2"), grouped("b", "2", at="r")], AdmitVerdict.INADMISSIBLE, "different queues: ns/q, ns/r"),
        ([grouped("a", "1"), grouped("b", "1")], AdmitVerdict.UNDECIDED, "deletes those beyond"),
        ([grouped("a", "2", pod_group_fast_admission="true")], AdmitVerdict.UNDECIDED, "is not modelled"),
        ([grouped("a", "2"), grouped("b", "2")], AdmitVerdict.PLACED, ""),
    ],
)
def test_groups_of_which_kueue_makes_no_workload(pods, verdict, said):
    cluster = documents(*COMMON, *node("a", 8), *queue("q", group(("f", 8))))
    (answer,) = admit(documents(*pods), cluster, AdmitOptions(Settings("1.36"))).workloads
    assert answer.verdict is verdict
    assert said in reasons(answer)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [({"phase": "Pending"}, AdmitVerdict.PLACED), ({"phase": "Failed"}, AdmitVerdict.WAITING)],
)
def test_pods_of_a_group_that_are_there_count(status, verdict):
    there = grouped("b", "2") | {"status": status}
    cluster = documents(*COMMON, *node("a", 8), *queue("q", group(("f", 8))), there)
    (answer,) = admit(documents(grouped("a", "2")), cluster, AdmitOptions(Settings("1.36"))).workloads
    assert answer.verdict is verdict


@pytest.mark.parametrize(("quota", "verdict"), [(3, AdmitVerdict.NEVER), (4, AdmitVerdict.PLACED)])
def test_pods_of_a_group_that_ask_for_different_things(quota, verdict):
    pods = [grouped(f"p{number}", "3", template=each) for number, each in enumerate(("one", "two", "one"))]
    cluster = documents(*COMMON, *node("a", 8), *queue("q", group(("f", quota))))
    (answer,) = admit(documents(*pods), cluster, AdmitOptions(Settings("1.36"))).workloads
    assert answer.verdict is verdict
    assert [each.asked.count for each in of_kueue(answer).sets] == [2, 1]


@pytest.mark.parametrize(("part", "key"), [("labels", "queue-nam"), ("annotations", "queue-name")])
def test_what_has_no_queue_and_marks_of_kueue_is_named(part, key):
    made = job("j", at="")
    del made["spec"]["suspend"]
    made["metadata"][part] = {f"kueue.x-k8s.io/{key}": "q"}
    found = asked(made, *node("a"), *queue("q", group(("f", 1))))
    said = "ns/j is without a queue, as label kueue.x-k8s.io/queue-name is missing, and has of Kueue: "
    assert f"{said}kueue.x-k8s.io/{key}" in found.notes
    assert not any("without a queue" in each for each in asked(job("j", at=""), *node("a")).notes)
