"""
All kinds of steps, and scenarios of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from dra_alloc.scenario.fleet.shape import MachineShape
from dra_alloc.scenario.what_if.devices import TaintDevices
from dra_alloc.scenario.what_if.nodes import AddNodes, CordonNodes, DrainNodes, RemoveNodes, UncordonNodes
from dra_alloc.scenario.what_if.objects import Apply, Delete
from dra_alloc.scenario.what_if.releases import ReleaseStep
from dra_alloc.scenario.what_if.step import StepKind

__all__ = ["STEPS", "schema"]

#: Kinds of steps by their names in a scenario.
STEPS: Final[Mapping[str, type[StepKind]]] = {
    "addNodes": AddNodes,
    "apply": Apply,
    "cordonNodes": CordonNodes,
    "delete": Delete,
    "drainNodes": DrainNodes,
    "release": ReleaseStep,
    "removeNodes": RemoveNodes,
    "taintDevices": TaintDevices,
    "uncordonNodes": UncordonNodes,
}


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
