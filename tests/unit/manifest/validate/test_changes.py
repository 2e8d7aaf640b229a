"""
What API servers said, in `fuzz.plane`, of changes of pods and of what makes them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_alloc.manifest import validate_object
from dra_alloc.manifest.kinds import kind_named
from dra_alloc.manifest.make.objects import make
from dra_alloc.manifest.validate.violations import ApiServer
from dra_alloc.releases import parse_release

C, D = {"name": "c", "image": "i"}, {"name": "d", "image": "i"}
SELECTOR = {"matchLabels": {"a": "b"}}
MORE = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [C]}}
SPECS: dict[str, Any] = {
    "Pod": {"containers": [C, D]},
    "Job": {"template": {"spec": {"containers": [C], "restartPolicy": "Never"}}, "completions": 1},
    **{key: {"selector": SELECTOR, "template": TEMPLATE} for key in ("Deployment", "ReplicaSet", "DaemonSet")},
    "StatefulSet": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"},
}
NO_OTHER = (
    "FieldValueForbidden",
    "spec",
    (
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
    ),
)
OF_SET = (
    "FieldValueForbidden",
    "spec",
    (
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    ),
)


def said(kind: str, changes: dict[str, Any], release: str = "1.37", **before: Any) -> list[tuple[str, str, str]]:
    def made(spec: dict[str, Any]) -> Any:
        value = {"metadata": {"name": "n"}, "spec": json.loads(json.dumps(spec))}
        return make(value, kind_named(kind), "v1", 64).item

    new, old = made({**SPECS[kind], **before, **changes}), made({**SPECS[kind], **before})
    assert not validate_object(new, ApiServer(release=parse_release(release)))
    found = validate_object(new, ApiServer(release=parse_release(release)), old=old)
    return [(each.type, each.where.path, each.detail) for each in found]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"containers": [{**C, "image": "j"}, D]}, []),
        ({"activeDeadlineSeconds": 5, "tolerations": [{"key": "k", "operator": "Exists"}]}, []),
        ({"containers": [{**C, "name": "e"}, D]}, [NO_OTHER]),
        ({"nodeSelector": {"a": "b"}}, [NO_OTHER]),
        ({"resourceClaims": [{"name": "x", "resourceClaimName": "y"}]}, [NO_OTHER]),
        *(
            (changes, [("FieldValueForbidden", f"spec.{name}", "pod updates may not add or remove containers")])
            for name, changes in (
                ("containers", {"containers": [C]}),
                ("containers", {"containers": [C], "nodeSelector": {"a": "b"}}),
                ("initContainers", {"initContainers": [{**C, "name": "z"}]}),
            )
        ),
    ],
)
def test_what_may_not_be_changed_in_pods(changes, found):
    assert said("Pod", changes) == found


def test_nodes_of_a_pod_that_a_gate_holds_may_be_narrowed():
    assert said("Pod", {"nodeSelector": {"a": "b"}}, schedulingGates=[{"name": "g"}]) == []


@pytest.mark.parametrize(
    ("kind", "changes", "fields"),
    [
        *(
            (kind, {"selector": MORE}, ["selector"])
            for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")
        ),
        ("Deployment", {"selector": {**SELECTOR, "matchExpressions": []}, "replicas": 2}, []),
        (
            "StatefulSet",
            {"serviceName": "t", "podManagementPolicy": "Parallel"},
            ["serviceName", "podManagementPolicy"],
        ),
        ("StatefulSet", {"serviceName": None}, ["serviceName"]),
        ("StatefulSet", {"podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 3}, []),
        ("Job", {"completions": 2}, ["completions"]),
        ("Job", {"completionMode": "Indexed"}, ["completionMode"]),
        ("Job", {"managedBy": "x.io/y"}, ["managedBy"]),
        ("Job", {"parallelism": 2, "backoffLimit": 1}, []),
    ],
)
def test_what_may_not_be_changed_in_workloads(kind, changes, fields):
    assert said(kind, changes) == [("FieldValueInvalid", f"spec.{field}", "field is immutable") for field in fields]
    if kind == "StatefulSet":
        assert said(kind, changes, "1.36") == ([OF_SET] if fields else [])
