r"""
Regular expressions in Go's dialect, on a linear-time engine.

google-re2 accepts what Go's regexp accepts except ``\C``, which is refused
here. Never Python's `re`: it is exponential, and differs on a third of the
patterns people write.

Spec: CEL-24
"""

from __future__ import annotations

import re
from typing import Any, Final

import re2

from dra_alloc.cel.errors import CelError
from dra_alloc.remembered import Remembered
from dra_alloc.work import owe

#: Bytes that a pattern may take with what searches make of it: the first that are enough. Eight characters can need the
#: last: any letter 999 times.
_SIZES: Final = (1 << 18, 1 << 21, 1 << 24, 1 << 26)
#: Bytes of all patterns that are remembered. Whoever keeps a pattern keeps its text.
_MOST_BYTES: Final = 1 << 27
#: A pattern that takes all of 64 MB takes a second to make.
_BYTES_OF_A_UNIT: Final = 64
_KNOWN: Final[Remembered[str | bytes, Any]] = Remembered(_MOST_BYTES)

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


def _compile(pattern: str) -> tuple[Any, int]:
    """The compiled pattern, or the text of what is wrong with it, and the bytes that it may take."""
    if len(pattern) > _MAX_HEIGHT and _height(pattern) > _MAX_HEIGHT:
        return f"error parsing regexp: expression nests too deeply: `{pattern}`", _SIZES[0]
    if _matches_bytes(pattern):
        return "error parsing regexp: invalid escape sequence: `\\C`", _SIZES[0]
    try:
        return _within_bytes(pattern)
    except re2.error as error:
        return _renamed(pattern) or (go_error(pattern, error), _SIZES[0])


def _within_bytes(pattern: str | bytes) -> tuple[Any, int]:
    """The compiled pattern, and the bytes that it may take. Raises: re2.error."""
    options = re2.Options()
    options.log_errors = False
    for size in _SIZES:
        options.max_mem = size
        try:
            found = re2.compile(pattern, options)
        except re2.error as error:
            if "pattern too large" not in str(error) or size == _SIZES[-1]:
                raise
            continue
        if size > _SIZES[0]:
            owe(size // _BYTES_OF_A_UNIT)
            re2.purge()  # re2 keeps the last 128 itself, whatever they take
        return found, size
    raise AssertionError(pattern)


def _renamed(pattern: str) -> tuple[Any, int] | None:
    """The pattern compiled with its groups named afresh, None if that is no better: Go lets two share a name."""
    numbers = iter(range(len(pattern)))
    fresh = _NAMED.sub(lambda group: f"{group[1]}(?P<g{next(numbers)}>", pattern)
    try:
        return _within_bytes(fresh) if fresh != pattern else None
    except re2.error:
        return None


def compiled(pattern: str) -> Any:
    """
    The pattern ready for use, for now: it is to be asked for again, as what is kept of it here is bounded in bytes.

    Raises: CelError with Go's words.
    """
    found = _KNOWN.get(pattern)
    if found is None:
        made, size = _compile(pattern)
        found = _KNOWN.put(pattern, made, size)
    if isinstance(found, str):
        raise CelError(found)
    return found


def compiled_bytes(pattern: str) -> Any:
    """A pattern that :func:`compiled` accepts, for searching UTF-8 bytes."""
    raw = pattern.encode()
    found = _KNOWN.get(raw)
    if found is None:
        made, size = _within_bytes(raw)
        found = _KNOWN.put(raw, made, size)
    return found


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
