"""
Codes of queue systems, beyond the examples of their pages.
"""

from __future__ import annotations

from typing import Any

import pytest

import dra_alloc

QUEUED = {"kueue.x-k8s.io/queue-name": "team"}
CONFIGURATION = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "cards", "deviceClassNames": ["other"]}]},
}


def template(request: dict[str, Any], namespace: str = "ns") -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "r", **request}]}}},
    }


def pod(labels: dict[str, str], **claim: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "r"}]}}
    entry = {"name": "r", **(claim or {"resourceClaimTemplateName": "one"})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "labels": labels},
        "spec": {"containers": [container], "resourceClaims": [entry]},
    }


def codes(*items: dict[str, Any], **more: Any) -> list[str]:
    return [
        each.code
        for each in dra_alloc.lint({"apiVersion": "v1", "kind": "List", "items": items}, select=["K1"], **more)
    ]


EXACTLY = {"exactly": {"deviceClassName": "card"}}
EITHER = {"firstAvailable": [{"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "card"}]}


@pytest.mark.parametrize(
    ("labels", "request_", "found"),
    [
        (QUEUED, EXACTLY, []),
        (QUEUED, EITHER, ["K103"]),
        (QUEUED, {"exactly": {"deviceClassName": "card", "allocationMode": "All", "adminAccess": True}}, []),
        ({}, EITHER, []),
        ({"kai.scheduler/queue": "team"}, EITHER, ["K102"]),
        ({"kai.scheduler/queue": "team"}, {"exactly": {"deviceClassName": "big-GPU"}}, []),
    ],
)
def test_what_queues_make_of_a_template(labels, request_, found):
    assert codes(pod(labels), template(request_)) == found


@pytest.mark.parametrize(("own", "runs", "found"), [({}, QUEUED, ["K103"]), (QUEUED, {}, [])])
def test_the_queue_of_a_cron_job_is_that_of_its_jobs(own, runs, found):
    runs = {"metadata": {"labels": runs}, "spec": {"template": {"spec": pod({})["spec"]}}}
    metadata = {"name": "c", "namespace": "ns", "labels": own}
    made = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": {"jobTemplate": runs}}
    assert codes(made, template(EITHER)) == found


def test_a_named_claim_of_a_queue():
    assert codes(pod(QUEUED, resourceClaimName="mine")) == ["K103"]
    assert codes(pod({}, resourceClaimName="mine")) == []


@pytest.mark.parametrize(("labels", "found"), [({}, ["K108"]), (QUEUED, [])])
def test_an_annotation_names_no_queue_of_kueue(labels, found):
    made = pod(labels)
    made["metadata"]["annotations"] = QUEUED
    assert codes(made) == found


def test_a_template_of_another_namespace_is_none_of_the_pod():
    assert codes(pod(QUEUED), template(EITHER, "elsewhere")) == []


@pytest.mark.parametrize("asked", ["ns", "elsewhere"])
@pytest.mark.parametrize("bare", [0, 1])
def test_who_names_no_namespace_is_in_that_which_is_asked(bare, asked):
    items = [pod(QUEUED), template(EITHER)]
    del items[bare]["metadata"]["namespace"]
    assert codes(*items, namespace=asked) == ["K103"] * (asked == "ns")


def test_a_mapping_that_is_in_the_cluster():
    assert codes(pod(QUEUED), template(EXACTLY)) == []
    assert codes(pod(QUEUED), template(EXACTLY), cluster=[CONFIGURATION]) == ["K104"]


def configured(*mappings: Any, **metadata: str) -> dict[str, Any]:
    return {**CONFIGURATION, "metadata": metadata, "resources": {"deviceClassMappings": list(mappings)}}


WRONG = {"name": "", "deviceClassNames": ["card"]}
RIGHT = {"name": "cards", "deviceClassNames": ["card"]}


def test_of_several_configurations_the_last_one_counts():
    """Those of the files come after those of the cluster."""
    items = pod(QUEUED), template(EXACTLY)
    first, last = configured(RIGHT, name="a"), {**CONFIGURATION, "metadata": {"name": "b"}}
    assert codes(*items, first, last) == ["K104"]
    assert codes(*items, last, first) == []
    assert codes(*items, last, cluster=[first]) == ["K104"]
    assert codes(*items, first, cluster=[last]) == []


def test_what_is_wrong_with_a_mapping_is_told_of_it_and_not_of_its_classes():
    items = pod(QUEUED), template(EXACTLY), configured(WRONG)
    (found,) = dra_alloc.lint({"apiVersion": "v1", "kind": "List", "items": items}, select=["K1"])
    assert (found.code, found.where.path) == ("K106", "resources.deviceClassMappings[0].name")
    assert codes(pod(QUEUED), template(EXACTLY), cluster=[configured(WRONG)]) == []


@pytest.mark.parametrize("junk", [None, -1, "card", [], {}, [3], [[3]], [{"a": 1}], {"a": 1}, True])
def test_mappings_of_any_shape(junk):
    for mappings in ([{"name": "cards", "deviceClassNames": junk}], [{**RIGHT, "sources": junk}], [junk], junk):
        found = {**CONFIGURATION, "resources": {"deviceClassMappings": mappings}}
        assert set(codes(pod(QUEUED), template(EXACTLY), found)) <= {"K104", "K106"}
