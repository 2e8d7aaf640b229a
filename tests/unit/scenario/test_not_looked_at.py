"""
What decides whether pods run and is not looked at is said with the answer.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import check

Json = dict[str, Any]
POD: Json = {"containers": [{"name": "c", "image": "i"}]}
VOLUME = {"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
LABEL = "pod-security.kubernetes.io/enforce"


def read(*items: Json) -> Documents:
    return load(["-"], stdin=io.BytesIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()))


def made(version: str, kind: str, **more: Any) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "ns"}, **more}


def node() -> Json:
    amounts = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": amounts}


def namespace(**labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": labels}}


def stateful_set(**spec: Any) -> Json:
    labels = {"a": "b"}
    whole = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": POD}, **spec}
    return made("apps/v1", "StatefulSet", spec=whole)


@pytest.mark.parametrize(
    ("asked", "there", "said"),
    [
        (stateful_set(volumeClaimTemplates=[VOLUME]), [], "StatefulSet ns/x: volumes are not looked at"),
        (stateful_set(), [], ""),
        (made("v1", "Pod", spec=POD), [namespace(**{LABEL: "restricted"})], "namespace ns enforces the pod security"),
        (made("v1", "Pod", spec=POD), [namespace(**{LABEL: "privileged"})], ""),
        (made("v1", "Pod", spec=POD), [namespace()], ""),
        (made("v1", "Pod", spec=POD), [made("autoscaling/v2", "HorizontalPodAutoscaler")], "HorizontalPodAutoscalers"),
        (
            made("v1", "Pod", spec=POD),
            [made("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")],
            "admission policies and webhooks are not asked",
        ),
    ],
)
def test_what_is_not_looked_at_is_a_note(asked: Json, there: list[Json], said: str) -> None:
    notes = [each for each in check(read(asked), read(node(), *there)).notes if not each.startswith("left alone: ")]
    assert len(notes) == bool(said)
    assert all(each.startswith(said) for each in notes)


@pytest.mark.parametrize("conditions", [{}, {"bindingConditions": ["a/ready"], "bindingFailureConditions": ["a/bad"]}])
def test_devices_that_drivers_have_to_bind_first_are_a_note(conditions: Json) -> None:
    asked = {"name": "r", "exactly": {"deviceClassName": "any"}}
    claim = made("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [asked]}})
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": [{"name": "a", **conditions}]}
    offer = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
    user = made("v1", "Pod", spec={**POD, "resourceClaims": [{"name": "c", "resourceClaimName": "x"}]})
    found = check(read(claim, user), read(node(), offer, device_class))
    assert [each.verdict for each in found.placements] == ["allocated"]
    said = [each for each in found.notes if "bound once drivers say a/ready of its devices" in each]
    assert len(said) == bool(conditions)
