"""
How many pods each kind makes, and what they are called.
"""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.pods.workloads.table import MAKERS
from tests.unit.pods.workloads.making import made, names

POD = "{spec: {containers: [{name: c, image: i}]}}"
HASH = "0" * 10


def manifest(api: str, kind: str, spec: str, name: str = "w") -> str:
    return f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{indent(dedent(spec), '  ')}\n"


def drawn(base: str, count: int) -> list[str]:
    return [f"{base}{number:05}" for number in range(count)]


#: Kind, version, spec, and the names of the pods that it makes.
KINDS = {
    "Deployment": ("apps/v1", f"replicas: 3\ntemplate: {POD}", drawn(f"w-{HASH}-", 3)),
    "Deployment, one by default": ("apps/v1", f"template: {POD}", drawn(f"w-{HASH}-", 1)),
    "Deployment, scaled down": ("apps/v1", f"replicas: 0\ntemplate: {POD}", []),
    "ReplicaSet": ("apps/v1", f"replicas: 2\ntemplate: {POD}", drawn("w-", 2)),
    "ReplicationController": ("v1", f"replicas: 2\ntemplate: {POD}", drawn("w-", 2)),
    "StatefulSet": ("apps/v1", f"replicas: 3\ntemplate: {POD}", ["w-0", "w-1", "w-2"]),
    "StatefulSet, other ordinals": ("apps/v1", f"replicas: 2\nordinals: {{start: 5}}\ntemplate: {POD}", ["w-5", "w-6"]),
    "Job": ("batch/v1", f"template: {POD}", drawn("w-", 1)),
    "Job, parallel": ("batch/v1", f"parallelism: 3\ntemplate: {POD}", drawn("w-", 3)),
    "Job, as many as are left": ("batch/v1", f"parallelism: 3\ncompletions: 2\ntemplate: {POD}", drawn("w-", 2)),
    "Job, as many as run at once": ("batch/v1", f"parallelism: 2\ncompletions: 5\ntemplate: {POD}", drawn("w-", 2)),
    "Job, completions alone": ("batch/v1", f"completions: 5\ntemplate: {POD}", drawn("w-", 1)),
    "Job, indexed": (
        "batch/v1",
        f"completionMode: Indexed\nparallelism: 2\ncompletions: 4\ntemplate: {POD}",
        ["w-0-00000", "w-1-00000"],
    ),
    "Job, suspended": ("batch/v1", f"suspend: true\ntemplate: {POD}", []),
    "CronJob": ("batch/v1", f"jobTemplate: {{spec: {{parallelism: 2, template: {POD}}}}}", drawn("w-00000000-", 2)),
    "CronJob, suspended": ("batch/v1", f"suspend: true\njobTemplate: {{spec: {{template: {POD}}}}}", []),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        f"""\
        replicatedJobs:
        - {{name: a, replicas: 2, template: {{spec: {{parallelism: 2, completions: 2, template: {POD}}}}}}}
        - {{name: b, template: {{spec: {{template: {POD}}}}}}}
        """,
        ["w-a-0-0-00000", "w-a-0-1-00000", "w-a-1-0-00000", "w-a-1-1-00000", "w-b-0-0-00000"],
    ),
    "JobSet, suspended": (
        "jobset.x-k8s.io/v1alpha2",
        f"suspend: true\nreplicatedJobs: [{{name: a, template: {{spec: {{template: {POD}}}}}}}]",
        [],
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        f"replicas: 2\nleaderWorkerTemplate: {{size: 3, workerTemplate: {POD}}}",
        ["w-0", "w-1", "w-0-1", "w-0-2", "w-1-1", "w-1-2"],
    ),
    "DisaggregatedSet": (
        "disaggregatedset.x-k8s.io/v1",
        f"roles: [{{name: a, spec: {{replicas: 1, leaderWorkerTemplate: {{size: 2, workerTemplate: {POD}}}}}}}]",
        ["w-a-0", "w-a-0-1"],
    ),
    "RayCluster": (
        "ray.io/v1",
        f"""\
        headGroupSpec: {{template: {POD}}}
        workerGroupSpecs:
        - {{groupName: g, replicas: 1, numOfHosts: 2, template: {POD}}}
        - {{groupName: most, replicas: 9, maxReplicas: 1, template: {POD}}}
        - {{groupName: least, minReplicas: 1, template: {POD}}}
        - {{groupName: crossed, replicas: 1, minReplicas: 3, maxReplicas: 2, template: {POD}}}
        - {{groupName: none, template: {POD}}}
        - {{groupName: held, suspend: true, replicas: 2, minReplicas: 2, template: {POD}}}
        """,
        [
            "w-head-00000",
            *drawn("w-g-worker-", 2),
            *drawn("w-most-worker-", 1),
            *drawn("w-least-worker-", 1),
            *drawn("w-crossed-worker-", 2),
        ],
    ),
    "RayJob": (
        "ray.io/v1",
        f"rayClusterSpec: {{headGroupSpec: {{template: {POD}}}}}",
        ["w-00000-head-00000", "w-00000"],
    ),
    "RayJob, submitted by HTTP": (
        "ray.io/v1",
        f"submissionMode: HTTPMode\nrayClusterSpec: {{headGroupSpec: {{template: {POD}}}}}",
        ["w-00000-head-00000"],
    ),
    "RayService": (
        "ray.io/v1",
        f"rayClusterConfig: {{headGroupSpec: {{template: {POD}}}}}",
        ["w-00000-head-00000"],
    ),
    "RayCronJob": (
        "ray.io/v1",
        f"jobTemplate: {{submissionMode: HTTPMode, rayClusterSpec: {{headGroupSpec: {{template: {POD}}}}}}}",
        ["w-00000000-00000-head-00000"],
    ),
    "PyTorchJob": (
        "kubeflow.org/v1",
        f"pytorchReplicaSpecs: {{Master: {{template: {POD}}}, Worker: {{replicas: 2, template: {POD}}}}}",
        ["w-master-0", "w-worker-0", "w-worker-1"],
    ),
    "TFJob": ("kubeflow.org/v1", f"tfReplicaSpecs: {{PS: {{replicas: 2, template: {POD}}}}}", ["w-ps-0", "w-ps-1"]),
    "XGBoostJob": ("kubeflow.org/v1", f"xgbReplicaSpecs: {{Master: {{template: {POD}}}}}", ["w-master-0"]),
    "PaddleJob": ("kubeflow.org/v1", f"paddleReplicaSpecs: {{Worker: {{template: {POD}}}}}", ["w-worker-0"]),
    "JAXJob": ("kubeflow.org/v1", f"jaxReplicaSpecs: {{Worker: {{template: {POD}}}}}", ["w-worker-0"]),
    "MPIJob": (
        "kubeflow.org/v2beta1",
        f"mpiReplicaSpecs: {{Launcher: {{template: {POD}}}, Worker: {{replicas: 2, template: {POD}}}}}",
        ["w-worker-0", "w-worker-1", "w-launcher-00000"],
    ),
    "MPIJob, before its own operator": (
        "kubeflow.org/v1",
        f"mpiReplicaSpecs: {{Launcher: {{template: {POD}}}, Worker: {{template: {POD}}}}}",
        ["w-launcher-0", "w-worker-0"],
    ),
    "PyTorchJob, suspended": (
        "kubeflow.org/v1",
        f"runPolicy: {{suspend: true}}\npytorchReplicaSpecs: {{Master: {{template: {POD}}}}}",
        [],
    ),
    "Job, Volcano's": (
        "batch.volcano.sh/v1alpha1",
        f"tasks: [{{name: t, replicas: 2, template: {POD}}}, {{replicas: 1, template: {POD}}}]",
        ["w-t-0", "w-t-1", "w-default1-0"],
    ),
    "CronJob, Volcano's": (
        "batch.volcano.sh/v1alpha1",
        f"jobTemplate: {{spec: {{tasks: [{{name: t, replicas: 1, template: {POD}}}]}}}}",
        ["w-00000000-t-0"],
    ),
    "PodCliqueSet": (
        "grove.io/v1alpha1",
        """\
        replicas: 1
        template:
          cliques:
          - {name: router, spec: {replicas: 1, podSpec: {containers: [{name: c, image: i}]}}}
          - {name: decode, spec: {replicas: 2, podSpec: {containers: [{name: c, image: i}]}}}
          podCliqueScalingGroups: [{name: sg, cliqueNames: [decode], replicas: 2}]
        """,
        [*drawn("w-0-router-", 1), *drawn("w-0-sg-0-decode-", 2), *drawn("w-0-sg-1-decode-", 2)],
    ),
    "PodClique": ("grove.io/v1alpha1", "replicas: 2\npodSpec: {containers: [{name: c, image: i}]}", drawn("w-", 2)),
    "Rollout": ("argoproj.io/v1alpha1", f"replicas: 2\ntemplate: {POD}", drawn(f"w-{HASH}-", 2)),
    "Service, Knative's": ("serving.knative.dev/v1", f"template: {POD}", drawn(f"w-00001-deployment-{HASH}-", 1)),
    "VirtualMachine": ("kubevirt.io/v1", "running: true\ntemplate: {spec: {domain: {}}}", ["virt-launcher-w-00000"]),
    "VirtualMachine, halted": ("kubevirt.io/v1", "runStrategy: Halted\ntemplate: {spec: {domain: {}}}", []),
    "VirtualMachineInstance": ("kubevirt.io/v1", "domain: {}", ["virt-launcher-w-00000"]),
    "VirtualMachineInstanceReplicaSet": (
        "kubevirt.io/v1",
        "replicas: 2\ntemplate: {spec: {domain: {}}}",
        drawn("virt-launcher-w-", 2),
    ),
}


