"""
Admission rules, in upstream's words: recorded answers, and what is ours.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from dra_alloc.manifest import validate_object
from spec.case import yaml_of
from tests.paths import ROOT
from tests.reading import read

FILES = sorted((ROOT / "spec" / "vectors" / "validation").glob("*.yaml"))
MEMBERS = ("slices", "classes", "claims", "templates", "taint_rules", "pods", "workloads")
# Bad values that upstream prints as Go structs; what is said of them is compared, not how they print.
STRUCTS: tuple[str, ...] = (
    "must have exactly one node selector term",
    "exactly one value must be specified",
    "must not be empty if specified",
)
STRUCTS += ("are required to use bindingConditions", "are required to use bindingFailureConditions")


def found(value: Any) -> list[tuple[str, str]]:
    documents = read(json.dumps(value), validate="ignore")
    (item,) = (item for member in MEMBERS for item in getattr(documents, member))
    return [(problem.where.path, problem.message) for problem in validate_object(item)]


def _said(text: str) -> str:
    return next((text[text.index(words) :] for words in STRUCTS if words in text), text)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_recorded(file):
    case = yaml_of(file)
    expected = Counter((error["field"], _said(error["text"])) for error in case["expected"]["errors"])
    assert Counter((path, _said(text)) for path, text in found(case["given"]["object"])) == expected


def test_there_are_records_of_both_kinds():
    errors = [yaml_of(file)["expected"]["errors"] for file in FILES]
    assert len(FILES) > 80
    assert min(map(len, errors)) == 0
    assert len({re.sub(r'"[^"]*"|[0-9]+', "", error["text"])[:60] for case in errors for error in case}) > 50


def claim(request=None, **devices):
    requests = [{"name": "a", **(request if request is not None else {"exactly": {"deviceClassName": "c"}})}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": requests, **devices}},
    }


def test_a_good_claim_without_namespace_is_fine():
    assert found(claim()) == []


def test_limits_of_text():
    long = [{"cel": {"expression": "'é' == '" + "x" * 10_240 + "'"}}]
    path = "spec.devices.requests[0].exactly.selectors[0].cel.expression"
    assert found(claim({"exactly": {"deviceClassName": "c", "selectors": long}})) == [
        (path, "Too long: may not be more than 10240 bytes")
    ]
    parameters = {"driver": "d", "parameters": {"a": "x" * 10_240}}
    assert found(claim(config=[{"opaque": parameters}])) == [
        ("spec.devices.config[0].opaque.parameters", "Too long: may not be more than 10240 bytes")
    ]


def test_limits_of_lists():
    exactly = {"deviceClassName": "c"}
    many = [{"name": f"r{number}", "exactly": exactly} for number in range(33)]
    value = claim()
    value["spec"]["devices"]["requests"] = many
    assert found(value) == [("spec.devices.requests", "Too many: 33: must have at most 32 items")]
    subs = [{"name": f"s{number}", **exactly} for number in range(9)]
    assert found(claim({"firstAvailable": subs})) == [
        ("spec.devices.requests[0].firstAvailable", "Too many: 9: must have at most 8 items")
    ]


def test_problems_say_which_object_and_where():
    value = claim({})
    value["metadata"]["namespace"] = "ns"
    documents = read(json.dumps(value, indent=1))
    (problem,) = validate_object(documents.claims[0])
    assert str(problem) == (
        "ResourceClaim ns/c: spec.devices.requests[0]: "
        "Required value: exactly one of `exactly` or `firstAvailable` is required"
    )
    assert documents.where(documents.claims[0], problem.where.path).line == 11


def test_v1_paths_are_found_in_older_versions():
    text = (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec:\n  devices:\n    requests:\n    - name: a\n      deviceClassName: c\n      count: -1\n"
    )
    documents = read(text)
    (problem,) = validate_object(documents.claims[0])
    assert problem.where.path == "spec.devices.requests[0].exactly.count"
    assert documents.where(documents.claims[0], problem.where.path).line == 9


def pod(claims, uses, kind="Pod"):
    spec = {"resourceClaims": claims, "containers": [{"name": "c", "image": "i", "resources": {"claims": uses}}]}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    labels = {"app": "p"}
    made = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "p"}, "spec": made}


GOOD = {"name": "a", "resourceClaimName": "x"}


@pytest.mark.parametrize(
    ("claims", "uses", "expected"),
    [
        ([GOOD], [{"name": "a"}], []),
        ([GOOD], [{"name": "a", "request": "r"}, {"name": "a", "request": "s"}], []),
        ([GOOD], [{"name": "a"}, {"name": "a", "request": "s"}], [("{use}[1]", 'Duplicate value: "a"')]),
        ([GOOD], [{"name": "a"}, {"name": "a"}], [("{use}[1]", 'Duplicate value: "a"')]),
        (
            [GOOD],
            [{"name": "b"}],
            [("{use}[0]", 'Not found: "b": must be one of the names in pod.spec.resourceClaims: a')],
        ),
        (
            [],
            [{"name": "b"}],
            [("{use}[0]", 'Not found: "b": must be one of the names in pod.spec.resourceClaims which is empty')],
        ),
        ([GOOD], [{}], [("{use}[0]", "Required value")]),
        ([GOOD, GOOD], [], [("{claim}[1].name", 'Duplicate value: "a"')]),
        (
            [{"name": "a"}],
            [],
            [("{claim}[0]", "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")],
        ),
        (
            [{**GOOD, "resourceClaimTemplateName": "y"}],
            [],
            [("{claim}[0]", "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")],
        ),
        ([{"resourceClaimName": "x"}], [], [("{claim}[0].name", "Required value")]),
    ],
)
@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_pods(kind, claims, uses, expected):
    top = "spec" if kind == "Pod" else "spec.template.spec"
    places = {"use": f"{top}.containers[0].resources.claims", "claim": f"{top}.resourceClaims"}
    problems = found(pod(claims, uses, kind))
    assert [path for path, _ in problems] == [path.format(**places) for path, _ in expected]
    assert all(text in message for (_, text), (_, message) in zip(expected, problems, strict=True))


@pytest.mark.parametrize("selector", ["x", {"a": [1]}])
def test_a_selector_of_another_shape_is_told(selector):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": selector, "template": template}
    ((path, text),) = found(
        {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "w"}, "spec": spec}
    )
    assert path == "spec.selector"
    assert text.endswith(": invalid label selector")


def test_a_step_of_zero_is_refused_here():
    policy = {"default": "1", "validRange": {"min": "1", "step": "0"}}
    device = {"name": "a", "allowMultipleAllocations": True, "capacity": {"m": {"value": "4", "requestPolicy": policy}}}
    value = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "d",
            "pool": {"name": "p", "resourceSliceCount": 1},
            "nodeName": "node-1",
            "devices": [device],
        },
    }
    assert found(value) == [
        (
            "spec.devices[0].capacity[m].requestPolicy.validRange.step",
            'Invalid value: "0": must be greater than zero',
        )
    ]


def test_kinds_without_rules_have_no_problems():
    documents = read(b"apiVersion: v1\nkind: Node\nmetadata: {name: N_}\n")
    assert validate_object(documents.nodes[0]) == []
