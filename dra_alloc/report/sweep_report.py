"""
What many changes do: a finding for each, and a table of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dra_alloc.report.layout import MOST, plural
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.scenario.sweep.questions import Difference, SweepRow
from dra_alloc.scenario.what_if.what_if import Fate

#: Fates that a change is not to have.
WORSE: Final = tuple([each for each in Fate if each.worse])
_Told = tuple[Sequence[SweepRow], tuple[Finding, ...]]


def sweep_report(rows: Sequence[SweepRow]) -> Report:
    """Return the records of rows, which are in order; what is the same in all is not said of each. Spec: SWEEP-1."""
    settings = [_settings(row) for row in rows]
    differ = [len(set(column)) > 1 for column in zip(*settings, strict=True)]
    findings = tuple(_finding(row, _called(row, differ)) for row in rows)
    return Report(findings, Section("sweep", (rows, findings), _lines, _members))


def _finding(row: SweepRow, called: str) -> Finding:
    level, code = _judged(row)
    sections = (
        Section("headline", (row, called), _headline, lambda told: told[0].members()),
        Section("differences", row, _differences),
        Section("stuck", row, _stuck),
    )
    return Finding(called, level, code, sections)


def _judged(row: SweepRow) -> tuple[Level, str]:
    if row.wrong:
        return "error", "bad-input"
    if row.unanswered:
        return "warning", "unanswered"
    worst = next((fate for fate in WORSE if fate.value in row.fates), None)
    if worst is not None:
        return "error", worst.value.replace(" ", "-")
    if row.stuck:
        return "error", "stuck"
    is_open = row.unsure or Fate.UNDECIDED.value in row.fates
    return ("warning", "undecided") if is_open else ("none", "no-worse")


def _settings(row: SweepRow) -> tuple[str, str, str]:
    """Return the release, the gates and the cluster of a row."""
    gates = " ".join(f"{name}={str(value).lower()}" for name, value in sorted(row.gates.items()))
    return row.release, gates, row.cluster


def _called(row: SweepRow, differ: Sequence[bool]) -> str:
    """Return the name of a row's scenario, and of its settings what others have otherwise; all where it has no name."""
    settings = zip(_settings(row), differ, strict=True)
    said = ", ".join(each for each, tells in settings if each and (tells or not row.name))
    return f"{row.name} ({said})" if row.name and said else row.name or said


def _headline(told: tuple[SweepRow, str], verbose: bool) -> Iterator[str]:
    row, called = told
    yield f"{called}: {_said(row.fates) or 'no answer'}"
    yield from (f"  {each}" for each in row.wrong)
    if row.unanswered:
        yield f"  {row.unanswered}"


def _said(fates: Mapping[str, int]) -> str:
    return ", ".join(f"{fates[fate]} {fate.of(fates[fate])}" for fate in Fate if fates.get(fate))


def _differences(row: SweepRow, verbose: bool) -> Iterator[str]:
    shown = row.differences if verbose else [each for each in row.differences if each.fate in WORSE][:MOST]
    for each in shown:
        yield f"  {each.name} ({each.kind}): {each.fate}: {_counts(each)}"
        if each.cause:
            yield f"    cause: {each.cause}"
    left = sum(each.fate in WORSE for each in row.differences) - len(shown)
    if not verbose and left > 0:
        yield f"  and {left:,} more that get worse (--verbose)"


def _stuck(row: SweepRow, verbose: bool) -> Iterator[str]:
    yield from (f"  {name} (Pod) holds up its drain: {why}" for name, why in row.stuck.items())
    yield from (f"  {name} (Pod) may hold up its drain: {why}" for name, why in row.unsure.items())


def _counts(each: Difference) -> str:
    evicted = f", {plural(each.evicted, 'pod')} evicted" if each.evicted else ""
    before = f", {each.ran} of {each.wanted_before} before" if each.wanted_before else ""
    runs = f"{each.runs} of {each.wanted} run" if each.wanted else "none is wanted"
    return f"{runs}{before}{evicted}"


def _lines(told: _Told, verbose: bool) -> Iterator[str]:
    rows, findings = told
    for finding in findings:
        if verbose or finding.level != "none":
            yield from (*finding.lines(verbose), "")
    yield from (*_table(rows), "")
    yield _summary(rows, findings)


def _table(rows: Sequence[SweepRow]) -> Iterator[str]:
    """Yield a line for each row: what it asks, and how many workloads have each fate, those that any has."""
    fates = [fate for fate in Fate if any(row.fates.get(fate) for row in rows)]
    head = ["scenario", "release", "gates", "cluster", *fates]
    body = [
        [
            row.name or "-",
            *(each or "-" for each in _settings(row)),
            *([str(row.fates.get(fate, 0)) for fate in fates] if row.fates else ["?"] * len(fates)),
        ]
        for row in rows
    ]
    # What is the same in all rows is said once, above the table.
    same = [
        bool(rows) and number in (1, 2, 3) and len({line[number] for line in body}) == 1 for number in range(len(head))
    ]
    said = [f"{name}: {body[0][number]}" for number, name in enumerate(head) if same[number] and body[0][number] != "-"]
    kept = [[cell for cell, drop in zip(line, same, strict=True) if not drop] for line in (head, *body)]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    yield from said
    for line in kept:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def _summary(rows: Sequence[SweepRow], findings: Sequence[Finding]) -> str:
    if not rows:
        return "nothing was asked"
    counts = Counter(_word(each) for each in findings)
    return f"{plural(len(rows), 'question')}: " + ", ".join(f"{count:,} {word}" for word, count in counts.most_common())


def _word(finding: Finding) -> str:
    return {
        "bad-input": "with bad input",
        "unanswered": "unanswered",
        "undecided": "undecided",
        "no-worse": "no worse",
    }.get(finding.code, "worse")


def _members(told: _Told) -> dict[str, Any]:
    rows, findings = told
    counts = Counter(each.code for each in findings)
    return {"summary": dict(sorted(counts.items())), "rows": [row.members() for row in rows]}
