"""
A selector's answers, as text and as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from dra_alloc.limits import CEL_SELECTOR_MAX_COST
from dra_alloc.report.json_report import SCHEMA_VERSION
from dra_alloc.report.layout import plural, some, wrapped
from dra_alloc.scenario.selecting import DeviceVerdict, Selected

__all__ = ["CEL_FORMATS"]


def _text(selected: Selected, verbose: bool) -> str:
    return "\n".join(wrapped(line) for line in _lines(selected, verbose)) + "\n"


def _lines(selected: Selected, verbose: bool) -> Iterator[str]:
    limit = "" if selected.max_cost <= CEL_SELECTOR_MAX_COST else ": too complex for the API server"
    yield f"type {selected.output_type}, estimated cost {selected.max_cost:,} of {CEL_SELECTOR_MAX_COST:,}{limit}"
    yield f"reads {', '.join(selected.reads) or 'nothing of a device'}"
    matching = selected.matching
    yield f"matches {len(matching):,} of {plural(len(selected.devices), 'device')}"
    yield from _by_pool(matching, verbose)
    by_error: dict[str, list[DeviceVerdict]] = {}
    for each in selected.failing:
        by_error.setdefault(each.error, []).append(each)
    for error, devices in by_error.items():
        yield f"fails on {plural(len(devices), 'device')}, which would end the scheduling attempt: {error}"
        yield from _by_pool(devices, verbose)
        yield from (f"  hint: {hint}" for hint in devices[0].hints)


def _by_pool(devices: Sequence[DeviceVerdict], verbose: bool) -> Iterator[str]:
    pools: dict[tuple[str, str], list[str]] = {}
    for each in devices:
        pools.setdefault((each.pool, each.driver), []).append(each.device)
    for (pool, driver), names in pools.items():
        yield f"  {some(names, verbose)} (pool {pool}, {driver})"


def _json(selected: Selected, verbose: bool) -> str:
    body = {
        "schemaVersion": SCHEMA_VERSION,
        "expression": selected.expression,
        "type": selected.output_type,
        "maxCost": selected.max_cost,
        "reads": list(selected.reads),
        "summary": {
            "devices": len(selected.devices),
            "matching": len(selected.matching),
            "failing": len(selected.failing),
        },
        "devices": [
            {
                "driver": each.driver,
                "pool": each.pool,
                "device": each.device,
                "matches": each.matches,
                "cost": each.cost,
                "error": each.error,
                "hints": list(each.hints),
            }
            for each in selected.devices
        ],
    }
    return json.dumps(body, indent=2) + "\n"


#: Format name -> what makes the whole output.
CEL_FORMATS: Final[Mapping[str, Callable[[Selected, bool], str]]] = {"text": _text, "json": _json}
