"""
How vector files are written: short values in one line, long ones below each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

WIDTH: Final = 110


def written(value: Mapping[str, Any]) -> str:
    """Return the YAML text of a vector."""
    return "\n".join(_mapping(value, 0)) + "\n"


def _flow(value: Any) -> str:
    """Return the value in one line, or with line breaks if that cannot be."""
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")


def _short(value: Any, indent: int) -> str | None:
    """Return the value's line if it is a scalar or fits into one."""
    text = _flow(value)
    if not isinstance(value, dict | list) or not value:
        return text
    return text if len(text) + indent <= WIDTH else None


def _mapping(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    for key, inner in value.items():
        name = " " * indent + _flow(key)
        short = _short(inner, indent + len(name) + 2)
        if short is not None:
            yield f"{name}: {short}"
        elif isinstance(inner, dict):
            yield f"{name}:"
            yield from _mapping(inner, indent + 2)
        else:
            yield f"{name}:"
            yield from _list(inner, indent)


def _list(value: list[Any], indent: int) -> Iterator[str]:
    for each in value:
        short = _short(each, indent + 2)
        if short is not None:
            yield f"{' ' * indent}- {short}"
            continue
        lines = _mapping(each, indent + 2) if isinstance(each, dict) else _list(each, indent + 2)
        first, *rest = lines
        yield f"{' ' * indent}- {first.lstrip()}"
        yield from rest
