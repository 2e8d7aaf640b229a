"""
Who KAI lets in, and what it places together.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.errors import InputError
from dra_alloc.scenario.admit.answers import AdmitVerdict, Layer, LayerSays, WorkloadAnswer
from tests.unit.scenario import queueing
from tests.unit.scenario.kai import admitted, claiming, job, node, pod, pod_group, queue, running, template
from tests.unit.scenario.queueing import lines, only, reasons, verdicts

ATTACHED = {"pod-group-name": "g"}
SKIPPED = {"kai.scheduler/skip-podgrouper": "true"}


def code(answer: WorkloadAnswer) -> str:
    assert answer.admission is not None
    return answer.admission.code


def test_the_system_is_known_by_its_objects():
    found = admitted([pod("p")], *node("a", 1), queue("q", (1, -1)))
    assert (found.system.name, only(found).verdict) == ("kai", AdmitVerdict.PLACED)
    assert dict(only(found).layers) == dict.fromkeys(Layer, LayerSays.YES)


def test_objects_of_two_systems_have_to_be_told_apart():
    both = [*node("a", 1), queue("q", (1, -1)), queueing.kueue("ResourceFlavor", "f", {})]
    with pytest.raises(InputError, match=r"systems: kueue \(.*: ResourceFlavor f\), kai \(.*: Queue q\)"):
        admitted([pod("p")], *both)
    assert only(admitted([pod("p")], *both, system="kai")).verdict is AdmitVerdict.PLACED


def test_a_gang_is_placed_as_a_whole_or_not_at_all():
    """Three places for a gang of four: nobody has any of them, and the next one has."""
    jobs = [job("four", pods=4, least=4), job("three", pods=3, least=3)]
    found = admitted(jobs, *node("a", 3), queue("q", (-1, -1)))
    assert verdicts(found) == {"four": AdmitVerdict.NOT_ALLOCATABLE, "three": AdmitVerdict.PLACED}
    first = found.workloads[0]
    assert "its gang needs places for 4 pods at once" in reasons(first)
    assert [each.verdict for each in first.placements] == ["unsatisfiable"]
    assert first.layers[Layer.PLACED] is LayerSays.NO
    assert first.layers[Layer.JOINTLY] is LayerSays.NO


def test_pods_beyond_the_least_come_as_far_as_there_is_room():
    """What it needs it has, and not all of it: the pod without a place says why."""
    found = admitted([job("j", pods=4, least=2)], *node("a", 3), queue("q", (-1, -1)))
    answer = only(found)
    assert answer.verdict is AdmitVerdict.IN_PART
    assert (answer.running, answer.layers[Layer.PLACED]) == (3, LayerSays.NO)
    told = lines(found)
    assert "placed in part in q, 3 of 4 pods placed" in told
    assert "ns/j-00003: cannot be allocated" in told


def test_a_limit_holds_pods_beyond_the_least_back():
    answer = only(admitted([job("j", pods=4)], *node("a", 4), queue("q", (-1, 2))))
    assert answer.verdict is AdmitVerdict.IN_PART
    assert "no more of its pods: queue q: 1 gpu asked, 2 gpu used of a limit: 2 gpu" in reasons(answer)


@pytest.mark.parametrize(
    ("made", "dump", "code_said", "verdict"),
    [
        ([job("j", "four")], [queue("q", (0, 2))], "over-limit", AdmitVerdict.NEVER),
        ([pod("p", at="gone")], [queue("q", (1, 1))], "no-queue", AdmitVerdict.INADMISSIBLE),
        ([pod("p")], [{**queue("q", (1, 1)), "spec": {}}], "over-limit", AdmitVerdict.NEVER),
        ([pod("p")], [queue("q", (1, 1)), queue("r", (1, 1), "q")], "queue-not-leaf", AdmitVerdict.INADMISSIBLE),
        ([pod("p", annotations=ATTACHED)], [queue("q", (1, 1))], "no-pod-group", AdmitVerdict.INADMISSIBLE),
        ([pod("p", annotations=SKIPPED)], [queue("q", (1, 1))], "not-grouped", AdmitVerdict.INADMISSIBLE),
        (
            [pod("p", annotations=ATTACHED)],
            [queue("q", (1, 1)), pod_group("g", "q", minMember=2)],
            "pods-missing",
            AdmitVerdict.WAITING,
        ),
        (
            [job("j", "two", least=1, priorityClassName="build")],
            [queue("q", (1, -1))],
            "non-preemptible",
            AdmitVerdict.NEVER,
        ),
        ([pod("p", labels={"project": "r"}, at="")], [queue("q", (1, 1))], "no-queue", AdmitVerdict.INADMISSIBLE),
    ],
)
def test_who_is_not_let_in(made, dump, code_said, verdict):
    answer = only(admitted(made, *node("a", 4), *dump))
    assert answer.verdict is verdict
    assert code(answer).startswith(code_said)
    assert answer.layers[Layer.ADMITTED] is LayerSays.NO
    assert answer.layers[Layer.PLACED] is LayerSays.NOT_ASKED


def test_limits_hold_on_every_level():
    queues = [queue("top", (2, 2)), queue("a", (2, -1), "top"), queue("b", (2, -1), "top")]
    found = admitted([job("one", "two", at="a"), job("two", "two", at="b")], *node("n", 4), *queues)
    assert verdicts(found) == {"one": AdmitVerdict.PLACED, "two": AdmitVerdict.WAITING}
    assert "queue top: 2 gpu asked, 2 gpu used of a limit: 2 gpu" in reasons(found.workloads[1])


def test_what_runs_counts_in_its_queue():
    dump = [*node("a", 4), queue("q", (2, 2)), *running("old", "1", "a", "0")]
    answer = only(admitted([job("j", "two")], *dump))
    assert (answer.verdict, code(answer)) == (AdmitVerdict.WAITING, "over-limit")


def test_groups_below_a_group():
    """A leader and two of three workers are needed, of pods that an annotation attaches."""
    group = pod_group(
        "g", "q", minSubGroup=2, subGroups=[{"name": "leader", "minMember": 1}, {"name": "workers", "minMember": 2}]
    )
    part = "kai.scheduler/subgroup-name"
    pods = [pod(f"w{each}", at="", labels={part: "workers"}, annotations=ATTACHED) for each in range(3)]
    pods.append(pod("lead", at="", labels={part: "leader"}, annotations=ATTACHED))
    for devices, verdict in (
        (2, AdmitVerdict.NOT_ALLOCATABLE),
        (3, AdmitVerdict.IN_PART),
        (4, AdmitVerdict.PLACED),
    ):
        answer = only(admitted([group, *pods], *node("a", devices), queue("q", (-1, -1))))
        assert (answer.name, answer.kind, answer.verdict) == ("ns/g", "PodGroup", verdict)
    lost = pod("lost", at="", labels={part: "nowhere"}, annotations=ATTACHED)
    for those in ([*pods, lost], [lost]):
        answer = only(admitted([group, *those], *node("a", 9), queue("q", (-1, -1))))
        assert (code(answer), answer.verdict) == ("no-sub-group", AdmitVerdict.INADMISSIBLE)
        assert answer.count == len(those)


def test_labels_do_not_attach():
    """What shared/samples/invalid/kai-gang-pods-not-attached.yaml does: each pod is a group of its own."""
    marks = {"pod-group.scheduling.run.ai/name": "g"}
    pods = [pod(f"p{each}", labels=marks) for each in range(2)]
    found = admitted([pod_group("g", "q", minMember=2), *pods], *node("a", 1), queue("q", (-1, -1)))
    assert verdicts(found) == {"p0": AdmitVerdict.PLACED, "p1": AdmitVerdict.NOT_ALLOCATABLE}


def job_set(in_order: bool = False) -> dict[str, Any]:
    def part(name: str, replicas: int, pods: int) -> dict[str, Any]:
        spec = {"parallelism": pods, "completions": pods, "template": {"spec": claiming(restartPolicy="Never")}}
        return {"name": name, "replicas": replicas, "template": {"spec": spec}}

    order = {"startupPolicy": {"startupPolicyOrder": "InOrder"}} if in_order else {}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "s", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"replicatedJobs": [part("driver", 1, 1), part("workers", 2, 2)], **order},
    }


@pytest.mark.parametrize(
    ("in_order", "devices", "verdict", "pods"),
    [
        (False, 4, AdmitVerdict.NOT_ALLOCATABLE, 0),
        (False, 5, AdmitVerdict.PLACED, 5),
        (True, 4, AdmitVerdict.IN_PART, 1),
        (True, 5, AdmitVerdict.PLACED, 5),
    ],
)
def test_a_job_set_is_a_gang_of_gangs(in_order, devices, verdict, pods):
    """In order the first replicated job is enough; the next one comes with all that it needs, or not."""
    answer = only(admitted([job_set(in_order)], *node("a", devices), queue("q", (-1, -1))))
    assert answer.verdict is verdict
    assert [each.verdict for each in answer.placements].count("allocated") == pods


@pytest.mark.parametrize(("policy", "devices", "pods"), [("LeaderCreated", 3, 3), ("LeaderReady", 2, 1)])
def test_leaders_and_workers(policy, devices, pods):
    templates = {"size": 3, "workerTemplate": {"spec": claiming()}}
    made = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "l", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"replicas": 1, "startupPolicy": policy, "leaderWorkerTemplate": templates},
    }
    answer = only(admitted([made], *node("a", devices), queue("q", (-1, -1))))
    assert answer.verdict is (AdmitVerdict.PLACED if pods == 3 else AdmitVerdict.IN_PART)
    assert answer.running == pods


def test_gangs_of_grove():
    """The base gang has the router and decoders; the second replica of the scaling group is a gang of its own."""
    cliques = [
        {"name": "router", "spec": {"replicas": 1, "podSpec": claiming()}},
        {"name": "decode", "spec": {"replicas": 3, "minAvailable": 2, "podSpec": claiming()}},
    ]
    scaling = [{"name": "sg", "cliqueNames": ["decode"], "replicas": 2, "minAvailable": 1}]
    made = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "p", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"replicas": 1, "template": {"cliques": cliques, "podCliqueScalingGroups": scaling}},
    }
    found = admitted([made], *node("a", 4), queue("q", (-1, -1)))
    assert verdicts(found) == {"p-0": AdmitVerdict.PLACED, "p-0-sg-0": AdmitVerdict.NOT_ALLOCATABLE}
    assert [each.count for each in found.workloads] == [4, 3]


def wide_and_narrow(first: str, second: str) -> list[dict[str, Any]]:
    """A clique of any device, and one of a certain one."""
    cliques = [{"name": each, "spec": {"replicas": 1, "podSpec": claiming(each)}} for each in (first, second)]
    return [
        {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": {"name": "p", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}},
            "spec": {"replicas": 1, "template": {"cliques": cliques}},
        }
    ]


def test_a_choice_of_all_devices_at_once_is_asked_about():
    """Any device first takes the one that the other pod has to have."""
    certain = template("certain")
    selector = {"cel": {"expression": 'device.attributes["gpu.example.com"].kind == "big"'}}
    certain["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [selector]
    cluster = node("n", 2)
    for place, each in enumerate(cluster[1]["spec"]["devices"]):
        each["attributes"] = {"kind": {"string": "small" if place else "big"}}
    for first, second, verdict in (
        ("one", "certain", AdmitVerdict.NOT_ALLOCATABLE),
        ("certain", "one", AdmitVerdict.PLACED),
    ):
        made = [certain, *wide_and_narrow(first, second)]
        answer = only(admitted(made, *cluster, queue("q", (-1, -1))))
        assert answer.verdict is verdict
        assert answer.layers[Layer.JOINTLY] is LayerSays.YES


def test_what_a_quota_does_not_let_be_made():
    hard = {"gpu.example.com.deviceclass.resource.k8s.io/devices": "1"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ns"}}
    answer = only(admitted([job("j", "two")], *node("n", 4), queue("q", (4, -1)), {**quota, "spec": {"hard": hard}}))
    assert answer.verdict is AdmitVerdict.NOT_CREATED
    assert answer.layers[Layer.CREATED] is LayerSays.NO
    assert answer.layers[Layer.ADMITTED] is LayerSays.NOT_ASKED


def ray(least: int) -> dict[str, Any]:
    head = {"rayStartParams": {}, "template": {"spec": claiming()}}
    workers = {"groupName": "w", "replicas": 3, "minReplicas": least, "maxReplicas": 5, "template": head["template"]}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"headGroupSpec": head, "workerGroupSpecs": [workers]},
    }


def torch(**more: Any) -> dict[str, Any]:
    parts = {
        name: {"replicas": count, "template": {"spec": claiming()}} for name, count in (("Master", 1), ("Worker", 3))
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "t", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"pytorchReplicaSpecs": parts, **more},
    }


@pytest.mark.parametrize(
    ("made", "needs"),
    [
        (ray(0), 4),
        (ray(2), 3),
        (torch(), 4),
        (torch(elasticPolicy={"minReplicas": 2}), 2),
        (torch(runPolicy={"schedulingPolicy": {"minAvailable": 3}}), 3),
    ],
)
def test_gangs_of_ray_and_of_kubeflow(made, needs):
    answer = only(admitted([made], *node("a", needs), queue("q", (-1, -1))))
    whole = AdmitVerdict.PLACED if needs == 4 else AdmitVerdict.IN_PART
    assert (answer.verdict, answer.told.members["needs"]) == (whole, needs)
    assert only(admitted([made], *node("a", needs - 1), queue("q", (-1, -1)))).verdict is AdmitVerdict.NOT_ALLOCATABLE


def test_shares_are_divided_and_told():
    queues = [queue("a", (0, -1)), queue("b", (0, -1))]
    found = admitted([job("j", "four", at="a"), job("k", "four", at="b")], *node("n", 4), *queues)
    shares = {name: each["resources"]["gpu"]["fairShare"] for name, each in found.queues.items()}
    assert shares == {"a": 2, "b": 2}


def test_the_queue_with_the_smaller_share_is_next():
    """B has two of its share in use: a goes first, though b's job was made first."""
    dump = [*node("n", 4), queue("a", (2, -1)), queue("b", (2, -1)), *running("old", "2", "n", "0", at="b")]
    found = admitted([job("of-b", "two", at="b"), job("of-a", "two", at="a")], *dump)
    assert verdicts(found) == {"of-b": AdmitVerdict.NOT_ALLOCATABLE, "of-a": AdmitVerdict.PLACED}


