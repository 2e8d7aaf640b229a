"""
What callers may catch.

"Cannot be allocated" is not here: it is a result
(:class:`dra_alloc.Unsatisfiable`). An exception means bad input, a missing
optional engine, or a bug of ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, TypeVar

__all__ = [
    "DraAllocError",
    "EngineUnavailable",
    "InputError",
    "InternalError",
    "ManifestError",
    "Problem",
    "SelectorError",
    "UnknownReference",
    "Where",
    "by_place",
    "first_few",
    "in_brief",
    "shortened",
]

#: How much of a text from the input a message shows; no valid name is longer than the second.
_SHOWN: Final = 120
NAME_SHOWN: Final = 253
_NAMED: Final = 5


def shortened(text: str, most: int = _SHOWN) -> str:
    """Return a text from the input as a message shows it: its beginning, and how long it is, where it is long."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def in_brief(text: str, most: int = _SHOWN) -> str:
    """Return the same on one line: line breaks and whatever else cannot be printed are spelt out."""
    text = shortened(text, most)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def first_few(names: Sequence[str], more: str = "more") -> str:
    """Return the first five names, and how many more there are."""
    left = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {left:,} {more}" if left > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question whether the one name was meant that is most like it; nothing if none is."""
    alike = get_close_matches(name, list(known), 1)
    return f"did you mean {alike[0]}?" if alike else ""


@dataclass(frozen=True, slots=True)
class Where:
    """
    The place something was read from; empty members are unknown.

    `object` is ``Kind namespace/name``, `path` a JSON path such as
    ``spec.devices.requests[0].exactly``, `line` and `column` count from 1;
    the column is known of what stands in an object, and not printed here.
    `holder` leads from the top of the file to the object, where one was read.
    """

    object: str = ""
    path: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = field(default=None, compare=False)
    holder: tuple[str | int, ...] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        file = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return ": ".join(part for part in (file, self.object, self.path) if part)


@dataclass(frozen=True, slots=True)
class Problem:
    """
    One thing wrong with the input: where, what, and how to mend it.

    `count` is more than 1 where this stands for problems that are not told one by one.
    """

    message: str
    where: Where = Where()
    hint: str = ""
    count: int = 1

    def __str__(self) -> str:
        place = str(self.where)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


AnyProblem = TypeVar("AnyProblem", bound=Problem)


def by_place(problems: Sequence[AnyProblem]) -> list[AnyProblem]:
    """Return problems by the names of their files, each in the order of its text; what has no line comes last."""
    return sorted(problems, key=lambda each: (each.where.file, each.where.line or math.inf))


class DraAllocError(Exception):
    """The root of every exception this package raises on purpose."""

    def __init__(self, message: str, *, where: Where = Where(), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return str(Problem(self.message, self.where, self.hint))


class InputError(DraAllocError):
    """The input cannot be used; the command ends with exit code 2."""


class ManifestError(InputError):
    """Every problem found in the documents that were read, all at once; `undone` is what was not done with them."""

    def __init__(self, problems: Iterable[Problem], undone: str = "checked") -> None:
        self.undone = undone
        self.problems = tuple(problems)
        self.count = sum(problem.count for problem in self.problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnknownReference(InputError):
    """An object names another one that was not given, such as a missing DeviceClass."""


class SelectorError(InputError):
    """A CEL selector that cannot be compiled or failed on a device."""


class EngineUnavailable(DraAllocError):
    """An optional engine is not installed; the hint says what to install."""


class InternalError(DraAllocError):
    """An answer failed its own check: always a bug of ours, please report it."""
