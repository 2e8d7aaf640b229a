"""
Lines, columns and comments around a position of a text, and the edits of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dra_alloc.manifest.edit.nodes import TextNode

_BLANKS = " \t\r\n"


class CannotEdit(ValueError):
    """A text in a form in which a change cannot be written without touching more; the message says what is there."""


@dataclass(slots=True)
class Draft:
    """
    A text, and what is to be put in place of parts of it.

    `step` is how many columns deeper the members of a mapping stand where the text has no brackets. In JSON all names
    are `quoted`.
    """

    text: str
    step: int = 2
    quoted: bool = False
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def put(self, start: int, end: int, instead: str) -> None:
        """Note an edit; those at one position come in the order in which they are noted, what is left out last."""
        self.edits.append((start, end, instead))

    def drop(self, start: int, end: int) -> None:
        """Note that a part between words goes. Raises: CannotEdit, if there is a comment in it."""
        if "#" in self.text[start:end]:
            raise CannotEdit("a comment stands inside what changes")
        self.put(start, end, "")

    def written(self) -> str:
        """Return the text with its edits. Raises: CannotEdit, if two of them touch the same part."""
        parts: list[str] = []
        at = 0
        for start, end, instead in sorted(self.edits, key=lambda edit: edit[:2]):
            if start < at:
                if start == end and not instead.strip(" \t"):
                    continue  # a line that is gone is not moved
                raise CannotEdit("two changes touch the same part of the text")
            parts += (self.text[at:start], instead)
            at = end
        return "".join((*parts, self.text[at:]))

    def line_start(self, at: int) -> int:
        """Return where the line of a position begins."""
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Return where the line of a position ends, without what breaks it."""
        end = self.text.find("\n", at)
        if end < 0:
            return len(self.text)
        return end - 1 if end and self.text[end - 1] == "\r" else end

    def next_line(self, at: int) -> int:
        """Return where the line after that of a position begins."""
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def column(self, at: int) -> int:
        """Return how many characters stand before a position in its line."""
        return at - self.line_start(at)

    def margin(self, at: int) -> str:
        """Return the blanks with which the line of a position begins."""
        start = self.line_start(at)
        line = self.text[start : self.line_end(start)]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def begins_line(self, at: int) -> bool:
        """Say whether only blanks stand before a position in its line."""
        while at and self.text[at - 1] in " \t":  # a line can have megabytes: only its blanks are looked at
            at -= 1
        return not at or self.text[at - 1] == "\n"

    def line_break(self, at: int) -> str:
        """Return what breaks the line of a position, or the first line where it is the last."""
        end = self.line_end(at)
        return self.text[end : self.next_line(at)] or ("\r\n" if "\r\n" in self.text else "\n")

    def lines(self, start: int, end: int) -> Iterator[int]:
        """Yield where each line begins that begins in a part of the text."""
        at = start
        while at < end:
            yield at
            at = self.next_line(at)

    def content_end(self, pair: tuple[TextNode, TextNode]) -> int:
        """Return where a member ends, without blanks after it."""
        key, value = pair
        end = _last(value).end
        while self.text[end - 1] in _BLANKS:
            end -= 1
        return max(key.end, end)

    def comments_above(self, at: int, column: int, bound: int) -> int:
        """Return where the lines of comments begin that stand at a column directly above the line of a position."""
        first = self.line_start(at)
        while first > bound:
            above = self.line_start(first - 1)
            if above < bound or not self._is_comment(above, column) or len(self.margin(above)) != column:
                break
            first = above
        return first

    def comments_below(self, at: int, column: int) -> int:
        """Return where the lines of comments end that stand at a column or right of it below a position."""
        end = at
        for line in self.lines(at, len(self.text)):
            if self._is_comment(line, column):
                end = self.next_line(line)
            elif not self.is_blank(line):
                break
        return end

    def is_blank(self, line: int) -> bool:
        """Say whether a line has nothing but blanks."""
        return not self.text[line : self.line_end(line)].strip(" \t")

    def named(self, node: TextNode, name: str) -> str:
        """Return the name of a new member, in quotes if all keys of its mapping have them."""
        quoted = node.pairs and all(self.text.startswith('"', key.start) for key, _ in node.pairs)
        return f'"{name}"' if quoted or self.quoted else name

    def comment_in(self, start: int) -> int | None:
        """Return where the comment begins that is all there is from a position to the end of its line."""
        rest = self.text[start : self.line_end(start)]
        return start + rest.index("#") if rest.lstrip(" \t").startswith("#") else None

    def _is_comment(self, line: int, column: int) -> bool:
        margin = self.margin(line)
        return self.text.startswith("#", line + len(margin)) and len(margin) >= column


def _last(node: TextNode) -> TextNode:
    """Return the last word or bracket of a value."""
    while not node.flow and (node.items or node.pairs):
        node = node.items[-1] if node.items else node.pairs[-1][1]
    return node
