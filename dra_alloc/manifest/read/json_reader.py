"""
JSON text split into documents and list members; their values are read later, at the speed of the reader that suits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Raw

from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.positions import duplicates_in_json
from dra_alloc.manifest.read.raw import ListKind, RawDocument, TextError

_OFFSET: Final = re.compile(r" ?\(byte (\d+)\)")
_NOT_BLANK: Final = re.compile(rb"[^ \t\r\n]")
_NEXT_MEMBER: Final = re.compile(rb"[^ \t\r\n,]")
_LIST_OPENS: Final = re.compile(rb'"items"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*')
#: Any escape, so that one begins where the one before ends; a pair of surrogates is one.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TRAILING: Final = "trailing characters"
_LONG_NUMBER: Final = re.compile(rb"(?<=[\s:,\[-])[0-9]{4300}")
#: Where msgspec was, in words that name no key.
_PATH: Final = re.compile(r" - at `[^`]*`$")
_IN_OUR_WORDS: Final = {
    "Input data was truncated": "the text ends too early",
    "Integer value out of range": "a number has thousands of digits",
}


_NONE: Final = Raw(b"")


class ObjectHeader(msgspec.Struct, rename="camel", gc=False):
    """What an object says it is."""

    api_version: str | None = None
    kind: str | None = None


class _Envelope(ObjectHeader, rename="camel", gc=False):
    """An object that may be a list; one pass over the text splits it into members."""

    items: list[Raw] | None = None
    metadata: Raw = _NONE


_LIST: Final = b'List"'
_HEADER: Final = msgspec.json.Decoder(ObjectHeader)
_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_SKIP: Final = msgspec.json.Decoder(Raw)
_PLAIN: Final = msgspec.json.Decoder(float_hook=JsonFloat)


def read_json(data: bytes) -> Iterator[RawDocument]:
    """
    Yield the objects of one or more JSON texts that follow each other.

    Like kubectl, any object with a list called ``items`` is a list, and its
    members are yielded instead, and what is left of a list that was cut.
    Values stay text. Half a surrogate pair becomes
    U+FFFD, as in Go.

    Spec: JSON-1 to JSON-7. Raises: TextError.
    """
    data = _whole_pairs(data)
    lines = _Lines(data)
    start, document = _first(data, 0), 0
    while start < len(data):
        end, envelope = _one_text(data, start)
        members = envelope.items
        if members is None:
            yield RawDocument((document,), lines.at(start), text=memoryview(data)[start:end])
        else:
            list_kind = ListKind(envelope.api_version or "", envelope.kind or "")
            offset = _first_member(data, (start, end), members)
            _refuse_two_lists(data, start, offset if members else end)
            for position, member in enumerate(members):
                offset = _first(data, offset, _NEXT_MEMBER)
                place = (document, "items", position)
                yield RawDocument(place, lines.at(offset), text=memoryview(member), list_kind=list_kind)
                offset += memoryview(member).nbytes
            if b'"continue"' in bytes(envelope.metadata):
                said = {"apiVersion": envelope.api_version, "kind": envelope.kind}
                yield RawDocument(
                    (document,), lines.at(offset), {**said, "metadata": plain_from_json(envelope.metadata)}
                )
        start, document = _first(data, end), document + 1


def _whole_pairs(data: bytes) -> bytes:
    """Return JSON with escapes of U+FFFD, which are as long, for those of surrogates that have no partner."""
    if b"\\u" not in data or (b"\\ud" not in data and b"\\uD" not in data):
        return data
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], data)


def looks_like_json(data: bytes) -> bool:
    """Say whether a text begins as JSON objects do; flow YAML begins so too."""
    start = _first(data, 0)
    return data[start : start + 1] in (b"{", b"[")


def plain_from_json(text: bytes | memoryview) -> Any:
    """Return the values of a JSON text, fractions as `JsonFloat`. Raises: TextError."""
    try:
        return _PLAIN.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _text_error(error, bytes(text), 0) from None


def header_of(text: bytes | memoryview) -> ObjectHeader:
    """Return what an object says it is; nothing if it is no object or says it wrongly."""
    try:
        return _HEADER.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ObjectHeader()


def says_list(text: bytes | memoryview) -> bool:
    """Say whether an object says that it is a list, typed or not; the word is looked for before the text is parsed."""
    raw = bytes(text)
    return (_LIST in raw or b"\\" in raw) and (header_of(raw).kind or "").endswith("List")


def repeated_keys(text: bytes | memoryview, value: object) -> list[tuple[tuple[str, ...], int]]:
    """
    Return the paths of keys given twice, with their lines in the text; `value` is what was read from it.

    A text with a repeated key has more colons than the value made of it, since
    each key has one and those inside strings are the same in both. So counting
    settles nearly every text at the speed of a byte search; any other is walked.
    """
    raw = bytes(text)
    # A colon that only the value shows.
    escaped = b"\\" in raw and b"\\u003" in raw and (b"\\u003a" in raw or b"\\u003A" in raw)
    with suppress(RecursionError):  # nested deep: reading got further than writing does
        if not escaped and raw.count(b":") == msgspec.json.encode(value, enc_hook=str).count(b":"):
            return []
    return [(path[1:], line) for path, line in duplicates_in_json(raw)]


def _first_member(data: bytes, bounds: tuple[int, int], members: list[Raw]) -> int:
    """Return the offset of the first member of a list, or of the list's own text if it cannot be told."""
    start, end = bounds
    text = bytes(members[0]) if members else b""
    found = (match.end() for match in _LIST_OPENS.finditer(data, start, end) if data.startswith(text, match.end()))
    return next(found, start)


