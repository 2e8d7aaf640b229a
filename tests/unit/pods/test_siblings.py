"""
Pods that belong together by the selector of a set or of a Service, and how the scheduler spreads them.
"""

from __future__ import annotations

import pytest

from dra_alloc import Cluster
from dra_alloc.api import OwnerReference, Service
from dra_alloc.api.labels import LabelTest
from dra_alloc.manifest.given import documents_of
from dra_alloc.pods.siblings import Siblings
from dra_alloc.pods.views import PodView
from tests.unit.pods.attempting import pod


def _service(namespace="ns", **selector):
    return Service.from_wire({"metadata": {"name": "s", "namespace": namespace}, "spec": {"selector": selector}})


def _set(kind, selector):
    return {
        "apiVersion": "v1" if kind == "ReplicationController" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "db", "namespace": "ns"},
        "spec": {"selector": selector, "template": {"spec": {"containers": []}}},
    }


def _cluster(*objects):
    return Cluster.of(documents_of(objects))


def _workloads(*objects):
    return _cluster(*objects).population.siblings.of_sets


def _view(labels, owner=""):
    made = pod(labels=labels)
    if owner:
        reference = OwnerReference.made(api_version="apps/v1", kind=owner, name="db", uid="1", controller=True)
        made = made.replaced(metadata=made.metadata.replaced(owner_references=(reference,)))
    return PodView.of(made)


def _pairs(test: LabelTest | None):
    return test and [(key, *values) for key, _, values in test.requirements]


def test_services_that_select_the_pod_count_together():
    siblings = Siblings.of((), [_service(app="a"), _service(tier="web"), _service(app="b"), _service("other", app="a")])
    assert _pairs(siblings.selector(_view({"app": "a", "tier": "web"}))) == [("app", "a"), ("tier", "web")]
    assert _pairs(siblings.selector(_view({"app": "c"}))) is None


def test_a_service_without_a_selector_selects_nothing():
    assert Siblings.of((), [_service()]).selector(_view({"app": "a"})) is None


@pytest.mark.parametrize(
    ("kind", "selector"),
    [
        ("StatefulSet", {"matchLabels": {"app": "a"}}),
        ("ReplicaSet", {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}),
        ("ReplicationController", {"app": "a"}),
    ],
)
def test_a_set_selects_its_pods_and_those_of_others(kind, selector):
    siblings = Siblings(_workloads(_set(kind, selector)), {"ns": ({"tier": "web"},)})
    assert _pairs(siblings.selector(_view({"app": "a"}, kind))) == [("app", "a")]
    assert _pairs(siblings.selector(_view({"app": "a", "tier": "web"}, kind))) == [("tier", "web"), ("app", "a")]
    assert _pairs(siblings.selector(_view({"app": "a"}))) is None


@pytest.mark.parametrize(
    ("kind", "selector"),
    [
        ("StatefulSet", None),
        ("StatefulSet", {}),
        ("StatefulSet", {"matchLabels": ["app"]}),
        ("StatefulSet", {"matchExpressions": [{"key": "app", "operator": "Is"}]}),
        ("Deployment", {"matchLabels": {"app": "a"}}),
    ],
)
def test_a_selector_that_cannot_be_read_is_not_known_and_neither_are_those_of_other_kinds(kind, selector):
    assert not _workloads(_set(kind, selector))


def test_the_pods_of_a_set_that_is_not_known_count_by_their_owner():
    assert Siblings.of((), [_service(app="a")]).selector(_view({"app": "a"}, "ReplicaSet")) is None


def _node(name):
    offered = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": offered}}


def _pod(name, on="", **meta):
    labels = {"app": "a"}
    spec = {"containers": [{"name": "c"}], **({"nodeName": on} if on else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "labels": labels} | meta,
    } | {"spec": spec}


@pytest.mark.parametrize(
    ("more", "equal"),
    [
        ([], ("n0", "n1")),
        ([{"apiVersion": "v1", "kind": "Service"} | _service(app="a").to_wire()], ("n1",)),
        ([{"apiVersion": "v1", "kind": "Service"} | _service(app="b").to_wire()], ("n0", "n1")),
    ],
)
def test_a_pod_without_constraints_keeps_away_from_what_serves_with_it(more, equal):
    cluster = _cluster(_node("n0"), _node("n1"), _pod("one", "n0", uid="1"), _other("n1"), *more)
    (outcome,) = cluster.schedule([_pod("two")])
    assert outcome.equal == equal


def _other(node):
    """As much on the other node, so that only spreading tells them apart."""
    return _pod("other", node, uid="2", labels={"app": "other"})
