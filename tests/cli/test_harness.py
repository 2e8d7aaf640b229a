"""
The harness answers every line, and says what is wrong with those that it cannot understand.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cli.harness import answer, serve


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ("[]", "a request is a JSON object"),
        ("{", "Expecting property name"),
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
        ('{"claims": {}}', "claims has to be a list"),
        ('{"timeoutMs": true}', "timeoutMs has to be a number"),
        ('{"allocated": [["d", "p"]]}', "allocated has to be a list of 3 strings"),
        ('{"allocatedShared": [["d", "p", "x"]]}', "allocatedShared has to be a list of 4 strings"),
        ('{"aggregated": [{"id": ["d", "p", "x"]}]}', "an entry of aggregated has the form"),
        ('{"engine": "magic"}', "unknown engine 'magic'"),
        ('{"features": {"Magic": true}}', "'Magic' is not a valid Feature"),
    ],
)
def test_what_cannot_be_understood_is_refused(request_, why):
    assert why in answer(request_)["bad"]


def test_the_name_is_echoed_with_an_answer_and_with_a_refusal():
    assert answer('{"name": "a", "op": "quantity", "value": "1Ki"}') == {"name": "a", "canonical": "1Ki", "value": 1024}
    assert answer('{"name": "b", "op": "x"}')["name"] == "b"


def test_blank_lines_have_no_answer():
    lines = ["\n", '{"op": "quantity", "value": "1"}\n', "  \n"]
    assert [json.loads(line) for line in serve(lines)] == [{"canonical": "1", "value": 1}]


def test_null_is_as_good_as_absent():
    answers = [answer('{"op": "allocate"}'), answer('{"claims": null, "node": null, "features": null, "engine": null}')]
    assert answers[0] == answers[1]
