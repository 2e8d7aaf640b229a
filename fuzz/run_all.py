"""
Runs every fuzz target in turn, round after round, each round with another seed.

    python -m fuzz.run_all [--minutes M] [--cases 500] [--seed 1] [--record FILE]

Without --minutes it goes on until it is stopped; it ends at the first target that finds something.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import pkgutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fuzz import differential, engines, targets

Main = Callable[[list[str]], int]
UNAVAILABLE: Final = 3
#: A case of theirs takes as long as so many of others.
AS_MANY: Final = {
    "changed_clusters": 50,
    "control_plane": 50,
    "many_askers": 20,
    "reasons_replay": 5,
    "same_bytes": 100,
}
#: The comparisons that stand beside the targets.
TOOLS: Final[dict[str, Main]] = {"differential": differential.main, "engines": engines.main}


def names() -> list[str]:
    """Return the names of all targets."""
    return sorted(each.name for each in pkgutil.iter_modules(targets.__path__))


def _main(name: str) -> Main:
    if name in TOOLS:
        return TOOLS[name]
    found: Main = importlib.import_module(f"fuzz.targets.{name}").main
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 as soon as a target finds something."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.run_all")
    parser.add_argument("--minutes", type=float, help="default: until it is stopped")
    parser.add_argument("--cases", type=int, default=500, help="per target and round")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--record", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.minutes * 60 if options.minutes is not None else float("inf")
    for seed in itertools.count(options.seed):
        for name in (*TOOLS, *names()):
            if time.monotonic() > end:
                return 0
            cases = max(1, options.cases // AS_MANY.get(name, 1))
            given = ["--cases", str(cases), "--seed", str(seed)]
            if options.record is not None:
                given += ["--record", str(options.record)]
            code = _main(name)(given)
            sys.stdout.flush()
            if code not in (0, UNAVAILABLE):
                print(f"{name} found something with --seed {seed}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
