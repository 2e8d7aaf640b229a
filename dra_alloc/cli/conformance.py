"""
The command `conformance run`.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.harness.serve import answer
from dra_alloc.errors import InputError
from dra_alloc.profiles import profile
from dra_alloc.report.layout import printable
from dra_alloc.testing.client import Client
from dra_alloc.testing.conformance import Finding, Result, hold
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.testing.drawing.questions import Question, random_questions
from dra_alloc.testing.junit import junit
from dra_alloc.testing.vectors import vector_questions

__all__ = ["run_conformance"]

_RELEASE: Final = "1.36"
_WIDTH: Final = 80
_SHOWN: Final = 5
_LINES: Final = 6
#: Random questions that take us more steps are not asked: some would take minutes.
_STEPS: Final = 20_000


def run_conformance(options: Namespace) -> int:
    """
    Hold an implementation against ours and the vectors; 0 if every answer is right, 1 if one is not.

    Raises: InputError, before anything is printed, also where the implementation cannot be started.
    """
    if options.junit and not Path(options.junit).parent.is_dir():
        raise InputError(f"cannot write {options.junit}: {os.strerror(errno.ENOENT)}")  # before hours of questions
    questions = _questions(options)
    first = next(questions, None)
    if first is None:
        raise InputError("nothing to ask", hint="--cases above 0, or --vectors with a release and channel they have")
    with Client(options.implementation, seconds=options.timeout) as client:
        result = hold(client, itertools.chain([first], questions))
    if options.junit:
        try:
            Path(options.junit).write_text(junit(result, f"conformance of {options.implementation}"), encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {options.junit}: {error.strerror}") from None
    sys.stdout.write(_as_json(result) if options.format == "json" else _as_text(result))
    sys.stdout.flush()
    return ExitCode.OK if result.good else ExitCode.UNSATISFIABLE


def _questions(options: Namespace) -> Iterator[Question]:
    release, channel = options.release or _RELEASE, options.channel or "auto"
    profile(release, (), channel)  # whether there is such a release
    if options.cases:
        yield from random_questions(Dialect(release, channel), options.seed, options.cases, _ours)
    if options.vectors:
        named = options.channel if options.channel != "auto" else None
        yield from vector_questions(options.release, named)


def _ours(request: dict[str, Any]) -> dict[str, Any]:
    return answer(json.dumps(request), steps=_STEPS)


def _as_json(result: Result) -> str:
    shown = {
        "schemaVersion": 1,
        "conformant": result.good,
        "asked": result.asked,
        "rules": {
            rule: {
                "cases": tally.cases,
                "equal": tally.equal,
                "different": tally.different,
                "errors": tally.errors,
            }
            for rule, tally in sorted(result.rules.items())
        },
        "findings": [_finding(each) for each in result.findings],
    }
    if result.stopped:
        shown["stopped"] = result.stopped
    return json.dumps(shown, indent=2) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    plain = {
        "name": finding.name,
        "rules": list(finding.rules),
        "request": finding.request,
        "expected": finding.expected,
        "answer": finding.answer,
        "failure": finding.failure,
    }
    return {key: value for key, value in plain.items() if value not in (None, "")}


def _as_text(result: Result) -> str:
    lines = [f"{'rule':<40}{'cases':>10}{'equal':>10}{'different':>10}{'errors':>10}"]
    for rule, tally in sorted(result.rules.items()):
        shown = rule if len(rule) < 40 else rule[:36] + "..."
        lines.append(f"{shown:<40}{tally.cases:>10}{tally.equal:>10}{tally.different:>10}{tally.errors:>10}")
    alike = _alike(result.findings)
    for number, group in enumerate(alike[:_SHOWN]):
        lines += ["", *_told(group[0], in_full=not any(each[0].failure for each in alike[:number]))]
        if len(group) > 1:
            lines.append(f"  the same for {len(group) - 1} more")
    left = sum(map(len, alike[_SHOWN:]))
    if left > 0:
        lines += ["", f"... and {left} more; --format json or --junit FILE has all of them"]
    lines.append("")
    if result.stopped:
        lines.append(f"stopped early: {result.stopped}")
    wrong = f"{len(result.findings)} of {result.asked} answers are wrong or missing"
    lines.append(f"conformant: {result.asked} answers as expected" if result.good else f"not conformant: {wrong}")
    return "\n".join(lines) + "\n"


def _alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings in groups: those without an answer together where one could not tell them apart."""
    groups: dict[str | tuple[str, str], list[Finding]] = {}
    for each in findings:
        how, words = _failed(each)
        groups.setdefault((how, words[-1] if words else "") if each.failure else each.name, []).append(each)
    return list(groups.values())


def _failed(finding: Finding) -> tuple[str, list[str]]:
    """Return why there is no answer, and the lines that the implementation said of it."""
    how, _, words = finding.failure.partition(": ")
    return how, words.splitlines()


def _told(finding: Finding, *, in_full: bool) -> list[str]:
    lines = _wrapped(f"{finding.name}: {', '.join(finding.rules)}", "")
    if finding.failure:
        how, words = _failed(finding)
        if len(words) < 2 or not in_full:
            return lines + _wrapped(": ".join([f"no answer: {how}", *words[-1:]]), "  ")
        said = [line for each in words for line in _wrapped(each, "    ")]
        return [*lines, *_wrapped(f"no answer: {how}:", "  "), *said]
    for what, value in (("asked", finding.request), ("expected", finding.expected), ("answered", finding.answer)):
        lines += _wrapped(f"{what}: {json.dumps(value)}", "  ")
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(
        printable(text), _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
    return lines if len(lines) <= _LINES else [*lines[: _LINES - 1], f"{indent}  ..."]
