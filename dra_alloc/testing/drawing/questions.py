"""
What an implementation is asked: random questions, answered by us, and vectors, answered by the specification.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.comparison import comparable, compare
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.testing.drawing.features import features
from dra_alloc.testing.drawing.stripping import OF_CONSTRAINTS

Json: TypeAlias = dict[str, Any]
#: Asks an implementation one question.
Answerer: TypeAlias = Callable[[Json], Json]

#: The rule that a feature of a random case exercises; what else a case has is "picks".
RULES: Final[Mapping[str, str]] = {
    "request.adminAccess": "admin access",
    "All": "all devices",
    "firstAvailable": "alternatives",
    "bindingConditions": "binding conditions",
    "compatibilityGroups": "compatibility groups",
    "config": "config",
    "allowMultipleAllocations": "consumable capacity",
    "requestPolicy": "consumable capacity",
    "request.capacity": "consumable capacity",
    "allocatedShared": "consumable capacity",
    "aggregated": "consumable capacity",
    "consumesCounters": "counters",
    "sharedCounters": "counters",
    "allocated": "exclusive use",
    "listAttribute": "list attributes",
    **{wire: rule for rule, wire in OF_CONSTRAINTS.items()},
    "bindsToNode": "nodes",
    "nodeSelector": "nodes",
    "perDeviceNodeSelection": "nodes",
    "severalGenerations": "pools",
    "severalPools": "pools",
    "severalSlices": "pools",
    "request.selectors": "selectors",
    "request.tolerations": "taints",
    "taints": "taints",
}
_PICKS: Final = "picks"
#: What dra-alloc alone understands: no other implementation is asked it.
_OURS: Final = ("engine", "selectorLists", "semantics", "timeoutMs")


@dataclass(frozen=True, slots=True)
class HarnessQuestion:
    """
    A request, the rules that it exercises, and how an answer is judged.

    `judge` takes the answer and a way to ask more; it returns what was expected
    where the answer is another, and None where it is right. `shrinks` says that
    parts of the request may be left out and the question stays one.
    """

    name: str
    request: Json
    rules: tuple[str, ...]
    judge: Callable[[Json, Answerer], Json | None]
    again: Callable[[Json], HarnessQuestion] | None = None


def as_asked(request: Mapping[str, Any]) -> Json:
    """Return an `allocate` request in the words of the protocol: with its op, without what is ours alone."""
    return {"op": "allocate", **{key: each for key, each in request.items() if key not in _OURS}}


def rules_of(request: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the rules that a random allocate request exercises."""
    return tuple(sorted({RULES[each] for each in features(request) if each in RULES})) or (_PICKS,)


def random_questions(dialect: Dialect, seed: int, count: int, ours: Answerer) -> Iterator[HarnessQuestion]:
    """
    Return so many random allocate questions, each followed by one of its selectors on one of its devices.

    Those that we cannot decide are left out.
    """
    for request in itertools.islice(random_requests(seed, dialect), count):
        name = request.pop("name")
        asked = as_asked(request)
        expected = ours(asked)
        if expected.get("verdict") != "undecided":
            yield _allocate(name, asked, ours, expected)
        selector = _selector(asked)
        if selector is not None:
            yield _cel(name, selector, ours)


def _allocate(name: str, request: Json, ours: Answerer, known_answer: Json | None = None) -> HarnessQuestion:
    def judge(answer: Json, ask: Answerer) -> Json | None:
        expected = known_answer or ours(request)
        if expected.get("verdict") == "undecided":
            return None  # we do not know either
        known = [answer]
        found = compare(request, expected, lambda other: known.pop() if known else ask(as_asked(other)), steps=False)
        return None if found.same else comparable(expected, steps=False)

    return HarnessQuestion(name, request, rules_of(request), judge, lambda smaller: _allocate(name, smaller, ours))


def _selector(request: Json) -> Json | None:
    """Return the first selector of a request as a question of op `cel`, about the first device; None without one."""
    expressions = [
        each["cel"]["expression"]
        for claim in request["claims"]
        for asked in claim["spec"]["devices"]["requests"]
        for ask in [asked.get("exactly") or {}, *asked.get("firstAvailable", ())]
        for each in ask.get("selectors", ())
        if each.get("cel")
    ]
    devices = [
        (each["spec"]["driver"], device) for each in request["slices"] for device in each["spec"].get("devices", ())
    ]
    if not expressions or not devices:
        return None
    driver, device = devices[0]
    shown = {
        "driver": driver,
        "attributes": device.get("attributes", {}),
        "capacity": {key: each["value"] for key, each in device.get("capacity", {}).items()},
    }
    if "allowMultipleAllocations" in device:
        shown["multi"] = device["allowMultipleAllocations"]
    switch = bool(request["features"].get("ListTypeAttributes"))
    return {"op": "cel", "expr": expressions[0], "release": request["release"], "list": switch, "device": shown}


def _cel(name: str, request: Json, ours: Answerer) -> HarnessQuestion:
    return HarnessQuestion(f"{name}/cel", request, ("cel",), lambda answer, ask: cel_judged(ours(request), answer))


#: What an answer to op `cel` may lack, an implementation's or a recorded one: then it is not compared.
_OPTIONAL: Final = ("cost", "maxcost")
_KEYS: Final = ("compile", "type", "maxcost", "cost", "match", "err")
_SYNTAX: Final = "Syntax error"


def cel_judged(expected: Json, answer: Json) -> Json | None:
    """
    Return what was expected of a selector where the answer is another; costs that one of both lacks are not compared.

    Of syntax errors only the place is compared: what a parser then says differs from version to version.
    """
    for key in _KEYS:
        wanted, found = expected.get(key), answer.get(key)
        if (wanted == found and type(wanted) is type(found)) or (
            key in _OPTIONAL and (wanted is None or found is None)
        ):
            continue
        if key == "compile" and _SYNTAX in str(wanted) and str(found).startswith(_place(str(wanted))):
            continue
        return expected
    return None


def _place(text: str) -> str:
    return (
        text[: text.rindex(_SYNTAX) + len(_SYNTAX)] if text.endswith(_SYNTAX) else text.partition(_SYNTAX)[0] + _SYNTAX
    )
