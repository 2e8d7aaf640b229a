"""
Quantities print, and become integers, as upstream's do; needs Go. What ours alone refuses is counted apart (QTY-9).

    python -m fuzz.targets.quantity_upstream [--cases 500] [--seed 1]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from dra_alloc.cli.harness.values import answer_quantity
from dra_alloc.testing.drawing.number_texts import quantity_text
from fuzz.oracle import Oracle
from fuzz.target import Broken, Json, Target, command

_TOO_LARGE: Final = "quantity is larger than"


def _cases(seed: int) -> Iterator[Json]:
    """Return questions with upstream's answer to each, asked many at once."""
    random = Random(seed)
    questions = ({"op": "quantity", "value": quantity_text(random)} for _ in itertools.count())
    with Oracle("1.36") as oracle:
        asked, sent = itertools.tee(questions)
        for question, upstream in zip(asked, oracle.batch(sent), strict=True):
            yield {"value": question["value"], "upstream": upstream}


def _check(case: Json) -> str:
    found: dict[str, Any] = answer_quantity({"value": case["value"]})
    if _TOO_LARGE in found.get("err", ""):
        return "refused by us alone"
    if found != case["upstream"]:
        raise Broken(f"{case['value']!r}: upstream {case['upstream']}, ours {found}")
    return "refused" if "err" in found else "read"


TARGET = Target("quantity_upstream", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
