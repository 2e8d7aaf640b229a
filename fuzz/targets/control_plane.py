"""
Pods go where a real control plane of the newest release puts them, with the same devices and claims; needs Go.

    python -m fuzz.targets.control_plane [--cases 500] [--seed 1]

Other releases, flavours of worlds and replays: `python -m fuzz.plane fuzz`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

from fuzz.oracle_build import versions
from fuzz.plane.comparing import Tally, compare
from fuzz.plane.drawing import draw_world
from fuzz.plane.programs import PROGRAM, Plane
from fuzz.plane.running import Runner
from fuzz.target import Broken, Json, Target, command


def _cases(seed: int) -> Iterator[Json]:
    """Yield random worlds with what ran in them."""
    with Plane(versions(PROGRAM)[-1]) as plane:
        runner = Runner(plane)
        for number in itertools.count():
            yield runner.run(draw_world(seed, number))


def _check(world: Json) -> str:
    if "unsettled" in world:
        return "unsettled"
    differences = compare(world, Tally())
    if differences:
        raise Broken("; ".join(f"{each.kind}: {each.text}" for each in differences))
    return "some run" if any(world["ran"].values()) else "none runs"


TARGET = Target("control_plane", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
