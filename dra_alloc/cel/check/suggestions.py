"""
What an undeclared name may have meant, as 1.38 says it.

Spec: CEL-36
"""

from __future__ import annotations

from typing import Final

from dra_alloc.cel.environments import Declarations

_TOLD: Final = 2
_MOST_COMPARED: Final = 64 * 64
_LONG: Final = 16
#: The types of the standard library, and what stands for operators in older trees.
_STANDARD: Final = frozenset(
    (
        *("bool", "bytes", "double", "google.protobuf.Duration", "google.protobuf.Timestamp", "int", "list", "map"),
        *("null_type", "string", "type", "uint", "__not_strictly_false__", "_in_", "in"),
    )
)


def alike(name: str, declared: Declarations) -> tuple[str, ...]:
    """
    The name itself if it means anything, else up to two that differ least, else two that begin with it.

    A name with a dot is alike only names with one.
    """
    known = _STANDARD | declared.functions.keys() | declared.variables.keys() | {each for each, _, _ in declared.macros}
    if name in known:
        return (name,)
    dotted = "." in name
    candidates = [each for each in known if ("." in each) is dotted]
    most = 1 if len(name) <= 3 else 2 if len(name) <= 8 else len(name) // 3
    distances = {each: _distance(name, each) for each in candidates}
    least = min(distances.values(), default=most + 1)
    if least <= most:
        found = [each for each, distance in distances.items() if distance == least]
    else:
        found = [each for each in candidates if len(name) > 1 and each.startswith(name)]
    return tuple(sorted(found, key=lambda each: (len(each), each))[:_TOLD])


def meant(name: str, declared: Declarations) -> str:
    """What is said behind the complaint about a name, if anything."""
    found = alike(name, declared) if declared.settings.suggests_names else ()
    if not found or found == (name,):
        return ""
    return f" (did you mean {' or '.join(repr(each) for each in found)}?)"


def _distance(left: str, right: str) -> int:
    """
    Insertions, deletions, replacements and swaps of neighbours; too far is anything beyond a third of the longer.

    Of texts one of which is half as long again as the other, the difference in length.
    """
    short, long = sorted((len(left), len(right)))
    too_far = short + long
    if long >= _LONG and long * 2 >= short * 3:
        return long - short
    if short * long > _MOST_COMPARED:
        return too_far
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, char in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            best = min(above[column] + 1, here[-1] + 1, above[column - 1] + (char != other))
            if row > 1 and column > 1 and char == right[column - 2] and left[row - 2] == other:
                best = min(best, before[column - 2] + 1)
            here.append(best)
        if min(here) > long // 3:
            return too_far
        before, above = above, here
    return above[-1]
