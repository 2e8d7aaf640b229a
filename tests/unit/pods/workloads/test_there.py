"""
What is there already: owners, and pods that controllers count.
"""

from __future__ import annotations

import pytest

from tests.unit.pods.workloads.making import made, names

TEMPLATE = "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}"
STAMPED = (
    "{metadata: {labels: {a: b, pod-template-hash: h}}, "
    "spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}"
)
OLD = STAMPED.replace("image: i", "image: old")


def pod(name: str, kind: str, owner: str, status: str = "Running", **more: str) -> str:
    """A pod that an object owns; `more` are parts of its text: spec, labels, node."""
    gone = ", deletionTimestamp: '2026-01-01T00:00:00Z'" if status == "Terminating" else ""
    at = f"nodeName: {more.get('node', 'node')}, " if status != "Pending" else ""
    of = f"apiVersion: {API.get(kind, 'apps/v1')}, kind: {kind}, name: {owner}"
    return f"""
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{{more.get("labels", "")}}}
  ownerReferences: [{{{of}, uid: "", controller: true}}]{f"{chr(10)}  {gone[2:]}" if gone else ""}
spec: {{{at}containers: [{{name: c, image: i}}]{more.get("spec", "")}}}
status: {{phase: {"Running" if gone else status}}}
"""


API = {
    "Job": "batch/v1",
    "RayCluster": "ray.io/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "PodClique": "grove.io/v1alpha1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "ReplicationController": "v1",
}


def thing(kind: str, name: str, spec: str, *, owner: str = "", status: str = "", uid: str = "") -> str:
    owners = ""
    if owner:
        of, _, called = owner.partition("/")
        given = f"apiVersion: {API.get(of, 'apps/v1')}, kind: {of}, name: {called}, controller: true"
        owners = f", ownerReferences: [{{{given}}}]"
    identity = f", uid: {uid}" if uid else ""
    head = f"---\napiVersion: {API.get(kind, 'apps/v1')}\nkind: {kind}\nmetadata: {{name: {name}{identity}{owners}}}\n"
    return f"{head}spec: {{{spec}}}\n" + (f"status: {{{status}}}\n" if status else "")


DEPLOYMENT = thing("Deployment", "web", f"replicas: 4, template: {TEMPLATE}")
SET = thing("ReplicaSet", "web-h", f"replicas: 4, template: {STAMPED}", owner="Deployment/web")
BEFORE = thing("ReplicaSet", "web-g", f"replicas: 0, template: {OLD}", owner="Deployment/web")


def test_deployment_replica_sets_and_pods_are_counted_once():
    """A dump after a rollout: everything is there."""
    pods = "".join(pod(f"web-h-{each}", "ReplicaSet", "web-h") for each in "abcd")
    found = made(DEPLOYMENT + SET + BEFORE + pods)
    assert names(found) == [f"web-h-{each}" for each in "abcd"]
    assert {each.state for each in found.pods} == {"bound"}
    assert found.problems == ()


def test_only_what_is_missing_is_new_and_has_the_name_of_its_replica_set():
    there = (
        pod("web-h-a", "ReplicaSet", "web-h")
        + pod("web-h-b", "ReplicaSet", "web-h", "Pending")
        + pod("web-h-c", "ReplicaSet", "web-h", "Failed")
        + pod("web-h-d", "ReplicaSet", "web-h", "Terminating")
    )
    found = made(DEPLOYMENT, DEPLOYMENT + SET + BEFORE + there)
    states = {each.pod.metadata.name: str(each.state) for each in found.pods}
    assert states == {
        "web-h-a": "bound",
        "web-h-b": "waiting",
        "web-h-c": "finished",
        "web-h-d": "terminating",
        "web-h-00000": "new",
        "web-h-00001": "new",
    }


def test_without_its_replica_set_a_pod_is_still_known_by_its_labels():
    there = pod("web-h-a", "ReplicaSet", "web-h", labels="pod-template-hash: h")
    assert len(names(made(DEPLOYMENT, there), "new")) == 3
    stranger = pod("other-h-a", "ReplicaSet", "other-h", labels="pod-template-hash: h")
    assert len(names(made(DEPLOYMENT, stranger), "new")) == 4


