"""
The harness answers every line, and says what is wrong with those that it cannot understand.
"""

from __future__ import annotations

import io
import json

import pytest
import yaml

from dra_alloc.cli.harness import reading
from dra_alloc.cli.harness.serve import answer, serve
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable
from tests.paths import ROOT


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ("[]", "a request is a JSON object"),
        ("{", "the request is not JSON: expecting property name enclosed in double quotes at character 2"),
        ("{\n", "the request is not JSON: expecting property name enclosed in double quotes at character 2"),
        ('{"a": "b', "the request is not JSON: unterminated string starting at character 7"),
        ('{"a": 1} {}', "the request is not JSON: extra data at character 10"),
        ('{"timeoutMs": NaN}', "the request is not JSON: NaN is no number of JSON"),
        ('{"timeoutMs": 1e400}', "the request has a number that is too large: 1e400"),
        ('{"timeoutMs": 1' + 6000 * "0" + "}", "the request has an integer of 6,001 digits"),
        (b"\xff\xfe", "the request is not UTF-8 at byte 1"),
        ('{"op": "quantity"}'.encode("utf-16"), "the request is not UTF-8 at byte 1"),
        ("[" * 100_000, "the request is nested too deep"),
        ('{"name": ' + "[" * 300 + "]" * 300 + "}", "the request is nested too deep: more than 200 levels"),
        ('{"op": "x"}', "unknown op 'x'"),
        ('{"op": ["x"]}', "unknown op ['x']"),
        ('{"slice": []}', "unknown keys: slice"),
        ('{"op": "cel", "expr": 1}', "expr has to be a string"),
        ('{"op": "cel"}', "expr is missing"),
        ('{"op": "cel", "expr": "true", "release": 1.36}', "release has to be a string"),
        ('{"op": "cel", "expr": "true", "list": "no"}', "list has to be true or false"),
        ('{"op": "cel", "expr": "true", "device": {"capacity": "1"}}', "device capacity has to be an object"),
        ('{"op": "cel", "expr": "true", "device": {"name": "x"}}', "unknown device keys: name"),
        ('{"op": "quantity"}', "value is missing"),
        ('{"op": "quantity", "value": 1}', "value has to be a string"),
        ('{"op": "validate"}', "object is missing"),
        ('{"op": "validate", "object": [], "gates": {}}', "object has to be an object"),
        ('{"op": "validate", "object": {}, "gates": {"X": true}}', "has no feature gate 'X'"),
        ('{"op": "validate", "object": {"apiVersion": "v1", "kind": "Pod"}}', "one object of resource.k8s.io"),
        ('{"claims": {}}', "claims has to be a list"),
        ('{"timeoutMs": true}', "timeoutMs has to be a number"),
        ('{"allocated": [["d", "p"]]}', "allocated[0] has to be a list of 3 strings"),
        ('{"allocatedShared": [["d", "p", "x"]]}', "allocatedShared[0] has to be a list of 4 strings"),
        ('{"aggregated": [{"id": ["d", "p", "x"]}]}', "aggregated[0] has to be {"),
        ('{"aggregated": [{"id": ["d"], "cap": {}}]}', "aggregated[0].id has to be a list of 3 strings"),
        ('{"aggregated": [{"id": ["d", "p", "x"], "cap": {"m": "z"}}]}', "aggregated[0].cap[m]: quantities must match"),
        ('{"claims": [5]}', "claims[0]: has to be an object"),
        ('{"node": {"metadata": 5}}', "node.metadata: expected an object (ObjectMeta), got the number 5"),
        ('{"slices": [{}, {"spec": {"driver": 5}}]}', "slices[1].spec.driver: expected a string, got the number 5"),
        ('{"classes": [{"a": 1}]}', "classes[0].a: unknown field"),
        ('{"classes": [{"api_version": "v1"}]}', "classes[0].api_version: unknown field"),
        ('{"taintRules": [{"spec": 1.5}]}', "taintRules[0].spec: expected an object (DeviceTaintRuleSpec)"),
        ('{"classes": [{"a": 1, "b": 1, "c": 1, "d": 1}]}', "classes[0].c: unknown field; and 1 more"),
        ('{"op": "cel", "expr": "true", "device": {"attributes": {"a": 5}}}', "device.attributes[a]: has to be"),
        ('{"op": "cel", "expr": "true", "device": {"capacity": {"a": "x"}}}', "device.capacity[a]: quantities"),
        ('{"timeoutMs": -1}', "timeoutMs has to be 0 or more"),
        ('{"features": {"DeviceTaints": "no"}}', "features.DeviceTaints has to be true or false"),
        ('{"op": "validate", "object": {}, "gates": {"DRADeviceTaints": 1}}', "gates.DRADeviceTaints has to be true"),
        ('{"channel": "x"}', "unknown channel 'x' (channels: auto, stable"),
        ('{"semantics": "x"}', "unknown semantics 'x' (semantics: upstream, intended)"),
        ('{"engine": "magic"}', "unknown engine 'magic'"),
        ('{"selectorLists": "no"}', "selectorLists has to be true or false"),
        ('{"selectorLists": true, "release": "1.35"}', "selectorLists: 1.35.10 has no list-typed attributes"),
        ('{"features": {"Magic": true}}', "features: unknown feature 'Magic' (known: "),
    ],
)
def test_what_cannot_be_understood_is_refused(request_, why):
    bad = answer(request_)["bad"]
    assert why in bad
    assert bad.isprintable()
    assert "pydantic" not in bad


