"""
Random selectors on random devices, held against upstream's own compiler and evaluator.

    python -m fuzz.targets.cel_selectors --cases 50000 [--release 1.36 ...] [--seed 1] [--record FILE]

Compared are the compile error, or result type, static estimate, counted cost, answer and run-time error; of a syntax
error the place. What upstream itself answers differently when asked again (Go's map order) is counted apart.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from dra_alloc import cel
from fuzz.cel.devices import prepared, random_device
from fuzz.cel.expressions import Writer
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable, resolve
from fuzz.recording import Record, add_option, append

Json = dict[str, Any]
RELEASES: Final = ("1.34", "1.35", "1.36", "1.37", "1.38")
DEVICES_PER_SELECTOR: Final = 3
_AGAIN: Final = 12
_AT_A_CRASH: Final = "cost at a crash"
_SYNTAX: Final = "Syntax error"


@dataclass(frozen=True, slots=True)
class Setting:
    """An environment: release, mode and the list gate."""

    release: str
    mode: str
    lists: bool

    @property
    def decodes_lists(self) -> bool:
        """Whether devices may have list-typed attributes here."""
        return self.release >= "1.37" or (self.release == "1.36" and self.lists)

    def device(self, random: Random) -> Json:
        """A device; 1.38 finds nothing in a domain without a name, which no API server lets a driver have."""
        return random_device(random, lists=self.decodes_lists, nameless=self.release < "1.38")

    def __str__(self) -> str:
        """Return the environment without its release."""
        return f"{self.mode}{', lists' if self.lists else ''}"


@dataclass
class Figures:
    """What a run found."""

    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[Json, Json, Json]] = field(default_factory=list)


def questions(seed: int, setting: Setting) -> Iterator[Json]:
    """Requests of the harness protocol, without end."""
    for number in itertools.count():
        random = Random(f"{seed}/{setting.release}/{setting}/{number}")
        first = setting.device(random)
        expression = Writer(random, first).selector()
        for again in range(DEVICES_PER_SELECTOR):
            device = setting.device(random) if again else first
            yield {
                "op": "cel",
                "expr": expression,
                "release": setting.release,
                "mode": setting.mode,
                "list": setting.lists,
                "device": device,
            }


def ours(request: Json, environment: cel.Environment) -> Json:
    """Our answer in the protocol's words."""
    try:
        program = environment.compile(request["expr"])
    except cel.CompileError as error:
        return {"compile": error.text}
    device = prepared(request["device"], environment.reading)
    found: Json = {"type": str(program.output_type), "maxcost": program.max_cost, "cost": program.cost(device)}
    try:
        return found | {"match": program.matches(device)}
    except cel.EvaluationError as error:
        return found | {"err": error.text}


def compare(theirs: Json, own: Json) -> str:
    """How upstream's answer and ours relate: the kind of agreement, or empty if they differ."""
    if "panic" in theirs:
        return "both crash" if theirs["panic"] in own.get("compile", "") else ""
    if _SYNTAX in theirs.get("compile", "") and _SYNTAX in own.get("compile", ""):
        place = theirs["compile"].partition(_SYNTAX)[0]
        return "syntax errors" if own["compile"].startswith(place) else ""
    if "cost" not in theirs:
        own = {key: value for key, value in own.items() if key != "cost"}
    if theirs != own:
        return _AT_A_CRASH if _crashes_alike(theirs, own) else ""
    return next((name for name in ("compile", "err") if name in theirs), f"match {theirs.get('match')}")


def _crashes_alike(theirs: Json, own: Json) -> bool:
    """Whether upstream panics in an evaluation, ours says so word for word, and only the cost until then differs."""
    alike = all(theirs.get(key) == own.get(key) for key in theirs.keys() | own.keys() if key != "cost")
    return alike and theirs.get("err", "").startswith("internal error: ")


