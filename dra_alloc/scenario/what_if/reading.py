"""
A scenario's file, read into steps: with file, line and path of all that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.cluster.edits.step import StepKind
from dra_alloc.cluster.edits.steps import read_step
from dra_alloc.errors import ManifestError, Problem, Where, did_you_mean
from dra_alloc.manifest.plain_file import load_plain
from dra_alloc.manifest.plain_models import faults_of
from dra_alloc.scenario.fleet.shape import MachineShape


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps in their order, each with its path; `file` is where they were read, `shapes` are those of its own."""

    steps: tuple[tuple[str, StepKind], ...] = ()
    file: str = ""
    shapes: Mapping[str, MachineShape] = field(default_factory=dict)


def read_scenario(file: str) -> tuple[Scenario, tuple[Problem, ...]]:
    """
    Return the steps of a file and what is wrong with others; without the lines, see `with_lines`.

    A scenario is one document: ``steps``, a list, each one key and what it takes, and ``shapes`` of nodes by name.
    """
    try:
        documents = load_plain(file)
    except ManifestError as error:
        return Scenario(file=file), tuple(error.problems)
    if len(documents) != 1:
        said = f"a scenario is one document, and this file has {len(documents) or 'none'}"
        return Scenario(file=file), (Problem(said, Where(file=file)),)
    return steps_in(documents[0], file)


def steps_in(document: Any, file: str = "", *, idle: bool = False) -> tuple[Scenario, tuple[Problem, ...]]:
    """Return the steps of a document, and what is wrong with others; only an `idle` one may have none."""
    found = list(_read(document, idle))
    steps = tuple((path, each) for path, each in found if isinstance(each, StepKind))
    shapes = {path: each for path, each in found if isinstance(each, MachineShape)}
    problems = (each for _, each in found if isinstance(each, Problem))
    return Scenario(steps, file, shapes), tuple(
        [replace(each, where=Where(path=each.where.path, file=file)) for each in problems]
    )


_Read = Iterator[tuple[str, StepKind | MachineShape | Problem]]


def _read(document: Any, idle: bool) -> _Read:
    """Yield steps with their paths, shapes with their names, and what is wrong."""
    if not isinstance(document, dict):
        yield "", Problem("a scenario is a mapping with steps")
        return
    if {"apiVersion", "kind"} <= document.keys():
        yield "", Problem("a scenario has steps, and this is a manifest", hint="give it with -f: it is applied")
        return
    for name in document:
        if name not in _MEMBERS:
            hint = did_you_mean(str(name), _MEMBERS)
            yield "", Problem(f"unknown field {name!r}", Where(path=str(name)), hint)
    yield from _shapes(document.get("shapes") or {})
    steps = document.get("steps")
    if not isinstance(steps, list):
        yield "", Problem("has to be a list of steps", Where(path="steps"))
        return
    if not (steps or idle):
        yield "", Problem("has no step, so that nothing changes", Where(path="steps"))
    for number, step in enumerate(steps):
        yield from read_step(step, f"steps[{number}]")


def _shapes(shapes: Any) -> _Read:
    if not isinstance(shapes, dict):
        yield "", Problem("has to be a mapping", Where(path="shapes"))
        return
    for name, shape in shapes.items():
        try:
            yield str(name), MachineShape.model_validate(shape)
        except ValidationError as error:
            yield from (("", each) for each in faults_of(MachineShape, error, f"shapes.{name}"))


_MEMBERS: Final = ("steps", "shapes")
