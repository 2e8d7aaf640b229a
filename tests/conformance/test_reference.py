"""
The reference definition: held against upstream's recorded answers, and our answers held against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fuzz.promote import request_of
from fuzz.target import run
from fuzz.targets import legal_by_reference, verdict_parity
from spec.case import VECTORS, AllocationCase, Answer, cases
from spec.reference.answers import answers, check
from spec.reference.question import NotCovered, read

RELEASE = "1.37.2"
CHANNELS = ("incubating", "experimental")


def vectors() -> Iterator[Any]:
    """Vectors whose answer at the newest release is devices or none, or has such a thing as its intention."""
    for path, case in cases("allocation"):
        assert isinstance(case, AllocationCase)
        name = path.relative_to(VECTORS / "allocation").with_suffix("").as_posix()
        for channel in CHANNELS:
            found = [e.answers[0] for e in case.expected.upstream if channel in e.at.get(RELEASE, ())]
            if found:
                yield pytest.param(case, found[0], id=f"{name}-{channel}")


def expected(case: AllocationCase, answer: Answer) -> Any:
    """Who gets what, request by request; None if nobody gets anything, `...` if the question ends otherwise."""
    intended = case.expected.intended
    if intended is not None:
        if intended.error is not None:
            return ...
        picks = intended.picks
        return None if picks is None else {name: list(keys) for name, keys in picks.items()}
    if answer.results is None:
        return None if answer.cannot or answer.on_node else ...
    made: dict[str, list[str]] = {}
    for claim, result in zip(case.given.claims, answer.results, strict=True):
        for each in result.get("devices", {}).get("results", ()):
            name = f"{claim['metadata']['name']}/{each['request']}"
            made.setdefault(name, []).append(f"{each['driver']}/{each['pool']}/{each['device']}")
    return made


def request(case: AllocationCase) -> dict[str, Any]:
    return request_of(case.given.model_dump(by_alias=True, exclude_defaults=True, mode="json"))


@pytest.mark.parametrize(("case", "answer"), list(vectors()))
def test_it_has_the_answers_of_the_vectors(case: AllocationCase, answer: Answer) -> None:
    wanted = expected(case, answer)
    if wanted is ...:
        return
    try:
        question = read(request(case))
        first = next(answers(question), None)
    except NotCovered:
        return
    made: dict[str, list[str]] | None = None
    if first is not None:
        made = {}
        for pick in first:
            name = f"{question.claims[pick.wanted.claim].metadata.name}/{pick.wanted.full}"
            made.setdefault(name, []).append("/".join(pick.offer.key))
    assert made == wanted


def test_enough_vectors_are_covered() -> None:
    covered = 0
    for parameter in vectors():
        case, answer = parameter.values
        assert isinstance(case, AllocationCase)
        assert isinstance(answer, Answer)
        try:
            read(request(case))
        except NotCovered:
            continue
        covered += expected(case, answer) is not ...
    assert covered > 200


@pytest.mark.parametrize("target", [legal_by_reference.TARGET, verdict_parity.TARGET], ids=lambda target: target.name)
def test_our_answers_are_those_of_the_reference(target: Any) -> None:
    found = run(target, seed=20, cases=40)
    assert not found.broken
    assert found.kinds["legal"] + found.kinds["allocated"] >= 5


TAINT = {"key": "bad", "effect": "NoSchedule"}
REQUEST: dict[str, Any] = {
    "features": {"DeviceTaints": True, "ConsumableCapacity": True},
    "classes": [{"metadata": {"name": "any"}}],
    "claims": [
        {
            "metadata": {"name": "c"},
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 2}}
                    ],
                    "constraints": [{"matchAttribute": "d/at"}],
                }
            },
        }
    ],
    "slices": [
        {
            "metadata": {"name": "s"},
            "spec": {
                "driver": "d",
                "nodeName": "node-1",
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "devices": [
                    {"name": "a", "attributes": {"at": {"string": "u"}}},
                    {"name": "b", "attributes": {"at": {"string": "u"}}},
                    {"name": "other", "attributes": {"at": {"string": "v"}}},
                    {"name": "tainted", "attributes": {"at": {"string": "u"}}, "taints": [TAINT]},
                ],
            },
        }
    ],
    "allocated": [["d", "p", "held"]],
}


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        (["a", "b"], ""),
        (["b", "a"], "not in the order of the pools"),
        (["a"], "r has 1 devices"),
        (["a", "a"], "is taken already"),
        (["a", "other"], "a constraint of claim c does not hold"),
        (["a", "tainted"], "has a taint that r does not tolerate"),
        (["a", "gone"], "no pool offers"),
    ],
)
def test_it_says_what_is_wrong(devices: list[str], words: str) -> None:
    said = check(read(REQUEST), [[("r", ("d", "p", name)) for name in devices]])
    assert bool(said) == bool(words)
    assert words in "; ".join(said)


def test_it_lists_every_answer() -> None:
    found = [[pick.offer.key[2] for pick in answer] for answer in answers(read(REQUEST))]
    assert found == [["a", "b"]]
