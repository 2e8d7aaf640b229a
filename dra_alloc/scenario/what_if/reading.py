"""
A scenario's file, read into steps: with file, line and path of all that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dra_alloc.errors import ManifestError, Problem, Where, did_you_mean
from dra_alloc.manifest import load_plain
from dra_alloc.scenario.what_if.step import StepKind
from dra_alloc.scenario.what_if.steps import STEPS

__all__ = ["Scenario", "read_scenario", "steps_in"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps in their order, each with its path; `file` is where they were read."""

    steps: tuple[tuple[str, StepKind], ...] = ()
    file: str = ""


def read_scenario(file: str) -> Scenario:
    """
    Return the steps of a file: one document, ``steps`` with a list of steps, each of them one key and what it takes.

    Raises: ManifestError with everything that is wrong with it.
    """
    documents = load_plain(file)
    if len(documents) != 1:
        said = f"a scenario is one document, and this file has {len(documents) or 'none'}"
        raise ManifestError([Problem(said, Where(file=file))])
    return steps_in(documents[0], file)


def steps_in(document: Any, file: str = "") -> Scenario:
    """Return the steps of a document. Raises: ManifestError with everything that is wrong with it."""
    found = list(_read(document))
    problems = [each for each in found if isinstance(each, Problem)]
    if problems:
        raise ManifestError(
            [Problem(each.message, Where(path=each.where.path, file=file), each.hint) for each in problems]
        )
    return Scenario(tuple(each for each in found if not isinstance(each, Problem)), file)


def _read(document: Any) -> Iterator[tuple[str, StepKind] | Problem]:
    if not isinstance(document, dict):
        yield Problem("a scenario is a mapping with steps")
        return
    for name in document.keys() - {"steps"}:
        yield Problem(f"unknown field {name!r}", Where(path=str(name)), did_you_mean(str(name), ["steps"]))
    steps = document.get("steps")
    if not isinstance(steps, list):
        yield Problem("has to be a list of steps", Where(path="steps"))
        return
    for number, step in enumerate(steps):
        yield from _step(step, f"steps[{number}]")


def _step(step: Any, path: str) -> Iterator[tuple[str, StepKind] | Problem]:
    if not isinstance(step, dict) or len(step) != 1:
        yield Problem("a step is a mapping with one key, the kind of step", Where(path=path), _KINDS)
        return
    ((name, taken),) = step.items()
    kind = STEPS.get(name)
    if kind is None:
        yield Problem(f"unknown kind of step {name!r}", Where(path=path), did_you_mean(str(name), STEPS) or _KINDS)
        return
    path = f"{path}.{name}"
    try:
        yield path, kind.model_validate({} if taken is None else taken)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in each["loc"])
            yield Problem(each["msg"], Where(path=path + place), _known(kind, each))


def _known(kind: type[StepKind], error: Any) -> str:
    if error["type"] != "extra_forbidden":
        return ""
    names = [field.alias or name for name, field in kind.model_fields.items()]
    return did_you_mean(str(error["loc"][-1]), names) or f"it takes {', '.join(names)}"


_KINDS = f"kinds: {', '.join(STEPS)}"
