"""
What a claim is charged.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.cli.harness.serve import answer
from dra_alloc.manifest import Documents
from dra_alloc.pods.quota.claims import ExtendedNames, claim_charge
from tests.unit.pods.quota.bookkeeping import book, charged, claim, device_class, pod, quota, used

CLASSES = st.sampled_from(["gpu", "nic", "mig"])
MODES = st.one_of(
    st.fixed_dictionaries({"allocationMode": st.just("ExactCount"), "count": st.integers(1, 8)}),
    st.just({"allocationMode": "All"}),
)
ASKED = st.builds(lambda name, mode: {"deviceClassName": name, **mode}, CLASSES, MODES)
REQUESTS = st.one_of(
    st.builds(lambda asked: {"exactly": asked}, ASKED),
    st.lists(ASKED, min_size=1, max_size=4).map(
        lambda subs: {"firstAvailable": [{"name": f"s{number}", **sub} for number, sub in enumerate(subs)]}
    ),
)
CLAIMS = st.lists(REQUESTS, max_size=4).map(
    lambda requests: claim("c", *({"name": f"r{number}", **each} for number, each in enumerate(requests)))
)


def usage(item, names=None, paid=None):
    charge = claim_charge(item, names or ExtendedNames(), paid)
    return {key: str(amount) for key, amount in charge.usage.items()}


def test_as_recorded(shared):
    """The rows of the recorded charges, asked by the harness."""
    rows = [json.loads(line) for line in (shared / "cases" / "quota.jsonl").read_text().splitlines()]
    assert len(rows) == 17
    for row in rows:
        request = {"op": "rule", "name": row["id"], "rule": row["rule"], "in": row["in"]}
        assert answer(json.dumps(request)) == {"name": row["id"], "out": row["out"]}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"claim": None}, "in.claim is missing"),
        ({"claim": {"spec": {"devices": {"requests": [{"name": 3}]}}}}, "in.claim"),
        ({"podUsage": {"cpu": "much"}}, "in.podUsage"),
        ({"extendedResourceNames": {"gpu": 1}}, "has to be a string"),
    ],
)
def test_a_question_of_another_shape_is_refused(changed, words):
    asked = {"claim": {}, "extendedResourceNames": {}, "podUsage": {}, "draExtendedResource": True, **changed}
    request = {"op": "rule", "name": "odd", "rule": "resourcequota/claim-usage", "in": asked}
    assert words in answer(json.dumps(request))["bad"]


def test_alternatives_cost_the_most_of_each_class():
    subs = [("gpu", 1), ("mig", 4), ("gpu", 2)]
    wire = [
        {"name": f"s{number}", "deviceClassName": name, "allocationMode": "ExactCount", "count": count}
        for number, (name, count) in enumerate(subs)
    ]
    found = usage(claim("c", {"name": "r", "firstAvailable": wire}))
    assert found["gpu.deviceclass.resource.k8s.io/devices"] == "2"
    assert found["mig.deviceclass.resource.k8s.io/devices"] == "4"


@pytest.mark.parametrize(
    ("key", "mode", "said"),
    [
        ("gpu.deviceclass.resource.k8s.io/devices", {"allocationMode": "All"}, "32 KEY needed (All counts as 32), 8"),
        ("requests.example.com/gpu", {"allocationMode": "All"}, "32 KEY needed (All counts as 32), 8"),
        (
            "requests.deviceclass.resource.kubernetes.io/gpu",
            {"allocationMode": "All"},
            "32 KEY needed (All counts as 32), 8",
        ),
        ("gpu.deviceclass.resource.k8s.io/devices", {"allocationMode": "ExactCount", "count": 9}, "9 KEY needed, 8"),
    ],
)
def test_it_is_said_what_all_comes_to(key, mode, said):
    before = book(quota({key: "8"}), classes=[device_class("gpu", "example.com/gpu")])
    _, (refusal,) = charged(before, claim("c", {"name": "r", "exactly": {"deviceClassName": "gpu", **mode}}))
    assert refusal is not None
    assert refusal.detail == f"quota q: {said.replace('KEY', key)} of 8 left"


def test_a_mode_that_nobody_knows_costs_nothing_and_is_there():
    found = usage(claim("c", {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "Some"}}))
    assert found == {"count/resourceclaims.resource.k8s.io": "1", "gpu.deviceclass.resource.k8s.io/devices": "0"}


def test_of_classes_with_one_extended_name_the_largest_counts():
    asked = [
        {"name": name, "exactly": {"deviceClassName": name, "allocationMode": "ExactCount", "count": count}}
        for name, count in (("a", 1), ("b", 3), ("c", 2))
    ]
    names = ExtendedNames(True, dict.fromkeys("abc", "example.com/gpu"))
    assert usage(claim("c", *asked), names)["requests.example.com/gpu"] == "3"


@given(CLAIMS)
def test_admin_access_and_selectors_cost_nothing_more(item):
    wire = item.to_wire()
    for request in wire["spec"]["devices"].get("requests", ()):
        asked = request.get("exactly")
        if asked is not None:
            asked |= {"adminAccess": True, "selectors": [{"cel": {"expression": "true"}}]}
    assert usage(type(item).from_wire(wire)) == usage(item)


@given(CLAIMS, CLAIMS)
def test_requests_add_up(one, other):
    both = (
        claim("c", *one.to_wire()["spec"]["devices"].get("requests", ()), *_renamed(other))
        if _any(one, other)
        else None
    )
    if both is None:
        return
    parts = [claim_charge(each, ExtendedNames()).usage for each in (one, other)]
    for key, amount in claim_charge(both, ExtendedNames()).usage.items():
        if not key.startswith("count/"):
            assert amount.nano == sum(each[key].nano for each in parts if key in each)


def _any(*claims):
    return any(each.spec.devices.requests for each in claims)


def _renamed(item):
    return [{**each, "name": f"x{each['name']}"} for each in item.to_wire()["spec"]["devices"].get("requests", ())]


@given(CLAIMS)
def test_the_extended_names_cost_what_the_classes_cost(item):
    names = ExtendedNames(True, {"gpu": "example.com/gpu"})
    found = usage(item, names)
    for name in ("gpu", "nic", "mig"):
        devices = found.get(f"{name}.deviceclass.resource.k8s.io/devices")
        assert found.get(f"requests.deviceclass.resource.kubernetes.io/{name}") == devices
    assert found.get("requests.example.com/gpu") == found.get("gpu.deviceclass.resource.k8s.io/devices")


@pytest.mark.parametrize(
    ("hard", "classes", "extended", "is_charged"),
    [
        ("count/resourceclaims.resource.k8s.io", [], False, True),
        ("gpu.deviceclass.resource.k8s.io/devices", [], False, True),
        ("requests.deviceclass.resource.kubernetes.io/gpu", [device_class("gpu")], True, True),
        ("requests.deviceclass.resource.kubernetes.io/gpu", [device_class("gpu")], False, False),
        ("requests.deviceclass.resource.kubernetes.io/gpu", [], True, False),
        ("requests.example.com/gpu", [device_class("gpu", "example.com/gpu")], True, True),
        ("requests.example.com/gpu", [device_class("gpu", "example.com/gpu")], False, False),
        ("requests.cpu", [], True, False),
    ],
)
def test_which_limits_concern_a_claim(hard, classes, extended, is_charged):
    found = book(quota({hard: "1"}), classes=classes, extended=extended)
    after, _ = charged(found, claim("one"))
    assert used(after) == {hard: "1" if is_charged else "0"}
    assert (charged(after, claim("two"))[1] != [None]) is is_charged


def test_a_limit_that_concerns_claims_lets_all_limits_of_the_quota_count():
    """A class that is not there has no extended resource, yet the same quota counts its implicit name."""
    hard = {"count/resourceclaims.resource.k8s.io": "9", "requests.deviceclass.resource.kubernetes.io/gpu": "0"}
    (refusal,) = charged(book(quota(hard)), claim())[1]
    assert refusal is not None
    assert refusal.reason == (
        "exceeded quota: q, requested: requests.deviceclass.resource.kubernetes.io/gpu=1, "
        "used: requests.deviceclass.resource.kubernetes.io/gpu=0, "
        "limited: requests.deviceclass.resource.kubernetes.io/gpu=0"
    )


def owned(name, owner, **more):
    owner = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"uid-{owner}", "controller": True, **more}
    return claim(name, annotations={"resource.kubernetes.io/extended-resource-claim": "true"}, ownerReferences=[owner])


ASKING = [{"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}}]


@pytest.mark.parametrize(
    ("item", "total"),
    [
        (owned("c", "p"), "1"),
        (owned("c", "p", uid="of another"), "2"),
        (owned("c", "p", controller=False), "2"),
        (owned("c", "gone"), "2"),
        (claim("c"), "2"),
    ],
)
def test_what_a_pod_pays_for_its_claim_pays_nobody_again(item, total):
    there = Documents(pods=(pod(containers=ASKING),), claims=(item,))
    hard = {"requests.example.com/gpu": "9", "gpu.deviceclass.resource.k8s.io/devices": "9"}
    found = book(quota(hard), there=there, classes=[device_class("gpu", "example.com/gpu")])
    assert used(found) == {"requests.example.com/gpu": total, "gpu.deviceclass.resource.k8s.io/devices": "1"}


def test_a_claim_of_a_pod_that_names_another_is_paid_for():
    named = pod(containers=ASKING, status={"extendedResourceClaimStatus": {"resourceClaimName": "other"}})
    found = book(
        quota({"requests.example.com/gpu": "9"}),
        there=Documents(pods=(named,), claims=(owned("c", "p"),)),
        classes=[device_class("gpu", "example.com/gpu")],
    )
    assert used(found) == {"requests.example.com/gpu": "2"}


def test_the_claim_that_the_scheduler_makes_is_charged_by_class_alone():
    asking = pod(containers=ASKING)
    hard = {"requests.example.com/gpu": "1", "gpu.deviceclass.resource.k8s.io/devices": "1"}
    found = book(quota(hard), classes=[device_class("gpu", "example.com/gpu")])
    found, _ = found.charge(asking)
    found, refusal = found.charge(claim(), made_for=asking)
    assert refusal is None
    assert used(found) == hard
