"""
Plain values of an object without what is wrong with them: pure, and None where that cannot be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from dra_alloc.linting.written import at
from dra_alloc.manifest.make.hints import QUOTES
from dra_alloc.manifest.read.paths import Path

_MEANT: Final = re.compile(r'did you mean "([^"]+)"\?')


def changed_at(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """Return plain values with what stands at a path changed; None if there is nothing, or the change returns None."""
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        made = changed_at(value[step], rest, change)
        return None if made is None else [*value[:step], made, *value[step + 1 :]]
    if isinstance(value, dict) and step in value:
        made = changed_at(value[step], rest, change)
        return None if made is None else {**value, step: made}
    return None


def without(value: Any, path: Path, _hint: str = "") -> Any:
    """Leave a member out."""
    return changed_at(value, path[:-1], lambda found: _left(found, (path[-1],)))


def _left(found: Any, names: Sequence[str | int]) -> Any:
    return {name: each for name, each in found.items() if name not in names} if isinstance(found, dict) else None


def into(name: str) -> Callable[[Any, Path, str], Any]:
    """Return what moves a member into another one of its mapping, which may be there."""

    def mend(value: Any, path: Path, _hint: str) -> Any:
        moved = path[-1]

        def change(found: Any) -> Any:
            inner = found.get(name, {}) if isinstance(found, dict) else None
            if not isinstance(inner, dict) or moved in inner or moved not in found or moved == name:
                return None
            return {**_left(found, (moved,)), name: {**inner, moved: found[moved]}}

        return changed_at(value, path[:-1], change)

    return mend


def lifted(value: Any, path: Path, _hint: str = "") -> Any:
    """Put the members of a member in its place."""

    def change(found: Any) -> Any:
        inner = found.get(path[-1]) if isinstance(found, dict) else None
        if not isinstance(inner, dict) or not inner or any(each in found and each != path[-1] for each in inner):
            return None
        return {**_left(found, (path[-1],)), **inner}

    return changed_at(value, path[:-1], change)


def renamed(value: Any, path: Path, hint: str = "") -> Any:
    """Give a member the name that a hint says was meant, where that is free."""
    meant = _MEANT.search(hint)

    def change(found: Any) -> Any:
        if not isinstance(found, dict) or meant is None or meant[1] in found:
            return None
        return {meant[1] if name == path[-1] else name: each for name, each in found.items()}

    return changed_at(value, path[:-1], change)


def listed(value: Any, path: Path, _hint: str = "") -> Any:
    """Make a mapping the only member of a list."""
    return changed_at(value, path, lambda found: [found] if isinstance(found, dict) else None)


def quoted(value: Any, path: Path, hint: str = "") -> Any:
    """Make a whole number a text, where a hint says that one belongs there."""
    found = at(value, path)
    if not hint.startswith(QUOTES) or isinstance(found, bool) or not isinstance(found, int):
        return None
    return changed_at(value, path, str)
