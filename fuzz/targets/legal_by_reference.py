"""
Every answer is legal by the definition written to be read.

    python -m fuzz.targets.legal_by_reference [--cases 500] [--seed 1]

Semantics `intended`, the allocators of 1.37 that the reference speaks of.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from fuzz.differential import ours
from fuzz.target import Broken, Json, Target, command
from spec.reference.answers import check
from spec.reference.question import NOT_COVERED, NotCovered, read

DIALECTS: Final = tuple(Dialect("1.37", channel) for channel in ("incubating", "experimental"))


def covered(seed: int, engine: str) -> Iterator[Json]:
    """Return random questions without what the reference does not speak of."""
    streams = [random_requests(seed, dialect) for dialect in DIALECTS]
    for stream in itertools.cycle(streams):
        request = next(stream)
        features = {name: on for name, on in request["features"].items() if name not in NOT_COVERED}
        yield {**request, "features": features, "semantics": "intended", "engine": engine}


def picked(answer: Mapping[str, Any]) -> list[list[tuple[str, tuple[str, str, str]]]]:
    """Return who got which device, claim by claim."""
    return [
        [
            (each["request"], (each["driver"], each["pool"], each["device"]))
            for each in result.get("devices", {}).get("results", ())
        ]
        for result in answer["results"]
    ]


def _check(request: Json) -> str:
    answer = ours(request)
    if answer.get("verdict") != "allocated":
        return "not allocated"
    try:
        wrong = check(read(request), picked(answer))
    except NotCovered:
        return "not covered"
    if wrong:
        raise Broken(f"not legal: {'; '.join(wrong)}")
    return "legal"


TARGET = Target("legal_by_reference", lambda seed: covered(seed, "auto"), _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
