"""
The vectors of the specification as questions of the harness protocol.

They are `spec/vectors` of the repository, and part of the package where it is
installed from a wheel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from dra_alloc.errors import InputError
from dra_alloc.testing.comparison import compare
from dra_alloc.testing.drawing.questions import Answerer, HarnessQuestion, Json, as_asked, cel_judged

_INSTALLED: Final = Path(__file__).with_name("vectors")
_CHECKOUT: Final = Path(__file__).resolve().parents[2] / "spec" / "vectors"
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LISTS: Final[Mapping[str, list[Any]]] = {
    "claims": [],
    "classes": [],
    "slices": [],
    "allocated": [],
    "allocatedShared": [],
    "aggregated": [],
}


def folder() -> Path:
    """
    Return where the vectors are.

    Raises: InputError where this installation has none.
    """
    for place in (_INSTALLED, _CHECKOUT):
        if place.is_dir():
            return place
    raise InputError("this installation has no vectors", hint="install the wheel, or work in a checkout")


def vector_questions(release: str | None = None, channel: str | None = None) -> Iterator[HarnessQuestion]:
    """
    Return every vector that is a question of the protocol, of a release or channel only, if one is named.

    A minor such as 1.36 means all its patches; what has no release, as quantities, is of every one.
    """
    for area, make in _AREAS.items():
        for path in sorted((folder() / area).rglob("*.yaml")):
            case = yaml.load(path.read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - the safe loader, in C where it is there
            name = f"{area}/{path.relative_to(folder() / area).with_suffix('').as_posix()}"
            for question in make(name, case):
                asked = question.request
                if _is_of(asked.get("release"), release) and channel in (None, asked.get("channel", channel)):
                    yield question


def _is_of(given: str | None, release: str | None) -> bool:
    return given is None or release is None or f"{given}.".startswith(f"{release.removeprefix('v')}.")


def _rules(case: Mapping[str, Any], area: str) -> tuple[str, ...]:
    return tuple(sorted({f"{area} {each.partition('-')[0]}" for each in case.get("statements") or ()})) or (area,)


def _allocation(name: str, case: Mapping[str, Any]) -> Iterator[HarnessQuestion]:
    given = dict(case["given"])
    features = dict.fromkeys(given.get("features") or (), True)
    request = as_asked({**_LISTS, **given, "features": features})
    for entry in case["expected"]["upstream"]:
        answers = [_answer(each) for each in entry["answers"] if not each.get("panics") and not each.get("undecided")]
        for release, channels in entry["at"].items():
            for channel in channels if answers else ():
                asked = {**request, "release": str(release), "channel": channel}
                rules = tuple(f"vectors {each}" for each in _rules(case, "allocation"))
                yield HarnessQuestion(f"{name}@{release}/{channel}", asked, rules, _one_of(asked, answers))


def _answer(recorded: Mapping[str, Any]) -> Json:
    return {
        "results": recorded.get("results"),
        "err": recorded.get("error") or "",
        "onNode": bool(recorded.get("onNode")),
    }


def _one_of(request: Json, answers: list[Json]) -> Callable[[Json, Answerer], Json | None]:
    def judge(answer: Json, ask: Answerer) -> Json | None:
        for expected in answers:
            answers_to = _answerer(answer, ask)
            if compare(request, expected, answers_to, steps=False).same:
                return None
        return answers[0]

    return judge


def _answerer(answer: Json, ask: Answerer) -> Answerer:
    """Return what gives the answer that is there already first, and asks from then on."""
    known = [answer]
    return lambda other: known.pop() if known else ask(as_asked(other))


def _cel(name: str, case: Mapping[str, Any]) -> Iterator[HarnessQuestion]:
    given, expected = case["given"], case["expected"]
    names = {"compileError": "compile", "type": "type", "maxCost": "maxcost", "cost": "cost", "match": "match"}
    wanted = {names[key]: value for key, value in expected.items() if key in names}
    wanted |= {"err": expected["error"]} if "error" in expected else {}
    device = {**given["device"], "capacity": {k: str(v) for k, v in (given["device"].get("capacity") or {}).items()}}
    request = {
        "op": "cel",
        "expr": given["expression"],
        "release": str(given["release"]),
        "mode": given["mode"],
        "list": given["lists"],
        "device": device,
    }
    yield HarnessQuestion(name, request, ("vectors cel",), lambda answer, ask: cel_judged(wanted, answer))


def _quantity(name: str, case: Mapping[str, Any]) -> Iterator[HarnessQuestion]:
    given, expected = case["given"], case["expected"]
    if set(given) != {"text"} or not isinstance(given["text"], str):
        return
    names = {"text": "canonical", "value": "value", "error": "err"}
    wanted = {names[key]: value for key, value in expected.items() if key in names}
    if wanted:
        request = {"op": "quantity", "value": given["text"]}
        yield HarnessQuestion(
            name, request, ("vectors quantity",), lambda answer, ask: _quantity_judged(wanted, answer)
        )


def _quantity_judged(wanted: Json, answer: Json) -> Json | None:
    """Judge by what the vector says; what it does not say is not compared."""
    same = all(answer.get(key) == value and type(answer[key]) is type(value) for key, value in wanted.items())
    return None if same and ("err" in answer) == ("err" in wanted) else wanted


_AREAS: Final[Mapping[str, Callable[[str, Mapping[str, Any]], Iterator[HarnessQuestion]]]] = {
    "allocation": _allocation,
    "cel": _cel,
    "quantity": _quantity,
}
