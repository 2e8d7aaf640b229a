"""
YAML as kubectl reads it, from libyaml's events to plain values.

libyaml scans; building and resolving are ours, because PyYAML's constructor
reads times, dates, ``1e3`` and ``y`` differently, recurses, keeps the last of
two equal keys silently, and takes twice as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
    StreamEndEvent,
)

from dra_alloc.manifest.budget import ReadBudget
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.read.raw import Duplicate, Fault, Noticed, RawDocument, TextError, Unread
from dra_alloc.manifest.read.yaml_aliases import AliasError, Anchors
from dra_alloc.manifest.read.yaml_lines import line_counter
from dra_alloc.manifest.read.yaml_scalars import ScalarError, map_key, resolve, resolve_tagged

#: Stands in a list for a member that was already handed out.
EMITTED: Final = object()
_MERGE: Final = object()
_UNKNOWN: Final = object()
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
#: libyaml holds each against all before it.
_MOST_DIRECTIVES: Final = 100
_DIRECTIVE: Final = re.compile(rb"(?:^|[\n\r]|\xc2\x85|\xe2\x80[\xa8\xa9])(%TAG\s|---)")
_WORDS_KEPT: Final = 50_000
_LONGEST_WORD_KEPT: Final = 64
_OPENS: Final = frozenset((MappingStartEvent, SequenceStartEvent))
_CLOSES: Final = frozenset((MappingEndEvent, SequenceEndEvent))


def read_yaml(data: bytes, budget: ReadBudget, findings: Noticed) -> Iterator[RawDocument]:
    """
    Yield every document of a stream, and members of a top-level ``items`` list one by one.

    A member that names its own kind is handed out as soon as it is complete, so
    that a long list never stands in memory as plain values; `EMITTED` stands in
    its place. Like kubectl, any object with a list called ``items`` is a list.

    Spec: YAML-1 to YAML-33. Raises: TextError.
    """
    _count_directives(data)
    try:
        yield from _Builder(data, budget, findings).documents()
    except YAMLError as error:
        raise text_error(error, data) from None


def _count_directives(data: bytes) -> None:
    """Raises: TextError for a document with more tag directives than anybody writes."""
    count = 0
    for found in _DIRECTIVE.finditer(data) if b"%TAG" in data else ():
        count = 0 if found[1] == b"---" else count + 1
        if count > _MOST_DIRECTIVES:
            line = data.count(b"\n", 0, found.start(1)) + 1
            raise TextError(f"more than {_MOST_DIRECTIVES} %TAG directives before a document", line)


def text_error(error: YAMLError, data: bytes) -> TextError:
    """Return libyaml's complaint with its line; an encoding error carries a byte offset instead."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        parts = (getattr(error, "context", None), getattr(error, "problem", None))
        said = ": ".join(part for part in parts if part)
        return TextError(f"cannot be read as YAML: {said}", line_counter(data)(mark))
    position = getattr(error, "position", None)
    line = data.count(b"\n", 0, position) + 1 if isinstance(position, int) else None
    return TextError(f"cannot be read as YAML: {getattr(error, 'reason', None) or error}", line)


