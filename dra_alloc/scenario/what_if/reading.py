"""
A scenario's file, read into steps: with file, line and path of all that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from dra_alloc.errors import ManifestError, Problem, Where, did_you_mean
from dra_alloc.manifest.plain_file import load_plain
from dra_alloc.scenario.what_if.step import StepKind
from dra_alloc.scenario.what_if.steps import STEPS

__all__ = ["Scenario", "read_scenario", "steps_in"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps in their order, each with its path; `file` is where they were read."""

    steps: tuple[tuple[str, StepKind], ...] = ()
    file: str = ""


def read_scenario(file: str) -> tuple[Scenario, tuple[Problem, ...]]:
    """
    Return the steps of a file and what is wrong with others; without the lines, see `with_lines`.

    A scenario is one document, ``steps`` with a list of steps, each of them one key and what it takes.
    """
    try:
        documents = load_plain(file)
    except ManifestError as error:
        return Scenario(file=file), tuple(error.problems)
    if len(documents) != 1:
        said = f"a scenario is one document, and this file has {len(documents) or 'none'}"
        return Scenario(file=file), (Problem(said, Where(file=file)),)
    return steps_in(documents[0], file)


def steps_in(document: Any, file: str = "") -> tuple[Scenario, tuple[Problem, ...]]:
    """Return the steps of a document, and what is wrong with others."""
    found = list(_read(document))
    steps = tuple(each for each in found if not isinstance(each, Problem))
    problems = (each for each in found if isinstance(each, Problem))
    return Scenario(steps, file), tuple(
        [replace(each, where=Where(path=each.where.path, file=file)) for each in problems]
    )


def _read(document: Any) -> Iterator[tuple[str, StepKind] | Problem]:
    if not isinstance(document, dict):
        yield Problem("a scenario is a mapping with steps")
        return
    for name in document:
        if name != "steps":
            yield Problem(f"unknown field {name!r}", Where(path=str(name)), did_you_mean(str(name), ["steps"]))
    steps = document.get("steps")
    if not isinstance(steps, list) or not steps:
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
            yield Problem(_WORDS.get(each["type"], each["msg"]), Where(path=path + place), _known(kind, each))


def _known(kind: type[BaseModel], error: Any) -> str:
    """Return which fields there are beside one that is not known."""
    if error["type"] != "extra_forbidden":
        return _STRING if error["type"] == "string_type" else ""
    *above, last = error["loc"]
    for part in above:
        inner = kind.model_fields[str(part)].annotation
        kind = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else kind
    return did_you_mean(str(last), kind.model_fields) or f"it takes {', '.join(kind.model_fields)}"


_KINDS: Final = f"kinds: {', '.join(STEPS)}"
_STRING: Final = "bare yes, no, on, off, y, n and numbers are no strings: put them in quotes"
#: What a file is told, in its own words instead of the parser's.
_WORDS: Final = {
    "missing": "Required value",
    "extra_forbidden": "unknown field",
    "string_type": "has to be a string",
    "int_type": "has to be a whole number",
    "bool_type": "has to be true or false",
    "tuple_type": "has to be a list",
    "list_type": "has to be a list",
    "mapping_type": "has to be a mapping",
    "dict_type": "has to be a mapping",
    "model_type": "has to be a mapping",
}
