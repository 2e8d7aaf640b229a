"""
The claims of pods, made and there.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import ResourceClaim
from dra_alloc.pods.claims import ClaimsThere
from tests.reading import read
from tests.unit.pods.workloads.making import made, names

TEMPLATE = """
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec:
  metadata: {labels: {team: a}, annotations: {note: x}}
  spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu}}]}}
"""


def job(count: int, claims: str, name: str = "j") -> str:
    return f"""
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  parallelism: {count}
  template: {{spec: {{resourceClaims: [{claims}], containers: [{{name: c, image: i}}]}}}}
"""


def test_a_claim_is_made_for_each_pod_and_entry():
    found = made(
        TEMPLATE + job(2, "{name: x, resourceClaimTemplateName: one}, {name: z, resourceClaimTemplateName: one}")
    )
    wanted = [f"j-{pod:05}-{entry}-00000" for pod in range(2) for entry in "xz"]
    assert [each.metadata.name for each in found.claims] == wanted
    said = [
        (one.name, one.resource_claim_name) for each in found.pods for one in each.pod.status.resource_claim_statuses
    ]
    assert said == [(entry, f"j-{pod:05}-{entry}-00000") for pod in range(2) for entry in "xz"]
    first = found.claims[0]
    assert first.metadata.labels == {"team": "a"}
    assert first.metadata.annotations == {"note": "x", "resource.kubernetes.io/pod-claim-name": "x"}
    assert [(each.kind, each.name, each.controller) for each in first.metadata.owner_references] == [
        ("Pod", "j-00000", True)
    ]
    assert first.spec.devices.requests[0].name == "g"


def test_claims_that_have_names_are_shared():
    head = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: mine}\n"
    found = made(head + "spec: {devices: {requests: []}}" + job(2, "{name: x, resourceClaimName: mine}"))
    assert found.claims == ()
    assert found.problems == ()


@pytest.mark.parametrize(
    ("entry", "path", "message"),
    [
        ("resourceClaimName: gone", "resourceClaimName", "there is no ResourceClaim default/gone"),
        (
            "resourceClaimTemplateName: gone",
            "resourceClaimTemplateName",
            "there is no ResourceClaimTemplate default/gone",
        ),
    ],
)
def test_what_is_missing_is_told_once_for_all_pods_of_a_workload(entry, path, message):
    (problem,) = made(job(3, f"{{name: x, {entry}}}")).problems
    assert problem.where.path == f"spec.template.spec.resourceClaims[0].{path}"
    assert (problem.where.object, problem.message) == ("Job default/j", message)


POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default, uid: u1}
spec: {resourceClaims: [{name: x, resourceClaimTemplateName: one}], containers: [{name: c, image: i}]}
"""


def claim(name: str, owner: str = "kind: Pod, name: p, uid: u1", annotation: str = "x") -> str:
    return f"""
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: {name}
  namespace: default
  annotations: {{resource.kubernetes.io/pod-claim-name: {annotation}}}
  ownerReferences: [{{apiVersion: v1, {owner}, controller: true}}]
spec: {{devices: {{requests: []}}}}
"""


def status(name: str) -> str:
    said = f", resourceClaimName: {name}" if name else ""
    return f"status: {{resourceClaimStatuses: [{{name: x{said}}}]}}\n"


@pytest.mark.parametrize(
    ("pod", "claims", "wanted", "objection"),
    [
        (POD + status("p-x-abcde"), claim("p-x-abcde"), "default/p-x-abcde", ""),
        (POD + status(""), claim("p-x-abcde"), None, ""),
        (POD, claim("p-x-abcde"), "default/p-x-abcde", ""),
        (POD, claim("p-x-abcde", annotation="z"), "p-x-00000", ""),
        (POD, claim("p-x-abcde", owner="kind: Pod, name: p, uid: u2"), "p-x-00000", ""),
        (POD + status("gone"), "", "p-x-00000", ""),
        (POD, claim("p-x-00000", annotation="z"), "p-x-00001", ""),
        (
            POD + status("other"),
            claim("other", owner="kind: Pod, name: p, uid: u2"),
            "default/other",
            "ResourceClaim default/other was not created for Pod default/p (Pod is not owner)",
        ),
    ],
)
def test_a_claim_of_a_pod_that_is_there(pod, claims, wanted, objection):
    documents = read((TEMPLATE.replace("{name: one}", "{name: one, namespace: default}")) + pod + claims)
    there = ClaimsThere.of(documents.claims, documents.templates)
    (use,) = there.of_pod(documents.pods[0])
    found = use.claim.metadata.name if isinstance(use.claim, ResourceClaim) else use.claim
    assert (found, use.objection.text if use.objection else "", use.missing) == (wanted, objection, None)