@pytest.mark.parametrize("row", KINDS)
def test_pods_of_each_kind(row):
    api, spec, wanted = KINDS[row]
    found = made(manifest(api, row.partition(",")[0], spec))
    assert found.problems == ()
    assert names(found) == wanted
    assert {each.state for each in found.pods} <= {"new"}


def test_every_kind_of_the_table_has_a_row():
    shown = {(api.rpartition("/")[0], row.partition(",")[0]) for row, (api, _, _) in KINDS.items()}
    # These need other objects, which they are shown with below.
    shown |= {("apps", "DaemonSet"), ("trainer.kubeflow.org", "TrainJob")}
    assert shown == {(each.group, each.kind) for each in MAKERS if each.plan is not None}


@pytest.mark.parametrize("each", [each for each in MAKERS if each.plan is None], ids=lambda each: each.kind)
def test_what_makes_pods_and_cannot_be_expanded_is_a_problem(each):
    found = made(manifest(f"{each.group}/v1", each.kind, "x: 1"))
    assert found.pods == ()
    (problem,) = found.problems
    assert problem.where.object == f"{each.kind} default/w"
    assert each.why_not in problem.message


@pytest.mark.parametrize(
    ("api", "kind", "spec", "own"),
    [
        ("batch/v1", "Job", "managedBy: BY\ntemplate: {POD}", "kubernetes.io/job-controller"),
        (
            "batch/v1",
            "CronJob",
            "jobTemplate: {spec: {managedBy: BY, template: {POD}}}",
            "kubernetes.io/job-controller",
        ),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "managedBy: BY\nreplicatedJobs: [{name: a, template: {spec: {template: {POD}}}}]",
            "jobset.sigs.k8s.io/jobset-controller",
        ),
    ],
)
def test_another_controller_makes_the_pods(api, kind, spec, own):
    for manager, count in ((own, 1), ("kueue.x-k8s.io/multikueue", 0)):
        found = made(manifest(api, kind, spec.replace("BY", manager).replace("{POD}", POD)))
        assert (len(found.pods), found.problems) == (count, ())
        assert any(f"{kind} default/w is managed by {manager}" in each for each in found.notes) is not bool(count)


