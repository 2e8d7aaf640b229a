"""
Objects charged to all quotas of a namespace, or refused by one.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import ObjectMeta, Pod, ResourceClaimTemplate
from dra_alloc.manifest import Documents
from dra_alloc.manifest.documents import Workload
from dra_alloc.pods.quota.charges import counted
from tests.unit.pods.quota.bookkeeping import book, charged, claim, pod, quota, used


def asking(cpu: str, memory: str = "0", name: str = "p") -> Pod:
    return pod(name, containers=[{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}])


def workload(api_version: str, kind: str, name: str = "w") -> Workload:
    return Workload(api_version, kind, ObjectMeta.made(name=name, namespace="ns"), {})  # type: ignore[arg-type]


def test_the_words_of_a_refusal():
    hard = {"requests.memory": "2Gi", "requests.cpu": "1", "pods": "9"}
    after, answers = charged(book(quota(hard)), asking("600m", "1Gi"), asking("500m", "1536Mi"))
    assert answers[0] is None
    assert answers[1] is not None
    assert answers[1].text == (
        'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=500m,requests.memory=1536Mi, '
        "used: requests.cpu=600m,requests.memory=1Gi, limited: requests.cpu=1,requests.memory=2Gi"
    )
    assert used(after) == {"requests.memory": "1Gi", "requests.cpu": "600m", "pods": "1"}


def test_a_refused_claim_is_named_with_its_group():
    (refusal,) = charged(book(quota({"gpu.deviceclass.resource.k8s.io/devices": "0"})), claim())[1]
    assert refusal is not None
    assert refusal.text.startswith('resourceclaims.resource.k8s.io "c" is forbidden: exceeded quota: q, requested: gpu')


def test_an_object_is_charged_to_all_quotas_or_to_none():
    found = book(quota({"pods": "5"}, "a"), quota({"requests.cpu": "1"}, "b"), quota({"limits.cpu": "1"}, "c"))
    after, answers = charged(found, asking("500m"))
    assert answers[0] is not None
    assert answers[0].quota == "c"
    assert after is found
    found = book(quota({"pods": "5"}, "a"), quota({"requests.cpu": "1"}, "b"))
    after, answers = charged(found, asking("2"), asking("1"), asking("1"))
    assert [each and each.quota for each in answers] == ["b", None, "b"]
    assert (used(after, 0), used(after, 1)) == ({"pods": "1"}, {"requests.cpu": "1"})


def test_what_is_missing_comes_before_what_is_too_much():
    found = book(quota({"pods": "0"}, "a"), quota({"limits.cpu": "1"}, "b"))
    (refusal,) = charged(found, asking("1"))[1]
    assert refusal is not None
    assert refusal.reason == "failed quota: b: must specify limits.cpu for: c"


def test_nothing_asked_for_is_never_too_much():
    found = book(quota({"requests.cpu": "1"}, used={"requests.cpu": "2"}))
    assert charged(found, asking("0"))[1] == [None]
    assert charged(found, asking("1m"))[1] != [None]


def test_other_namespaces_and_scoped_quotas_are_no_matter_to_a_claim():
    elsewhere = quota({"count/resourceclaims.resource.k8s.io": "0"}, namespace="other")
    scoped = quota({"count/resourceclaims.resource.k8s.io": "0"}, scopes=["NotTerminating"])
    assert charged(book(elsewhere, scoped), claim())[1] == [None]


@pytest.mark.parametrize(
    ("api_version", "kind", "keys"),
    [
        ("apps/v1", "Deployment", ["count/deployments.apps"]),
        ("batch/v1", "CronJob", ["count/cronjobs.batch"]),
        ("v1", "ReplicationController", ["count/replicationcontrollers", "replicationcontrollers"]),
        ("v1", "ResourceQuota", ["count/resourcequotas", "resourcequotas"]),
        ("grove.io/v1alpha1", "PodCliqueSet", ["count/podcliquesets.grove.io"]),
        ("example.com/v1", "Policy", ["count/policies.example.com"]),
        ("example.com/v1", "Class", ["count/classes.example.com"]),
    ],
)
def test_other_objects_are_counted_under_the_name_of_their_kind(api_version, kind, keys):
    assert list(counted(api_version, kind).usage) == keys
    found = book(quota(dict.fromkeys(keys, "1")))
    assert [each is None for each in charged(found, *[workload(api_version, kind)] * 2)[1]] == [True, False]


def test_what_a_status_does_not_say_is_counted():
    there = Documents(
        pods=(asking("1", name="a"), asking("1", name="b"), pod("done", status={"phase": "Failed"})),
        claims=(claim(),),
        templates=(ResourceClaimTemplate.from_wire({"metadata": {"name": "t", "namespace": "ns"}}),),
        workloads=(workload("batch/v1", "Job"),),
    )
    hard = {
        "requests.cpu": "9",
        "pods": "9",
        "count/pods": "9",
        "count/resourceclaims.resource.k8s.io": "9",
        "count/resourceclaimtemplates.resource.k8s.io": "9",
        "count/jobs.batch": "9",
        "count/secrets": "9",
    }
    found = book(quota(hard, used={"pods": "7"}), there=there)
    assert used(found) == {
        "requests.cpu": "2",
        "pods": "7",
        "count/pods": "3",
        "count/resourceclaims.resource.k8s.io": "1",
        "count/resourceclaimtemplates.resource.k8s.io": "1",
        "count/jobs.batch": "1",
        "count/secrets": "0",
    }


AMOUNTS = st.integers(0, 40).map(lambda tenths: f"{tenths * 100}m")
PODS = st.lists(AMOUNTS, max_size=12).map(lambda all_: [asking(each, name=f"p{at}") for at, each in enumerate(all_)])
LIMITS = st.fixed_dictionaries({}, optional={"requests.cpu": AMOUNTS, "pods": st.integers(0, 12).map(str)})


@given(LIMITS, PODS)
def test_used_is_the_sum_of_what_was_let_in_and_never_above_the_limit(hard, pods):
    after, answers = charged(book(quota(hard)), *pods)
    let_in = [each for each, answer in zip(pods, answers, strict=True) if answer is None]
    for key, amount in after.accounts["ns"][0].used.items():
        asked = [each.spec.containers[0].resources.requests["cpu"].nano for each in let_in]
        assert amount.nano == (sum(asked) if key == "requests.cpu" else len(let_in) * 10**9)
        assert amount <= after.accounts["ns"][0].hard[key]


@given(LIMITS, PODS)
def test_what_is_refused_would_have_been_too_much_and_is_not_charged(hard, pods):
    found = book(quota(hard))
    for each in pods:
        account, (after, refusal) = found.accounts["ns"][0], found.charge(each)
        asked = {"requests.cpu": each.spec.containers[0].resources.requests["cpu"].nano, "pods": 10**9}
        fits = all(
            account.used[key].nano + asked[key] <= limit.nano or not asked[key] for key, limit in account.hard.items()
        )
        assert (refusal is None) is fits
        assert fits or after is found
        found = after


@given(LIMITS, st.integers(1, 8))
def test_equal_pods_are_let_in_until_one_is_refused(hard, count):
    _, answers = charged(book(quota(hard)), *[asking("900m", name=f"p{number}") for number in range(count)])
    let_in = [each is None for each in answers]
    assert let_in == sorted(let_in, reverse=True)


@given(LIMITS, LIMITS, st.integers(1, 12))
def test_another_quota_lets_no_more_equal_pods_in(hard, more, count):
    pods = [asking("700m", name=f"p{number}") for number in range(count)]
    one = charged(book(quota(hard)), *pods)[1]
    both = charged(book(quota(hard), quota(more, "r")), *pods)[1]
    assert sum(each is None for each in both) <= sum(each is None for each in one)


@given(LIMITS, PODS)
def test_a_book_stays_as_it_is(hard, pods):
    found = book(quota(hard))
    before = replace(found)
    charged(found, *pods)
    assert found == before
