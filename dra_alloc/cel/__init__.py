"""
CEL selectors, answered exactly as kube-scheduler and kube-apiserver of a release do.

Compile once, ask for many devices::

    from dra_alloc import cel

    environment = cel.environment("1.36")
    program = environment.compile('device.driver == "gpu.example.com"')
    device = cel.prepare_device("gpu.example.com", attributes, capacity, None, environment.reading)
    program.matches(device)

Ask for many devices at once with :class:`DeviceColumns`: one evaluation for every
distinct row of what the program reads, errors kept until somebody looks.

Names are loaded when they are first used: most of what reads manifests has no selector to ask.

How a function or a library is added: ``docs/development.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_alloc.cel.columns import DeviceColumns, Interner, Outcome
    from dra_alloc.cel.device import Attribute, CelDevice, Reading, prepare_device
    from dra_alloc.cel.engine import MAX_EXPRESSION_BYTES, Environment, compile, environment
    from dra_alloc.cel.errors import CompileError, EvaluationError, Issue
    from dra_alloc.cel.hints import evaluation_hints, missing_hints
    from dra_alloc.cel.program import COST_LIMIT, Program
    from dra_alloc.cel.reads import Read

__all__ = [
    "COST_LIMIT",
    "MAX_EXPRESSION_BYTES",
    "Attribute",
    "CelDevice",
    "CompileError",
    "DeviceColumns",
    "Environment",
    "EvaluationError",
    "Interner",
    "Issue",
    "Outcome",
    "Program",
    "Read",
    "Reading",
    "compile",
    "environment",
    "evaluation_hints",
    "missing_hints",
    "prepare_device",
]

_HOMES = {
    "COST_LIMIT": "dra_alloc.cel.program",
    "MAX_EXPRESSION_BYTES": "dra_alloc.cel.engine",
    "Attribute": "dra_alloc.cel.device",
    "CelDevice": "dra_alloc.cel.device",
    "CompileError": "dra_alloc.cel.errors",
    "DeviceColumns": "dra_alloc.cel.columns",
    "Environment": "dra_alloc.cel.engine",
    "EvaluationError": "dra_alloc.cel.errors",
    "Interner": "dra_alloc.cel.columns",
    "Issue": "dra_alloc.cel.errors",
    "Outcome": "dra_alloc.cel.columns",
    "Program": "dra_alloc.cel.program",
    "Read": "dra_alloc.cel.reads",
    "Reading": "dra_alloc.cel.device",
    "compile": "dra_alloc.cel.engine",
    "environment": "dra_alloc.cel.engine",
    "evaluation_hints": "dra_alloc.cel.hints",
    "missing_hints": "dra_alloc.cel.hints",
    "prepare_device": "dra_alloc.cel.device",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
