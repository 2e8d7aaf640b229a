"""
Selectors with a few characters too many, too few or in the wrong place, held against upstream's own compiler.

    python -m fuzz.targets.cel_syntax --cases 5000 [--release 1.36 ...] [--seed 1]

Compared is what `cel_selectors` compares: of a syntax error, everything in front of it, so its place. Where that place
is the same and only what macros around it complain of differs, it is counted apart (CEL-3 names this limit).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from dra_alloc import cel
from fuzz.cel.devices import random_device
from fuzz.cel.expressions import Writer
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable, resolve
from fuzz.recording import Record, add_option, append
from fuzz.targets.cel_selectors import RELEASES, compare, ours

Json = dict[str, Any]
_LONGEST: Final = 160
_LIMIT: Final = "other complaints of macros"
_SYNTAX: Final = re.compile(r"ERROR: <input>:\d+:\d+: Syntax error")
_PIECE: Final = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|[0-9]+(?:\.[0-9]+)?|&&|\|\||[=!<>]=|.", re.DOTALL
)
_STRAY: Final = (
    *("(", ")", "[", "]", "{", "}", ",", ".", "?", ":", "!", "-", "+", "*", "&&", "||", "==", "<", "in", "&", "=", "|"),
    *(
        '"',
        "'",
        "\\",
        "`",
        "#",
        "@",
        "1.",
        "1",
        "x",
        "for",
        "true",
        '"s"',
        "\\u12",
        "'\\u12'",
        "'\\xg'",
        "é",
        "\n",
        " ",
    ),
)


def broken(text: str, random: Random) -> str:
    """Return a selector with one to three pieces dropped, doubled, swapped, replaced or put in."""
    pieces = _PIECE.findall(text)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(pieces) + 1)
        how = random.randrange(5)
        if how == 0 or at == len(pieces):
            pieces.insert(at, random.choice(_STRAY))
        elif how == 1:
            del pieces[at]
        elif how == 2:
            pieces.insert(at, pieces[at])
        elif how == 3:
            pieces[at] = random.choice(_STRAY)
        else:
            pieces[at - 1], pieces[at] = pieces[at], pieces[at - 1]
    return "".join(pieces)


def questions(seed: int, release: str, count: int) -> Iterator[Json]:
    """Yield requests of the harness protocol."""
    number = 0
    while count:
        random = Random(f"{seed}/{release}/{number}")
        number += 1
        device = random_device(random, lists=False)
        text = Writer(random, device).selector()
        if len(text) > _LONGEST:
            continue
        count -= 1
        expression = broken(text, random)
        yield {"op": "cel", "expr": expression, "release": release, "mode": "stored", "list": False, "device": device}


def _limit(theirs: Json, own: Json) -> str:
    """Name the known limit if that is all in which the answers differ."""
    places = [_SYNTAX.search(each.get("compile", "")) for each in (theirs, own)]
    first, second = (each and each[0] for each in places)
    return _LIMIT if first and first == second else ""


def _record(release: str, seed: int, kinds: Counter[str], seconds: float) -> Record:
    return Record(
        tool="cel_syntax",
        release=resolve(release, "allocator"),
        setting="stored",
        seed=seed,
        cases=kinds.total(),
        differences=kinds["different"],
        explained={rule: kinds[rule] for rule in ("syntax errors", _LIMIT, "both crash") if kinds[rule]},
        seen=kinds,
        seconds=seconds,
    )


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 if there are differences, 3 where there is no oracle."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.targets.cel_syntax")
    parser.add_argument("--cases", type=int, default=2_000, help="selectors per release")
    parser.add_argument("--release", action="append", choices=RELEASES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="differences to print per release")
    add_option(parser)
    options = parser.parse_args(arguments)
    bad = 0
    for release in options.release or RELEASES:
        environment = cel.environment(release, "stored")
        kinds: Counter[str] = Counter()
        wrong: list[tuple[str, str, str]] = []
        started = time.monotonic()
        asked = list(questions(options.seed, release, options.cases))
        try:
            with Oracle(release) as oracle:
                for request, theirs in zip(asked, oracle.batch(asked), strict=True):
                    own = ours(request, environment)
                    kind = compare(theirs, own) or _limit(theirs, own)
                    kinds[kind or "different"] += 1
                    if kind in ("", _LIMIT):
                        wrong.append((request["expr"], str(theirs), str(own)))
        except OracleUnavailable as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 3
        bad += kinds["different"]
        append(options.record, _record(release, options.seed, kinds, time.monotonic() - started))
        print(f"{release}: {kinds['different']} differences; {dict(kinds)}", flush=True)
        for expression, upstream, mine in wrong[: options.show]:
            print(f"{expression!r}\n    upstream {upstream}\n    we       {mine}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
