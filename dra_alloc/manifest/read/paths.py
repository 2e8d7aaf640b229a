"""
JSON paths as field words: ``spec.devices.requests[0].exactly.count``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from dra_alloc.errors import in_brief


class MapKey(str):
    """A key the user chose, printed in brackets; a plain string is the name of a field."""

    __slots__ = ()


#: Field names, map keys and list positions from the top of an object.
Path = tuple[str | int, ...]

_KEY_SHOWN: Final = 96
#: More no position of a list has.
_DIGITS: Final = 20
_TOKEN: Final = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


def render(path: Iterable[str | int]) -> str:
    """Return the path as the API server writes it: ``spec.devices[0].attributes[model].string``; long steps are cut."""
    parts: list[str] = []
    for step in path:
        shown = in_brief(str(step))
        if isinstance(step, (int, MapKey)):
            parts.append(f"[{shown}]")
        else:
            parts.append(f".{shown}" if parts else shown)
    return "".join(parts)


def holds(value: Any, path: Iterable[str]) -> bool:
    """Say whether plain values have something at a path that is given as plain strings."""
    for step in path:
        if isinstance(value, list):
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value is not None


def with_positions(steps: Iterable[str | int], value: Any) -> Path:
    """Return a path of plain strings with numbers for the members of lists, as plain values have them."""
    path: list[str | int] = []
    for step in steps:
        shown = str(step)
        if isinstance(value, list) and shown.isdecimal() and len(shown) < _DIGITS:
            position = int(shown)
            path.append(position)
            value = value[position] if position < len(value) else None
        else:
            path.append(step)
            value = value.get(step) if isinstance(value, dict) else None
    return tuple(path)


def tokens(path: str | Iterable[str | int]) -> tuple[str, ...]:
    """Return the steps of a path as plain strings; positions become digits."""
    if isinstance(path, str):
        return tuple(bracketed or name for bracketed, name in _TOKEN.findall(path))
    return tuple(str(step) for step in path)


def key_path(path: str, key: str, most: int = _KEY_SHOWN) -> str:
    """Return the path of a map entry; a long key is cut in its middle, by its bytes."""
    data = key.encode("utf-8", "surrogatepass")
    if len(data) > most:
        tail = (most - 3) // 2
        cut = data[: most - 3 - tail] + b"..." + data[-tail:]
        key = cut.decode("utf-8", "replace")
    return f"{path}[{key}]"
