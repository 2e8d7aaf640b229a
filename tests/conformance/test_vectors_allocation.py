"""
Every vector of the allocator: upstream's recorded answers, release by release, and what is intended.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.profiles import parse_release, profile
from dra_alloc.testing.comparison import comparable, compare
from dra_alloc.traits import TRAITS, Trait
from fuzz.differential import ours
from fuzz.promote import request_of
from spec.case import UNCOUNTED, VECTORS, AllocationCase, Answer, cases

CASES = [
    pytest.param(case, id=path.relative_to(VECTORS / "allocation").with_suffix("").as_posix())
    for path, case in cases("allocation")
    if isinstance(case, AllocationCase)
]
DEFECTS = {trait for trait, records in TRAITS.items() if any(record.defect for record in records)}


def asked(case: AllocationCase, release: str, channel: str, **more: Any) -> dict[str, Any]:
    return {**_request_of(case), "release": release, "channel": channel, "engine": "first-fit", **more}


def _request_of(case: AllocationCase) -> dict[str, Any]:
    if id(case) not in _requests:
        given = case.given.model_dump(by_alias=True, exclude_defaults=True, mode="json")
        _requests[id(case)] = {key: value for key, value in request_of(given).items() if key != "timeoutMs"}
    return _requests[id(case)]


_requests: dict[int, dict[str, Any]] = {}


def wire(answer: Answer) -> dict[str, Any]:
    """The answer in the harness's words."""
    return {
        "results": None if answer.results is None else list(answer.results),
        "err": answer.error or "",
        "onNode": bool(answer.on_node),
        "n": answer.steps,
    }


def _intended(parameter: Any) -> bool:
    return parameter.values[0].expected.intended is not None


def places(case: AllocationCase) -> list[tuple[str, str]]:
    """Releases and channels at which upstream lives to answer."""
    return [
        (release, str(channel))
        for entry in case.expected.upstream
        if not any(answer.panics for answer in entry.answers)
        for release, channels in entry.at.items()
        for channel in channels
    ]


@pytest.mark.parametrize("engine", ["first-fit", "auto"])
@pytest.mark.parametrize("case", CASES)
def test_upstream(case: AllocationCase, engine: str) -> None:
    wrong = []
    for entry in case.expected.upstream:
        if any(answer.panics for answer in entry.answers):
            continue  # nobody wants that answer; what is intended is checked below
        for release, channels in entry.at.items():
            # The plain search shows every channel; the engines are the same for all of them.
            for channel in channels if engine == "first-fit" else channels[-1:]:
                asking = asked(case, release, str(channel), engine=engine)
                steps = engine == "first-fit" and (release, str(channel)) not in UNCOUNTED
                verdicts = [compare(asking, wire(answer), ours, steps=steps) for answer in entry.answers]
                if not any(verdict.same for verdict in verdicts):
                    wrong.append((release, str(channel), verdicts[0].upstream, verdicts[0].ours))
    assert not wrong


def said(answer: dict[str, Any], case: AllocationCase) -> dict[str, Any]:
    """An answer as what is intended is written."""
    if answer.get("err"):
        return {"error": answer["err"]}
    if answer.get("results") is None:
        return {"cannot": True}
    picks: dict[str, list[str]] = {}
    for claim, result in zip(case.given.claims, answer["results"], strict=True):
        for each in result.get("devices", {}).get("results", ()):
            name = f"{claim['metadata']['name']}/{each['request']}"
            picks.setdefault(name, []).append(f"{each['driver']}/{each['pool']}/{each['device']}")
    return {"picks": picks}


@pytest.mark.parametrize("case", [case for case in CASES if _intended(case)])
def test_intended(case: AllocationCase) -> None:
    assert case.expected.intended is not None
    expected = case.expected.intended.model_dump(exclude_none=True, exclude={"why"}, mode="json")
    for release, channel in places(case):
        if profile(release, (), channel).shows(Trait.NO_DISTINCT) and "distinct" in str(case.given.claims):
            continue  # that allocator does not know what is asked for
        found = said(ours(asked(case, release, channel, semantics="intended")), case)
        assert found == expected, (release, channel)


@pytest.mark.parametrize("case", [case for case in CASES if not _intended(case)])
def test_semantics_make_no_difference_where_none_is_stated(case: AllocationCase) -> None:
    for release, channel in places(case)[::3]:
        answers = [
            comparable(ours(asked(case, release, channel, semantics=each)), steps=False)
            for each in ("upstream", "intended")
        ]
        assert answers[0] == answers[1], (release, channel)


@pytest.mark.parametrize("case", CASES)
def test_a_vector_of_a_defect_shows_it(case: AllocationCase) -> None:
    """Upstream answers as intended where it lacks the defect, and otherwise somewhere where it has it."""
    shown = DEFECTS & set(case.traits)
    assert bool(shown) == (case.expected.intended is not None)
    if case.expected.intended is None:
        return
    expected = case.expected.intended.model_dump(exclude_none=True, exclude={"why"}, mode="json")
    shows_it = False
    for entry in case.expected.upstream:
        answer = wire(entry.answers[0])
        spares_others = answer["onNode"] or not answer["err"] or Trait.ALL_BAD_POOL_FATAL not in shown
        same = said(answer, case) == expected and spares_others
        for release, channels in entry.at.items():
            for channel in channels:
                chosen = profile(parse_release(release), (), str(channel))
                if shown & chosen.traits:
                    shows_it |= not same
                elif not chosen.shows(Trait.NO_DISTINCT):
                    assert same, (release, channel)
    assert shows_it