def test_who_would_have_to_go_is_told_and_not_promised():
    dump = [*node("n", 4), queue("a", (2, -1)), queue("b", (2, -1))]
    dump += [*running("o1", "2", "n", "0", at="b"), *running("o2", "2", "n", "2", at="b")]
    answer = only(admitted([job("j", "two", at="a")], *dump))
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "would need to evict of other queues, which their shares allow: ns/o2" in reasons(answer)
    assert answer.told.members["evicts"]["may"] == [True]


def test_beyond_its_share_nobody_goes():
    dump = [*node("n", 4), queue("a", (1, -1)), queue("b", (3, -1)), *running("o1", "4", "n", "0", at="b")]
    answer = only(admitted([job("j", "two", at="a")], *dump))
    assert "its queue may not: it would be beyond its share" in reasons(answer)


def test_lower_priority_of_the_same_queue_would_go():
    dump = [*node("n", 2), queue("q", (2, -1)), *running("old", "2", "n", "0")]
    answer = only(admitted([job("j", "two", priorityClassName="build-preemptible")], *dump))
    assert "would need to evict of its own queue, of lower priority: ns/old" in reasons(answer)


def test_classes_without_gpu_in_their_names_count_nothing():
    net = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "net.example.com"}}
    made = [template("card", 2, "net.example.com"), job("j", "card")]
    answer = only(admitted(made, net, *node("n", 2, "net.example.com"), queue("q", (0, 0))))
    assert answer.verdict is AdmitVerdict.PLACED
    assert answer.told.members["asked"] == {}


