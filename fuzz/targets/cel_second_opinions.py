"""
Well-typed selectors held against cel-expr-python, on the part of the language that it gets right.

    python -m fuzz.targets.cel_second_opinions [--cases 2000] [--seed 1] [--record FILE]

Compared are match, no match and failure; error texts are its own. Of ill-typed
selectors it has to say word for word what our checker says. What is left out is
in `fuzz/cel/typed.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from dra_alloc import cel
from fuzz.cel import cel_expr
from fuzz.cel.devices import prepared
from fuzz.cel.typed import devices, ill_typed, selectors
from fuzz.recording import Record, add_option, append

RELEASE: Final = "1.37"
FAILS: Final = "fails"
UNAVAILABLE: Final = 3
_NO_OVERLOAD: Final = "found no matching overload for"
Json = dict[str, Any]
Verdict = bool | str


def _native(text: str, device: cel.CelDevice) -> Verdict:
    try:
        return cel.compile(text, RELEASE).matches(device)
    except cel.EvaluationError:
        return FAILS
    except cel.CompileError as error:
        # Constants are folded when a program is built: `int('a')` is upstream's error before any device is looked at.
        if "program instantiation failed" in error.text:
            return FAILS
        raise AssertionError(f"does not compile: {text}: {error.text}") from None


def _cel_expr(text: str, device: cel.CelDevice) -> Verdict:
    try:
        return cel_expr.compile_selector(text)(cel_expr.device_data(device))
    except cel_expr.CelExprError:
        return FAILS


def check_verdicts(text: str, document: Json) -> Verdict:
    """What both say of a device; raises AssertionError if they do not say the same."""
    device = prepared(document, cel.Reading(lists=True))
    ours, theirs = _native(text, device), _cel_expr(text, device)
    assert ours == theirs, f"{text} on {document}: ours {ours}, cel-expr-python {theirs}"
    return ours


def check_texts(text: str) -> str:
    """How the checkers agree on an ill-typed selector; raises AssertionError if their words differ."""
    try:
        cel.compile(text, RELEASE)
        ours = ""
    except cel.CompileError as error:
        ours = error.text.removeprefix("compilation failed: ")
    try:
        cel_expr.compile_selector(text)
        theirs = ""
    except cel_expr.CelExprError as error:
        theirs = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    if _NO_OVERLOAD not in ours and _NO_OVERLOAD not in theirs:
        return "no complaint about overloads"
    assert ours == theirs, f"{text}\nours:\n{ours}\ncel-expr-python:\n{theirs}"
    return "same words"


def _run(property_: Callable[..., None], cases: int, number: int) -> None:
    """Try a property on so many examples, the same for the same number."""
    chosen = settings(
        max_examples=cases,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    seeded(number)(chosen(property_))()


def _properties(seen: Counter[str]) -> dict[str, Callable[..., None]]:
    """The properties by name; `seen` counts what came of their cases."""

    @given(selectors(), devices())
    def verdicts(text: str, document: Json) -> None:
        seen[f"cel-expr-python: {check_verdicts(text, document)}"] += 1

    @given(ill_typed())
    def texts(text: str) -> None:
        seen[f"ill-typed: {check_texts(text)}"] += 1

    return {"cel-expr-python": verdicts, "ill-typed": texts}


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 if there are differences, 3 where the package is not installed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.targets.cel_second_opinions")
    parser.add_argument("--cases", type=int, default=500, help="per property")
    parser.add_argument("--seed", type=int, default=1)
    add_option(parser)
    options = parser.parse_args(arguments)
    broken = tried = 0
    seen: Counter[str] = Counter()
    started = time.monotonic()
    for name, property_ in _properties(seen).items():
        try:
            _run(property_, options.cases, options.seed)
        except cel_expr.CelExprUnavailable as reason:
            print(f"skipped: {name}: {reason}", file=sys.stderr)
            continue
        except AssertionError as difference:
            broken += 1
            print(f"{name}: {difference}")
        tried += 1
    seconds = time.monotonic() - started
    print(f"{broken} of {tried} properties broken; {dict(sorted(seen.items()))}; {seconds:.0f} s")
    record = Record(
        tool="cel_second_opinions",
        release=RELEASE,
        seed=options.seed,
        cases=seen.total(),
        differences=broken,
        seen=seen,
        seconds=seconds,
    )
    append(options.record, record)
    if not tried:
        return UNAVAILABLE
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
