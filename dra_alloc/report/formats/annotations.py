"""
What formats for build servers tell: the findings that are not as they should be, each as plain values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dra_alloc.errors import DraAllocError, ManifestError, Problem
from dra_alloc.linting.fingerprints import Fingerprints
from dra_alloc.report.layout import plural, printable
from dra_alloc.report.records import Finding, Level, Report, Section

#: The code of what is wrong with the input.
BAD_INPUT: Final = "bad-input"


@dataclass(frozen=True, slots=True)
class Annotation:
    """
    A finding above `none`: its first line and the cause as `title`, all lines as `text`, and where it was read.

    `file` is empty and `line` 1 where that is not known, `column` None. `fingerprint` is the
    same for the same subject, JSON path and code wherever the lines have moved
    to, and no two of a report have one.
    """

    subject: str
    level: Level
    code: str
    title: str
    text: str
    file: str
    line: int
    fingerprint: str
    column: int | None = None


def annotated(report: Report, verbose: bool) -> Iterator[Annotation]:
    """Yield the annotations of a report in its order."""
    marks = Fingerprints()
    for finding in report.findings:
        if finding.level == "none":
            continue
        lines = [printable(line) for line in finding.lines(verbose)]
        where = finding.where
        mark = finding.fingerprint or marks.of(where.file, finding.subject, where.path, finding.code)
        title = printable(finding.title)
        text = "\n".join(lines)
        subject, line = printable(finding.subject), where.line or 1
        yield Annotation(subject, finding.level, finding.code, title, text, where.file, line, mark, where.column)


def problem_report(error: DraAllocError) -> Report:
    """Return the records of bad input: a finding for each problem."""
    problems = (
        error.problems if isinstance(error, ManifestError) else (Problem(error.message, error.where, error.hint),)
    )
    findings = tuple(map(_finding, problems))
    undone = error.undone if isinstance(error, ManifestError) else "checked"
    return Report(findings, Section("problems", (problems, undone), _lines, _members))


def nothing_done(count: int, undone: str) -> str:
    """Return what is said after so many problems of the input: what was not done."""
    return f"{plural(count, 'problem')} in the input, nothing was {undone}"


def _finding(problem: Problem) -> Finding:
    place = ": ".join(part for part in (problem.where.object, problem.where.path) if part)
    told = f"{place}: {problem.message}" if place else problem.message
    hint = (f"  {problem.hint}",) if problem.hint else ()
    section = Section("problem", (told, *hint), lambda lines, _: lines)
    return Finding(place or problem.where.file or "input", "error", BAD_INPUT, (section,), problem.where)


def _lines(told: tuple[tuple[Problem, ...], str], _verbose: bool) -> Iterator[str]:
    problems, undone = told
    yield from map(str, problems)
    yield nothing_done(sum(each.count for each in problems), undone)


def _members(told: tuple[tuple[Problem, ...], str]) -> dict[str, object]:
    problems, _ = told
    return {"problems": list(map(problem_object, problems))}


def problem_object(problem: Problem) -> dict[str, object]:
    """Return a problem in JSON."""
    return {
        "message": problem.message,
        "hint": problem.hint,
        "object": problem.where.object,
        "path": problem.where.path,
        "file": problem.where.file,
        "line": problem.where.line,
        "column": problem.where.column,
        "count": problem.count,
    }