def test_without_an_op_a_request_is_one_to_allocate():
    assert answer("{}") == answer('{"op": "allocate"}') == {"results": [], "n": 1, "verdict": "allocated"}


def test_the_name_is_echoed_with_an_answer_and_with_a_refusal():
    assert answer('{"name": "a", "op": "quantity", "value": "1Ki"}') == {"name": "a", "canonical": "1Ki", "value": 1024}
    assert answer('{"name": "b", "op": "x"}')["name"] == "b"


def test_blank_lines_have_no_answer():
    lines = ["\n", '{"op": "quantity", "value": "1"}\n', "  \n"]
    assert [json.loads(line) for line in serve(lines)] == [{"canonical": "1", "value": 1}]


def test_null_is_as_good_as_absent():
    answers = [answer('{"op": "allocate"}'), answer('{"claims": null, "node": null, "features": null, "engine": null}')]
    assert answers[0] == answers[1]


def validated(**spec):
    base = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "ns"}}
    return answer(json.dumps({"op": "validate", "object": {**base, "spec": spec}}))


def test_a_good_claim_has_no_errors_and_its_defaults():
    found = validated(devices={"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]})
    assert found["errors"] == []
    (request,) = found["defaulted"]["spec"]["devices"]["requests"]
    assert request["exactly"] == {"deviceClassName": "x", "allocationMode": "ExactCount", "count": 1}


def test_what_is_stored():
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}}
    old = {**head, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]}}}
    reserved = {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}

    def stored(**asked):
        found = answer(json.dumps({"op": "validate", "object": {**head, "spec": {}, "status": reserved}, **asked}))
        return found["stored"]["spec"]["devices"]["requests"], found["stored"].get("status", {})

    assert stored() == (None, {})
    assert stored(old={**old, "status": {"allocation": {}}}) == (None, {"allocation": {"devices": {}}})
    (request,), status = stored(old=old, subresource="status")
    assert (request["exactly"]["count"], status) == (1, reserved)


@pytest.mark.parametrize(
    ("effect", "since", "stored"),
    [("NoSchedule", "31", "31"), ("NoExecute", "31", ""), ("NoExecute", "30", "30")],
    ids=["as it was", "a new one", "a new one, and since when"],
)
def test_a_taint_of_another_effect_is_a_new_one(effect, since, stored):
    def rule(effect, day):
        taint = {"key": "k", "effect": effect, "timeAdded": f"2026-01-{day}T11:00:00Z"}
        spec = {"deviceSelector": {"driver": "d.io"}, "taint": taint}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "t"}, "spec": spec}

    asked = {"op": "validate", "release": "1.38", "object": rule(effect, since), "old": rule("NoSchedule", "31")}
    taint = answer(json.dumps(asked))["stored"]["spec"]["taint"]
    assert taint.get("timeAdded") == (f"2026-01-{stored}T11:00:00Z" if stored else None)


