"""
Each filter in the scheduler's words.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import FrozenMap
from dra_alloc.pods.filters.table import objections
from tests.unit.pods.attempting import HOST, ZONE, attempt, node, pod, refusals

AFFINITY = "node(s) didn't match Pod's node affinity/selector"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
DISK = {"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}
SPREAD = "node(s) didn't match pod topology spread constraints"


def near(kind, **term):
    return {kind: {REQUIRED: [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "a"}}, **term}]}}


def test_a_pod_that_names_its_node_runs_nowhere_else():
    found = refusals(attempt(pod(nodeName="b"), [node("a"), node("b")]))
    assert found == {"a": ("node-name", "node(s) didn't match the requested node name")}


def test_a_cordoned_node_takes_who_tolerates_that():
    nodes = [node("a", unschedulable=True), node("b")]
    assert refusals(attempt(pod(), nodes)) == {"a": ("node-unschedulable", "node(s) were unschedulable")}
    tolerating = pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    assert refusals(attempt(tolerating, nodes)) == {}


@pytest.mark.parametrize(
    ("release", "text"),
    [("1.37", "node(s) had untolerated taint(s)"), ("1.34", "node(s) had untolerated taint {dedicated: ml}")],
)
def test_taints_are_told_as_the_release_tells_them(release, text):
    tainted = node("a", taints=[{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}])
    assert refusals(attempt(pod(), [tainted], release=release)) == {"a": ("node-taint", text)}


@pytest.mark.parametrize(
    ("toleration", "comparing", "fits"),
    [
        ({"key": "gen", "operator": "Exists"}, False, True),
        ({"key": "gen", "value": "3"}, False, True),
        ({"key": "gen", "value": "4"}, False, False),
        ({"operator": "Exists", "effect": "NoExecute"}, False, False),
        ({"key": "gen", "operator": "Lt", "value": "4"}, False, False),
        ({"key": "gen", "operator": "Lt", "value": "4"}, True, True),
        ({"key": "gen", "operator": "Gt", "value": "4"}, True, False),
        ({"key": "gen", "operator": "Gt", "value": "02"}, True, False),
    ],
)
def test_what_tolerations_are_for(toleration, comparing, fits):
    tainted = node("a", taints=[{"key": "gen", "value": "3", "effect": "NoSchedule"}])
    gates = {"TaintTolerationComparisonOperators": comparing}
    assert (refusals(attempt(pod(tolerations=[toleration]), [tainted], gates=gates)) == {}) is fits


def test_selectors_and_affinity_rule_nodes_out():
    nodes = [node("a", {"disk": "ssd", "gen": "3"}), node("b", {"disk": "hdd"})]
    assert refusals(attempt(pod(nodeSelector={"disk": "ssd"}), nodes)) == {"b": ("node-selector", AFFINITY)}
    newer = {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["2"]}]}
    wanted = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [newer]}}}
    assert refusals(attempt(pod(affinity=wanted), nodes)) == {"b": ("node-affinity", AFFINITY)}


def test_where_all_terms_name_nodes_the_others_are_not_looked_at():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    wanted = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}
    found = refusals(attempt(pod(affinity=wanted), [node("a", unschedulable=False), node("b")]))
    assert found == {"a": ("node-affinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]")}


def port(number, **more):
    return [{"containerPort": 80, "hostPort": number, **more}]


@pytest.mark.parametrize(
    ("taken", "wanted", "free"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80), port(80, protocol="UDP"), True),
        (port(80, hostIP="10.0.0.1"), port(80, hostIP="10.0.0.2"), True),
        (port(80, hostIP="10.0.0.1"), port(80), False),
        (port(80), port(80, hostIP="10.0.0.1"), False),
    ],
)
def test_a_port_of_a_node_belongs_to_one_pod(taken, wanted, free):
    found = refusals(attempt(pod(ports=wanted), [node("a")], [pod("there", on="a", ports=taken)]))
    assert (found == {}) is free
    assert free or found["a"] == ("node-ports", "node(s) didn't have free ports for the requested pod ports")


def test_what_is_used_is_not_there_twice():
    running = [pod("there", on="a", requests={"cpu": "3500m", "memory": "1Gi"})]
    attempted = attempt(pod(), [node("a"), node("b")], running)
    assert refusals(attempted) == {"a": ("node-resources", "Insufficient cpu")}
    (objection,) = objections(attempted).values()
    (short,) = objection.shortfalls
    assert (short.resource, short.asked, short.used, short.allocatable) == ("cpu", 1000, 3500, 4000)
    assert objection.detail == "1 cpu asked, 0.5 of 4 left"
    assert not objection.lasting


@pytest.mark.parametrize(
    ("wanted", "detail"),
    [
        ({"requests": {"cpu": "5", "memory": "1536Mi"}}, "5 cpu asked, 4 of 4 left"),
        ({"requests": {"memory": "9Gi"}}, "9Gi memory asked, 7.5Gi of 8Gi left"),
        ({"requests": {"x.io/nic": "2"}}, "2 x.io/nic asked, and the node offers none"),
        ({"affinity": near("podAffinity")}, f"no pod with app=a runs in the node's {ZONE} (none runs anywhere)"),
        (
            {"affinity": near("podAntiAffinity", labelSelector={"matchLabels": {"app": "b"}})},
            f"a pod with app=b runs in the node's {ZONE}, which the pod keeps away from",
        ),
        (
            {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [DISK]}]}}}},
            "the pod's node affinity wants disk In (ssd, nvme)",
        ),
    ],
)
def test_what_a_node_lacks_is_told_in_units_and_labels(wanted, detail):
    running = [pod("there", on="a", labels={"app": "b"}, requests={"memory": "512Mi"})]
    (objection,) = objections(attempt(pod(**wanted), [node("a", {ZONE: "z"})], running)).values()
    assert objection.detail == detail


def test_all_that_is_short_is_told_in_the_schedulers_order():
    asked = pod(requests={"memory": "9Gi", "cpu": "5", "hugepages-2Mi": "1Gi", "ephemeral-storage": "1Gi"})
    full = node("a", allocatable={"pods": "0"})
    words = "Too many pods, Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage"
    assert refusals(attempt(asked, [full])) == {"a": ("node-resources", f"{words}, Insufficient hugepages-2Mi")}


def test_finished_pods_use_nothing_and_those_being_deleted_do():
    done = pod("done", on="a", requests={"cpu": "4"})
    done = done.model_copy(update={"status": done.status.model_copy(update={"phase": "Succeeded"})})
    assert refusals(attempt(pod(), [node("a")], [done])) == {}
    going = pod("going", on="a", requests={"cpu": "4"})
    going = going.model_copy(update={"metadata": going.metadata.model_copy(update={"deletion_timestamp": "x"})})
    assert refusals(attempt(pod(), [node("a")], [going])) == {"a": ("node-resources", "Insufficient cpu")}


def test_what_a_dump_does_not_hold_is_unknown():
    silent = node("a").model_copy(update={"status": node("a").status.model_copy(update={"allocatable": FrozenMap()})})
    assert refusals(attempt(pod(requests={"cpu": "100"}), [silent])) == {}


def test_device_plugins_offer_what_a_class_may_serve_elsewhere():
    asked = pod(requests={"example.com/gpu": "2"})
    nodes = [node("plugin", allocatable={"example.com/gpu": "1"}), node("devices")]
    short = ("node-resources", "Insufficient example.com/gpu")
    assert refusals(attempt(asked, nodes)) == {"plugin": short, "devices": short}
    assert refusals(attempt(asked, nodes, served={"example.com/gpu": "gpu"})) == {"plugin": short}


def spread(**more):
    selector = {"matchLabels": {"app": "a"}}
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return pod(labels={"app": "a"}, topologySpreadConstraints=[{**constraint, **more}])


def test_a_skew_that_would_be_too_large_keeps_the_pod_off():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"}), node("c")]
    running = [pod("one", on="a", labels={"app": "a"})]
    found = refusals(attempt(spread(), nodes, running))
    assert found == {"a": ("topology-spread", SPREAD), "c": ("topology-spread", f"{SPREAD} (missing required label)")}
    assert "a" not in refusals(attempt(spread(maxSkew=2), nodes, running))


def test_with_fewer_domains_than_wanted_the_least_is_none():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"})]
    running = [pod("one", on="a", labels={"app": "a"}), pod("two", on="b", labels={"app": "a"})]
    assert refusals(attempt(spread(), nodes, running)) == {}
    assert set(refusals(attempt(spread(minDomains=3), nodes, running))) == {"a", "b"}


def test_policies_say_which_nodes_are_domains():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"}, taints=[{"key": "t", "effect": "NoSchedule"}])]
    running = [pod("one", on="a", labels={"app": "a"})]
    assert "a" in refusals(attempt(spread(), nodes, running))
    assert "a" not in refusals(attempt(spread(nodeTaintsPolicy="Honor"), nodes, running))


def test_a_selector_that_asks_for_nothing_counts_no_pods():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"})]
    running = [pod(f"p{number}", on="a", labels={"app": "a"}) for number in range(3)]
    assert refusals(attempt(spread(labelSelector={}), nodes, running)) == {}


def test_pods_to_be_near_to_and_to_keep_away_from():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"}), node("c")]
    running = [pod("one", on="a", labels={"app": "a"})]
    found = refusals(attempt(pod(affinity=near("podAffinity")), nodes, running))
    text = ("pod-affinity", "node(s) didn't match pod affinity rules")
    assert found == {"b": text, "c": text}
    found = refusals(attempt(pod(affinity=near("podAntiAffinity")), nodes, running))
    assert found == {"a": ("pod-anti-affinity", "node(s) didn't match pod anti-affinity rules")}


def test_pods_that_run_keep_others_away():
    nodes = [node("a", {ZONE: "x"}), node("b", {ZONE: "y"})]
    running = [pod("one", on="a", affinity=near("podAntiAffinity"))]
    found = refusals(attempt(pod(labels={"app": "a"}), nodes, running))
    assert found == {"a": ("pod-anti-affinity-of-others", "node(s) didn't satisfy existing pods anti-affinity rules")}


def test_the_first_of_a_group_meets_its_own_terms():
    nodes = [node("a", {ZONE: "x"}), node("b")]
    first = pod(labels={"app": "a"}, affinity=near("podAffinity"))
    assert set(refusals(attempt(first, nodes))) == {"b"}
    assert set(refusals(attempt(pod(affinity=near("podAffinity")), nodes))) == {"a", "b"}


@pytest.mark.parametrize(
    ("more", "namespace", "meant"),
    [
        ({}, "ns", True),
        ({}, "red", False),
        ({"namespaces": ["red"]}, "red", True),
        ({"namespaces": ["red"]}, "ns", False),
        ({"namespaceSelector": {"matchLabels": {"team": "red"}}}, "red", True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "blue"}}}, "blue", True),
        ({"namespaceSelector": {}}, "red", True),
        ({"matchLabelKeys": ["hash"]}, "ns", False),
    ],
)
def test_whose_pods_a_term_means(more, namespace, meant):
    there = pod("one", on="a", labels={"app": "a"})
    there = there.model_copy(update={"metadata": there.metadata.model_copy(update={"namespace": namespace})})
    asked = pod(labels={"hash": "1"}, affinity=near("podAntiAffinity", topologyKey=HOST, **more))
    assert bool(refusals(attempt(asked, [node("a")], [there]))) is meant
