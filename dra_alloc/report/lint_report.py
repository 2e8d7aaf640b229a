"""
What lint found: a finding for each code and place, and totals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.errors import Problem, by_place
from dra_alloc.linting.rules import LintFinding
from dra_alloc.linting.running import Linted
from dra_alloc.report.formats.annotations import BAD_INPUT, problem_object
from dra_alloc.report.layout import plural
from dra_alloc.report.records import Finding, Level, Report, Section

_LEVELS: Final[dict[str, Level]] = {"error": "error", "warning": "warning", "info": "note"}
_FIXES: Final = {"safe": "--fix mends it", "unsafe": "--fix --unsafe-fixes changes it"}


def lint_report(found: Linted) -> Report:
    """Return the records of files that were linted."""
    findings = tuple(map(_finding, by_place((*found.findings, *found.unreadable))))
    if found.undecided:  # nothing found is no answer then, in any format
        section = Section("undecided", found.undecided, _left_undone, _left_shape)
        findings = (*findings, Finding("what is left", "warning", "undecided", (section,)))
    return Report(findings, Section("linted", (found, findings), _lines, _members), found.notes)


def _finding(problem: Problem) -> Finding:
    where, section = problem.where, Section("lint", problem, _told, _shape)
    subject = where.object or where.file
    if not isinstance(problem, LintFinding):
        return Finding(subject, "error", BAD_INPUT, (section,), where)
    return Finding(subject, _LEVELS[problem.severity], problem.code, (section,), where, problem.fingerprint)


def _told(problem: Problem, _verbose: bool) -> Iterator[str]:
    where = problem.where
    place = ":".join(str(part) for part in (where.file, where.line, where.column) if part)
    code = f"{problem.code} {problem.severity}: " if isinstance(problem, LintFinding) else ""
    told = ": ".join(part for part in (where.object, where.path) if part)
    first, *more = problem.message.splitlines()
    yield f"{place}: {code}{told}: {first}" if told else f"{place}: {code}{first}"
    yield from (f"  {line}" for line in (*more, problem.hint) if line)


def _shape(problem: Problem) -> dict[str, Any]:
    if not isinstance(problem, LintFinding):
        return problem_object(problem)
    own = {"code": problem.code, "severity": problem.severity, "fix": problem.fix, "fingerprint": problem.fingerprint}
    return {**own, **problem_object(problem)}


def _left_undone(said: str, _verbose: bool) -> Iterator[str]:
    yield f"undecided: selectors and constraints were not all looked at: {said}"


def _left_shape(said: str) -> dict[str, Any]:
    return {"code": "undecided", "severity": "warning", "message": said}


def _lines(told: tuple[Linted, tuple[Finding, ...]], verbose: bool) -> Iterator[str]:
    found, findings = told
    for finding in findings:
        yield from finding.lines(verbose)
    if findings:
        yield ""
    yield from (f"note: {note}" for note in found.notes)
    yield f"{_total(found)} (Kubernetes {found.settings.release})"


def _total(found: Linted) -> str:
    counts = Counter(each.severity for each in found.findings)
    parts = [plural(counts["error"], "error"), plural(counts["warning"], "warning"), f"{counts['info']:,} info"]
    said = [part for part in parts if not part.startswith("0 ")]
    said += [f"{plural(sum(each.count for each in found.unreadable), 'place')} cannot be read"] * bool(found.unreadable)
    whole = ", ".join(said) or ("nothing found so far" if found.undecided else "nothing found")
    mendable = Counter[str](each.fix for each in found.findings)
    left = [f"{found.suppressed:,} suppressed"] * bool(found.suppressed) + [f"{found.known:,} in the baseline"] * bool(
        found.known
    )
    fixes = [f"{mendable[fix]:,} of them: {said}" for fix, said in _FIXES.items() if mendable[fix]]
    return "; ".join([f"{whole} in {plural(found.checked, 'object')}", *left, *fixes])


def _members(told: tuple[Linted, tuple[Finding, ...]]) -> dict[str, Any]:
    found, _ = told
    return {
        "release": found.settings.release,
        "gates": dict(found.settings.gates),
        "checked": found.checked,
        "findings": list(map(_shape, found.findings)),
        "undecided": found.undecided or None,
        "unreadable": list(map(problem_object, found.unreadable)),
        "suppressed": found.suppressed,
        "inBaseline": found.known,
        "notes": list(found.notes),
    }
