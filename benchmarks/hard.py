"""
Times the questions on which a plain search blows up, one JSON object a line.

    python benchmarks/hard.py [--plain-steps 100000] [--only B]

`ours` is the answer of the ladder, `plain` that of the plain search in upstream's
order with a limit on its steps: the peer in the same process. CPU time,
because other programs run as well. Upstream's own time limit of 10 s is some
1e7 steps at best.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.hard_cases import HardCase, hard_cases
from dra_alloc.cli.harness_allocate import read_request
from dra_alloc.solve.allocator import Budget, Engine
from dra_alloc.solve.cpsat import is_installed
from dra_alloc.solve.outcome import OutOfBudget, Solved, SolveOutcome

REPEATS = 5


def main(argv: list[str] | None = None) -> int:
    """Run; return 1 if a verdict is wrong or two answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain-steps", type=int, default=20_000)
    parser.add_argument("--only", default="", help="cases whose name starts so")
    options = parser.parse_args(argv)
    # Loaded once, by whichever question needs it first; timed by import_time.
    solver = is_installed()
    wrong = 0
    for case in hard_cases():
        if case.name.startswith(options.only):
            line = _measure(case, options.plain_steps)
            wrong += not line["right"]
            print(json.dumps({**line, "solver": solver}), flush=True)
    return 1 if wrong else 0


def _measure(case: HardCase, plain_steps: int) -> dict[str, Any]:
    runs = [_ask(case) for _ in range(REPEATS)]
    times = [seconds for seconds, _ in runs]
    ours = runs[-1][1]
    allocator, node, claims = read_request(case.request)
    started = time.process_time()
    plain = allocator.allocate(node, claims, engine=Engine.FIRST_FIT, budget=Budget(steps=plain_steps))
    plain_time = time.process_time() - started
    ended = not isinstance(plain, OutOfBudget)
    return {
        "case": case.name,
        "fits": case.fits,
        "ours_ms": round(statistics.median(times) * 1e3, 2),
        "first_ms": round(times[0] * 1e3, 2),
        "stages": [[stage.engine, round(stage.work, 4), stage.verdict] for stage in ours.work.stages],
        "plain_ms": round(plain_time * 1e3, 2),
        "plain_steps": plain.work.steps,
        "plain_ended": ended,
        "right": isinstance(ours, Solved) is case.fits
        and not isinstance(ours, OutOfBudget)
        and (not ended or _devices(ours) == _devices(plain)),
    }


def _ask(case: HardCase) -> tuple[float, SolveOutcome]:
    # A new allocator each time: nothing may be remembered from the last one.
    allocator, node, claims = read_request(case.request)
    started = time.process_time()
    outcome = allocator.allocate(node, claims)
    return time.process_time() - started, outcome


def _devices(outcome: SolveOutcome) -> list[tuple[str, str]]:
    if not isinstance(outcome, Solved):
        return []
    return [(pick.ask.full_name, str(pick.device.key)) for pick in outcome.picks]


if __name__ == "__main__":
    sys.exit(main())
