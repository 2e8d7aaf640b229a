"""
Holds random questions against upstream, in one process with ours, and reports every difference.

    python -m fuzz.differential --release 1.36.2 --channel experimental --cases 10000 [--seed 1] [--shrink]

With --record FILE the figures are appended to FILE, a line for each channel and each 20,000 cases.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dra_alloc.cli.harness.allocate import answer_allocate
from dra_alloc.errors import DraAllocError
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.comparison import ABORTED, NOT_COMPARED, Agreement, compare
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.testing.drawing.shrink import shrink
from fuzz.coverage import Coverage
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable, resolve
from fuzz.recording import Record, add_option, append

Json = dict[str, Any]
#: Upstream's time per question, and per question that took longer and is asked again, alone.
TIMEOUT_MS = 250
MORE_MS = 5_000
#: So many differences have one cause most of the time.
STOP_AFTER = 20
#: Long runs are reported and recorded in parts, so that one that is stopped has not run for nothing.
PART = 20_000


@dataclass
class Run:
    """What a run over one dialect found."""

    dialect: Dialect
    coverage: Coverage = field(init=False)
    rules: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[Json, Agreement]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.coverage = Coverage(self.dialect.release)

    @property
    def compared(self) -> int:
        """Return how many cases were compared: both sides had time to end."""
        return self.coverage.cases - sum(self.rules[rule] for rule in NOT_COMPARED)

    def line(self) -> str:
        """Return the figures in a line."""
        rate = self.coverage.cases / max(self.seconds, 0.001)
        return (
            f"{self.dialect.release} {self.dialect.channel}: {len(self.differences)} differences in "
            f"{self.compared} compared of {self.coverage.summary()}; "
            f"by rule {dict(self.rules)}; {self.seconds:.0f} s, {rate:.0f}/s"
        )

    def record(self, seed: int, start: int) -> Record:
        """Return the figures as they are kept."""
        return Record(
            tool="differential",
            release=resolve(self.dialect.release, "allocator"),
            setting=self.dialect.channel,
            seed=seed,
            start=start,
            cases=self.coverage.cases,
            differences=len(self.differences),
            explained=self.rules,
            allocated=self.coverage.endings["allocated"],
            backtracking=self.coverage.deep,
            seen=self.coverage.single,
            missing_pairs=tuple(self.coverage.missing_pairs()),
            seconds=self.seconds,
        )


def ours(request: Json) -> Json:
    """Return our answer; a crash of ours is an answer that equals none of upstream's."""
    body = {key: value for key, value in request.items() if key not in ("name", "op")}
    try:
        return answer_allocate(body)
    except (DraAllocError, ValueError) as error:
        return {"bad": str(error)}
    except Exception as error:  # noqa: BLE001 - any other exception is a defect to report, not to stop at
        return {"crash": f"{type(error).__name__}: {error}"}


def run(dialect: Dialect, oracle: Oracle, *, seed: int, cases: int, start: int = 0) -> Run:
    """Compare `cases` random questions; stops early after `STOP_AFTER` differences."""
    found = Run(dialect)
    began = time.monotonic()
    requests = itertools.islice(random_requests(seed, dialect, start=start), cases)
    asked, sent = itertools.tee({**each, "timeoutMs": TIMEOUT_MS} for each in requests)
    for request, answer in zip(asked, oracle.batch(sent), strict=True):
        upstream = _with_more_time(request, answer, oracle.release)
        verdict = compare(without_timeout(request), upstream, ours)
        found.coverage.add(request, upstream)
        if verdict.rule:
            found.rules[verdict.rule] += 1
        if not verdict.same:
            found.differences.append((request, verdict))
            if len(found.differences) >= STOP_AFTER:
                oracle.close()  # answers still on the way would be taken for those to later questions
                break
    found.seconds = time.monotonic() - began
    return found


def _with_more_time(request: Json, answer: Json, release: str) -> Json:
    """Return upstream's answer, asked once more, of a process of its own, where it ran out of time."""
    if not ABORTED.search(answer.get("err") or ""):
        return answer
    with Oracle(release) as patient:
        return patient.ask({**request, "timeoutMs": MORE_MS})


def without_timeout(request: Json) -> Json:
    """Return the request without a clock: ours is bounded by steps."""
    return {key: value for key, value in request.items() if key != "timeoutMs"}


def _smallest(request: Json, oracle: Oracle) -> tuple[Json, Agreement]:
    def judge(smaller: Json) -> Agreement:
        return compare(without_timeout(smaller), oracle.ask(smaller), ours)

    kind = _kind(judge(request))

    def fails(smaller: Json) -> bool:
        verdict = judge(smaller)
        return not verdict.same and _kind(verdict) == kind

    found = shrink(request, fails)
    return found, judge(found)


def _kind(verdict: Agreement) -> tuple[str, ...]:
    """Return how both answers end, so that a smaller case shows the same difference and not another one."""
    ends = []
    for answer in (verdict.upstream or {}, verdict.ours or {}):
        odd = [key for key in ("panic", "bad", "crash", "err") if key in answer]
        ends.append(odd[0] if odd else "none" if answer.get("results") is None else "allocated")
    return tuple(ends)


def _print(request: Json, verdict: Agreement) -> None:
    print(request.get("name", ""), json.dumps({k: v for k, v in request.items() if k != "name"}))
    print("  upstream", json.dumps(verdict.upstream))
    print("  ours    ", json.dumps(verdict.ours))


def main(arguments: list[str] | None = None) -> int:
    """The command; exits with 1 if an answer differs, with 3 if upstream cannot be asked."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.differential")
    parser.add_argument("--release", default="1.36.2")
    parser.add_argument("--channel", action="append", help="default: all three")
    parser.add_argument("--cases", type=int, default=1000, help="per channel")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--plain-selectors", action="store_true")
    add_option(parser)
    options = parser.parse_args(arguments)
    channels = options.channel or ("stable", "incubating", "experimental")
    try:
        # Not a generator to any(): every channel is run, whatever the others say.
        failed = [_channel(channel, options) for channel in channels]
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130  # parts that were finished are recorded
    return int(any(failed))


def _channel(channel: str, options: argparse.Namespace) -> bool:
    """Run one channel part by part; return whether anything differs, after which no further part is run."""
    dialect = Dialect(options.release, channel, rich_selectors=not options.plain_selectors, selector_switch=True)
    end = options.start + options.cases
    with Oracle(options.release) as oracle:
        for start in range(options.start, end, PART):
            found = run(dialect, oracle, seed=options.seed, cases=min(PART, end - start), start=start)
            print(found.line(), flush=True)
            append(options.record, found.record(options.seed, start))
            if found.differences:
                print("  ", *(request["name"] for request, _ in found.differences))
                for request, verdict in found.differences[: options.show]:
                    _print(*(_smallest(request, oracle) if options.shrink else (request, verdict)))
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())