def differences(setting: Setting, pairs: int, seed: int) -> Figures:
    """The figures of `pairs` pairs in one environment; raises OracleUnavailable without Go."""
    environment = cel.environment(setting.release, setting.mode, setting.lists)
    figures = Figures()
    with Oracle(setting.release) as oracle:
        asked, sent = itertools.tee(itertools.islice(questions(seed, setting), pairs))
        doubtful = []
        for request, theirs in zip(asked, oracle.batch(sent), strict=True):
            own = ours(request, environment)
            kind = compare(theirs, own)
            if kind:
                figures.kinds[kind] += 1
            else:
                doubtful.append((request, theirs, own))
        for request, theirs, own in doubtful:
            if _unstable(oracle, request, theirs, own):
                figures.kinds["unstable upstream"] += 1
            else:
                figures.wrong.append((request, theirs, own))
    return figures


def _unstable(oracle: Oracle, request: Json, theirs: Json, own: Json) -> bool:
    answers = [theirs, *oracle.batch([request] * _AGAIN)]
    return any(answer != theirs for answer in answers) and _agree_where_stable(answers, own)


def _agree_where_stable(answers: list[Json], own: Json) -> bool:
    """Whether ours is what upstream says in everything in which upstream agrees with itself."""
    first = answers[0]
    stable = [key for key in first if all(answer.get(key) == first[key] for answer in answers)]
    return all(own.get(key) == first[key] for key in stable)


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 if there are differences, 3 where there is no oracle."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.targets.cel_selectors")
    parser.add_argument("--cases", "--pairs", type=int, default=2_000, help="pairs per release")
    parser.add_argument("--release", action="append", choices=RELEASES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="differences to print per environment")
    add_option(parser)
    options = parser.parse_args(arguments)
    bad = 0
    for release in options.release or RELEASES:
        for setting, part in _settings(release):
            started = time.monotonic()
            try:
                figures = differences(setting, int(options.cases * part), options.seed)
            except OracleUnavailable as reason:
                print(f"skipped: {reason}", file=sys.stderr)
                return 3
            bad += len(figures.wrong)
            record = _record(setting, options.seed, figures, time.monotonic() - started)
            append(options.record, record)
            kinds = dict(figures.kinds)
            print(f"{release} {setting}: {record.differences} differences; {kinds}; {record.seconds:.0f} s", flush=True)
            _show(figures, options.show)
    return 1 if bad else 0


def _record(setting: Setting, seed: int, figures: Figures, seconds: float) -> Record:
    rules = ("syntax errors", "unstable upstream", "both crash", _AT_A_CRASH)
    return Record(
        tool="cel_selectors",
        release=resolve(setting.release, "allocator"),
        setting=str(setting),
        seed=seed,
        cases=figures.kinds.total() + len(figures.wrong),
        differences=len(figures.wrong),
        explained={rule: figures.kinds[rule] for rule in rules if figures.kinds[rule]},
        seen=figures.kinds,
        seconds=seconds,
    )


def _show(figures: Figures, most: int) -> None:
    """Print the first difference of each selector."""
    by_selector = {request["expr"]: (request, theirs, own) for request, theirs, own in reversed(figures.wrong)}
    for request, theirs, own in itertools.islice(reversed(by_selector.values()), most):
        print(json.dumps({"expr": request["expr"], "device": request["device"]}, ensure_ascii=False))
        for key in sorted({*theirs, *own}):
            if theirs.get(key) != own.get(key):
                print(f"    {key}: upstream {theirs.get(key)!r}")
                print(f"    {' ' * len(key)}  we       {own.get(key)!r}")


def _settings(release: str) -> list[tuple[Setting, float]]:
    """The environments of a release and their shares of the pairs."""
    if release < "1.36":
        return [(Setting(release, "stored", lists=False), 0.7), (Setting(release, "new", lists=False), 0.3)]
    return [
        (Setting(release, "stored", lists=False), 0.4),
        (Setting(release, "stored", lists=True), 0.4),
        (Setting(release, "new", lists=True), 0.2),
    ]


if __name__ == "__main__":
    sys.exit(main())