def test_what_is_stored_with_a_warning():
    spec = {"driver": "D.io", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    asked = {"op": "validate", "object": {**head, "spec": spec}}
    found = answer(json.dumps(asked))
    told = 'spec.driver: driver names should be lowercase; "D.io" contains uppercase characters'
    assert (found["errors"], found["warnings"]) == ([], [told])
    assert answer(json.dumps({**asked, "release": "1.34"}))["warnings"] == []


@pytest.mark.parametrize(
    ("release", "selector", "told"),
    [
        ("1.38", {}, ["spec.deviceSelector: an empty selector matches every device from every driver in the cluster"]),
        ("1.38", {"pool": "p"}, []),
        ("1.38", None, []),
        ("1.37", {}, []),
    ],
)
def test_a_taint_rule_for_every_device_is_stored_with_a_warning(release, selector, told):
    version = "v1" if release == "1.38" else "v1beta2"
    head = {"apiVersion": f"resource.k8s.io/{version}", "kind": "DeviceTaintRule", "metadata": {"name": "t"}}
    spec = {"deviceSelector": selector, "taint": {"key": "k", "effect": "NoSchedule"}}
    found = answer(json.dumps({"op": "validate", "release": release, "object": {**head, "spec": spec}}))
    assert (found["errors"], found["warnings"]) == ([], told)


def test_violations_are_in_the_words_of_the_api_server():
    devices = {"requests": [{"name": "R", "exactly": {"deviceClassName": "x", "count": -1}}, {"name": "s"}]}
    found = {(each["type"], each["field"]): each["detail"] for each in validated(devices=devices)["errors"]}
    count = found["FieldValueInvalid", "spec.devices.requests[0].exactly.count"]
    assert count == "must be greater than zero"
    assert ("FieldValueInvalid", "spec.devices.requests[0].name") in found
    assert ("FieldValueRequired", "spec.devices.requests[1]") in found


def test_what_is_no_object_of_the_api_cannot_be_decoded():
    (error,) = validated(devices={"requests": 5})["errors"]
    assert (error["type"], error["field"]) == ("BadRequest", "spec.devices.requests")


@pytest.mark.needs_go
def test_violations_are_those_of_the_api_server():
    files = sorted((ROOT / "spec" / "vectors" / "validation").glob("*.yaml"))
    given = [yaml.safe_load(file.read_text(encoding="utf-8"))["given"]["object"] for file in files]
    # The oracle's program knows the kinds of DRA; a real API server is asked for the others, by pod_fields.
    objects = [each for each in given if each["apiVersion"].startswith("resource.k8s.io/")][::3]
    requests = [
        {"op": "validate", "gates": {"DRAListTypeAttributes": lists}, "object": each}
        for each in objects
        for lists in (True, False)
    ]
    try:
        with Oracle("1.36.3") as oracle:
            theirs = list(oracle.batch(requests))
    except OracleUnavailable as reason:
        pytest.skip(f"needs go: {reason}")
    different = [
        (request, upstream["errors"], ours["errors"])
        for request, upstream in zip(requests, theirs, strict=True)
        if told(ours := answer(json.dumps(request))) != told(upstream)
    ]
    assert not different


def told(found):
    return sorted((each["type"], each["field"], each["detail"]) for each in found["errors"])


@pytest.mark.parametrize("ending", [b"", b"\n", b'\n{"op": "quantity", "value": "1Ki"}'])
@pytest.mark.parametrize("length", [99, 100, 101, 102, 1000, 100_000])
def test_a_line_has_a_limit_and_what_follows_it_is_answered(length, ending, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST_LINE", 100)
    read = list(reading.lines_of(io.BytesIO(b"x" * length + ending)))
    assert max(map(len, read)) <= 101
    answers = [json.loads(each) for each in serve(read)]
    assert ("longer than 100 bytes" in answers[0]["bad"]) == (length + (ending[:1] == b"\n") > 100)
    assert [each.get("canonical") for each in answers[1:]] == (["1Ki"] if len(ending) > 1 else [])
