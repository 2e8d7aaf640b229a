"""
What the fuzz targets have in common: cases by number, one property, one command.

    python -m fuzz.targets.<name> [--cases 500] [--seed 1] [--shrink] [--record FILE]
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.testing.drawing.shrink import shrink
from fuzz.oracle_build import OracleUnavailable
from fuzz.recording import Record, add_option, append

Json = dict[str, Any]
#: So many violations have one cause most of the time.
STOP_AFTER: Final = 10
UNAVAILABLE: Final = 3
_SHOWN: Final = 1000
DIALECTS: Final = tuple(
    Dialect(release, channel)
    for release, channel in (
        ("1.36", "experimental"),
        ("1.37", "incubating"),
        ("1.36", "stable"),
        ("1.37", "experimental"),
        ("1.38", "stable"),
        ("1.38", "experimental"),
        ("1.36", "incubating"),
        ("1.35", "experimental"),
        ("1.34", "incubating"),
    )
)


class Broken(Exception):
    """The property does not hold of a case; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Target:
    """
    A property and the cases it is tried on.

    `check` returns how the case was tried, or how often what was tried in it,
    which is counted, and raises Broken where the property does not hold. `shrinks` says that leaving out parts of
    a case makes another case. Of one with `kinds`, `cases` takes some of them, too: a run may ask one alone.
    """

    name: str
    cases: Callable[..., Iterator[Json]]
    check: Callable[[Json], str | Counter[str]]
    shrinks: bool = True
    kinds: tuple[str, ...] = ()


@dataclass
class Found:
    """What a run found."""

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[Json, str]] = field(default_factory=list)


def requests(seed: int) -> Iterator[Json]:
    """Return random allocate requests, the releases and channels in turn; `auto` engine, so that bounds count too."""
    streams = [random_requests(seed, dialect) for dialect in DIALECTS]
    for stream in itertools.cycle(streams):
        yield {**next(stream), "engine": "auto"}


def run(target: Target, seed: int, cases: int, kind: str = "") -> Found:
    """Return what trying so many cases finds, of one kind if it is named; stops early after `STOP_AFTER` violations."""
    found = Found()
    made = target.cases(seed, (kind,)) if kind else target.cases(seed)
    with ExitStack() as stack:
        if isinstance(made, Generator):
            stack.callback(made.close)  # what it started has to end before the interpreter does
        for case in itertools.islice(made, cases):
            found.cases += 1
            wrong = _tried(target, case, found.kinds)
            if wrong:
                found.broken.append((case, wrong))
                if len(found.broken) >= STOP_AFTER:
                    break
    return found


def _tried(target: Target, case: Json, kinds: Counter[str]) -> str:
    """Return what is wrong with a case; nothing if the property holds."""
    try:
        tried = target.check(case)
        kinds.update([tried] if isinstance(tried, str) else tried)
    except Broken as broken:
        return str(broken)
    except (OracleUnavailable, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - a crash breaks every property
        return f"{type(error).__name__}: {error}"
    return ""


def _smallest(target: Target, case: Json, wrong: str) -> tuple[Json, str]:
    """Return the smallest case that is broken in the same way."""
    kind = wrong.partition(":")[0]

    def fails(smaller: Json) -> bool:
        return _tried(target, smaller, Counter()).partition(":")[0] == kind

    smallest = shrink(case, fails, attempts=500)
    return smallest, _tried(target, smallest, Counter()) or wrong


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... (all of it with --save FILE)"


def command(target: Target, arguments: list[str] | None = None) -> int:
    """Run the command of a target; 1 if the property is broken, 3 where what it needs is not there."""
    parser = argparse.ArgumentParser(prog=f"python -m fuzz.targets.{target.name}")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shrink", action="store_true", help="print the smallest case that is broken the same way")
    parser.add_argument("--show", type=int, default=3, metavar="N", help="broken cases to print (default: 3)")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="append the broken cases to FILE, one JSON object each"
    )
    if target.kinds:
        parser.add_argument("--kind", choices=target.kinds, default="", help="ask of one kind alone")
    add_option(parser)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        kind = options.kind if target.kinds else ""
        found = run(target, options.seed, options.cases, kind)
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return UNAVAILABLE
    seconds = time.monotonic() - began
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.kinds.most_common())
    print(f"{target.name}: {len(found.broken)} broken in {found.cases} cases: {kinds}; {seconds:.1f} s", flush=True)
    for case, wrong in found.broken[: options.show]:
        shown, why = _smallest(target, case, wrong) if options.shrink and target.shrinks else (case, wrong)
        print(f"  {why}\n  {_cut(json.dumps(shown))}")
        if options.save is not None:
            with options.save.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"target": target.name, "broken": why, "case": shown}) + "\n")
    made = Record(
        tool=target.name,
        setting=kind,
        seed=options.seed,
        cases=found.cases,
        differences=len(found.broken),
        seen=found.kinds,
        seconds=seconds,
    )
    append(options.record, made)
    return int(bool(found.broken))