@pytest.mark.parametrize(
    ("semantics", "verdict"), [("upstream", AdmitVerdict.NEVER), ("intended", AdmitVerdict.PLACED)]
)
def test_a_claim_that_pods_share_counts_for_each_of_them(semantics, verdict):
    meta = {"name": "c", "namespace": "ns"}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, **template("t")["spec"]}
    made = job("j", pods=2, least=2)
    made["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "r", "resourceClaimName": "c"}]
    answer = only(admitted([claim, made], *node("n", 2), queue("q", (1, 1)), semantics=semantics))
    assert answer.verdict is verdict


def test_pods_of_other_schedulers_are_placed_and_not_queued():
    made = pod("p")
    del made["spec"]["schedulerName"]
    found = admitted([made], *node("n", 1), queue("q", (0, 0)))
    assert (only(found).verdict, only(found).admission) == (AdmitVerdict.PLACED, None)
    assert any("KAI does not see them" in each for each in found.notes)


def test_jobs_that_wait_in_the_cluster_go_by_the_queues_too():
    waits = pod("w", "two")
    waits["metadata"] |= {"uid": "w", "creationTimestamp": "2026-01-01T00:00:00Z"}
    waits["status"] = {"phase": "Pending", "resourceClaimStatuses": [{"name": "r", "resourceClaimName": "w-r"}]}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "w", "uid": "w", "controller": True}
    meta = {"name": "w-r", "namespace": "ns", "ownerReferences": [owner]}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, **template("t", 2)["spec"]}
    found = admitted([job("j", "two")], *node("n", 4), queue("q", (2, 2)), waits, claim)
    assert only(found).verdict is AdmitVerdict.WAITING
    assert any(each.startswith("jobs that wait in the cluster go by the queues, too: 1") for each in found.notes)


def test_the_order_of_files_changes_nothing():
    jobs = [job(f"j{each}", "two", at=name) for each, name in enumerate(["a", "b", "a", "b"])]
    queues = [queue("a", (2, -1)), queue("b", (2, -1))]
    one = admitted(jobs, *node("n", 4), *queues)
    other = admitted(jobs, *queues[::-1], *node("n", 4))
    assert verdicts(one) == verdicts(other)


def test_gangs_that_are_refused_alike_have_one_reason():
    """The second is refused as the first was; a gang that is placed in between makes it another question."""
    jobs = [job("a", pods=3, least=3), job("b", pods=4, least=4), job("c", pods=2, least=2), job("d", pods=3, least=3)]
    found = admitted(jobs, *node("n", 2), queue("q", (-1, -1)))
    first, second, placed, last = found.workloads
    assert placed.verdict is AdmitVerdict.PLACED
    assert second.placements[0].same_as == first.placements[0].name
    assert last.placements[0].same_as is None
