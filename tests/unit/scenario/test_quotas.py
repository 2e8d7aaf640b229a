"""
Checks of pods and claims that quotas do not let be made.
"""

from __future__ import annotations

import json

from dra_alloc.scenario.check import Check, check
from tests.reading import read

DUMP = """
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: n1, resourceSliceCount: 1, generation: 1}
  devices: [{name: a}, {name: b}, {name: c}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: ns}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
"""
DEVICES = "gpu.deviceclass.resource.k8s.io/devices"


def checked(hard: dict[str, str], *items: dict[str, object]) -> Check:
    """The check of some objects in a namespace with a quota, in a cluster with three devices."""
    meta = {"name": "q", "namespace": "ns"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}
    manifests = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return check(read(manifests), read(DUMP + json.dumps(quota)))


def pod(name: str, **entry: str) -> dict[str, object]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    claims = [{"name": "r", **entry}] if entry else []
    meta = {"name": name, "namespace": "ns"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": [container], "resourceClaims": claims},
    }


def deployment(replicas: int) -> dict[str, object]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("x", resourceClaimTemplateName="t")["spec"]}
    meta = {"name": "d", "namespace": "ns"}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


CLAIM: dict[str, object] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "shared", "namespace": "ns"},
    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
}


def claim(name: str, count: int, held: str = "") -> dict[str, object]:
    """A claim for devices; one of them is allocated to it if named."""
    asked = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": count}}
    made = {**CLAIM, "metadata": {"name": name, "namespace": "ns"}, "spec": {"devices": {"requests": [asked]}}}
    result = {"request": "r", "driver": "d", "pool": "n1", "device": held}
    return {**made, "status": {"allocation": {"devices": {"results": [result]}}}} if held else made


def fixes(found: Check) -> list[list[str]]:
    """What would let the last subject in, node by node."""
    refusals = found.placements[-1].refusals
    return [[] if each.reasons is None else list(map(str, each.reasons.fixes)) for each in refusals]


def test_what_lets_a_pod_be_made_and_find_a_node_is_proposed():
    found = checked({"pods": "1"}, deployment(2), pod("free", resourceClaimTemplateName="t"))
    # One more alone would be the second pod of the Deployment.
    assert fixes(found) == [["raising pods of quota q from 1 to 3"]]
    found = checked({DEVICES: "2"}, claim("c", 3), pod("p", resourceClaimName="c"))
    fewer = 'asking for 2 instead of 3 devices in request "r"'
    assert fixes(found) == [[fewer, f"raising {DEVICES} of quota q from 2 to 3"]]
    both = checked({"requests.cpu": "500m", "pods": "0"}, pod("a"))
    assert fixes(both) == [["raising requests.cpu of quota q from 500m to 1 and raising pods of quota q from 0 to 1"]]


def test_what_would_be_made_and_finds_no_node_is_not_proposed():
    found = checked({DEVICES: "2"}, claim("c", 4), pod("p", resourceClaimName="c"))
    assert fixes(found) == [['asking for 2 instead of 4 devices in request "r"']]
    assert fixes(checked({DEVICES: "0"}, claim("c", 4), pod("p", resourceClaimName="c"))) == [[]]


def test_a_claim_that_nobody_uses_can_make_room():
    meta = {"name": "q", "namespace": "ns"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": {DEVICES: "1"}}}
    there = read(DUMP + "\n---\n".join(map(json.dumps, (quota, claim("old", 1, "a")))))
    found = check(read(json.dumps(pod("p", resourceClaimTemplateName="t"))), there)
    assert fixes(found) == [[f"raising {DEVICES} of quota q from 1 to 2", "deleting claim ns/old"]]


def test_nothing_is_proposed_where_what_makes_the_pod_is_refused_as_well():
    assert fixes(checked({"count/deployments.apps": "0", "pods": "0"}, deployment(1))) == [[]]


def verdicts(found: Check) -> list[str]:
    return [each.verdict for each in found.placements]


def test_a_refused_pod_runs_nowhere_and_takes_no_devices():
    found = checked({DEVICES: "2"}, deployment(3), pod("free", resourceClaimTemplateName="t"))
    assert verdicts(found) == ["allocated", "allocated", "unsatisfiable", "unsatisfiable"]
    (refusal,) = found.placements[3].refusals
    assert refusal.code == "quota"
    assert refusal.text.endswith(f": quota q: 1 {DEVICES} needed, 0 of 2 left")
    assert refusal.error.endswith(f"exceeded quota: q, requested: {DEVICES}=1, used: {DEVICES}=2, limited: {DEVICES}=2")
    assert any("1 of 3 pods of Deployment ns/d waiting for a claim" in each for each in found.notes)
    found = checked({"pods": "1"}, deployment(2), pod("free", resourceClaimTemplateName="t"))
    assert verdicts(found) == ["allocated", "unsatisfiable", "unsatisfiable"]


def test_who_names_a_refused_claim_waits():
    found = checked({"count/resourceclaims.resource.k8s.io": "0"}, CLAIM, pod("p", resourceClaimName="shared"))
    assert verdicts(found) == ["unsatisfiable"]
    assert found.placements[0].refusals[0].error.startswith('resourceclaims.resource.k8s.io "shared" is forbidden')
    assert verdicts(checked({"count/resourceclaims.resource.k8s.io": "0"}, CLAIM)) == ["unsatisfiable"]
    assert verdicts(checked({"count/resourceclaims.resource.k8s.io": "1"}, CLAIM)) == ["allocated"]


def test_who_names_a_refused_template_waits():
    meta = {"name": "new", "namespace": "ns"}
    template = {**CLAIM, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": CLAIM["spec"]}}
    key = "count/resourceclaimtemplates.resource.k8s.io"
    asked = pod("p", resourceClaimTemplateName="new")
    assert verdicts(checked({key: "5"}, template, asked)) == ["allocated"]
    found = checked({key: "0"}, template, asked)
    assert verdicts(found) == ["unsatisfiable"]
    assert {each.code for each in found.placements[0].refusals} == {"quota"}


def test_a_refused_pod_without_devices_is_told():
    found = checked({"requests.cpu": "1"}, pod("a"), pod("b"))
    assert [(each.name, each.verdict) for each in found.placements] == [
        ("ns/a", "allocated"),
        ("ns/b", "unsatisfiable"),
    ]
    assert verdicts(checked({"requests.cpu": "2"}, pod("a"), pod("b"))) == ["allocated", "allocated"]
