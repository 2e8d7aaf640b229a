"""
Nodes to which one slice is all there is, as most nodes are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dra_alloc.problem.devices import SliceRow
from dra_alloc.solve.survey import Survey

#: Changed nodes over a list of all, before it is made anew.
_MOST_CHANGES: Final = 256


class LoneSlices:
    """
    For each node the slice that is all there is to it; None for nodes that need a closer look.

    States that differ in some slices share the list: a copy each would be walked by the garbage collector.
    """

    __slots__ = ("_base", "_changes")

    def __init__(self, base: list[SliceRow | None], changes: dict[int, SliceRow | None]) -> None:
        self._base = base
        self._changes = changes

    @property
    def at(self) -> Callable[[int], SliceRow | None]:
        """What returns the slice of a place."""
        return self._found if self._changes else self._base.__getitem__

    def _found(self, place: int) -> SliceRow | None:
        return self._changes[place] if place in self._changes else self._base[place]

    def renewed(self, survey: Survey, names: Sequence[str], places: Sequence[int]) -> LoneSlices:
        """Return the same, with some nodes looked at anew."""
        rows = survey.alone([names[place] for place in places])
        changes = {**self._changes, **dict(zip(places, rows, strict=True))}
        if len(changes) <= _MOST_CHANGES:
            return LoneSlices(self._base, changes)
        base = list(self._base)
        for place, row in changes.items():
            base[place] = row
        return LoneSlices(base, {})
