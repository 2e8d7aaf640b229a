"""
What fits with a constraint fits without it, under the intended semantics.

    python -m fuzz.targets.fewer_constraints [--cases 500] [--seed 1]

Constraints are left out one at a time. Upstream's own semantics does not have this property: its defects are among
the divergences. An error is no refusal: with fewer constraints a device may be picked whose slice no API server would
have stored.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any, Final

from fuzz.differential import ours
from fuzz.target import Broken, Json, Target, command, requests

_MOST: Final = 8


def _cases(seed: int) -> Iterator[Json]:
    return ({**request, "semantics": "intended"} for request in requests(seed))


def _places(request: Json) -> Iterator[tuple[str | int, ...]]:
    for number, claim in enumerate(request["claims"]):
        path = ("claims", number, "spec", "devices")
        devices = claim["spec"]["devices"]
        for at in range(len(devices.get("constraints", ()))):
            yield (*path, "constraints", at)


def easier(request: Json) -> Iterator[tuple[str, Json]]:
    """Return the request without one of its constraints, for each of them, with where it was."""
    for path in list(_places(request))[:_MOST]:
        made = copy.deepcopy(request)
        holder: Any = made
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        yield "/".join(map(str, path)), made


def _check(request: Json) -> str:
    first = ours(request)
    if first.get("verdict") != "allocated":
        return "not allocated"
    tried = 0
    for where, made in easier(request):
        tried += 1
        verdict = ours(made).get("verdict")
        if verdict == "error":
            return "ends in an error"
        if verdict not in ("allocated", "undecided"):
            raise Broken(f"without {where}: {verdict}")
    return "constraints left out" if tried else "no constraint"


TARGET = Target("fewer_constraints", _cases, _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
