"""
Where a JSON path stands in a file: a second, slow reading, done only to report something.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from yaml import YAMLError
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from dra_alloc.manifest.read.yaml_lines import line_counter

#: Line and column, both from 1.
Position = tuple[int, int]
#: A path from the top of a file as plain strings: number of the document, then keys and positions.
Steps = tuple[str, ...]

_NEW_DOCUMENT, _MAP, _LIST, _CLOSE, _SCALAR = range(5)
# What was met, its text if it is a scalar, and where: (line, column) in YAML, an offset in JSON.
_Mark = tuple[int, str, Any]

#: Comes after the last, so that a key at the end of a broken text is told, too.
_END: Final[_Mark] = (_CLOSE, "", None)

_YAML_MARKS: Final = {
    DocumentStartEvent: _NEW_DOCUMENT,
    MappingStartEvent: _MAP,
    SequenceStartEvent: _LIST,
    MappingEndEvent: _CLOSE,
    SequenceEndEvent: _CLOSE,
    ScalarEvent: _SCALAR,
    AliasEvent: _SCALAR,
}
# Possessive quantifiers: a string of 100 MB must not cost backtracking states.
_JSON_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|[^\s{}\[\],:"]++', re.DOTALL)
#: Reads a value at once where nobody asks what is in it.
_SCAN: Final[Any] = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]
_JSON_MARKS: Final = {b"{": _MAP, b"[": _LIST, b"}": _CLOSE, b"]": _CLOSE}


def positions_in_yaml(data: bytes, wanted: Iterable[Steps]) -> dict[Steps, Position]:
    """
    Return for each path the position of its key or list member, or of what there is of it.

    Text that cannot be read ends the search; what was found by then is returned.
    """
    return _locate(_yaml_marks(data), wanted)


def words_in_yaml(data: bytes, wanted: Collection[Steps]) -> dict[Steps, str]:
    """Return for each path the word that stands there in the text, as it is written; nothing for anything else."""
    found = _visited(_yaml_marks(data), wanted)
    return {path: visit.word for path, visit in found.items() if visit.word is not None}


def positions_in_json(data: bytes, wanted: Iterable[Steps]) -> dict[Steps, Position]:
    """Do the same for JSON text."""
    paths = list(wanted)
    marks = _json_marks(data, max(map(len, paths), default=0))
    found, lines = _locate(marks, paths), _Lines(data)
    places = {offset: lines.at(offset) for offset in sorted(set(found.values()))}
    return {path: places[offset] for path, offset in found.items()}


def duplicates_in_json(data: bytes) -> list[tuple[Steps, int]]:
    """Return the paths of keys that are given again in their object, with the line of the repetition."""
    lines = _Lines(data)
    return [(tuple(visit.path), lines.at(visit.at)[0]) for visit in _visits(_json_marks(data)) if visit.repeated]


@dataclass(slots=True)
class _Visit:
    """
    A key or list member that begins, and its `word` if it is a scalar; `path` is live and changes as the walk goes on.
    """

    path: list[str]
    at: Any
    repeated: bool
    word: str | None = None


@dataclass(slots=True)
class _Frame:
    """An open container: the keys it has had, or the position of its last member; it may be a key itself, in YAML."""

    is_map: bool
    is_key: bool = False
    keys: set[str] = field(default_factory=set)
    wants_key: bool = True
    position: int = -1


def _visits(marks: Iterator[_Mark]) -> Iterator[_Visit]:
    """Yield each document, key and list member in the order of the text, without recursion."""
    path: list[str] = []
    frames: list[_Frame] = []
    document = -1
    key: _Visit | None = None  # one whose value comes next
    for kind, text, at in chain(marks, [_END]):
        if key is not None:
            key.word = text if kind == _SCALAR else None
            yield key
            key = None
        frame = frames[-1] if frames else None
        if kind == _NEW_DOCUMENT:
            document += 1
            path, frames = [str(document)], []
            yield _Visit(path, at, False)
            continue
        if kind == _CLOSE:
            if frames and frames.pop().is_key:
                continue
        elif frame is not None and frame.is_map and frame.wants_key and kind == _SCALAR:
            path.append(text)
            key = _Visit(path, at, text in frame.keys)
            frame.keys.add(text)
            frame.wants_key = False
            continue
        else:
            if frame is not None and not frame.is_map:
                frame.position += 1
                path.append(str(frame.position))
                yield _Visit(path, at, False, text if kind == _SCALAR else None)
            elif frame is not None and frame.wants_key:
                path.append("?")
                frame.wants_key = False
                frames.append(_Frame(kind == _MAP, is_key=True))
                continue
            if kind != _SCALAR:
                frames.append(_Frame(kind == _MAP))
                continue
        if frames:  # a value is complete
            frames[-1].wants_key = True
            path.pop()


def _locate(marks: Iterator[_Mark], wanted: Iterable[Steps]) -> dict[Steps, Any]:
    """Return the place of each path, or of its longest beginning that exists."""
    paths = list(wanted)
    found = _visited(marks, paths)
    places: dict[Steps, Any] = {}
    for path in paths:
        for length in range(len(path), 0, -1):
            if path[:length] in found:
                places[path] = found[path[:length]].at
                break
    return places


def _visited(marks: Iterator[_Mark], paths: Collection[Steps]) -> dict[Steps, _Visit]:
    """Return the first visit of each path and of each of its beginnings, as far as the text has them."""
    prefixes = {path[:length] for path in paths for length in range(1, len(path) + 1)}
    missing = set(paths)
    found: dict[Steps, _Visit] = {}
    deepest = max((len(path) for path in paths), default=0)
    for visit in _visits(marks):
        if len(visit.path) > deepest:
            continue
        path = tuple(visit.path)
        if path in prefixes:
            found.setdefault(path, visit)
            missing.discard(path)
            if not missing:
                break
    return found


def _yaml_marks(data: bytes) -> Iterator[_Mark]:
    next_event: Callable[[], Any] = CParser(data).get_event
    line_of = line_counter(data)
    try:
        while (event := next_event()) is not None:
            kind = _YAML_MARKS.get(event.__class__)
            if kind is not None:
                mark = event.start_mark
                yield kind, getattr(event, "value", ""), (line_of(mark), mark.column + 1)
    except YAMLError:
        return


def _json_marks(data: bytes, deepest: int | None = None) -> Iterator[_Mark]:
    """Yield what there is in order; containers whose paths have `deepest` steps are passed over."""
    depth = at = 0
    # As many characters as bytes, whatever they mean.
    text = "" if deepest is None else data.decode("latin-1")
    while (found := _JSON_TOKEN.search(data, at)) is not None:
        token, begin, at = found[0], *found.span()
        kind = _JSON_MARKS.get(token, _SCALAR)
        if depth == 0:
            yield _NEW_DOCUMENT, "", begin
        if kind in (_MAP, _LIST):
            depth += 1
        elif kind == _CLOSE:
            depth = max(depth - 1, 0)
        yield kind, _json_text(token) if kind == _SCALAR else "", begin
        end = _end(text, begin) if kind in (_MAP, _LIST) and deepest is not None and depth >= deepest else 0
        if end:
            depth -= 1
            at = end
            yield _CLOSE, "", end - 1


def _end(text: str, begin: int) -> int:
    """Return where a container ends that begins there; 0 for one that is not well-formed."""
    try:
        _, end = _SCAN(text, begin)
    except (StopIteration, ValueError, RecursionError):
        return 0
    return int(end)


def _json_text(token: bytes) -> str:
    """Return a string without quotes and escapes, anything else as it stands."""
    if not token.startswith(b'"'):
        return token.decode("utf-8", "replace")
    if b"\\" not in token:
        return token[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1].decode("utf-8", "replace")


class _Lines:
    """Says where offsets of a text stand that are asked for in order; together they cost one look at it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset, self._line, self._begin = 0, 1, 0

    def at(self, offset: int) -> Position:
        """Return the place of an offset, none before the last one asked for."""
        found = self._data.count(b"\n", self._offset, offset)
        if found:
            self._line += found
            self._begin = self._data.rfind(b"\n", self._offset, offset) + 1
        self._offset = offset
        return self._line, offset - self._begin + 1
