"""
Workloads and pods that are applied on top of those that are there, with what these cannot change.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import check

Json = dict[str, Any]
POD: Json = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
LABELS = {"a": "b"}


def read(*items: Json) -> Documents:
    return load(["-"], stdin=io.BytesIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()))


def workload(kind: str, version: str = "apps/v1", pod: Json = POD, **spec: Any) -> Json:
    template = {"metadata": {"labels": LABELS}, "spec": pod}
    meta = {"name": "w", "namespace": "ns"}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": {"template": template, **spec}}


def deployment(**spec: Any) -> Json:
    always = {"containers": POD["containers"]}
    return workload("Deployment", pod=always, **{"selector": {"matchLabels": LABELS}, "replicas": 0, **spec})


def job(pod: Json = POD, **spec: Any) -> Json:
    return workload("Job", "batch/v1", pod, **{"parallelism": 0, **spec})


def bare(**spec: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": {**POD, **spec}}


OTHER: Json = {**POD, "containers": [{"name": "c", "image": "j"}]}
STORED: Json = {**POD, "containers": [{**POD["containers"][0], "imagePullPolicy": "Always"}], "dnsPolicy": "Default"}
CLAIMS = [{"name": "g", "resourceClaimName": "c"}]
BOTH = [*POD["containers"], {"name": "added", "image": "i"}]


@pytest.mark.parametrize(
    ("there", "applied", "path"),
    [
        (deployment(), deployment(selector={"matchLabels": {"a": "b", "c": "d"}}), "spec.selector"),
        (job(), job(OTHER), "spec.template"),
        (job(completions=1), job(completions=2), "spec.completions"),
        (bare(), bare(resourceClaims=CLAIMS), "spec"),
        (bare(), bare(containers=BOTH), "spec"),
    ],
)
def test_what_cannot_change_is_bad_input(there: Json, applied: Json, path: str) -> None:
    if path == "spec.selector":
        applied["spec"]["template"]["metadata"]["labels"] = {"a": "b", "c": "d"}
    with pytest.raises(ManifestError) as caught:
        check(read(applied), read(there))
    assert path in {each.where.path for each in caught.value.problems}
    assert all("field is immutable" in str(each) for each in caught.value.problems if each.where.path == path)


@pytest.mark.parametrize(
    ("there", "applied"),
    [
        (deployment(), deployment(replicas=0, minReadySeconds=3)),
        (job(STORED), job()),
        (job(STORED), job({**POD, "containers": [{**POD["containers"][0], "imagePullPolicy": None}]})),
        (job(suspend=True), job(OTHER, suspend=False)),
        (bare(containers=BOTH, resourceClaims=CLAIMS, nodeName="n"), bare()),
    ],
)
def test_what_may_change_is_none(there: Json, applied: Json) -> None:
    assert check(read(applied), read(there)).placements == ()
