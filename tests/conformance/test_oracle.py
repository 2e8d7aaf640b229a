"""The Go oracle answers, says what went wrong, and agrees with what was recorded from upstream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable, newest, resolve, versions
from fuzz.replay import comparable
from tests.paths import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDED = "1.36.2"
ONE_DEVICE: dict[str, Any] = {
    "channel": "stable",
    "claims": [
        {
            "metadata": {"name": "c"},
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "r", "exactly": {"deviceClassName": "k", "allocationMode": "ExactCount", "count": 1}}
                    ]
                }
            },
        }
    ],
    "classes": [{"metadata": {"name": "k"}}],
    "slices": [
        {
            "metadata": {"name": "s"},
            "spec": {
                "driver": "d",
                "nodeName": "node-1",
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "a"}],
            },
        }
    ],
}


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """The oracle of the release at which the cases were recorded."""
    with Oracle(RECORDED) as opened:
        try:
            opened.ask({"op": "quantity", "value": "1"})
        except OracleUnavailable as reason:
            pytest.skip(f"needs go: {reason}")
        yield opened


def test_a_minor_names_its_newest_patch() -> None:
    assert [version.rpartition(".")[0] for version in newest()] == ["1.34", "1.35", "1.36", "1.37", "1.38.0-beta"]
    assert resolve("1.36") in newest()
    assert resolve(RECORDED) == RECORDED
    assert {RECORDED, "1.37.0-alpha.2"} <= set(versions())


def test_an_unknown_release_is_named() -> None:
    with pytest.raises(OracleUnavailable, match=r"no release '1\.20'"):
        resolve("1.20")


@pytest.mark.needs_go
def test_it_allocates_and_echoes_the_name(oracle: Oracle) -> None:
    answer = oracle.ask(ONE_DEVICE | {"name": "one"})
    assert answer["name"] == "one"
    assert answer["verdict"] == "allocated"
    assert [entry["device"] for entry in answer["results"][0]["devices"]["results"]] == ["a"]
    assert oracle.ask(ONE_DEVICE | {"allocated": [["d", "p", "a"]]})["verdict"] == "unsatisfiable"


@pytest.mark.needs_go
def test_a_panic_of_upstream_is_an_answer(oracle: Oracle) -> None:
    broken = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r"}]}}}
    answer = oracle.ask(ONE_DEVICE | {"name": "broken", "claims": [broken]})
    assert "nil pointer" in answer["panic"]
    assert "k8s.io/dynamic-resource-allocation" in answer["where"]
    assert answer["name"] == "broken"
    assert oracle.ask(ONE_DEVICE)["verdict"] == "allocated"


@pytest.mark.needs_go
@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"op": "quantity", "value": "1", "colour": "red"}, "unknown keys: colour"),
        ({"op": "dance"}, "unknown op"),
        (ONE_DEVICE | {"channel": "beta"}, "unknown channel"),
        (ONE_DEVICE | {"features": {"TimeTravel": True}}, "1.36 has no TimeTravel"),
        (ONE_DEVICE | {"semantics": "intended"}, "is not upstream's"),
        ({"op": "cel"}, "expr: missing"),
    ],
)
def test_what_cannot_be_understood_is_refused(oracle: Oracle, request_: dict[str, Any], why: str) -> None:
    assert why in oracle.ask(request_)["bad"]


@pytest.mark.needs_go
def test_answers_come_in_the_order_of_the_questions(oracle: Oracle) -> None:
    answers = oracle.batch({"op": "quantity", "value": f"{number}Ki", "name": str(number)} for number in range(500))
    assert [(answer["name"], answer["value"]) for answer in answers] == [(str(n), n * 1024) for n in range(500)]


@pytest.mark.needs_go
def test_a_program_that_dies_is_started_again(oracle: Oracle) -> None:
    running = oracle._clients["allocator"]._running
    assert running is not None
    running._child.kill()
    running._child.wait()
    answers = list(oracle.batch({"op": "quantity", "value": str(number), "name": str(number)} for number in range(5)))
    assert "crash" in answers[0]
    assert [answer.get("value") for answer in answers[1:]] == [1, 2, 3, 4]


@pytest.mark.needs_go
def test_selectors_tell_their_cost_and_errors(oracle: Oracle) -> None:
    device = {"driver": "d", "attributes": {"s": {"string": "x"}}}
    assert oracle.ask({"op": "cel", "expr": 'device.driver == "d"', "device": device})["match"] is True
    missing = oracle.ask({"op": "cel", "expr": 'device.attributes["d"].t', "device": device})
    assert missing["err"] == "no such key: t"
    assert "must evaluate to bool" in oracle.ask({"op": "cel", "expr": "1", "device": device})["compile"]


@pytest.mark.needs_go
@pytest.mark.needs_shared
def test_it_repeats_the_reported_cases(oracle: Oracle) -> None:
    assert SHARED is not None
    rows = [json.loads(line) for line in (SHARED / "cases" / "reported.jsonl").read_text().splitlines()]
    # The exponential ones only repeat that time ran out.
    rows = [row for row in rows if "aborted" not in row["expected"][RECORDED].get("err", "")]
    answers = oracle.batch(row["input"] for row in rows)
    different = [
        row["name"]
        for row, answer in zip(rows, answers, strict=True)
        if comparable(row["expected"][RECORDED]) != comparable(answer)
    ]
    assert len(rows) > 150
    assert different == []