def test_two_workloads_are_expanded_in_the_order_of_the_input():
    found = made(
        manifest("apps/v1", "StatefulSet", f"template: {POD}", "b")
        + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: []}\n---\n"
        + manifest("apps/v1", "StatefulSet", f"template: {POD}", "a")
    )
    assert names(found) == ["b-0", "alone", "a-0"]


NODES = """
apiVersion: v1
kind: Node
metadata: {name: plain}
---
apiVersion: v1
kind: Node
metadata: {name: cordoned, labels: {gpu: "yes"}}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: tainted, labels: {gpu: "yes"}}
spec: {taints: [{key: special, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: offline, labels: {gpu: "yes"}}
spec: {taints: [{key: node.kubernetes.io/network-unavailable, effect: NoSchedule}]}
"""


@pytest.mark.parametrize(
    ("pod", "nodes"),
    [
        ("containers: [{name: c, image: i}]", ["plain", "cordoned"]),
        ("containers: [{name: c, image: i}], nodeSelector: {gpu: 'yes'}", ["cordoned"]),
        (
            "containers: [{name: c, image: i}], tolerations: [{operator: Exists}]",
            ["plain", "cordoned", "tainted", "offline"],
        ),
        ("containers: [{name: c, image: i}], hostNetwork: true", ["plain", "cordoned", "offline"]),
    ],
)
def test_a_daemon_set_has_a_pod_for_each_node_that_takes_it(pod, nodes):
    found = made(manifest("apps/v1", "DaemonSet", f"template: {{spec: {{{pod}}}}}"), NODES)
    assert [each.node for each in found.pods] == nodes
    assert names(found) == drawn("w-", len(nodes))
    for each in found.pods:
        affinity = each.pod.spec.affinity
        assert affinity is not None
        assert affinity.node_affinity is not None
        required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
        assert required is not None
        assert [field.values for term in required.node_selector_terms for field in term.match_fields] == [(each.node,)]
        added = {f"{one.key}:{one.effect}" for one in each.pod.spec.tolerations}
        assert {"node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/pid-pressure:NoSchedule"} <= added