def test_pods_of_an_older_template_are_replaced():
    there = "".join(pod(f"web-h-{each}", "ReplicaSet", "web-h") for each in "abcd")
    changed = DEPLOYMENT.replace("image: i", "image: next")
    found = made(changed, DEPLOYMENT + SET + there)
    assert names(found, "leaving") == [f"web-h-{each}" for each in "abcd"]
    assert names(found, "new") == [f"web-0000000000-{each:05}" for each in range(4)]
    note = next(each for each in found.notes if "rollout" in each)
    assert (
        "replaces 4 pods of an older template: 1 of the new ones come before one goes, 1 of the old ones may go" in note
    )


def test_a_name_that_another_pod_has_is_taken():
    wanted = thing("StatefulSet", "db", f"replicas: 2, template: {TEMPLATE}")
    for kind, owner, taken in (("StatefulSet", "db", False), ("StatefulSet", "other", True), ("Job", "db", True)):
        changed = wanted.replace("image: i", "image: next")
        problems = made(changed, wanted + pod("db-1", kind, owner)).problems
        said = ['pods "db-1" already exists, and is not its own'] if taken else []
        assert [each.message for each in problems] == said


def test_a_paused_deployment_makes_no_pods_of_another_template():
    there = "".join(pod(f"web-h-{each}", "ReplicaSet", "web-h") for each in "abc")
    paused = DEPLOYMENT.replace("image: i", "image: next").replace("replicas: 4", "replicas: 4, paused: true")
    found = made(paused, DEPLOYMENT + SET + there)
    assert names(found, "bound") == [f"web-h-{each}" for each in "abc"]
    assert (names(found, "leaving"), names(found, "new")) == ([], ["web-h-00000"])
    assert names(made(paused, DEPLOYMENT), "new") == []
    assert any("is paused" in each for each in found.notes)


@pytest.mark.parametrize(
    ("replicas", "more", "sets", "new", "leaving"),
    [
        (4, "", (3, 2), (0, 0), 0),
        (6, "", (3, 2), (2, 1), 0),
        (8, "", (3, 2), (3, 2), 0),
        (2, "", (3, 2), (0, 0), 2),
        (0, "", (3, 2), (0, 0), 5),
        (4, "", (2, 2), (0, 1), 0),
        (6, ", strategy: {type: Recreate}", (3, 2), (0, 0), 0),
        (3, "", (2, 0), (1, 0), 0),
        (3, "", (0, 0), (0, 3), 0),
    ],
)
def test_a_deployment_paused_amid_a_rollout_scales_what_there_is(replicas, more, sets, new, leaving):
    """As recorded of a control plane of 1.37.2, with a surge of a quarter before and after."""
    there = ""
    for name, count, day in (("g", sets[0], 1), ("h", sets[1], 2)):
        owned = thing("ReplicaSet", f"web-{name}", f"replicas: {count}, template: {OLD}", owner="Deployment/web")
        said = (
            f"creationTimestamp: 2026-01-0{day}T00:00:00Z, annotations: {{deployment.kubernetes.io/max-replicas: '5'}}"
        )
        there += owned.replace("metadata: {", f"metadata: {{{said}, ", 1)
        there += "".join(pod(f"web-{name}-{each}", "ReplicaSet", f"web-{name}") for each in "abc"[:count])
    paused = DEPLOYMENT.replace("replicas: 4", f"replicas: {replicas}, paused: true{more}")
    found = made(paused, DEPLOYMENT + there)
    asked = [each.rpartition("-")[0] for each in names(found, "new")]
    assert (asked.count("web-g"), asked.count("web-h")) == new
    assert len(names(found, "leaving")) == leaving


def test_a_surplus_goes_and_what_has_no_node_goes_first():
    there = "".join(pod(f"r-{each}", "ReplicaSet", "r", "Pending" if each == "a" else "Running") for each in "abc")
    found = made(thing("ReplicaSet", "r", f"replicas: 2, template: {TEMPLATE}"), there)
    assert names(found, "leaving") == ["r-a"]
    assert names(found, "new") == []


def test_another_object_of_the_same_name_owns_nothing():
    dumped = thing("ReplicaSet", "r", f"replicas: 1, template: {TEMPLATE}", uid="u2")
    there = pod("r-a", "ReplicaSet", "r").replace('uid: ""', "uid: u1")
    assert names(made(dumped, there), "new") == ["r-00000"]
    assert names(made(dumped, there.replace("u1", "u2")), "new") == []


