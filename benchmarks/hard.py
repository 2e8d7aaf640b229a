"""
Times the questions on which a plain search blows up, one JSON object a line.

    python benchmarks/hard.py [--plain-steps 100000] [--only B] [--upstream]

`ours` is the answer of the ladder, `plain` that of the plain search in upstream's
order with a limit on its steps: the peer in the same process. CPU time,
because other programs run as well; OR-tools is imported before the first
question, whose cost `import_time.py` has. With `--upstream` each question goes
to upstream's Go allocator right after, once, with kube-scheduler's time limit of
10 s: wall-clock time, less that of the same question without claims.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.hard_cases import HardCase, hard_cases
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.solve.cpsat.solver import is_installed
from dra_alloc.solve.ladder import Budget, Engine
from dra_alloc.solve.outcome import OutOfBudget, Solved, SolveOutcome
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable

REPEATS = 5
LIMIT_S = 10


def main(argv: list[str] | None = None) -> int:
    """Run; return 1 if a verdict is wrong or two answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain-steps", type=int, default=20_000)
    parser.add_argument("--only", default="", help="cases whose name starts so")
    parser.add_argument("--upstream", action="store_true", help="ask upstream's Go allocator, too")
    options = parser.parse_args(argv)
    # Loaded once, by whichever question needs it first; timed by import_time.
    solver = is_installed()
    wrong = 0
    with Upstream() as upstream:
        for case in hard_cases():
            if case.name.startswith(options.only):
                line, ours = _measure(case, options.plain_steps)
                line |= upstream.asked(case, ours) if options.upstream else {}
                line["met"] = line["ours_ms"] <= case.target_ms
                wrong += not line["right"] or line.get("upstream_same") is False
                print(json.dumps({**line, "solver": solver}), flush=True)
    return 1 if wrong else 0


class Upstream:
    """Upstream's own allocator in a process of its own, where Go is there."""

    def __init__(self) -> None:
        self._oracles: dict[str, Oracle] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for oracle in self._oracles.values():
            oracle.close()

    def asked(self, case: HardCase, ours: SolveOutcome) -> dict[str, Any]:
        """Return what upstream says in its time, and whether that is what we say."""
        request = {name: value for name, value in case.request.items() if name != "semantics"}
        release = request["release"]
        try:
            oracle = self._oracles.setdefault(release, Oracle(release, timeout=LIMIT_S + 50))
            before, _ = _timed(oracle, {**request, "claims": []})
            seconds, answer = _timed(oracle, {**request, "timeoutMs": LIMIT_S * 1000})
        except OracleUnavailable as reason:
            return {"upstream": f"skipped: {reason}"}
        found = {
            "upstream": answer.get("verdict", "no answer"),
            "upstream_ms": round(max(seconds - before, 0.0) * 1e3, 2),
            "upstream_error": answer.get("error", ""),
        }
        if found["upstream"] in ("allocated", "unsatisfiable") and case.request.get("semantics") != "intended":
            found["upstream_same"] = _results(answer.get("results") or ()) == _results(
                [each.to_wire() for each in ours.results] if isinstance(ours, Solved) else ()
            )
        return found


def _timed(oracle: Oracle, request: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    started = time.perf_counter()
    answer = oracle.ask(request)
    return time.perf_counter() - started, answer


def _results(claims: Sequence[dict[str, Any]]) -> list[tuple[str, str, str]]:
    results = [result for claim in claims for result in claim["devices"]["results"]]
    return [(each["request"], each["pool"], each["device"]) for each in results]


def _measure(case: HardCase, plain_steps: int) -> tuple[dict[str, Any], SolveOutcome]:
    runs = [_ask(case) for _ in range(REPEATS)]
    times = [seconds for seconds, _ in runs]
    ours = runs[-1][1]
    allocator, node, claims = read_request(case.request)
    started = time.process_time()
    plain = allocator.allocate(node, claims, engine=Engine.FIRST_FIT, budget=Budget(steps=plain_steps))
    plain_time = time.process_time() - started
    ended = not isinstance(plain, OutOfBudget)
    line = {
        "case": case.name,
        "fits": case.fits,
        "target_ms": case.target_ms,
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
    return line, ours


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
