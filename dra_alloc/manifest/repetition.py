"""
Objects given twice.
"""

from __future__ import annotations

from typing import Any, Literal

from dra_alloc.errors import Problem, Where
from dra_alloc.manifest.documents import Place, object_name
from dra_alloc.manifest.kinds import Kind

Repeated = Literal["replace", "refuse", "keep"]
_Found = tuple[Kind, Any, Place]


def without_repetitions(found: list[_Found], repeated: Repeated) -> tuple[list[_Found], list[Problem], list[Problem]]:
    """
    Return the objects without repetitions, and the problems and warnings about them.

    The same content again is passed over with a warning. Other content under
    the same name replaces the earlier, in its place, as applying the files in
    order would; with ``refuse`` it is a problem, and ``keep`` keeps all. An
    object without a name (it has generateName) repeats nothing.

    Spec: CONV-25, CONV-26.
    """
    if repeated == "keep":
        return found, [], []
    first: dict[tuple[str, str, str | None, str], int] = {}
    kept: list[_Found] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for entry in found:
        kind, item, place = entry
        metadata = item.metadata
        key = (kind.group, kind.name, metadata.namespace, metadata.name)
        position = first.setdefault(key, len(kept)) if metadata.name else len(kept)
        if position == len(kept):
            kept.append(entry)
            continue
        _, earlier, there = kept[position]
        where = Where(object_name(*key[1:]), "", place.file, place.line)
        if earlier == item:
            warnings.append(Problem(f"given again, the same as at {there.file}:{there.line}", where))
        elif repeated == "refuse":
            problems.append(Problem(f"given twice with different content; first at {there.file}:{there.line}", where))
        else:
            kept[position] = entry
            warnings.append(Problem(f"given again, replaces the one at {there.file}:{there.line}", where))
    return kept, problems, warnings