def _refuse_two_lists(data: bytes, start: int, end: int) -> None:
    """
    Raise TextError if an object has members before those of the list that was read: the last of equal keys counts.
    """
    if sum(1 for _ in islice(_LIST_OPENS.finditer(data, start, end), 2)) < 2:
        return
    for path, line in duplicates_in_json(data[start:end]):
        if path == ("0", "items"):
            said = 'duplicate field "items", of which only the last would count'
            raise TextError(said, data.count(b"\n", 0, start) + line)


class _Lines:
    """Line numbers of rising offsets, each byte looked at once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0
        self._line = 1

    def at(self, offset: int) -> int:
        self._line += self._data.count(b"\n", self._offset, offset)
        self._offset = offset
        return self._line


def _first(data: bytes, start: int, sought: re.Pattern[bytes] = _NOT_BLANK) -> int:
    """Return the offset of the next byte that is not blank, or the end."""
    match = sought.search(data, start)
    return match.start() if match else len(data)


def _one_text(data: bytes, start: int) -> tuple[int, _Envelope]:
    """
    Return where the JSON text that begins at an offset ends, and what it says it is.

    Raises: TextError.
    """
    view = memoryview(data)
    try:
        return len(data), _ENVELOPE.decode(view[start:])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        end = _end_of_text(data, start)
    try:
        return end, _ENVELOPE.decode(view[start:end])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # Not an object, or one whose kind is no string or whose items are no list: whoever reads its values says so.
        return end, _Envelope()


def _end_of_text(data: bytes, start: int) -> int:
    """Return where a JSON text ends. Raises: TextError, if it is not well formed."""
    view = memoryview(data)
    try:
        _SKIP.decode(view[start:])
        return len(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        where = _OFFSET.search(str(error))
        if not where or _TRAILING not in str(error):
            raise _text_error(error, data, start) from None
        # msgspec has read the first trailing byte when it names its place.
        end = start + int(where[1]) - 1
    try:
        _SKIP.decode(view[start:end])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _text_error(error, data, start) from None
    return end


def _text_error(error: Exception, data: bytes, start: int) -> TextError:
    """Return the parser's complaint with its line."""
    if isinstance(error, RecursionError):
        return TextError("cannot be read as JSON: nested too deeply", data.count(b"\n", 0, start) + 1)
    # msgspec raises an error of its own for it from 0.23 on.
    if isinstance(error, UnicodeDecodeError) or "Invalid UTF-8" in str(error):
        return TextError("cannot be read as JSON: text is not UTF-8", _line_of_bad_text(data))
    words = str(error)
    where = _OFFSET.search(words)
    offset = start + int(where[1]) if where else len(data)
    if not where and (number := _LONG_NUMBER.search(data, start)):
        offset = number.start()
    reason = _PATH.sub("", _OFFSET.sub("", words)).removeprefix("JSON is malformed: ")
    reason = _IN_OUR_WORDS.get(reason, reason)
    return TextError(f"cannot be read as JSON: {reason}", data.count(b"\n", 0, offset) + 1)


def _line_of_bad_text(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1
