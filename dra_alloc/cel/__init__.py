"""
CEL selectors, answered exactly as kube-scheduler and kube-apiserver of a release do.

Compile once, ask for many devices::

    from dra_alloc import cel

    environment = cel.environment("1.36")
    program = environment.compile('device.driver == "gpu.example.com"')
    device = cel.prepare_device("gpu.example.com", attributes, capacity, None, lists=environment.lists)
    program.matches(device)

Ask for many devices at once with :class:`Columns`: one evaluation for every
distinct row of what the program reads, errors kept until somebody looks.

How a library is added
----------------------
A library is one file under ``dra_alloc/cel/library/`` that exports one
:class:`~dra_alloc.cel.check.declarations.Library` and is listed in
``library/__init__.py`` (``LIBRARIES``, upstream's order of registration).

* A ``Library`` has functions, macros, the types it introduces, and a
  ``Window``: ``since`` (minor of the first *new* environment), ``added`` and
  ``removed`` (binaries that know it; 38 is what follows the 1.37 alphas) and
  ``gate``. An ``Overload`` may have a window of its own.
* A ``Function`` has overloads in upstream's order. Two libraries may add
  overloads to one name; they are joined.
* An ``Overload`` has upstream's id, parameter types (receiver first), result
  type, ``member`` and ``run(*args)``. Type parameters are ``param("T")``.
  ``run`` gets plain Python values (see :mod:`dra_alloc.cel.values.runtime`: lists are
  tuples or ``ConcatList``, maps ``CelMap``, uint ``UInt``), returns one, and
  raises ``CelError(text)`` with upstream's text. Argument types are checked
  before (``no such overload: f(int, string)``) unless the function says
  ``guarded=False`` or has a ``run`` of its own for all overloads.
* ``cost`` is a ``Cost(actual, estimate)``; on the function it holds for every
  overload, on an overload only for that one (which then wins). No cost means
  1. ``costs.py`` has the common ones: ``NOMINAL``, ``TRAVERSE_FIRST``,
  ``traverse(factor, sized=True)``. ``actual(args, result)`` returns an int;
  set ``before=False`` if it reads the result. ``estimate(estimator, target,
  args)`` returns ``estimator.call(Range(low, high), result_size)`` or None;
  ``estimator.size(operand)`` is an operand's size range,
  ``estimator.element(operand)`` stands for an element of a list operand.
* A value class of its own sets ``cel_type``, ``go_type`` (the Go name upstream
  prints) and ``cel_equal(other)``; where upstream's Go value cannot be a map
  key, ``go_hashable = False``. Optional: ``cel_size`` (what cost sees),
  ``cel_zero`` (for ``optional.ofNonZeroValue``), ``cel_compare(other)``,
  ``cel_add/cel_subtract/cel_negate``.
* A ``Macro`` builds nodes with the ``Expansion`` it is handed (see
  ``macros.py`` and ``library/bindings.py``).
* Work must be bounded by the cost: whatever is more than linear in the
  arguments' sizes needs a ``cost`` that says so.
"""

from __future__ import annotations

from dra_alloc.cel.columns import Columns, Interner, Outcome
from dra_alloc.cel.device import Attribute, CelDevice, prepare_device
from dra_alloc.cel.engine import MAX_EXPRESSION_BYTES, Environment, environment
from dra_alloc.cel.engines import ENGINES, NATIVE, compile, compiler
from dra_alloc.cel.errors import CompileError, EvaluationError, Issue
from dra_alloc.cel.hints import evaluation_hints, missing_hints
from dra_alloc.cel.program import COST_LIMIT, Program
from dra_alloc.cel.protocol import Compiler, Selector
from dra_alloc.cel.reads import Read

__all__ = [
    "COST_LIMIT",
    "ENGINES",
    "MAX_EXPRESSION_BYTES",
    "NATIVE",
    "Attribute",
    "CelDevice",
    "Columns",
    "CompileError",
    "Compiler",
    "Environment",
    "EvaluationError",
    "Interner",
    "Issue",
    "Outcome",
    "Program",
    "Read",
    "Selector",
    "compile",
    "compiler",
    "environment",
    "evaluation_hints",
    "missing_hints",
    "prepare_device",
]
