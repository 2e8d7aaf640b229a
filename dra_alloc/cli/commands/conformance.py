"""
The command `conformance`.
"""

from __future__ import annotations

import itertools
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cli import options as shared
from dra_alloc.errors import InputError
from dra_alloc.report import PLAIN
from dra_alloc.report.layout import UNLIMITED, wrapped_at
from dra_alloc.report.records import Finding, Report, Section

if TYPE_CHECKING:
    from dra_alloc.testing.conformance import ConformanceRun, Mismatch
    from dra_alloc.testing.drawing.questions import HarnessQuestion

_RELEASE: Final = "1.36"
_SHOWN: Final = 5
_LINES: Final = 6
#: Random questions that take us more steps are not asked: some would take minutes.
_STEPS: Final = 20_000
_DESCRIPTION: Final = """\
Start a command that speaks the harness protocol, ask it random questions and
the vectors of the specification, and count by rule how many of its answers
are as expected: of random questions as dra-alloc's own, of vectors as
recorded from Kubernetes."""
_EXIT_CODES: Final = """\
exit codes: 0 all answers as expected; 1 some are not, or are missing; 2 bad
input, or it cannot start"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description = _DESCRIPTION
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = actions.add_parser(
        "run",
        help="ask it, and say which rules its answers break",
        description=_DESCRIPTION,
        epilog=_EXIT_CODES,
        formatter_class=command.formatter_class,
        allow_abbrev=False,
    )
    run.add_argument("--implementation", required=True, metavar="CMD", help="command that speaks the harness protocol")
    run.add_argument("--release", metavar="R", help="Kubernetes release to ask for (default: 1.36, vectors: all)")
    shared.channel(run, "allocator variant to ask for (default: auto, vectors: all)", None)
    run.add_argument("--cases", type=shared.whole, default=300, metavar="N", help="random cases (default: 300)")
    run.add_argument("--seed", type=shared.any_whole, default=1, metavar="S", help="of the random cases (default: 1)")
    run.add_argument("--vectors", action="store_true", help="ask the vectors of the specification, too")
    run.add_argument(
        "--timeout", type=shared.seconds, default=60.0, metavar="SECONDS", help="for one answer (default: 60)"
    )
    shared.output(run, PLAIN)
    run.add_argument("--junit", metavar="FILE", help="write a JUnit file, too")
    run.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """
    Hold an implementation against ours and the vectors; 0 if every answer is right, 1 if one is not.

    Raises: InputError, before anything is printed, also where the implementation cannot be started.
    """
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import file_beside_answer, show
    from dra_alloc.cli.writing import write_file
    from dra_alloc.testing.client import Client
    from dra_alloc.testing.conformance import hold
    from dra_alloc.testing.junit import junit

    if options.junit is not None:
        file_beside_answer(options, "junit")  # before hours of questions
    questions = _questions(options)
    first = next(questions, None)
    if first is None:
        raise InputError("nothing to ask", hint="--cases above 0, or --vectors with a release and channel they have")
    with Client(options.implementation, seconds=options.timeout) as client:
        result = hold(client, itertools.chain([first], questions))
    if options.junit is not None:
        write_file(options.junit, junit(result, f"conformance of {options.implementation}").encode())
    show(options, _report(result))
    return ExitCode.OK if result.good else ExitCode.UNSATISFIABLE


def _questions(options: Namespace) -> Iterator[HarnessQuestion]:
    from dra_alloc.profiles import profile
    from dra_alloc.testing.drawing.dialect import Dialect
    from dra_alloc.testing.drawing.questions import random_questions
    from dra_alloc.testing.vectors import vector_questions

    release, channel = options.release or _RELEASE, options.channel or "auto"
    profile(release, (), channel)  # whether there is such a release
    if options.cases:
        yield from random_questions(Dialect(release, channel), options.seed, options.cases, _ours)
    if options.vectors:
        named = options.channel if options.channel != "auto" else None
        yield from vector_questions(options.release, named)


def _ours(request: dict[str, Any]) -> dict[str, Any]:
    from dra_alloc.cli.harness.serve import answer

    return answer(json.dumps(request), steps=_STEPS)


def _report(result: ConformanceRun) -> Report:
    findings = tuple(
        Finding(each.name, "error", "no-answer" if each.failure else "wrong-answer", (section,))
        for each in result.findings
        for section in [Section("mismatch", each, _told, _mismatch)]
    )
    return Report(findings, Section("conformance", (result, findings), _lines, _members))


def _members(told: tuple[ConformanceRun, tuple[Finding, ...]]) -> dict[str, Any]:
    result, findings = told
    counts = ("cases", "equal", "different", "errors")
    rules = {rule: {name: getattr(tally, name) for name in counts} for rule, tally in sorted(result.rules.items())}
    shown = {
        "conformant": result.good,
        "asked": result.asked,
        "rules": rules,
        "findings": [each.members() for each in findings],
    }
    return shown | ({"stopped": result.stopped} if result.stopped else {})


def _mismatch(found: Mismatch) -> dict[str, Any]:
    names = ("name", "rules", "request", "expected", "answer", "failure")
    plain = {name: getattr(found, name) for name in names}
    return {name: value for name, value in plain.items() if value not in (None, "")}


def _lines(told: tuple[ConformanceRun, tuple[Finding, ...]], verbose: bool) -> Iterator[str]:
    result, _ = told
    yield f"{'rule':<40}{'cases':>10}{'equal':>10}{'different':>10}{'errors':>10}"
    for rule, tally in sorted(result.rules.items()):
        shown = rule if len(rule) < 40 else rule[:36] + "..."
        yield f"{shown:<40}{tally.cases:>10}{tally.equal:>10}{tally.different:>10}{tally.errors:>10}"
    alike = _alike(result.findings)
    most = UNLIMITED if verbose else _SHOWN
    for number, group in enumerate(alike[:most]):
        in_full = verbose or not any(each[0].failure for each in alike[:number])
        yield from ("", *_told(group[0], verbose, in_full=in_full))
        if len(group) > 1:
            yield f"  the same for {len(group) - 1} more"
    left = sum(map(len, alike[most:]))
    if left > 0:
        yield from ("", f"... and {left} more; --format json or --junit FILE has all of them")
    yield ""
    if result.stopped:
        yield f"stopped early: {result.stopped}"
    wrong = f"{len(result.findings)} of {result.asked} answers are wrong or missing"
    yield f"conformant: {result.asked} answers as expected" if result.good else f"not conformant: {wrong}"


def _alike(found: Iterable[Mismatch]) -> list[list[Mismatch]]:
    """Return mismatches in groups: those without an answer together where one could not tell them apart."""
    groups: dict[str | tuple[str, str], list[Mismatch]] = {}
    for each in found:
        how, words = _failed(each)
        groups.setdefault((how, words[-1] if words else "") if each.failure else each.name, []).append(each)
    return list(groups.values())


def _failed(found: Mismatch) -> tuple[str, list[str]]:
    """Return why there is no answer, and the lines that the implementation said of it."""
    how, _, words = found.failure.partition(": ")
    return how, words.splitlines()


def _told(found: Mismatch, verbose: bool, *, in_full: bool = True) -> Iterator[str]:
    def cut(text: str, indent: str) -> list[str]:
        lines = wrapped_at(text, indent, "  ")
        return lines if verbose or len(lines) <= _LINES else [*lines[: _LINES - 1], f"{indent}  ..."]

    yield from cut(f"{found.name}: {', '.join(found.rules)}", "")
    how, words = _failed(found)
    if found.failure and (len(words) < 2 or not in_full):
        yield from cut(": ".join([f"no answer: {how}", *words[-1:]]), "  ")
    elif found.failure:
        yield from cut(f"no answer: {how}:", "  ")
        yield from (line for each in words for line in cut(each, "    "))
    else:
        for what, value in (("asked", found.request), ("expected", found.expected), ("answered", found.answer)):
            yield from cut(f"{what}: {json.dumps(value)}", "  ")
