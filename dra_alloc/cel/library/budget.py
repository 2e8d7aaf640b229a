"""
The most a single library call may produce.

Upstream charges some calls by what goes in and not by what comes out:
``s.replace("", s)`` of a large string, ``format`` with a list that holds
itself a million times over. There it runs out of memory; we stop. The bounds
lie where looking at the result once would exceed the run-time cost limit.

Spec: CEL-62
"""

from __future__ import annotations

from typing import Final

from dra_alloc.cel.errors import CelAbort

MAX_TEXT: Final = 10_000_000
MAX_ELEMENTS: Final = 1_000_000
MAX_PIECES: Final = 300_000
LIMIT_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"


def check_text(length: int) -> None:
    """Raises CelAbort if a text of `length` code points is more than any selector can use."""
    if length > MAX_TEXT:
        raise CelAbort(LIMIT_EXCEEDED)


def check_elements(count: int) -> None:
    """Raises CelAbort if a list of `count` elements is more than any selector can use."""
    if count > MAX_ELEMENTS:
        raise CelAbort(LIMIT_EXCEEDED)


class BoundedText:
    """A text in the making that does not grow without bound."""

    __slots__ = ("_length", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0

    def add(self, piece: str) -> None:
        """Append `piece`; raises CelAbort if the text gets too long."""
        self._length += len(piece)
        check_text(self._length)
        if len(self._pieces) >= MAX_PIECES:
            raise CelAbort(LIMIT_EXCEEDED)
        self._pieces.append(piece)

    def text(self) -> str:
        return "".join(self._pieces)
