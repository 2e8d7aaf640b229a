"""
Which pods and claims are made where quotas leave room for some.
"""

from __future__ import annotations

from dra_alloc.api import ResourceClaim
from dra_alloc.pods.claims import ClaimsThere
from dra_alloc.pods.expanding import expanded
from dra_alloc.pods.quota.creation import Creation, created, quota_book
from tests.reading import read

QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {{name: q, namespace: ns}}
spec: {{hard: {{{hard}}}}}
---
"""
TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: ns}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
"""
WORKLOAD = """
apiVersion: {version}
kind: {kind}
metadata: {{name: {name}, namespace: ns}}
spec:
  {more}
  template:
    metadata: {{labels: {{app: w}}}}
    spec:
      resourceClaims: [{claims}]
      containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ns}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
---
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: ns}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
"""
FROM_TEMPLATE = "{name: one, resourceClaimTemplateName: t}, {name: two, resourceClaimTemplateName: t}"
DEVICES = "gpu.deviceclass.resource.k8s.io/devices"


def workload(kind: str = "Deployment", name: str = "w", **more: str) -> str:
    version = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    filled = {"more": "replicas: 3", "claims": "", "cpu": "1", **more}
    return WORKLOAD.format(version=version, kind=kind, name=name, **filled)


def makes(text: str, dump: str = "") -> Creation:
    """What becomes of the pods of a text in a cluster."""
    manifests, there = read(text), read(dump)
    claims = ClaimsThere.of((*there.claims, *manifests.claims), (*there.templates, *manifests.templates))
    pods = []
    for each in expanded(manifests, there, ()).pods:
        made = [use.claim for use in claims.of_pod(each.pod)]
        pods.append((each, [claim for claim in made if isinstance(claim, ResourceClaim)]))
    return created(quota_book(manifests, there, ()), manifests, there, pods)


def fates(found: Creation) -> list[str]:
    """Whether each pod is made, and with its claims."""
    return ["refused" if each.refused else "unclaimed" if each.unclaimed else "made" for each in found.pods]


def test_as_many_pods_of_a_workload_are_made_as_there_is_room_for():
    found = makes(QUOTA.format(hard="requests.cpu: 2") + workload())
    assert fates(found) == ["made", "made", "refused"]
    assert list(found.notes()) == [
        "1 of 3 pods of Deployment ns/w not made: " + found.pods[2].refused.text  # type: ignore[union-attr]
    ]


def test_first_come_first_served():
    found = makes(QUOTA.format(hard="requests.cpu: 4") + workload() + workload(name="x") + POD.format(name="p", cpu=0))
    assert fates(found) == ["made", "made", "made", "made", "refused", "refused", "made"]
    small = workload(name="x", cpu="500m", more="replicas: 1")
    found = makes(QUOTA.format(hard="requests.cpu: 1500m") + workload() + small)
    assert fates(found) == ["made", "refused", "refused", "made"]


def test_a_bare_pod_is_refused_when_it_is_applied():
    found = makes(QUOTA.format(hard="requests.cpu: 1") + POD.format(name="a", cpu=1) + POD.format(name="b", cpu=1))
    assert fates(found) == ["made", "refused"]
    assert [item.metadata.name for item, _ in found.refused] == ["b"]
    assert found.refused[0][1].text.startswith('pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=1')


def test_what_is_there_is_not_made_again():
    quota = QUOTA.format(hard='requests.cpu: 1, "count/deployments.apps": 1')
    found = makes(POD.format(name="a", cpu=1) + POD.format(name="b", cpu=1), quota + POD.format(name="a", cpu=1))
    assert fates(found) == ["made", "refused"]
    found = makes(workload(cpu="300m"), quota + workload())
    assert fates(found) == ["made"] * 3


def test_a_pod_waits_for_a_claim_that_is_not_made():
    found = makes(TEMPLATE + QUOTA.format(hard=f"{DEVICES}: 3") + workload(claims=FROM_TEMPLATE))
    assert fates(found) == ["made", "unclaimed", "unclaimed"]
    used = found.book.accounts["ns"][0].used
    assert {key: str(amount) for key, amount in used.items()} == {DEVICES: "3"}
    (note,) = found.notes()
    assert note.startswith(
        "2 of 3 pods of Deployment ns/w waiting for a claim that is not made: resourceclaims.resource"
    )


def test_claims_with_names_are_there_before_those_of_pods():
    text = TEMPLATE + workload(claims=FROM_TEMPLATE, more="replicas: 1") + CLAIM
    assert fates(makes(QUOTA.format(hard=f"{DEVICES}: 3") + text)) == ["made"]
    assert fates(makes(QUOTA.format(hard=f"{DEVICES}: 2") + text)) == ["unclaimed"]
    found = makes(QUOTA.format(hard=f"{DEVICES}: 0") + CLAIM)
    assert [item.kind for item, _ in found.refused] == ["ResourceClaim"]


def test_a_workload_that_is_refused_makes_nothing():
    found = makes(QUOTA.format(hard='"count/deployments.apps": 1') + workload() + workload(name="x"))
    assert fates(found) == ["made"] * 3 + ["refused"] * 3
    assert [item.metadata.name for item, _ in found.refused] == ["x"]


def test_what_stands_between_a_workload_and_its_pods_is_counted_once():
    found = makes(QUOTA.format(hard='"count/replicasets.apps": 1') + workload() + workload(name="x"))
    assert fates(found) == ["made"] * 3 + ["refused"] * 3
    assert [item.kind for item, _ in found.refused] == ["ReplicaSet"]


def test_pods_that_start_in_order_stop_at_the_first_that_is_refused():
    """Of a StatefulSet nothing comes after a pod that is not made, whatever room others leave."""
    hard = QUOTA.format(hard='"pods": 2')
    assert fates(makes(hard + workload("StatefulSet"))) == ["made", "made", "refused"]


def test_a_quota_of_the_manifests_goes_on_from_what_is_used():
    dump = QUOTA.format(hard="requests.cpu: 1").rstrip("\n-") + "\nstatus: {used: {requests.cpu: 3}}\n"
    found = makes(QUOTA.format(hard="requests.cpu: 4") + workload(), dump)
    assert fates(found) == ["made", "refused", "refused"]


def test_without_quotas_everything_is_made():
    assert fates(makes(workload())) == ["made"] * 3