class _Builder:
    """Plain values from events, without recursion: the open containers stand on a stack."""

    def __init__(self, data: bytes, budget: ReadBudget, findings: Noticed) -> None:
        self._next_event: Callable[[], Any] = CParser(data).get_event
        self._line_of = line_counter(data)
        self._budget = budget
        self._findings = findings
        self._words: dict[str, Any] = {}
        self._document = -1
        self._line = 1
        # (container, key that waits for its value, anchor of what was opened inside it)
        self._stack: list[tuple[Any, Any, str | None]] = []
        self._items: Any = None
        self._item_line = 1
        self._merged: dict[int, set[str]] = {}
        self._anchors = Anchors(budget.aliased_nodes)

    def documents(self) -> Iterator[RawDocument]:
        """Yield the documents of the stream and the members of their lists."""
        while True:
            event = self._next_event()
            if event.__class__ is StreamEndEvent:
                return
            if event.__class__ is DocumentStartEvent:
                self._start(event)
                yield from self._one_document()

    def _start(self, event: Any) -> None:
        """Forget the document before."""
        self._document += 1
        self._line = self._line_of(event.end_mark)
        self._items = None
        self._stack.clear()
        self._merged.clear()
        self._anchors = Anchors(self._budget.aliased_nodes)

    def _one_document(self) -> Iterator[RawDocument]:
        """
        Yield the members of a document's list, then its value.

        This is the hot loop, five events for each device attribute: everything
        rare is a call away, everything frequent is in place.
        """
        next_event, words, stack = self._next_event, self._words, self._stack
        top: list[Any] = []
        here: Any = top  # the container being filled
        key: Any = None  # in a mapping, the key that waits for its value
        while True:
            event = next_event()
            kind = event.__class__
            if kind is ScalarEvent:
                value = words.get(event.value, _UNKNOWN) if event.implicit[0] else _UNKNOWN
                if value is _UNKNOWN or event.anchor is not None:
                    value = self._scalar(event)
            elif kind in _OPENS:
                here, key = self._open(event, here, key), None
                continue
            elif kind in _CLOSES:
                value = here
                here, key, anchor = stack.pop()
                if anchor is not None:
                    self._anchors.define(anchor, value)
                if here is self._items and _names_its_kind(value):
                    yield RawDocument((self._document, "items", len(here)), self._item_line, value)
                    value = EMITTED
            elif kind is AliasEvent:
                value = self._alias(event)
            else:
                yield RawDocument((self._document,), self._line, top[0] if top else None)
                return
            if here.__class__ is list:
                here.append(value)
            elif key is None:
                plain = value.__class__ is str and value not in here and value != "<<"
                key = value if plain else self._odd_key(here, value, event)
            elif key is _MERGE:
                self._merge(here, value, event)
                key = None
            else:
                here[key] = value
                key = None

    def _open(self, event: Any, here: Any, key: Any) -> Any:
        """Return a new container after putting the one around it on the stack."""
        stack = self._stack
        if len(stack) >= self._budget.nesting:
            raise TextError(f"nested deeper than {self._budget.nesting} levels", self._line_of(event.start_mark))
        stack.append((here, key, event.anchor))
        new: Any = {} if event.__class__ is MappingStartEvent else []
        if event.anchor is not None:
            self._anchors.begin(event.anchor)
        if len(stack) == 1:
            self._line = self._line_of(event.start_mark)
        elif here is self._items:
            self._item_line = self._line_of(event.start_mark)
        elif len(stack) == 2 and key == "items" and new.__class__ is list:
            self._items = new
        return new

    def _scalar(self, event: Any) -> Any:
        """Return the value of a word that is new, quoted, tagged or named by an anchor."""
        text = event.value
        value: Any = text
        try:
            if event.implicit[0]:
                value = resolve(text)
                if len(text) <= _LONGEST_WORD_KEPT and len(self._words) < _WORDS_KEPT:
                    self._words[text] = value
            elif event.tag is not None:
                value = resolve_tagged(text, event.tag)
        except ScalarError as error:
            self._fault(str(error), event)
            value = Unread(text)
        if event.anchor is not None:
            self._anchors.define(event.anchor, value)
        return value

    def _alias(self, event: Any) -> Any:
        try:
            return self._anchors.use(event.anchor)
        except AliasError as error:
            raise TextError(str(error), self._line_of(event.start_mark)) from None

    def _odd_key(self, here: dict[str, Any], value: Any, event: Any) -> Any:
        """Return the key for a value that is a merge sign, not a string, or there already."""
        if value == "<<" and event.__class__ is ScalarEvent and (event.implicit[0] or event.tag == _MERGE_TAG):
            return _MERGE
        try:
            key = map_key(value)
        except ScalarError as error:
            self._fault(str(error), event)
            return Unread("?")
        if key in here and key not in self._merged.get(id(here), ()):
            self._findings.duplicates.append(Duplicate((*self._place(here), key), self._line_of(event.start_mark)))
        return key

    def _merge(self, here: dict[str, Any], value: Any, event: Any) -> None:
        """
        Copy the members of one mapping, or of several, into another.

        As in kubectl's reader the merge happens where it stands: it wins over
        keys before it and loses against keys after it.

        Spec: YAML-23.
        """
        sources = value if value.__class__ is list else [value]
        if any(source.__class__ is not dict for source in sources):
            self._fault("map merge requires map or sequence of maps as the value", event)
            return
        for source in reversed(sources):
            here.update(source)
            self._merged.setdefault(id(here), set()).update(source)

    def _place(self, here: Any) -> Path:
        """Return the path of an open container from the top of the file."""
        steps: list[str | int] = [self._document]
        for container, key, _ in self._stack[1:]:
            steps.append(len(container) if container.__class__ is list else str(key))
        return tuple(steps)

    def _fault(self, message: str, event: Any) -> None:
        self._findings.faults.append(Fault(message, self._line_of(event.start_mark)))


def _names_its_kind(value: Any) -> bool:
    """Say whether a list member can stand alone, without the list's own kind."""
    return value.__class__ is dict and bool(value.get("kind")) and bool(value.get("apiVersion"))