RUNTIME = f"""
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: torch}}
spec:
  mlPolicy: {{numNodes: 1}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {POD}}}
"""


@pytest.mark.parametrize(("nodes", "count"), [("", 1), ("trainer: {numNodes: 3}", 3)])
def test_a_train_job_is_what_its_runtime_says(nodes, count):
    job = manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", f"runtimeRef: {{name: torch}}\n{nodes}")
    assert names(made(job, RUNTIME)) == [f"w-node-0-{index}-00000" for index in range(count)]


def test_without_its_runtime_a_train_job_is_a_problem():
    (problem,) = made(manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}")).problems
    assert problem.where.path == "spec.runtimeRef"
    assert "ClusterTrainingRuntime torch" in problem.message


def test_a_rollout_takes_the_template_of_a_deployment():
    deployment = manifest("apps/v1", "Deployment", f"replicas: 0\ntemplate: {POD}", "d")
    rollout = manifest("argoproj.io/v1alpha1", "Rollout", "replicas: 2\nworkloadRef: {kind: Deployment, name: d}")
    assert names(made(f"{deployment}---\n{rollout}")) == drawn(f"w-{HASH}-", 2)
    (problem,) = made(rollout).problems
    assert problem.message == "there is no Deployment d, of which it takes the template"


LWS = "leaderWorkerTemplate: {{size: {}, workerTemplate: " + POD.replace("{", "{{").replace("}", "}}") + "}}"
MANY = "more than the 10,000 that are tried"


@pytest.mark.parametrize(
    ("kind", "api", "spec", "path", "words"),
    [
        (
            "RayCluster",
            "ray.io/v1",
            f"headGroupSpec: {{template: {POD}}}\nworkerGroupSpecs: [{{groupName: g, replicas: -1, template: {POD}}}]",
            "spec.workerGroupSpecs[0].replicas",
            "greater than or equal to 0",
        ),
        (
            "LeaderWorkerSet",
            "leaderworkerset.x-k8s.io/v1",
            f"replicas: '2'\n{LWS.format(1)}",
            "spec.replicas",
            "expected a whole number",
        ),
        ("Deployment", "apps/v1", f"replicas: 20000\ntemplate: {POD}", "spec.replicas", MANY),
        (
            "LeaderWorkerSet",
            "leaderworkerset.x-k8s.io/v1",
            f"replicas: 200\n{LWS.format(200)}",
            "spec.leaderWorkerTemplate.workerTemplate.spec",
            MANY,
        ),
        (
            "PyTorchJob",
            "kubeflow.org/v1",
            "pytorchReplicaSpecs: {Master: {template: {spec: {containers: [{name: 5}]}}}}",
            "spec.pytorchReplicaSpecs.Master.template.spec",
            "does not fit",
        ),
    ],
)
def test_what_is_wrong_with_a_workload_is_a_problem_with_its_place(kind, api, spec, path, words):
    found = made(manifest(api, kind, spec))
    assert found.pods == ()
    (problem,) = found.problems
    assert problem.where.path == path
    assert problem.where.line
    assert words in problem.message


@given(
    replicas=st.integers(0, 4),
    parallelism=st.integers(0, 4),
    completions=st.integers(0, 6),
    size=st.integers(1, 4),
)
def test_pods_are_as_many_as_the_formulas_say_and_have_names_of_their_own(replicas, parallelism, completions, size):
    text = "---\n".join(
        [
            manifest(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                f"replicatedJobs: [{{name: a, replicas: {replicas}, template: {{spec: "
                f"{{parallelism: {parallelism}, completions: {completions}, template: {POD}}}}}}}]",
            ),
            manifest(
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                f"replicas: {replicas}\nleaderWorkerTemplate: {{size: {size}, workerTemplate: {POD}}}",
            ),
            manifest("apps/v1", "Deployment", f"replicas: {replicas}\ntemplate: {POD}"),
        ]
    )
    found = made(text)
    assert len(found.pods) == replicas * min(parallelism, completions) + replicas * size + replicas
    assert len(set(names(found))) == len(found.pods)
