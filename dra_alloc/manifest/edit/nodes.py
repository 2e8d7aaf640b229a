"""
Where each value of a text begins and ends: the documents of a text as trees of its positions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeVar

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

from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.read.yaml_scalars import ScalarError, map_key, resolve

_Member = TypeVar("_Member")


class Form(Enum):
    """What a value is in the text."""

    MAP = auto()
    LIST = auto()
    WORD = auto()


@dataclass(slots=True, eq=False)
class TextNode:
    """
    A value of a text from `start` to `end`, both in characters; what holds anchor and tag begins with them.

    A collection in brackets is in `flow`; one without ends with its last
    member. `word` is the text of a scalar as a key of JSON. An alias is
    a word with the node that it stands `of`.
    """

    form: Form
    start: int
    end: int
    flow: bool = True
    word: str = ""
    of: TextNode | None = None
    pairs: Sequence[tuple[TextNode, TextNode]] = ()
    items: Sequence[TextNode] = ()

    @property
    def real(self) -> TextNode:
        """The node itself, or the one that it is an alias of."""
        return self.of or self

    def member(self, name: str) -> tuple[TextNode, TextNode] | None:
        """Return key and value of a member that stands here; none for one that is merged in."""
        return next((pair for pair in self.pairs if pair[0].word == name), None)


class _Growing:
    """Documents under way: the open collections stand on a stack, each with the key that waits for its value."""

    def __init__(self) -> None:
        self.documents: list[TextNode | None] = []
        self.open: list[tuple[TextNode, TextNode | None]] = []

    def put(self, node: TextNode) -> None:
        """Take a node that is complete."""
        if not self.open:
            self.documents[-1] = node
            return
        around, key = self.open[-1]
        if around.form is Form.LIST:
            around.items = _with(around.items, node)
        elif key is None:
            self.open[-1] = around, node
        else:
            around.pairs = _with(around.pairs, (key, node))
            self.open[-1] = around, None
        around.end = max(around.end, node.end)

    def close(self, end: int) -> None:
        """End the innermost open collection; one in brackets ends here, any other with its last member."""
        node, _ = self.open.pop()
        if node.flow:
            node.end = end
        self.put(node)


def _with(members: Sequence[_Member], member: _Member) -> Sequence[_Member]:
    """Return members with one more; most nodes have none, and need no list."""
    if isinstance(members, list):
        members.append(member)
        return members
    return [member]


def yaml_nodes(text: str) -> list[TextNode | None]:
    """Return the documents of a YAML text, None for an empty one. Raises: YAMLError."""
    growing, anchors = _Growing(), dict[str, TextNode]()
    next_event: Callable[[], Any] = CParser(text.encode()).get_event
    while (event := next_event()) is not None:
        kind = event.__class__
        start, end = event.start_mark.index, event.end_mark.index
        if kind is DocumentStartEvent:
            growing.documents.append(None)
            anchors.clear()
        elif kind in (MappingStartEvent, SequenceStartEvent):
            form = Form.MAP if kind is MappingStartEvent else Form.LIST
            node = TextNode(form, start, start, flow=bool(event.flow_style))
            growing.open.append((node, None))
            if event.anchor is not None:
                anchors[event.anchor] = node
        elif kind in (MappingEndEvent, SequenceEndEvent):
            growing.close(end)
        elif kind is ScalarEvent:
            node = TextNode(Form.WORD, start, end, word=_word(event))
            if event.anchor is not None:
                anchors[event.anchor] = node
            growing.put(node)
        elif kind is AliasEvent:
            growing.put(TextNode(Form.WORD, start, end, word=f"*{event.anchor}", of=anchors[event.anchor]))
    return growing.documents


def _word(event: Any) -> str:
    if not event.implicit[0]:
        return str(event.value)
    try:
        return map_key(resolve(event.value))
    except ScalarError:
        return str(event.value)


_PIECE: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|[^\s{}\[\],:"]++', re.DOTALL)


def json_nodes(text: str) -> list[TextNode | None]:
    """Return the values of one or more JSON texts that follow each other."""
    growing, words = _Growing(), dict[str, str]()
    for found in _PIECE.finditer(text):
        piece = found[0]
        if not growing.open:
            growing.documents.append(None)
        if piece in "{[":
            form = Form.MAP if piece == "{" else Form.LIST
            growing.open.append((TextNode(form, found.start(), found.start()), None))
        elif piece in "}]":
            growing.close(found.end())
        else:
            word = words.get(piece) or words.setdefault(piece, _json_word(piece))
            growing.put(TextNode(Form.WORD, found.start(), found.end(), word=word))
    return growing.documents


def _json_word(piece: str) -> str:
    if not piece.startswith('"'):
        return piece
    return str(json.loads(piece, strict=False)) if "\\" in piece else piece[1:-1]


def node_at(documents: list[TextNode | None], place: Path) -> TextNode | None:
    """Return the node at a path from the top of the file; None if it stands elsewhere, merged in."""
    found = documents[int(place[0])]
    for step in place[1:]:
        if found is None:
            return None
        here = found.real
        if isinstance(step, int):
            found = here.items[step] if step < len(here.items) else None
        else:
            pair = here.member(step)
            found = pair[1] if pair is not None else None
    return found.real if found is not None else None


_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\r\n]*")


def comments_in(text: str, documents: list[TextNode | None]) -> Counter[str]:
    """Return the comments of a text and how often each is there."""
    return Counter(comment.rstrip() for _, comment in comment_places(text, documents))


def comment_places(text: str, documents: list[TextNode | None]) -> Iterator[tuple[int, str]]:
    """Yield where each comment of a text begins, and the comment: what begins with # between its words."""
    at = 0
    for word in sorted((word for node in documents if node for word in _words(node)), key=lambda each: each.start):
        yield from ((found.start(), found[0]) for found in _COMMENT.finditer(text, at, word.start))
        at = word.end
    yield from ((found.start(), found[0]) for found in _COMMENT.finditer(text, at))


def _words(node: TextNode) -> Iterator[TextNode]:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here.form is Form.WORD:
            yield here
        waiting.extend(here.items)
        waiting += (each for pair in here.pairs for each in pair)
