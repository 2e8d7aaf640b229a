r"""
Regular expressions in Go's dialect, on a linear-time engine.

google-re2 accepts what Go's regexp accepts except ``\C``, which is refused
here. Never Python's `re`: it is exponential, and differs on a third of the
patterns people write.

Spec: CEL-24
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import re2

from dra_alloc.cel.errors import CelError

__all__ = ["compiled", "compiled_bytes", "go_error"]

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 64 << 20

_MAX_HEIGHT: Final = 1000
_PIECE: Final = re.compile(
    r"""\\Q.*?(?:\\E|$) | \\. | \[\^?\]?(?:\\.|\[:[a-z^]*:\]|[^\]\\])*\]
    | \(\?[a-zA-Z-]*[:)] | \((?:\?P?<[^>]*>)? | \) | [*+?] | \{[0-9,]+\} | .""",
    re.DOTALL | re.VERBOSE,
)
_NAMED: Final = re.compile(r"((?:^|[^\\])(?:\\\\)*)\(\?P?<[A-Za-z0-9_]+>")
_GO: Final = (
    (re.compile(r"missing \): (.*)", re.DOTALL), "missing closing )", True),
    (re.compile(r"unexpected \): (.*)", re.DOTALL), "unexpected )", True),
    (re.compile(r"missing \]: (.*)", re.DOTALL), "missing closing ]", False),
    (
        re.compile(r"no argument for repetition operator: (.*)", re.DOTALL),
        "missing argument to repetition operator",
        False,
    ),
    (re.compile(r"bad repetition operator: (.*)", re.DOTALL), "invalid nested repetition operator", False),
    (re.compile(r"invalid repetition size: (.*)", re.DOTALL), "invalid repeat count", False),
    (re.compile(r"invalid escape sequence: (.*)", re.DOTALL), "invalid escape sequence", False),
    (re.compile(r"invalid character class range: (.*)", re.DOTALL), "invalid character class range", False),
    (re.compile(r"invalid character class: (.*)", re.DOTALL), "invalid character class range", False),
    (re.compile(r"invalid perl operator: (.*)", re.DOTALL), "invalid or unsupported Perl syntax", False),
    (re.compile(r"invalid named capture group: (.*)", re.DOTALL), "invalid named capture", False),
    (re.compile(r"invalid UTF-8", re.DOTALL), "invalid UTF-8", False),
)


@lru_cache(maxsize=128)
def _compile(pattern: str) -> Any:
    """The compiled pattern, or the text of what is wrong with it."""
    if len(pattern) > _MAX_HEIGHT and _height(pattern) > _MAX_HEIGHT:
        return f"error parsing regexp: expression nests too deeply: `{pattern}`"
    if _matches_bytes(pattern):
        return "error parsing regexp: invalid escape sequence: `\\C`"
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        return _renamed(pattern) or go_error(pattern, error)


def _renamed(pattern: str) -> Any:
    """The pattern compiled with its groups named afresh, None if that is no better: Go lets two share a name."""
    numbers = iter(range(len(pattern)))
    fresh = _NAMED.sub(lambda group: f"{group[1]}(?P<g{next(numbers)}>", pattern)
    try:
        return re2.compile(fresh, _OPTIONS) if fresh != pattern else None
    except re2.error:
        return None


def compiled(pattern: str) -> Any:
    """The pattern ready for use; raises CelError with Go's words."""
    found = _compile(pattern)
    if isinstance(found, str):
        raise CelError(found)
    return found


@lru_cache(maxsize=128)
def compiled_bytes(pattern: str) -> Any:
    """A pattern that :func:`compiled` accepts, for searching UTF-8 bytes."""
    return re2.compile(pattern.encode(), _OPTIONS)


def go_error(pattern: str, error: Exception) -> str:
    """Go's text for an error of RE2."""
    raw = error.args[0] if error.args else ""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    if text.startswith("trailing \\"):
        return "error parsing regexp: trailing backslash at end of expression: ``"
    for form, words, whole in _GO:
        match = form.match(text)
        if match is not None:
            shown = pattern if whole else match[1]
            return f"error parsing regexp: {words}: `{shown}`"
    return f"error parsing regexp: {text}"


def _height(pattern: str) -> int:
    """How high Go's syntax tree of `pattern` is, near enough: captures, repetitions, sequences in captures."""
    stack = [[0, 0, 0]]
    last = 0
    for piece in _PIECE.finditer(pattern):
        text = piece.group()
        here = stack[-1]
        if text.startswith("(") and not text.endswith(")"):
            stack.append([0, 0, 0 if text.startswith("(?") and text.endswith(":") else 1])
        elif text == ")" and len(stack) > 1:
            highest, items, capture = stack.pop()
            last = max(highest, 1) + capture + (capture and items > 1)
            here = stack[-1]
            here[0] = max(here[0], last)
            here[1] += 1
        elif text in ("*", "+", "?") or (text[0] == "{" and len(text) > 1):
            here[0] = max(here[0], last + 1)
        else:
            last = 1
            here[0] = max(here[0], last)
            here[1] += 1
    return max(highest for highest, _, _ in stack)


def _matches_bytes(pattern: str) -> bool:
    r"""Whether ``\C`` occurs outside ``\Q..\E``."""
    position = pattern.find("\\")
    while 0 <= position < len(pattern) - 1:
        escaped = pattern[position + 1]
        if escaped == "C":
            return True
        if escaped == "Q":
            end = pattern.find("\\E", position + 2)
            if end < 0:
                return False
            position = end
        position = pattern.find("\\", position + 2)
    return False
