"""
The shape of harness requests: which keys an op knows, and of which JSON type each is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.errors import InputError

__all__ = ["check_shape"]

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
        raise InputError(f"unknown {what}keys: {', '.join(unknown)}")
    for key, kind in shape.items():
        given = value.get(key)
        fits = isinstance(given, int | float if kind is float else kind)
        if given is not None and (not fits or (isinstance(given, bool) and kind is not bool)):
            raise InputError(f"{what}{key} has to be {_NAMES[kind]}")
