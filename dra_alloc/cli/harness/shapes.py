"""
The shape of harness requests: which keys an op knows, and of which JSON type each is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from dra_alloc.errors import InputError

_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    dict: "an object",
    list: "a list",
    float: "a number",
}


def check_shape(value: Mapping[str, Any], shape: Mapping[str, type], what: str = "") -> None:
    """
    Refuse unknown keys and values of another type; null is as good as absent.

    Raises: InputError.
    """
    unknown = sorted(set(value) - set(shape))
    if unknown:
        of = f"{what.rstrip('. ')} " if what else ""
        raise InputError(f"unknown {of}keys: {', '.join(unknown)}")
    for key, kind in shape.items():
        given = value.get(key)
        fits = isinstance(given, int | float if kind is float else kind)
        if given is not None and (not fits or (isinstance(given, bool) and kind is not bool)):
            raise InputError(f"{what}{key} has to be {_NAMES[kind]}")


def of_shape(value: Any, shape: Mapping[str, type], what: str, optional: Collection[str] = ()) -> Mapping[str, Any]:
    """
    Return an object in which nothing is missing, unknown, or of another type.

    Raises: InputError.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{what} has to be an object")
    check_shape(value, shape, f"{what}.")
    missing = next((key for key in shape if value.get(key) is None and key not in optional), None)
    if missing is not None:
        raise InputError(f"{what}.{missing} is missing")
    return value


def texts(value: Any, what: str) -> list[str]:
    """Return a list of texts. Raises: InputError."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(f"{what} has to be a list of strings")
    return value


def numbers(value: Any, what: str) -> list[float]:
    """Return a list of numbers. Raises: InputError."""
    if not isinstance(value, list) or any(
        isinstance(each, bool) or not isinstance(each, int | float) for each in value
    ):
        raise InputError(f"{what} has to be a list of numbers")
    return value
