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

How a function or a library is added: ``docs/development.md``.
"""

from __future__ import annotations

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
