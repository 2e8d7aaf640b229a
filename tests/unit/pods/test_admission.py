"""
What becomes of a new pod for the runtime and priority classes that it names.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from dra_alloc.cluster.attempts.schedule import queued_of
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.manifest import Documents, load
from dra_alloc.pods.expanding import MadePods, expanded

REFUSES = "and without it the API server refuses the pod"
HEAVY = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "heavy"},
    "handler": "heavy",
    "overhead": {"podFixed": {"memory": "256Mi"}},
    "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
}


def priority(name: str, value: int, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **more,
    }


def documents(*objects: dict[str, Any]) -> Documents:
    whole = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return load("-", stdin=io.BytesIO(json.dumps(whole).encode()))


def made(spec: dict[str, Any], *classes: dict[str, Any]) -> MadePods:
    spec = {"containers": [{"name": "c", "image": "i"}], **spec}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": spec}
    return expanded(documents(pod), documents(*classes), ())


def test_a_runtime_class_adds_overhead_and_places() -> None:
    spec = made({"runtimeClassName": "heavy", "nodeSelector": {"zone": "a"}}, HEAVY).pods[0].pod.spec
    assert {name: str(amount) for name, amount in spec.overhead.items()} == {"memory": "256Mi"}
    assert dict(spec.node_selector) == {"zone": "a", "kata": "yes"}
    assert [each.key for each in spec.tolerations] == ["kata"]


@pytest.mark.parametrize(
    ("spec", "value", "policy"),
    [
        ({"priorityClassName": "high"}, 1000, "Never"),
        ({}, 7, None),
        ({"priorityClassName": "high", "priority": 1000}, 1000, "Never"),
        ({"priorityClassName": "system-node-critical"}, None, None),
    ],
)
def test_a_priority_class_gives_its_value(spec: dict[str, Any], value: int | None, policy: str | None) -> None:
    classes = (priority("high", 1000, preemptionPolicy="Never"), priority("usual", 7, globalDefault=True))
    found = made(spec, *classes).pods[0].pod.spec
    assert (found.priority, found.preemption_policy) == (value, policy)


def test_classes_of_which_none_is_given_are_not_known() -> None:
    found = made({"runtimeClassName": "heavy", "priorityClassName": "high"})
    assert not found.problems
    assert f"RuntimeClass heavy is not among the files: its overhead is taken as none, {REFUSES}" in found.notes
    assert made({"runtimeClassName": "heavy"}, HEAVY).notes == ()


def test_of_a_priority_class_that_is_not_given_it_is_said_that_the_pod_may_be_refused() -> None:
    (note,) = queued_of(made({"priorityClassName": "high"}).pods[0].pod, Cluster.of(Documents())).notes()
    assert note == f"PriorityClass high is not among the files: its value is taken as 0, {REFUSES}"


def test_a_class_that_is_not_there_is_named_with_those_that_are() -> None:
    spec = {"runtimeClassName": "haevy", "priorityClassName": "hihg"}
    problems = [problem for _, problem in made(spec, HEAVY, priority("high", 1)).problems]
    assert [(each.where.path, each.message, each.hint) for each in problems] == [
        ("spec.runtimeClassName", "RuntimeClass haevy does not exist", "there are: heavy"),
        ("spec.priorityClassName", "PriorityClass hihg does not exist", "there are: high"),
    ]


@pytest.mark.parametrize(("on_host", "second", "refused"), [(True, 80, True), (True, 81, False), (False, 80, False)])
def test_a_port_taken_twice_on_the_host_refuses_the_pods_of_a_template(
    on_host: bool, second: int, refused: bool
) -> None:
    containers = [
        {"name": name, "image": "i", "ports": [{"containerPort": port}]} for name, port in (("a", 80), ("b", second))
    ]
    template = {
        "metadata": {"labels": {"app": "w"}},
        "spec": {"hostNetwork": on_host, "containers": containers},
    }
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "w", "namespace": "ns"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "w"}}, "template": template},
    }
    problems = [problem for _, problem in expanded(documents(workload), documents(), ()).problems]
    expected = [("spec.template.spec.containers[1].ports[0].hostPort", 'Duplicate value: "TCP//80"')] if refused else []
    assert [(each.where.path, each.message) for each in problems] == expected


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"priority": 7}, []),
        ({"priority": 0}, ["the integer value of priority (0) must not be provided"]),
        (
            {"priorityClassName": "high", "priority": 7},
            ["priority (7) must not be provided in pod spec; priority admission"],
        ),
        (
            {"priorityClassName": "system-node-critical", "priority": 1},
            ["computed 2000001000 from the given PriorityClass"],
        ),
        ({"preemptionPolicy": "PreemptLowerPriority"}, []),
        (
            {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
            ["the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided"],
        ),
    ],
)
def test_a_pod_has_the_priority_of_its_class(spec: dict[str, Any], said: list[str]) -> None:
    classes = (priority("high", 1000, preemptionPolicy="Never"), priority("usual", 7, globalDefault=True))
    found = [problem.message for _, problem in made(spec, *classes).problems]
    assert len(found) == len(said)
    assert all(text in each for text, each in zip(said, found, strict=True))
    if "priorityClassName" not in spec:
        assert made(spec).problems == ()


def test_what_a_pod_asks_for_as_a_whole_is_looked_at_when_it_is_made() -> None:
    """A template with limits alone is stored; of its pods the requests are filled in, and are too much."""
    limits = {"resources": {"limits": {"cpu": "2"}}, "containers": [{"name": "c", "image": "i"}]}
    assert made(limits).problems == ()
    more = {**limits, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]}
    (problem,) = (problem for _, problem in made(more).problems)
    assert problem.message == 'Invalid value: "3": must be less than or equal to cpu limit of 2'


@pytest.mark.parametrize(
    ("name", "there", "refused"),
    [
        ("robot", [("ns", "other")], True),
        ("robot", [("ns", "robot")], False),
        ("default", [("ns", "other")], False),
        ("robot", [("elsewhere", "other")], False),
        ("robot", [], False),
    ],
)
def test_accounts_are_known_where_the_dump_has_some(name: str, there: list[tuple[str, str]], refused: bool) -> None:
    accounts = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": each, "namespace": namespace}}
        for namespace, each in there
    ]
    for field in ("serviceAccountName", "serviceAccount"):
        problems = made({field: name}, *accounts).problems
        said = [(each.where.path, each.message) for _, each in problems]
        assert said == ([("spec.serviceAccountName", "ServiceAccount robot does not exist")] if refused else [])
