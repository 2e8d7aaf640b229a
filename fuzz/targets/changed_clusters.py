"""
After a drain, a node that goes, or a node or device that is tainted, what runs is what `what-if` says; needs Go.

    python -m fuzz.targets.changed_clusters [--cases 500] [--seed 1]

Of equal nodes the scheduler draws one, and of several controllers nothing says which one makes its pods first: where
counts differ by these alone, that is told apart.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random

from fuzz.oracle_build import versions
from fuzz.plane.changing import Changer
from fuzz.plane.drawing import draw_world
from fuzz.plane.foreseen import Foreseen
from fuzz.plane.programs import PROGRAM, Plane
from fuzz.target import Broken, Json, Target, command


def _cases(seed: int) -> Iterator[Json]:
    """Yield clusters with a change and what ran after it."""
    with Plane(versions(PROGRAM)[-1], evicts=True) as plane:
        changer = Changer(plane)
        for number in itertools.count():
            yield {"release": plane.release, **changer.change(draw_world(seed, number), Random(f"{seed}-{number}"))}


def _check(case: Json) -> str:
    if "unsettled" in case:
        return "unsettled"
    found = Foreseen.of(case)
    if found.gone != case["gone"]:
        raise Broken(f"{case['name']} {case['step']}: evicted {case['gone']}, answered {found.gone}")
    ran = Counter[str](case["ran"])
    if found.ran == ran:
        return f"{next(iter(case['step']))}, {'evicts' if found.gone else 'evicts nobody'}"
    if ran in found.in_other_orders():
        return "differs, by which workload is first"
    if found.has_draws:
        return "differs, by a draw among equal nodes"
    raise Broken(f"{case['name']} {case['step']}: ran {case['ran']}, answered {dict(found.ran)}")


TARGET = Target("changed_clusters", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