def test_a_claim_that_is_being_deleted_serves_nobody():
    going = claim("p-x-abcde").replace(
        "  name: p-x-abcde\n", '  name: p-x-abcde\n  deletionTimestamp: "2026-01-01T00:00:00Z"\n'
    )
    template = TEMPLATE.replace("{name: one}", "{name: one, namespace: default}")
    named = POD.replace("resourceClaimTemplateName: one", "resourceClaimName: p-x-abcde")
    for pod in (POD, POD + status("p-x-abcde"), named):
        documents = read(template + pod + going)
        (use,) = ClaimsThere.of(documents.claims, documents.templates).of_pod(documents.pods[0])
        assert use.objection is not None
        assert use.objection.texts == ('resourceclaim "p-x-abcde" is being deleted',)


GROVE = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: p}
spec:
  replicas: 1
  template:
    resourceClaimTemplates:
    - {name: fab, templateSpec: {spec: {devices: {requests: [{name: f, exactly: {deviceClassName: fabric}}]}}}}
    resourceSharing: [{name: fab, scope: AllReplicas}, {name: one, scope: PerReplica, filter: {childCliqueNames: [a]}}]
    cliques:
    - {name: a, spec: {replicas: 1, podSpec: {containers: [{name: c, image: i}]}}}
    - name: b
      resourceSharing: [{name: fab, scope: PerReplica}]
      spec: {replicas: 2, podSpec: {containers: [{name: c, image: i}]}}
    podCliqueScalingGroups: [{name: sg, cliqueNames: [b], resourceSharing: [{name: fab, scope: PerReplica}]}]
"""


def test_claims_that_cliques_share_have_names_of_their_own():
    found = made(GROVE + TEMPLATE)
    assert found.problems == ()
    used = {
        each.pod.metadata.name: [one.resource_claim_name for one in each.pod.spec.resource_claims]
        for each in found.pods
    }
    assert used == {
        "p-0-a-00000": ["p-all-fab", "p-0-one"],
        "p-0-sg-0-b-00000": ["p-all-fab", "p-0-sg-0-fab", "p-0-sg-0-b-0-fab"],
        "p-0-sg-0-b-00001": ["p-all-fab", "p-0-sg-0-fab", "p-0-sg-0-b-1-fab"],
    }
    assert {each.metadata.name for each in found.claims} == {name for claims in used.values() for name in claims}
    for each in found.pods:
        (container,) = each.pod.spec.containers
        assert [one.name for one in container.resources.claims] == used[each.pod.metadata.name]


@given(
    st.lists(st.from_regex(r"\A[a-z]([a-z0-9-]{0,40}[a-z0-9])?\Z"), min_size=1, max_size=3, unique=True),
    st.from_regex(r"\A[a-z]([a-z0-9-]{0,60}[a-z0-9])?\Z"),
    st.integers(1, 4),
)
def test_every_claim_of_every_pod_is_one_claim(entries, name, count):
    claims = ", ".join(f'{{name: "{each}", resourceClaimTemplateName: one}}' for each in entries)
    found = made(TEMPLATE + job(count, claims, f'"{name}"'))
    assert found.problems == ()
    behind = [one.resource_claim_name for each in found.pods for one in each.pod.status.resource_claim_statuses]
    assert sorted(map(str, behind)) == sorted(str(each.metadata.name) for each in found.claims)
    assert len(set(behind)) == len(behind) == count * len(entries)
    assert all(len(str(each)) <= 63 for each in [*behind, *names(found)])
