"""
What an API server would refuse: a finding for each fault, and totals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_alloc.errors import Problem, by_place
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.report.formats.annotations import BAD_INPUT, problem_object
from dra_alloc.report.layout import plural
from dra_alloc.report.records import Finding, Report, Section
from dra_alloc.scenario.validating import Validated


def validate_report(found: Validated) -> Report:
    """Return the records of objects that were validated."""
    findings = tuple(map(_finding, by_place((*found.faults, *found.unreadable))))
    return Report(findings, Section("validated", (found, findings), _lines, _members), _notes(found))


def _finding(problem: Problem) -> Finding:
    code = problem.type if isinstance(problem, FieldFault) else BAD_INPUT
    where = problem.where
    return Finding(where.object or where.file, "error", code, (Section("fault", problem, _fault_lines),), where)


def _fault_lines(problem: Problem, _verbose: bool) -> Iterator[str]:
    where = problem.where
    place = ":".join(str(part) for part in (where.file, where.line, where.column) if part)
    told = ": ".join(part for part in (place, where.object, where.path) if part)
    first, *more = problem.message.splitlines()
    yield f"{told}: {first}"
    yield from (f"  {line}" for line in (*more, problem.hint) if line)


def _notes(found: Validated) -> tuple[str, ...]:
    if not found.left_alone:
        return found.notes
    counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(found.left_alone.items()))
    return (f"not looked at, there are no rules for it: {counts}", *found.notes)


def _lines(told: tuple[Validated, tuple[Finding, ...]], verbose: bool) -> Iterator[str]:
    found, findings = told
    for finding in findings:
        yield from finding.lines(verbose)
    if findings:
        yield ""
    yield from (f"note: {note}" for note in _notes(found))
    objects = len({(each.where.file, each.where.object) for each in found.faults})
    parts = [f"{plural(len(found.faults), 'fault')} in {plural(objects, 'object')}"] if objects else []
    parts += [f"{plural(sum(each.count for each in found.unreadable), 'place')} cannot be read"] * bool(
        found.unreadable
    )
    clean = f"nothing wrong with {plural(found.checked, 'object')}" if found.checked else "nothing was looked at"
    said = ", ".join(parts) or clean
    yield f"{said} (Kubernetes {found.settings.release})"


def _members(told: tuple[Validated, tuple[Finding, ...]]) -> dict[str, Any]:
    found, _ = told
    return {
        "release": found.settings.release,
        "gates": dict(found.settings.gates),
        "checked": found.checked,
        "faults": [{"type": each.type, "detail": each.detail, **problem_object(each)} for each in found.faults],
        "unreadable": list(map(problem_object, found.unreadable)),
        "leftAlone": dict(found.left_alone),
        "notes": list(found.notes),
    }
