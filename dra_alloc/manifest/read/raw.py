"""
What both readers hand on: plain values with their place in the file, and what was wrong with the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_alloc.manifest.read.paths import Path


@dataclass(frozen=True, slots=True)
class RawDocument:
    """
    One object as plain values, or as the JSON text of them where reading can wait.

    `place` leads from the top of the file to the object: the number of the
    document, then ``items`` and a position for a member of a list. `list_kind`
    is what the list around it says its members are.
    """

    place: Path
    line: int
    value: object = None
    text: memoryview | None = None
    list_kind: ListKind | None = None


@dataclass(frozen=True, slots=True)
class ListKind:
    """The apiVersion and kind of a list: members of a ``ResourceSliceList`` need not repeat theirs."""

    api_version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something the text itself has wrong at one place; reading went on after it."""

    message: str
    line: int
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A key given twice in one object: `place` leads from the top of the file to it."""

    place: Path
    line: int


@dataclass(slots=True)
class Noticed:
    """What a reader noticed on its way; filled while its documents are drawn."""

    faults: list[Fault] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)


class Unread(str):
    """Stands for a word or a key that could not be read: the fault is noted, nothing more need be said of it."""

    __slots__ = ()


class TextError(Exception):
    """The text cannot be read on: the reader gives up here."""

    def __init__(self, message: str, line: int | None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint
