"""
What makes two answers the same answer, with what is random in upstream's taken out by named rules.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api import Quantity, QuantityError
from dra_alloc.profiles import Feature, Trait, profile
from dra_alloc.rules import PANICS

Json = dict[str, Any]
_Answer = Callable[[Json], Json]

#: What upstream answers differently from run to run, and what is compared instead.
RANDOM_IN_UPSTREAM: Final[Mapping[str, str]] = {
    "share-id": "share IDs are random UUIDs: only that there is one is compared",
    "bad-attribute": "attributes are converted in map order: which of several bad ones is named is not compared",
    "bad-capacity": "capacities are checked in map order: which of several bad ones is named is not compared",
    "growing": "amounts that grow do so in map order on devices with several capacities: such answers are not compared",
    "pool-order": "channels that do not sort pools try them in map order: one order must give upstream's answer",
    "panic": "upstream crashes: only that ours says so is compared",
    "step-limit": "upstream ran out of time, also with more of it: not compared, ours has a verdict",
    "gave-up": "ours ran out of time on a search of thousands of steps: not compared",
    "both-gave-up": "upstream ran out of time and ours out of its budget: not compared",
}
#: Rules under which nothing was compared: such cases do not count as comparisons.
NOT_COMPARED: Final = frozenset(("step-limit", "gave-up", "both-gave-up"))

#: Longer searches are compared by their answer; ours then uses bounds, so that one case cannot take a minute.
STEPS_COMPARED: Final = 4000
OUR_MS: Final = 2000

_BAD_ATTRIBUTE: Final = re.compile(r"attribute \S+: (?=unsupported attribute value|parse semantic).*")
_BAD_CAPACITY: Final = re.compile(r"(?<=: capacity )\"[^\"]+\": capacity (request|value) .*")
#: The error of a search that ran out of its time.
ABORTED: Final = re.compile("operation (aborted|interrupted)")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether two answers agree, and by which rule if not word by word."""

    same: bool
    rule: str = ""
    upstream: Json | None = None
    ours: Json | None = None


def comparable(answer: Mapping[str, Any], *, steps: bool = True) -> Json:
    """Return what is compared of an answer."""
    kept: Json = {"results": _results(answer.get("results"))}
    if "panic" in answer or "bad" in answer or "crash" in answer:
        return {key: answer[key] for key in ("panic", "bad", "crash") if key in answer}
    error = answer.get("err")
    if error not in (None, ""):
        kept["err"] = _BAD_ATTRIBUTE.sub("attribute *", error) if isinstance(error, str) else error
    if answer.get("onNode"):
        kept["onNode"] = answer["onNode"]
    if steps and answer.get("n") is not None:
        kept["n"] = answer["n"]
    return kept


def _results(results: Any) -> Any:
    return [_normal(each) for each in results] if isinstance(results, list) else results


def _normal(value: Any) -> Any:
    if isinstance(value, list):
        return [_normal(each) for each in value]
    if not isinstance(value, dict):
        return value
    made: Json = {}
    for key, inner in value.items():
        if key == "shareID":
            made[key] = "*"
        elif key == "consumedCapacity" and isinstance(inner, dict):
            made[key] = {name: _amount(amount) for name, amount in inner.items()}
        elif key == "parameters":
            made[key] = inner
        elif (normal := _normal(inner)) not in (None, [], {}, ""):
            made[key] = normal
    return made


def _amount(value: Any) -> Any:
    try:
        return Quantity.parse(value).nano if isinstance(value, str) else value
    except QuantityError:
        return value


def _same(one: Json, other: Json) -> bool:
    """Return whether two answers are the same as JSON, in which 1 is not true."""
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def compare(request: Json, upstream: Mapping[str, Any], answer: _Answer, *, steps: bool = True) -> Agreement:
    """
    Return whether our answer to the request is upstream's.

    `answer` gives ours; it is asked again for other pool orders where upstream's is random.
    """
    if ABORTED.search(upstream.get("err") or ""):
        ours = answer({**request, "engine": "auto", "timeoutMs": OUR_MS})
        rule = "both-gave-up" if ours.get("verdict") == "undecided" else "step-limit"
        return Agreement("verdict" in ours, rule, dict(upstream), ours)
    bounded = {**request, "engine": "auto", "timeoutMs": OUR_MS}
    if (upstream.get("n") or 0) > STEPS_COMPARED:
        request, steps = bounded, False
    answered = answer(request)
    if upstream.get("n") is None:  # the allocator keeps no statistics: only our own search tells that it is a long one
        steps = False
        if answered.get("verdict") == "undecided":
            request, answered = bounded, answer(bounded)
    theirs = comparable(upstream, steps=steps)
    ours = comparable(answered, steps=steps)
    if _same(ours, theirs):
        return Agreement(True, "", theirs, ours)
    if "panic" in theirs and PANICS in str(ours.get("err")):
        return Agreement(True, "panic", theirs, ours)
    if not steps and answered.get("verdict") == "undecided":
        return Agreement(True, "gave-up", theirs, ours)
    if _same(_without_capacity(ours), _without_capacity(theirs)):
        return Agreement(True, "bad-capacity", theirs, ours)
    on = [each for each in Feature if (request.get("features") or {}).get(str(each))]
    chosen = profile(request["release"], on, request.get("channel", "auto"))
    if chosen.shows(Trait.INPUT_ORDER):
        for other in pool_orders(request):
            # The order that upstream had ends as soon as upstream did; in another one a search may be a long one.
            found = comparable(answer({**other, "timeoutMs": OUR_MS}), steps=steps)
            if _same(found, theirs) or ("panic" in theirs and PANICS in str(found.get("err"))):
                return Agreement(True, "pool-order", theirs, ours)
    if chosen.shows(Trait.AMOUNTS_GROW) and _grows_at_random(request):
        return Agreement(True, "growing", theirs, ours)
    return Agreement(False, "", theirs, ours)


def _without_capacity(answer: Json) -> Json:
    """Return the answer without the name of the capacity that its error is about, and what is wrong with it."""
    error = answer.get("err")
    return {**answer, "err": _BAD_CAPACITY.sub("*", error)} if isinstance(error, str) else answer


def _grows_at_random(request: Json) -> bool:
    """Return whether an amount could grow on a device with several capacities; Spec: GROW-2."""
    requests = [each for claim in request.get("claims") or () for each in claim["spec"]["devices"]["requests"]]
    asks = [ask for each in requests for ask in (each.get("exactly") or {}, *(each.get("firstAvailable") or ()))]
    amounts = [amount for ask in asks for amount in ((ask.get("capacity") or {}).get("requests") or {}).values()]
    return any(Quantity.parse(str(amount)).wide for amount in amounts) and any(
        device.get("allowMultipleAllocations") and len(device.get("capacity") or ()) > 1
        for each in request.get("slices") or ()
        for device in (each.get("spec") or {}).get("devices") or ()
    )


def pool_orders(request: Json) -> Iterator[Json]:
    """Return the request with its slices rearranged for every order of pools."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for each in request.get("slices") or ():
        spec = each.get("spec") or {}
        pool = (spec.get("driver", ""), (spec.get("pool") or {}).get("name", ""))
        groups.setdefault(pool, []).append(each)
    for order in itertools.permutations(groups.values()):
        yield {**request, "slices": [each for group in order for each in group]}
