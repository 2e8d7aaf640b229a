"""
Random devices in wire form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from dra_alloc.testing.drawing.dialect import Mix
from dra_alloc.testing.drawing.draw import Chooser
from dra_alloc.testing.drawing.number_texts import WIDE

Json: TypeAlias = dict[str, Any]

#: Names of attributes; each usually has one kind of value, so that constraints and selectors fit now and then.
ATTRIBUTES: Final = ("a", "b", "c")
_STRINGS: Final = ("u", "v", "w")
_GROUPS: Final = ("whole", "half", "quarter")
_VERSIONS: Final = ("1.0.0", "1.0.0+b", "2.0.0")


@dataclass(frozen=True, slots=True)
class Publisher:
    """What the devices of one pool have in common: driver, counter sets, and whether lists are known."""

    driver: str
    counter_sets: Sequence[Json]
    lists: bool


def device(name: str, publisher: Publisher, draw: Chooser, mix: Mix) -> Json:
    """Return a random device of the publisher."""
    made: Json = {"name": name}
    attributes = _attributes(publisher, draw, mix)
    if attributes:
        made["attributes"] = attributes
    if mix.has(draw, "capacity"):
        made["capacity"] = {key: _capacity(draw, mix) for key in ("mem", "cpu")[: draw.integer(1, 2)]}
    if mix.has(draw, "shareable"):
        made["allowMultipleAllocations"] = True
    elif draw.chance(0.02):
        made["allowMultipleAllocations"] = False
    if publisher.counter_sets and draw.chance(0.85):
        made["consumesCounters"] = _uses(publisher.counter_sets, draw, mix)
    if mix.has(draw, "taints"):
        made["taints"] = [_taint(draw) for _ in range(draw.integer(1, 2))]
    if mix.has(draw, "binding-conditions"):
        made["bindingConditions"] = ["ready", "attached"][: draw.integer(1, 2)]
        made["bindingFailureConditions"] = ["failed"]
    if mix.has(draw, "binds-to-node"):
        made["bindsToNode"] = draw.chance(0.9)
    return made


def _attributes(publisher: Publisher, draw: Chooser, mix: Mix) -> Json:
    made: Json = {}
    for name in ATTRIBUTES:
        if not draw.chance(0.75):
            continue
        key = name
        if mix.has(draw, "foreign-attributes"):
            key = f"{draw.choice((publisher.driver, publisher.driver, 'ex.io'))}/{name}"
        if mix.has(draw, "odd-attributes"):
            made[key] = _odd(draw, lists=publisher.lists)
        elif publisher.lists and mix.has(draw, "lists"):
            made[key] = _list(name, draw)
        else:
            made[key] = _scalar(name, draw)
    return made


def _scalar(name: str, draw: Chooser) -> Json:
    if draw.chance(0.1):
        name = draw.choice("abcd")
    if name == "a":
        return {"string": draw.choice(_STRINGS)}
    if name == "b":
        return {"int": draw.integer(1, 2)}
    if name == "c":
        return {"version": draw.choice(_VERSIONS)}
    return {"bool": draw.chance(0.5)}


def _list(name: str, draw: Chooser) -> Json:
    length = draw.integer(1, 3)
    if name == "a":
        return {"strings": draw.sample(_STRINGS, length)}
    if name == "b":
        return {"ints": draw.sample((1, 2, 3), length)}
    if draw.chance(0.8):
        return {"versions": draw.sample(_VERSIONS, length)}
    return {"bools": draw.sample((True, False), length)}


def _odd(draw: Chooser, *, lists: bool) -> Json:
    options: list[Json] = [{}, {"version": "1.x"}, {"string": ""}]
    if lists:
        options += [{"ints": []}, {"strings": []}, {"versions": ["1.0.0", "1"]}]
    return draw.choice(options)


def _capacity(draw: Chooser, mix: Mix) -> Json:
    made: Json = {"value": draw.choice(("1", "2", "3", "4", "6", "8", "4500m"))}
    if mix.has(draw, "request-policy"):
        made["requestPolicy"] = _policy(draw)
        if mix.has(draw, "wide-amounts"):
            kept = {} if draw.chance(0.6) else made["requestPolicy"]
            made |= {"value": draw.choice(("8", "40")), "requestPolicy": {**kept, "default": draw.choice(WIDE)}}
    if mix.has(draw, "odd-amounts"):
        made["value"] = draw.choice(("20E", "9223372036854775807", "4500u", "-1"))
        if "requestPolicy" in made and draw.chance(0.3):
            made["requestPolicy"]["default"] = draw.choice(("-1", "10E", "1500u"))
    return made


def _policy(draw: Chooser) -> Json:
    policy: Json = {}
    if draw.chance(0.85):
        policy["default"] = draw.choice(("1", "2", "0", "1000m"))
    kind = draw.integer(0, 3)
    if kind == 0:
        policy["validValues"] = ["1", "2", "4"][draw.integer(0, 1) :]
    elif kind != 3:
        span: Json = {"min": draw.choice(("1", "1", "2", "500m"))}
        if draw.chance(0.5):
            span["max"] = draw.choice(("2", "3", "4"))
        if draw.chance(0.5):
            span["step"] = draw.choice(("1", "2", "1500m", "500m", "300m", "1500u"))
        policy["validRange"] = span
    return policy


def _uses(counter_sets: Sequence[Json], draw: Chooser, mix: Mix) -> list[Json]:
    uses = []
    for counter_set in draw.sample(counter_sets, draw.integer(1, 2)):
        names = list(counter_set["counters"])
        counters = {key: {"value": _drawn(draw, mix)} for key in draw.sample(names, draw.integer(1, 2))}
        use: Json = {"counterSet": counter_set["name"], "counters": counters}
        if mix.has(draw, "compatibility-groups"):
            use["compatibilityGroups"] = draw.sample(_GROUPS, draw.integer(1, 2))
        uses.append(use)
    return uses


def _drawn(draw: Chooser, mix: Mix) -> str:
    return draw.choice(WIDE) if mix.has(draw, "wide-amounts") else str(draw.integer(1, 3))


def _taint(draw: Chooser) -> Json:
    made: Json = {"key": draw.choice(("k1", "k2")), "effect": draw.choice(("NoSchedule", "NoSchedule", "NoExecute"))}
    if draw.chance(0.15):
        made["effect"] = draw.choice(("None", "Unknown"))
    if draw.chance(0.5):
        made["value"] = draw.choice(("t", "f"))
    return made
