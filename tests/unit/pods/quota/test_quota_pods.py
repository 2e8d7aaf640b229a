"""
What a pod is charged, which scopes it is in, and what it has to say.
"""

from __future__ import annotations

import pytest

from dra_alloc.pods.quota.pods import pod_charge
from tests.unit.pods.quota.bookkeeping import book, charged, pod, quota, used


def container(name="c", requests=None, limits=None, **more):
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def usage(**more):
    return {key: str(amount) for key, amount in pod_charge(pod(**more)).usage.items()}


OBJECT = {"count/pods": "1", "pods": "1"}


@pytest.mark.parametrize(
    ("containers", "more", "charge"),
    [
        ([container()], {}, {}),
        (
            [container(requests={"cpu": "500m"}, limits={"memory": "1Gi"})],
            {},
            {
                "cpu": "500m",
                "requests.cpu": "500m",
                "memory": "1Gi",
                "requests.memory": "1Gi",
                "limits.memory": "1Gi",
            },
        ),
        (
            [container("a", {"cpu": "1"}), container("b", {"cpu": "500m"})],
            {"initContainers": [container("i", {"cpu": "2"})]},
            {"cpu": "2", "requests.cpu": "2"},
        ),
        (
            [container("a", {"cpu": "1"})],
            {"initContainers": [container("s", {"cpu": "1"}, restartPolicy="Always")]},
            {"cpu": "2", "requests.cpu": "2"},
        ),
        (
            [container(requests={"ephemeral-storage": "1Gi"})],
            {},
            {"ephemeral-storage": "1Gi", "requests.ephemeral-storage": "1Gi"},
        ),
        (
            [container(limits={"hugepages-2Mi": "4Mi"})],
            {},
            {"hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi"},
        ),
        (
            [container(limits={"example.com/gpu": "2", "deviceclass.resource.kubernetes.io/gpu": "1"})],
            {},
            {"requests.example.com/gpu": "2", "requests.deviceclass.resource.kubernetes.io/gpu": "1"},
        ),
        ([container(requests={"kubernetes.io/odd": "1"})], {}, {}),
        (
            [container(requests={"cpu": "1"}, limits={"memory": "1Gi"})],
            {"overhead": {"cpu": "100m", "memory": "64Mi"}},
            {
                "cpu": "1100m",
                "requests.cpu": "1100m",
                "memory": "1088Mi",
                "requests.memory": "1088Mi",
                "limits.memory": "1088Mi",
            },
        ),
        (
            [container(requests={"cpu": "1"})],
            {"resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "4"}}},
            {"cpu": "3", "requests.cpu": "3", "limits.cpu": "4"},
        ),
    ],
)
def test_what_a_pod_is_charged(containers, more, charge):
    assert usage(containers=containers, **more) == {**OBJECT, **charge}


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_counts_as_an_object_only(phase):
    assert usage(status={"phase": phase}) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("hard", "concerns"),
    [
        *((key, True) for key in ("pods", "count/pods", "cpu", "requests.memory", "limits.ephemeral-storage")),
        *((key, True) for key in ("hugepages-2Mi", "requests.hugepages-1Gi", "requests.example.com/gpu")),
        ("requests.deviceclass.resource.kubernetes.io/gpu", True),
        *((key, False) for key in ("count/jobs.batch", "requests.storage", "requests.kubernetes.io/x")),
        ("gpu.deviceclass.resource.k8s.io/devices", False),
    ],
)
def test_which_limits_concern_a_pod(hard, concerns):
    assert pod_charge(pod()).concerns(hard) is concerns


ELSEWHERE = [{"topologyKey": "zone", "namespaceSelector": {}}]
BARE = [container()]


@pytest.mark.parametrize(
    ("scopes", "more", "counts"),
    [
        (["BestEffort"], {"containers": BARE}, True),
        (["BestEffort"], {}, False),
        (["BestEffort"], {"containers": [container(requests={"example.com/gpu": "1"})]}, True),
        (["BestEffort"], {"containers": BARE, "resources": {"limits": {"cpu": "1"}}}, False),
        (["BestEffort"], {"status": {"qosClass": "BestEffort"}}, True),
        (["NotBestEffort"], {}, True),
        (["Terminating"], {"activeDeadlineSeconds": 0}, True),
        (["Terminating"], {}, False),
        (["NotTerminating"], {}, True),
        (["NotTerminating", "BestEffort"], {}, False),
        (["PriorityClass"], {"priorityClassName": "high"}, True),
        (["PriorityClass"], {}, False),
        (["CrossNamespacePodAffinity"], {}, False),
        (
            ["CrossNamespacePodAffinity"],
            {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ELSEWHERE}}},
            True,
        ),
        (
            ["CrossNamespacePodAffinity"],
            {
                "affinity": {
                    "podAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "namespaces": ["other"]}}
                        ]
                    }
                }
            },
            True,
        ),
        (["Unheard"], {}, False),
    ],
)
def test_scopes(scopes, more, counts):
    after, answers = charged(book(quota({"pods": "5"}, scopes=scopes)), pod(**more))
    assert answers == [None]
    assert used(after) == {"pods": "1" if counts else "0"}


@pytest.mark.parametrize(
    ("operator", "values", "of", "counts"),
    [
        ("In", ["high"], "high", True),
        ("In", ["high"], None, False),
        ("NotIn", ["high"], "low", True),
        ("NotIn", ["high"], None, True),
        ("NotIn", ["high"], "high", False),
        ("Exists", [], "low", True),
        ("DoesNotExist", [], None, True),
        ("DoesNotExist", [], "low", False),
    ],
)
def test_scopes_of_priority_classes(operator, values, of, counts):
    expression = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    found = book(quota({"pods": "5"}, scopeSelector={"matchExpressions": [expression]}))
    assert used(charged(found, pod(priorityClassName=of))[0]) == {"pods": "1" if counts else "0"}


def test_a_pod_has_to_say_what_is_limited():
    limits = {"requests.cpu": "9", "limits.memory": "9Gi", "requests.ephemeral-storage": "1Gi", "pods": "9"}
    asked = pod(
        containers=[container("b", {"cpu": "1"}), container("a")],
        initContainers=[container("i", limits={"cpu": "1", "memory": "1Gi"})],
    )
    (refusal,) = charged(book(quota(limits)), asked)[1]
    assert refusal is not None
    assert refusal.text == (
        'pods "p" is forbidden: failed quota: q: must specify limits.memory for: a,b; requests.cpu for: a'
    )


def test_a_pod_that_asks_as_a_whole_need_not_say_more():
    asked = pod(containers=BARE, resources={"requests": {"memory": "1Gi"}})
    assert charged(book(quota({"requests.cpu": "1"})), asked)[1] == [None]