def test_a_stateful_set_makes_the_ordinals_that_are_missing():
    there = pod("db-0", "StatefulSet", "db") + pod("db-2", "StatefulSet", "db") + pod("db-7", "StatefulSet", "db")
    found = made(thing("StatefulSet", "db", f"replicas: 3, template: {TEMPLATE}"), there)
    assert names(found, "new") == ["db-1"]
    assert names(found, "bound") == ["db-0", "db-2"]
    assert names(found, "leaving") == ["db-7"]


def indexed(name: str, index: int, status: str = "Running") -> str:
    return pod(name, "Job", "j", status).replace(
        "labels: {}", f"annotations: {{batch.kubernetes.io/job-completion-index: '{index}'}}"
    )


@pytest.mark.parametrize(
    ("spec", "status", "there", "new"),
    [
        ("parallelism: 3, completions: 10", "succeeded: 4", "", 3),
        ("parallelism: 3, completions: 10", "succeeded: 9", "", 1),
        ("parallelism: 3, completions: 10", "succeeded: 9", pod("j-a", "Job", "j"), 0),
        ("parallelism: 3, completions: 3", "", pod("j-a", "Job", "j", "Succeeded"), 2),
        ("parallelism: 3, completions: 3", "", pod("j-a", "Job", "j", "Failed"), 3),
        ("parallelism: 3", "", pod("j-a", "Job", "j"), 2),
        ("parallelism: 3", "succeeded: 1", pod("j-a", "Job", "j"), 0),
        ("parallelism: 2, completions: 2", "", pod("j-a", "Job", "j", "Terminating"), 2),
        ("parallelism: 2, completions: 2, podReplacementPolicy: Failed", "", pod("j-a", "Job", "j", "Terminating"), 1),
        ("parallelism: 2", "conditions: [{type: Complete, status: 'True'}]", "", 0),
        ("parallelism: 2", "conditions: [{type: Suspended, status: 'False'}]", "", 2),
    ],
)
def test_a_job_makes_what_is_left(spec, status, there, new):
    dumped = thing("Job", "j", f"{spec}, template: {TEMPLATE}", status=status)
    found = made(thing("Job", "j", f"{spec}, template: {TEMPLATE}"), dumped + there)
    assert len(names(found, "new")) == new


@pytest.mark.parametrize(
    ("status", "there", "new"),
    [
        ("", "", ["j-0", "j-1", "j-2"]),
        ("completedIndexes: '0,2-4', succeeded: 4", "", ["j-1", "j-5", "j-6"]),
        ("completedIndexes: '0'", indexed("j-2-a", 2), ["j-1", "j-3"]),
        ("", indexed("j-0-a", 0, "Succeeded") + indexed("j-1-a", 1, "Failed"), ["j-1", "j-2", "j-3"]),
    ],
)
def test_an_indexed_job_makes_the_lowest_indexes_that_are_left(status, there, new):
    spec = f"completionMode: Indexed, parallelism: 3, completions: 8, template: {TEMPLATE}"
    found = made(thing("Job", "j", spec), thing("Job", "j", spec, status=status) + there)
    assert names(found, "new") == [f"{each}-00000" for each in new]


def test_a_suspended_job_deletes_what_runs():
    found = made(thing("Job", "j", f"suspend: true, template: {TEMPLATE}"), pod("j-a", "Job", "j"))
    assert names(found, "leaving") == ["j-a"]


def test_a_daemon_set_has_its_pods_by_node():
    nodes = "".join(f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{each}}}\n" for each in range(3))
    pending = pod("d-b", "DaemonSet", "d", "Pending").replace(
        "spec: {",
        "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}, ",
    )
    there = pod("d-a", "DaemonSet", "d", node="n0") + pending
    found = made(thing("DaemonSet", "d", f"template: {TEMPLATE}"), nodes + there)
    assert [each.node for each in found.pods if each.state == "new"] == ["n2"]
    assert names(found, "waiting") == ["d-b"]


@pytest.mark.parametrize(("effect", "state"), [("NoSchedule", "bound"), ("NoExecute", "leaving")])
def test_a_daemon_set_keeps_its_pod_where_none_may_come(effect, state):
    taint = f"spec: {{taints: [{{key: bad, effect: {effect}}}]}}"
    nodes = "".join(f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{each}}}\n{taint}\n" for each in range(2))
    found = made(thing("DaemonSet", "d", f"template: {TEMPLATE}"), nodes + pod("d-a", "DaemonSet", "d", node="n0"))
    assert [(each.name, each.state.value) for each in found.pods] == [("default/d-a", state)]


