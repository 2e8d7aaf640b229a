"""
A selector's answers, as text and as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dra_alloc.errors import shortened
from dra_alloc.limits import CEL_SELECTOR_MAX_COST
from dra_alloc.report.json_report import SCHEMA_VERSION
from dra_alloc.report.layout import UNLIMITED, plural, some, wrapped
from dra_alloc.scenario.selecting import Comparison, DeviceVerdict, Difference, Refused, Selected

__all__ = ["CEL_FORMATS", "in_excerpts"]

#: So many devices are shown one by one.
_SINGLE: Final = 16
_MOST_DIFFERENCES: Final = 8
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


def _text(answer: Selected | Comparison, verbose: bool) -> str:
    lines = _compared(answer, verbose) if isinstance(answer, Comparison) else _lines(answer, verbose)
    return "\n".join(wrapped(line) for text in lines for line in (text.splitlines() or [""])) + "\n"


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
    if selected.failing:
        yield f"fails on {plural(len(selected.failing), 'device')}: each would end the scheduling attempt"
    yield from (f"hint: {hint}" for hint in selected.hints)


def _compiled(selected: Selected) -> Iterator[str]:
    if selected.max_cost is None:
        yield f"compiled by {selected.engine}, which checks no types and knows no cost"
        return
    limit = "" if selected.max_cost <= CEL_SELECTOR_MAX_COST else ": too complex for the API server"
    yield f"type {selected.output_type}, estimated cost {selected.max_cost:,} of {CEL_SELECTOR_MAX_COST:,}{limit}"
    yield f"reads {', '.join(selected.reads) or 'nothing of a device'}"


def _one(verdict: DeviceVerdict) -> Iterator[str]:
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


def _compared(comparison: Comparison, verbose: bool) -> Iterator[str]:
    width = max(map(len, comparison.engines))
    for answer in comparison.answers:
        if isinstance(answer, Refused):
            said = f"does not compile: {answer.text}"
        else:
            said = f"matches {len(answer.matching):,}, fails on {len(answer.failing):,} of "
            said += plural(len(answer.devices), "device") if answer.devices else "no devices"
        yield f"{answer.engine:{width}}  {said}"
        if isinstance(answer, Refused):
            yield from (f"  hint: {hint}" for hint in answer.hints)
    for answer in comparison.answers:
        if isinstance(answer, Selected) and answer.max_cost is not None:
            yield from _compiled(answer)
    yield from _groups(comparison, comparison.failures, "all fail", verbose)
    yield from _groups(comparison, comparison.differences, "they differ", verbose)
    refusing = [each.engine for each in comparison.answers if isinstance(each, Refused)]
    if comparison.agreeing:
        yield "they agree"
    elif refusing:
        yield f"they differ: {', '.join(refusing)} does not compile it"


def _groups(comparison: Comparison, groups: Sequence[Difference], what: str, verbose: bool) -> Iterator[str]:
    """Yield what the engines say of devices, alike ones together."""
    width = max(map(len, comparison.engines))
    most = UNLIMITED if verbose else _MOST_DIFFERENCES
    for group in groups[:most]:
        yield f"{what} on {plural(len(group.devices), 'device')}:"
        for engine, verdict in zip(comparison.engines, group.verdicts, strict=True):
            yield f"  {engine:{width}}  {verdict}"
        yield from _by_pool(group.devices, verbose)
        yield from (f"  {value}" for value in group.devices[0].values)
    if len(groups) > most:
        yield f"and {len(groups) - most} more of these: --verbose"


def _json(answer: Selected | Comparison, verbose: bool) -> str:
    if isinstance(answer, Selected):
        return json.dumps({"schemaVersion": SCHEMA_VERSION, **_selected(answer)}, indent=2) + "\n"
    body = {
        "schemaVersion": SCHEMA_VERSION,
        "agree": answer.agreeing,
        "engines": [_refused(each) if isinstance(each, Refused) else _selected(each) for each in answer.answers],
        "differences": [
            {
                "verdicts": dict(zip(answer.engines, each.verdicts, strict=True)),
                "devices": [[device.driver, device.pool, device.device] for device in each.devices],
            }
            for each in answer.differences
        ],
    }
    return json.dumps(body, indent=2) + "\n"


def _refused(refused: Refused) -> dict[str, Any]:
    return {"engine": refused.engine, "compileError": refused.text, "hints": list(refused.hints)}


def _selected(selected: Selected) -> dict[str, Any]:
    return {
        "expression": selected.expression,
        "engine": selected.engine,
        "type": selected.output_type,
        "maxCost": selected.max_cost,
        "reads": list(selected.reads),
        "summary": {
            "devices": len(selected.devices),
            "matching": len(selected.matching),
            "failing": len(selected.failing),
        },
        "hints": list(selected.hints),
        "devices": [
            {
                "driver": each.driver,
                "pool": each.pool,
                "device": each.device,
                "matches": each.matches,
                "cost": each.cost,
                "error": each.error,
                "hints": list(each.hints),
                "values": list(each.values),
            }
            for each in selected.devices
        ],
    }


#: Format name -> what makes the whole output.
CEL_FORMATS: Final[Mapping[str, Callable[[Selected | Comparison, bool], str]]] = {"text": _text, "json": _json}
