"""
Documents that are nearly what they were: one place dropped, doubled, renamed, or given another value.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from dra_alloc.testing.drawing.draw import Chooser

_Path: TypeAlias = tuple[str | int, ...]

#: Values of every type, at the edges of what readers expect.
_VALUES: Final[tuple[Any, ...]] = (
    None,
    "",
    0,
    -1,
    True,
    [],
    {},
    "x",
    2**31,
    2**63 - 1,
    2**63,
    10**30,
    0.5,
    1e300,
    [None],
    [[]],
    {"": None},
    {"a": {"a": {"a": []}}},
    "1Ki",
    "1.5",
    "-1",
    "1e400",
    "v1.0",
    "true",
    "All",
    "NoExecute",
    "gpu.example.com/",
    "/",
    "a b",
    "\u0000",
    "\u001b[2J",
    "\ufeffx",
    "e\u0301\U0001f600",
    "x" * 300,
    "device.driver ==",
    "device.attributes['a'].b",
    "(" * 60 + "true" + ")" * 60,
)
_KEYS: Final = ("", "x", "Name", "apiVersion", "metadata", "spec", "__proto__", "a/b", "name ", "\u0001")


def places(value: Any) -> Iterator[_Path]:
    """Return the path of everything in a JSON value, outer before inner; the value itself is not among it."""
    waiting: list[tuple[_Path, Any]] = [((), value)]
    while waiting:
        path, each = waiting.pop(0)
        inner = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        for key, below in inner:
            yield (*path, key)
            waiting.append(((*path, key), below))


def mutated(value: Any, draw: Chooser, times: int = 1) -> Any:
    """Return a copy of a JSON value that differs in so many places, or fewer if they fell together."""
    made = copy.deepcopy(value)
    for _ in range(times):
        found = list(places(made))
        if not found:
            break
        path = draw.choice(found)
        holder = made
        for step in path[:-1]:
            holder = holder[step]
        draw.choice(_CHANGES)(holder, path[-1], made, draw)
    return made


def _replace(holder: Any, key: Any, whole: Any, draw: Chooser) -> None:
    holder[key] = copy.deepcopy(draw.choice(_VALUES))


def _drop(holder: Any, key: Any, whole: Any, draw: Chooser) -> None:
    del holder[key]


def _double(holder: Any, key: Any, whole: Any, draw: Chooser) -> None:
    if isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[f"{key}s"] = copy.deepcopy(holder[key])


def _rename(holder: Any, key: Any, whole: Any, draw: Chooser) -> None:
    if isinstance(holder, dict):
        holder[draw.choice((*_KEYS, *holder))] = holder.pop(key)
    else:
        holder.append(holder.pop(key))


def _graft(holder: Any, key: Any, whole: Any, draw: Chooser) -> None:
    """Put what stands elsewhere in its place."""
    there = draw.choice(list(places(whole)))
    other = whole
    for step in there:
        other = other[step]
    holder[key] = copy.deepcopy(other)


def _nudge(holder: Any, key: Any, whole: Any, draw: Chooser) -> None:
    """Change a value a little: what is nearly right is the hardest to refuse."""
    each = holder[key]
    if isinstance(each, bool):
        holder[key] = not each
    elif isinstance(each, int):
        holder[key] = each + draw.choice((1, -1, 32, -each))
    elif isinstance(each, str):
        at = draw.integer(0, len(each))
        holder[key] = each[:at] + draw.choice(("x", "-", ".", "/", " ", "0", "\n", "é")) + each[at:]
    elif isinstance(each, list):
        each.reverse()


_CHANGES: Final[tuple[Callable[[Any, Any, Any, Chooser], None], ...]] = (
    _nudge,
    _drop,
    _replace,
    _replace,
    _double,
    _rename,
    _graft,
)
