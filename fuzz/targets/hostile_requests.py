"""
No request crashes the harness: mutated requests of every op end in an answer or in `bad`.

    python -m fuzz.targets.hostile_requests [--cases 500] [--seed 1]
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from random import Random

from dra_alloc.cli.harness.serve import answer
from dra_alloc.testing.drawing.draw import Seeded
from dra_alloc.testing.drawing.mutation import mutated
from dra_alloc.testing.drawing.number_texts import quantity_text
from fuzz.cel.devices import random_device
from fuzz.cel.expressions import Writer
from fuzz.target import Broken, Json, Target, command, requests


def _whole(seed: int) -> Iterator[Json]:
    """Return requests of the ops in turn, as they should be."""
    allocate = requests(seed)
    for number in itertools.count():
        random = Random(f"{seed}/{number}")
        yield {"op": "allocate", **next(allocate)}
        device = random_device(random, lists=True)
        expression = Writer(random, device).selector()
        yield {"op": "cel", "expr": expression, "release": "1.37", "mode": "stored", "list": True, "device": device}
        yield {"op": "quantity", "value": quantity_text(random)}


def _cases(seed: int) -> Iterator[Json]:
    for number, request in enumerate(_whole(seed)):
        yield mutated(request, Seeded(f"{seed}/{number}"), 1 + number % 3)


def _check(case: Json) -> str:
    line = json.dumps(answer(json.dumps(case)))
    found = json.loads(line)
    if "bad" in found and not found["bad"]:
        raise Broken("refused without a reason")
    if not found.get("bad", "").isprintable() or "pydantic" in found.get("bad", ""):
        raise Broken("refused in the words of a library, or on several lines")
    kinds = ("bad", "verdict", "compile", "match", "err", "canonical")
    return next((kind for kind in kinds if kind in found), "other")


TARGET = Target("hostile_requests", _cases, _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
