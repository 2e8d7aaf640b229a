"""
A selector's answers: a finding for each device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from dra_alloc.errors import shortened
from dra_alloc.limits import CEL_SELECTOR_MAX_COST
from dra_alloc.report.layout import plural, some
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.scenario.selecting import DeviceVerdict, Selected

#: So many devices are shown one by one.
_SINGLE: Final = 16
#: What precedes a line of the selector, and the one with the caret, in an error.
_ECHO: Final = " | "
_LONGEST_ECHO: Final = 200
_AROUND_CARET: Final = 60
_LONGEST_MESSAGE: Final = 400


def in_excerpts(text: str) -> str:
    """Return a compiler's error with long lines of the selector cut around the caret, and long messages at the end."""
    lines = text.split("\n")
    shown: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        marks = lines[at + 1] if at + 1 < len(lines) else ""
        if line.startswith(_ECHO) and marks.startswith(_ECHO) and marks.endswith(("^", "\uff3e")):
            shown += _around_caret(line[len(_ECHO) :], marks[len(_ECHO) :])
            at += 2
        else:
            shown.append(shortened(line, _LONGEST_MESSAGE))
            at += 1
    return "\n".join(shown)


def _around_caret(source: str, marks: str) -> list[str]:
    if len(source) <= _LONGEST_ECHO:
        return [_ECHO + source, _ECHO + marks]
    caret = len(marks) - 1
    start, end = max(caret - _AROUND_CARET, 0), caret + _AROUND_CARET
    before, after = "…" if start else "", "…" if end < len(source) else ""
    lead = "." * len(before)
    return [f"{_ECHO}{before}{source[start:end]}{after}", f"{_ECHO}{lead}{marks[start:]}"]


def cel_report(answer: Selected) -> Report:
    """Return the records of a selector asked of devices."""
    findings = tuple(map(_finding, answer.devices))
    return Report(findings, _in_lines(Section("selected", answer, _lines, _selected)), answer.notes)


def _in_lines(section: Section) -> Section:
    """Return the section with texts of several lines, such as a compiler's, as so many lines."""
    say = section.say
    return replace(
        section,
        say=lambda about, verbose: (line for text in say(about, verbose) for line in text.splitlines() or [""]),
    )


def _finding(device: DeviceVerdict) -> Finding:
    level: Level = "warning" if device.undecided else "error" if device.error else "none" if device.matches else "note"
    code = "selector-error" if device.error else "matches" if device.matches else "no-match"
    code = "undecided" if device.undecided else code
    return Finding(_name(device), level, code, (Section("device", device, _one, _device),))


def _lines(selected: Selected, verbose: bool) -> Iterator[str]:
    yield from _compiled(selected)
    devices = selected.devices
    if not devices:
        return
    yield f"matches {len(selected.matching):,} of {plural(len(devices), 'device')}"
    if len(devices) <= _SINGLE or verbose:
        for each in devices:
            yield from _one(each)
    else:
        yield from _by_pool(selected.matching, verbose)
        yield from _failures(selected, verbose)
        if selected.undecided:
            yield f"undecided on {plural(len(selected.undecided), 'device')}: the budget ran out"
            yield from _by_pool(selected.undecided, verbose)
    if selected.failing:
        yield f"fails on {plural(len(selected.failing), 'device')}: each would end the scheduling attempt"
    yield from (f"hint: {hint}" for hint in selected.hints)
    yield from (f"note: {note}" for note in selected.notes)


def _compiled(selected: Selected) -> Iterator[str]:
    limit = "" if selected.max_cost <= CEL_SELECTOR_MAX_COST else ": too complex for the API server"
    yield f"type {selected.output_type}, estimated cost {selected.max_cost:,} of {CEL_SELECTOR_MAX_COST:,}{limit}"
    yield f"reads {', '.join(selected.reads) or 'nothing of a device'}"


def _one(verdict: DeviceVerdict, verbose: bool = False) -> Iterator[str]:
    cost = "" if verdict.cost is None else f" (cost {verdict.cost:,})"
    yield f"{_name(verdict)}: {verdict.said}{cost}"
    yield from (f"  {value}" for value in verdict.values)
    yield from (f"  hint: {hint}" for hint in verdict.hints)


def _name(verdict: DeviceVerdict) -> str:
    place = ", ".join([f"pool {verdict.pool}"] * bool(verdict.pool) + [verdict.driver])
    return f"{verdict.device} ({place})"


def _failures(selected: Selected, verbose: bool) -> Iterator[str]:
    by_error: dict[str, list[DeviceVerdict]] = {}
    for each in selected.failing:
        by_error.setdefault(each.error, []).append(each)
    for error, devices in by_error.items():
        yield f"fails on {plural(len(devices), 'device')}: {error}"
        yield from _by_pool(devices, verbose)
        yield from (f"  hint: {hint}" for hint in devices[0].hints)


def _by_pool(devices: Sequence[DeviceVerdict], verbose: bool) -> Iterator[str]:
    pools: dict[tuple[str, str], list[str]] = {}
    for each in devices:
        pools.setdefault((each.pool, each.driver), []).append(each.device)
    for (pool, driver), names in pools.items():
        place = f"pool {pool}, {driver}" if pool else driver
        yield f"  {some(names, verbose)} ({place})"


def _selected(selected: Selected) -> dict[str, Any]:
    return {
        "expression": selected.expression,
        "type": selected.output_type,
        "maxCost": selected.max_cost,
        "reads": list(selected.reads),
        "summary": {
            "devices": len(selected.devices),
            "matching": len(selected.matching),
            "failing": len(selected.failing),
            "undecided": len(selected.undecided),
        },
        "notes": list(selected.notes),
        "hints": list(selected.hints),
        "devices": list(map(_device, selected.devices)),
    }


def _device(device: DeviceVerdict) -> dict[str, Any]:
    names = ("driver", "pool", "device", "matches", "cost", "error", "undecided")
    plain = {name: getattr(device, name) for name in names}
    return {**plain, "hints": list(device.hints), "values": list(device.values)}
