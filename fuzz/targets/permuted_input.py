"""
The order of what has none changes no answer: keys of objects, classes, devices in use, slices that are sorted.

    python -m fuzz.targets.permuted_input [--cases 500] [--seed 1]

Channels that take pools as they come (INPUT_ORDER) keep their slices in place, and so do pools whose slices disagree on
how many they are: upstream believes the first it meets. Claims, requests, selectors, devices of a slice and node
selector terms are ordered by their meaning and stay.
"""

from __future__ import annotations

import sys
from random import Random
from typing import Any, Final

from dra_alloc.profiles import Feature, Trait, profile
from dra_alloc.testing.comparison import comparable
from fuzz.differential import ours
from fuzz.target import Broken, Json, Target, command, requests

_UNORDERED: Final = ("classes", "allocated", "allocatedShared", "aggregated")
_TIMES: Final = 2


def _sorts_slices(request: Json) -> bool:
    sizes: dict[tuple[object, ...], int] = {}
    for each in request["slices"]:
        spec = each["spec"]
        key = (spec["driver"], spec["pool"].get("name"), spec["pool"].get("generation"))
        size = spec["pool"].get("resourceSliceCount")
        if sizes.setdefault(key, size) != size:
            return False
    on = [Feature(name) for name, switch in request["features"].items() if switch]
    return not profile(request["release"], on, request["channel"]).shows(Trait.INPUT_ORDER)


def shuffled(request: Json, random: Random) -> Json:
    """Return the request with all that has no order in another one."""
    made = {key: _keys(value, random) for key, value in request.items()}
    for name in (*_UNORDERED, "slices") if _sorts_slices(request) else _UNORDERED:
        if name in made:
            made[name] = random.sample(made[name], len(made[name]))
    return made


def _keys(value: Any, random: Random) -> Any:
    """Return a JSON value with the keys of every object in another order."""
    if isinstance(value, list):
        return [_keys(each, random) for each in value]
    if isinstance(value, dict):
        return {key: _keys(value[key], random) for key in random.sample(list(value), len(value))}
    return value


def _check(request: Json) -> str:
    first = ours(request)
    for number in range(_TIMES):
        other = ours(shuffled(request, Random(f"{request.get('name')}/{number}")))
        if comparable(other) != comparable(first):
            raise Broken(f"another order, another answer: {other}")
    return f"{first.get('verdict', 'refused')}{'' if _sorts_slices(request) else ', slices in place'}"


TARGET = Target("permuted_input", requests, _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
