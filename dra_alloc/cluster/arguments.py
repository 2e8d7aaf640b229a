"""
Arguments of questions, held against what they take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from dra_alloc.api import KubeModel
from dra_alloc.errors import InputError

__all__ = ["listed", "names_in", "objectives_in", "objects_in"]

T = TypeVar("T")


def objects_in(given: Iterable[T], argument: str, kinds: type | tuple[type, ...], wanted: str) -> list[T]:
    """Return the objects. Raises: InputError for what is no sequence of such objects; it names the argument."""
    return _checked(given, argument, f"{wanted} objects", lambda each: isinstance(each, kinds))


def names_in(given: Iterable[str], argument: str) -> list[str]:
    """Return the names. Raises: InputError for what is no sequence of strings, such as one name."""
    return _checked(given, argument, "names", lambda each: isinstance(each, str))


def objectives_in(given: Iterable[T], argument: str, kind: type[Any]) -> list[T]:
    """Return the objectives. Raises: InputError for others, and for a class that was not called."""
    wanted = "objectives such as Cheapest(...) or FewestNodes()"
    return _checked(given, argument, wanted, lambda each: isinstance(each, kind) and not isinstance(each, type))


def _checked(given: Iterable[T], argument: str, wanted: str, is_right: Callable[[object], bool]) -> list[T]:
    found = listed(given, argument, wanted)
    for number, each in enumerate(found):
        if not is_right(each):
            raise InputError(f"{argument} takes a sequence of {wanted}, {_found(number, each)}")
    return found


def listed(given: Iterable[T], argument: str, wanted: str) -> list[T]:
    """Return what a sequence has. Raises: InputError for what is none, or is one thing of what is wanted."""
    if isinstance(given, list | tuple):
        return list(given)
    # Strings and models can be iterated over, and mean one thing all the same.
    if isinstance(given, str | bytes | KubeModel | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{argument} takes a sequence of {wanted}, not one {type(given).__name__}")
    return list(given)


def _found(number: int, value: object) -> str:
    return (
        f"and [{number}] is {value!r:.60}" if isinstance(value, str) else f"and [{number}] is a {type(value).__name__}"
    )
