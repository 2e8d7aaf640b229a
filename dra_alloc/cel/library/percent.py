"""
Percent-encoding by the part of a URL it occurs in.

Spec: CEL-59
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dra_alloc.api.go_text import quote


class BadUrl(Exception):
    """Go's words for a text that is no URL."""


class UrlPart(NamedTuple):
    """What may stand unescaped in a part, besides letters, digits and ``-_.~``, and what is checked when reading it."""

    safe: bytes
    #: Bytes below 0x80 that are not safe are refused.
    strict: bool = False
    #: What ``%xx`` may stand for in a strict part.
    zone: bool = False
    plus_is_space: bool = False


_UNRESERVED: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
_HOST_SAFE: Final = b"!$&'()*+,;=:[]<>\""
HOST: Final = UrlPart(_HOST_SAFE, strict=True)
ZONE: Final = UrlPart(_HOST_SAFE, strict=True, zone=True)
PATH: Final = UrlPart(b"$&+,/:;=@")
USER: Final = UrlPart(b"$&+,;=")
QUERY: Final = UrlPart(b"", plus_is_space=True)
FRAGMENT: Final = UrlPart(b"$&+,/:;=?@!()*")
_ALSO_VALID: Final = b"!$&'()*+,;=:@[]%"
#: An escape, or what is left of one: the two digits are checked by hand.
_ESCAPE: Final = re.compile(rb"%(?:[0-9a-fA-F]{2})?")
_HEX: Final = re.compile(rb"[0-9a-fA-F]{2}")


def _is_safe(byte: int, part: UrlPart) -> bool:
    return byte in _UNRESERVED or byte in part.safe


def escape(raw: bytes, part: UrlPart) -> str:
    """`raw` with what is not safe in this part as ``%XX``."""
    return "".join(chr(byte) if _is_safe(byte, part) else f"%{byte:02X}" for byte in raw)


def encoded_already(text: str) -> bool:
    """Whether `text` can stand in a path as it is."""
    return all(_is_safe(byte, PATH) or byte in _ALSO_VALID for byte in text.encode())


def unescape(text: str, part: UrlPart) -> bytes:
    """The bytes that `text` stands for; raises BadUrl with Go's text."""
    raw = text.encode()
    if part.strict:
        # A bad escape is found before a bad character, wherever they are.
        _check_escapes(raw, part)
        for byte in raw:
            if byte < 0x80 and byte != ord("%") and not _is_safe(byte, part):
                raise BadUrl(f"invalid character {quote(chr(byte))} in host name")
    if part.plus_is_space:
        raw = raw.replace(b"+", b" ")
    return _ESCAPE.sub(lambda match: bytes((_escaped(raw, match.start()),)), raw)


def _escaped(raw: bytes, position: int) -> int:
    """The byte that the escape at `position` stands for."""
    digits = raw[position + 1 : position + 3]
    if not _HEX.fullmatch(digits):
        raise _bad_escape(raw, position)
    return int(digits, 16)


def _bad_escape(raw: bytes, position: int) -> BadUrl:
    shown = raw[position : position + 3].decode(errors="surrogateescape")
    return BadUrl(f"invalid URL escape {quote(shown)}")


def _check_escapes(raw: bytes, part: UrlPart) -> None:
    """In a host only bytes above 0x7f may be escaped, in a zone what could stand there anyway, and spaces."""
    for match in _ESCAPE.finditer(raw):
        byte = _escaped(raw, match.start())
        if byte == ord("%"):
            continue
        if byte != ord(" ") and not _is_safe(byte, HOST) if part.zone else byte < 0x80:
            raise _bad_escape(raw, match.start())
