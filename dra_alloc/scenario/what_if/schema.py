"""
The JSON schema of scenarios.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from dra_alloc.cluster.edits.steps import STEPS
from dra_alloc.scenario.fleet.shape import MachineShape

_SHAPE: Final = "shape"


def schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario."""
    kinds, definitions = TypeAdapter.json_schemas(
        [
            *((name, "validation", TypeAdapter(kind)) for name, kind in STEPS.items()),
            (_SHAPE, "validation", TypeAdapter(MachineShape)),
        ],
        ref_template="#/$defs/{model}",
    )
    steps = {name: kinds[name, "validation"] for name in STEPS}
    step = {
        "type": "object",
        "properties": steps,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of dra-alloc what-if",
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": step},
            "shapes": {"type": "object", "additionalProperties": kinds[_SHAPE, "validation"]},
        },
        "required": ["steps"],
        "additionalProperties": False,
        **definitions,
    }