PARTS = f"parallelism: 2, completions: 2, template: {TEMPLATE}"


def job_set(replicas: int) -> str:
    replicated = f"{{name: a, replicas: {replicas}, template: {{spec: {{{PARTS}}}}}}}"
    return thing("JobSet", "s", f"replicatedJobs: [{replicated}]")


def test_jobs_of_a_job_set_are_known_by_name_and_status():
    ended = "conditions: [{type: Complete, status: 'True'}]"
    over = thing("Job", "s-a-0", f"template: {TEMPLATE}", owner="JobSet/s", status=ended)
    running = thing("Job", "s-a-1", f"template: {TEMPLATE}", owner="JobSet/s")
    there = indexed("s-a-1-0-x", 0).replace("name: j,", "name: s-a-1,")
    assert names(made(job_set(2), over + running + there)) == ["s-a-1-0-x", "s-a-1-1-00000"]


def test_what_a_workload_of_the_input_owns_is_its_work():
    job = thing("Job", "s-a-0", f"completionMode: Indexed, {PARTS}", owner="JobSet/s")
    assert names(made(job_set(1) + job)) == names(made(job + job_set(1))) == ["s-a-0-0-00000", "s-a-0-1-00000"]
    assert names(made(job)) == ["s-a-0-0-00000", "s-a-0-1-00000"]


def _alone(name: str, labels: str = "a: b", more: str = "", phase: str = "Running") -> str:
    """A pod without an owner."""
    meta = f"{{name: {name}, labels: {{{labels}}}{more}}}"
    spec = "{nodeName: n0, containers: [{name: c, image: i}]}"
    return f"---\napiVersion: v1\nkind: Pod\nmetadata: {meta}\nspec: {spec}\nstatus: {{phase: {phase}}}\n"


def _adopting(kind: str) -> str:
    selector = "{a: b}" if kind == "ReplicationController" else "{matchLabels: {a: b}}"
    return thing(kind, "web", f"replicas: 2, selector: {selector}, template: {TEMPLATE}")


@pytest.mark.parametrize(
    ("kind", "name"), [("ReplicaSet", "old"), ("ReplicationController", "old"), ("StatefulSet", "web-0")]
)
def test_a_pod_of_nobody_is_adopted(kind, name):
    assert len(names(made(_adopting(kind), _alone(name)), "new")) == 1


@pytest.mark.parametrize(
    ("kind", "alone"),
    [
        ("ReplicaSet", _alone("old", labels="a: c")),
        ("ReplicaSet", _alone("old", more=", deletionTimestamp: '2026-01-01T00:00:00Z'")),
        ("ReplicaSet", _alone("old", phase="Succeeded")),
        ("ReplicaSet", _alone("old", more=", namespace: other")),
        ("ReplicaSet", pod("old", "ReplicaSet", "gone", labels="a: b")),
        ("StatefulSet", _alone("old-0")),
        ("StatefulSet", _alone("web-x")),
        ("Deployment", _alone("old")),
    ],
)
def test_a_pod_is_not_adopted(kind, alone):
    assert len(names(made(_adopting(kind), alone), "new")) == 2


def test_groups_of_a_ray_cluster_are_told_apart():
    there = pod("c-g-worker-x", "RayCluster", "c", labels="ray.io/node-type: worker, ray.io/group: g")
    group = f"{{groupName: g, replicas: 2, template: {TEMPLATE}}}"
    spec = f"headGroupSpec: {{template: {TEMPLATE}}}, workerGroupSpecs: [{group}]"
    found = made(thing("RayCluster", "c", spec), there)
    assert names(found, "new") == ["c-head-00000", "c-g-worker-00000"]


@pytest.mark.parametrize(
    ("status", "more", "state"),
    [
        ("Pending", "", "waiting"),
        ("Pending", ", schedulingGates: [{name: example.com/hold}]", "gated"),
        ("Running", "", "bound"),
        ("Terminating", "", "terminating"),
        ("Succeeded", "", "finished"),
        ("Failed", "", "finished"),
    ],
)
def test_the_state_of_a_pod(status, more, state):
    found = made(pod("p", "Nobody", "x", status, spec=more))
    assert [str(each.state) for each in found.pods] == [state]
    assert ("default/p is not scheduled before its gate is gone: example.com/hold" in " ".join(found.notes)) == (
        state == "gated"
    )
