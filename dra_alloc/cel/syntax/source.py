"""
SourceText text by code points, and errors printed the way upstream prints them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from dra_alloc.cel.errors import Issue

MAX_REPORTED = 100
_MAX_SNIPPET_BYTES = 16384
_WIDE_DOT = "．"
_WIDE_CARET = "＾"


class SourceText:
    """The expression and where its lines begin."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        position = text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = text.find("\n", position + 1)
        self._starts = starts

    def location(self, offset: int) -> tuple[int, int]:
        """
        Line (from 1) and column (from 0) of a code-point offset; (-1, -1) is nowhere.

        In an empty text upstream finds every place at (1, -1).
        """
        if offset < 0:
            return -1, -1
        if not self.text:
            return 1, -1
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line(self, number: int) -> str | None:
        """The text of a line, None if there is none."""
        if not 1 <= number <= len(self._starts):
            return None
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[start:end]


def render(issues: Iterable[Issue], source: SourceText) -> str:
    """
    All issues in order of place, joined by newlines, each with its source line and a caret.

    At most 100 are printed; the rest is counted.

    Spec: CEL-4
    """
    issues = list(issues)
    shown = sorted(issues[:MAX_REPORTED], key=lambda issue: (issue.line, issue.column))
    parts = [_render_one(issue, source) for issue in shown]
    if len(issues) > MAX_REPORTED:
        parts.append(f"{len(issues) - MAX_REPORTED} more errors were truncated")
    return "\n".join(parts)


def _render_one(issue: Issue, source: SourceText) -> str:
    head = f"ERROR: <input>:{issue.line}:{issue.column + 1}: {issue.message}"
    snippet = source.line(issue.line)
    if snippet is None or len(snippet.encode("utf-8", "surrogatepass")) > _MAX_SNIPPET_BYTES:
        return head
    snippet = snippet.replace("\t", " ")
    before, at = snippet[: issue.column], snippet[issue.column : issue.column + 1]
    dots = "".join("." if ord(char) < 128 else _WIDE_DOT for char in before)
    caret = _WIDE_CARET if at and ord(at) >= 128 else "^"
    return f"{head}\n | {snippet}\n | {dots}{caret}"
