"""
Scores of the default profile, number by number.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import OwnerReference
from dra_alloc.pods.scores.table import SCORES, totals
from tests.unit.pods.attempting import ZONE, attempt, node, pod

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def score(name, attempted):
    plugin = next(each for each in SCORES if each.name == name)
    return plugin.scores(attempted, range(len(attempted.tenancy.nodes)))


def test_the_weights_are_those_of_the_default_profile():
    weights = {each.name: each.weight for each in SCORES}
    assert weights == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


def test_what_is_left_of_cpu_and_memory():
    running = [pod("one", on="b", requests={"cpu": "2", "memory": "4Gi"})]
    # a: (75 + 87) / 2, b: (25 + 37) / 2
    assert score("NodeResourcesFit", attempt(pod(), [node("a"), node("b")], running)) == [81, 31]


def test_a_pod_that_asks_for_nothing_counts_a_tenth_of_a_cpu():
    # (97 + 97) / 2: 100m of 4 cpus, 200Mi of 8Gi
    assert score("NodeResourcesFit", attempt(pod(requests={}), [node("a")])) == [97]


@pytest.mark.parametrize(("release", "expected"), [("1.37", [71, 81]), ("1.35", [93, 81])])
def test_how_even_cpu_and_memory_are_used(release, expected):
    running = [pod("one", on="b", requests={"cpu": "2", "memory": "1Gi"})]
    found = score("NodeResourcesBalancedAllocation", attempt(pod(), [node("a"), node("b")], running, release=release))
    assert found is not None
    # a: 25 % and 12.5 %, so 93; b: 75 % and 25 %, so 75, before 50 % and 12.5 %, so 81.
    first = 93 if release == "1.35" else 50 + (50 + 93 - 100) // 2
    second = 75 if release == "1.35" else 50 + (50 + 75 - 81) // 2
    assert found == [first, second]


def test_taints_that_only_warn():
    nodes = [node("a", taints=[{"key": "slow", "effect": "PreferNoSchedule"}]), node("b")]
    assert score("TaintToleration", attempt(pod(), nodes)) == [0, 100]
    tolerating = pod(tolerations=[{"key": "slow", "operator": "Exists"}])
    assert score("TaintToleration", attempt(tolerating, nodes)) is None


def test_preferred_nodes_by_weight():
    terms = [
        {"weight": 80, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}},
        {"weight": 20, "preference": {"matchExpressions": [{"key": "gen", "operator": "Exists"}]}},
    ]
    nodes = [node("a", {"disk": "ssd"}), node("b", {"gen": "1"}), node("c", {"disk": "ssd", "gen": "1"})]
    assert score("NodeAffinity", attempt(pod(affinity={"nodeAffinity": {PREFERRED: terms}}), nodes)) == [80, 20, 100]


def test_pods_to_rather_be_near_to():
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "a"}}}
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"}), node("c")]
    running = [pod("one", on="a", labels={"app": "a"})]
    wishing = {"podAffinity": {PREFERRED: [{"weight": 5, "podAffinityTerm": term}]}}
    assert score("InterPodAffinity", attempt(pod(affinity=wishing), nodes, running)) == [100, 0, 0]
    avoiding = {"podAntiAffinity": {PREFERRED: [{"weight": 5, "podAffinityTerm": term}]}}
    assert score("InterPodAffinity", attempt(pod(affinity=avoiding), nodes, running)) == [0, 100, 100]


def test_images_that_are_there():
    image = {"names": ["app:latest"], "sizeBytes": 1000 * 1024 * 1024}
    nodes = [node("a", status={"images": [image]}), node("b")]
    # Half of the nodes have it: 500 MiB count, 23 MiB are the least.
    assert score("ImageLocality", attempt(pod(), nodes)) == [100 * (500 - 23) // (1000 - 23), 0]


def owned(name, on=None):
    made = pod(name, on=on, labels={"app": "a"})
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="set", controller=True)
    return made.model_copy(update={"metadata": made.metadata.model_copy(update={"owner_references": (owner,)})})


def test_pods_of_a_set_are_spread_without_being_told():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "x"}), node("c", {ZONE: "y"})]
    found = score("PodTopologySpread", attempt(owned("asked"), nodes, [owned("one", on="a")]))
    # In sixths of a pod, rounded: host weight ln 5, zone weight ln 4; 2 and 4 are added for the skews.
    # a: ln 5 + 2 + ln 4 + 4 = 9, b: 2 + ln 4 + 4 = 7, c: 6.
    assert found == [100 * (9 + 6 - each) // 9 for each in (9, 7, 6)]
    assert score("PodTopologySpread", attempt(owned("asked"), nodes)) is None
    assert score("PodTopologySpread", attempt(pod(), nodes, [owned("one", on="a")])) is None


def test_nodes_without_the_label_get_nothing_for_own_constraints():
    selector = {"matchLabels": {"app": "a"}}
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"}), node("c")]
    running = [pod("one", on="a", labels={"app": "a"})]
    found = score("PodTopologySpread", attempt(pod(topologySpreadConstraints=[constraint]), nodes, running))
    assert found == [0, 100, 0]


def test_totals_are_the_weighted_sum():
    running = [pod("one", on="b", requests={"cpu": "2", "memory": "4Gi"})]
    attempted = attempt(pod(), [node("a"), node("b")], running)
    fit, even = score("NodeResourcesFit", attempted), score("NodeResourcesBalancedAllocation", attempted)
    assert fit is not None
    assert even is not None
    assert totals(attempted, range(2)) == [left + right for left, right in zip(fit, even, strict=True)]
