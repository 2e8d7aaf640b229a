"""
Makes a failing request smaller while it keeps failing: drops list items, then keys, then shortens lists.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
_Path = tuple[str | int, ...]

#: What every request keeps, and lists whose entries are dropped whole.
_FIXED = frozenset({"op", "release", "channel", "engine", "name"})
_WHOLE = frozenset({"allocated", "allocatedShared", "aggregated"})


def shrink(request: Json, fails: Callable[[Json], bool], *, attempts: int = 2000) -> Json:
    """Return a request that still fails and from which nothing more can be dropped, or attempts ran out."""
    smallest = request
    progress = True
    while progress and attempts > 0:
        progress = False
        for path in sorted(_places(smallest), key=len):
            if attempts <= 0:
                break
            smaller = _without(smallest, path)
            if smaller is None:
                continue
            attempts -= 1
            if fails(smaller):
                smallest = smaller
                progress = True
    return smallest


def _places(value: Any, path: _Path = ()) -> Iterator[_Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        if not path and key in _FIXED:
            continue
        yield (*path, key)
        if (path and path[0] in _WHOLE) or key == "cel":
            continue
        yield from _places(each, (*path, key))


def _without(request: Json, path: _Path) -> Json | None:
    """Return a copy without the place; None if the place is gone already."""
    smaller = copy.deepcopy(request)
    holder: Any = smaller
    try:
        for key in path[:-1]:
            holder = holder[key]
        if isinstance(holder, dict) and path[-1] not in holder:
            return None
        del holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return smaller
