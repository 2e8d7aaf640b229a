"""
Objects of queue systems as they were written: what stands at their paths, and complaints of what is of another type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from pydantic import ValidationError

from dra_alloc.api import KubeModel, Quantity
from dra_alloc.errors import Problem, Where, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.manifest.kinds import QUEUEING, no_match
from dra_alloc.pods.workloads.reading import value_at

_Model = TypeVar("_Model", bound=KubeModel)
#: Objects with what is wrong with them, to be told with where they were read.
Wrong = list[tuple[Workload, Problem]]


def whole_number(text: str, digits: int) -> int | None:
    """Return the number that a text is, without a sign and of so many digits at most; None if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


def unserved(objects: Iterable[Workload]) -> Wrong:
    """Return a problem for each object in a version that the system which is modelled does not serve. Spec: QUEUE-4."""
    found: Wrong = []
    for each in objects:
        versions = QUEUEING.get((each.group, each.kind), ())
        if versions and each.api_version.rpartition("/")[2] not in versions:
            said, hint = no_match(each.api_version, each.kind), f"versions: {', '.join(versions)}"
            found.append((each, Problem(said, Where(path="apiVersion"), hint)))
    return found


@dataclass(frozen=True, slots=True)
class ObjectReading:
    """One object under way; `problems` are what is wrong with it so far."""

    body: Mapping[str, Any]
    problems: list[Problem]

    def complain(self, path: str, said: str, hint: str = "") -> None:
        """Note what is wrong at a path, once."""
        problem = Problem(said, Where(path=path), hint)
        if problem not in self.problems:
            self.problems.append(problem)

    def given(self, path: str, kind: type, noun: str) -> Any:
        """Return what stands at a path, None if nothing does or it is of another type."""
        found = value_at(self.body, path)
        if found is None or isinstance(found, kind):
            return found
        self.complain(path, f"has to be {noun}")
        return None

    def text(self, path: str, default: str = "") -> str:
        """Return a text."""
        return self.given(path, str, "a text") or default

    def one_of(self, path: str, values: Sequence[str], default: str = "") -> str:
        """Return one of the texts that may stand at a path; an empty one is none."""
        found = self.text(path)
        if found and found not in values:
            self.complain(path, f"{in_brief(found)} is none of {', '.join(values)}")
            return default
        return found or default

    def needed(self, path: str) -> str:
        """Return a text that has to be there."""
        found = self.text(path)
        if not found and value_at(self.body, path) in (None, ""):
            self.complain(path, "is missing")
        return found

    def texts(self, path: str) -> tuple[str, ...]:
        """Return a list of texts."""
        found = self.given(path, Sequence, "a list") or ()
        if isinstance(found, str) or not all(isinstance(each, str) for each in found):
            self.complain(path, "has to be a list of texts")
            return ()
        return tuple(found)

    def labels(self, path: str) -> Mapping[str, str]:
        """Return texts by key."""
        found = self.given(path, Mapping, "an object") or {}
        if not all(isinstance(each, str) for each in found.values()):
            self.complain(path, "has to have texts")
            return {}
        return found

    def places(self, path: str) -> Iterator[str]:
        """Yield the paths of the objects in a list."""
        found = self.given(path, Sequence, "a list") or ()
        if isinstance(found, str):
            self.complain(path, "has to be a list")
            return
        for number, each in enumerate(found):
            if isinstance(each, Mapping):
                yield f"{path}[{number}]"
            else:
                self.complain(f"{path}[{number}]", "has to be an object")

    def whole(self, path: str, least: int = 0) -> int | None:
        """Return a whole number that is not less than another one."""
        found = value_at(self.body, path)
        if found is None:
            return None
        if type(found) is not int or found < least:
            self.complain(path, f"has to be a whole number, at least {least}")
            return None
        return found

    def number(self, path: str, default: float, least: float = 0) -> float:
        """Return a finite number, which may have a fraction, and is -1 or not less than another one."""
        found = value_at(self.body, path)
        if found is None:
            return default
        if type(found) not in (int, float) or not (found == -1 or least <= found < inf):
            self.complain(path, f"has to be a number, at least {least:g}, or -1")
            return default
        return float(found)

    def quantity(self, path: str) -> Quantity | None:
        """Return an amount."""
        found = value_at(self.body, path)
        if found is None:
            return None
        try:
            return Quantity.from_wire(found)
        except ValueError as error:
            self.complain(path, str(error))
            return None

    def quantities(self, path: str) -> Mapping[str, Quantity]:
        """Return amounts by name."""
        found = self.given(path, Mapping, "an object") or {}
        amounts: dict[str, Quantity] = {}
        for name, amount in found.items():
            try:
                amounts[name] = Quantity.from_wire(amount)
            except ValueError as error:
                self.complain(f"{path}[{name}]", str(error))
        return amounts

    def model(self, path: str, kind: type[_Model]) -> _Model | None:
        """Return an object of the API."""
        try:
            return kind.from_wire(value_at(self.body, path))
        except (ValidationError, ValueError, TypeError):
            self.complain(path, f"is no {kind.__name__}")
            return None

    def models(self, path: str, kind: type[_Model]) -> tuple[_Model, ...]:
        """Return a list of objects of the API."""
        return tuple(found for each in self.places(path) if (found := self.model(each, kind)) is not None)
