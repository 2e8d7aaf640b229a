"""
Values of literals.

Upstream's messages for literals that read well but mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from dra_alloc.cel.values.runtime import MAX_INT, MAX_UINT, MIN_INT, UInt

CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
#: Names that cannot be identifiers.
RESERVED: Final = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let"),
        *("loop", "package", "namespace", "null", "return", "true", "var", "void", "while"),
    )
)


class LiteralError(ValueError):
    """The message for the literal."""


_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_ESCAPE: Final = re.compile(
    r"""\\(?:
    [xX](?P<hex>[0-9a-fA-F]{2}) | u(?P<short>[0-9a-fA-F]{4}) | U(?P<long>[0-9a-fA-F]{8})
    | (?P<octal>[0-3][0-7]{2}) | (?P<simple>.)
    )""",
    re.DOTALL | re.VERBOSE,
)
#: A literal that holds what it stands for.
_PLAIN: Final = re.compile(r"""("|')(?!\1)[^\\\r]*.""")
_MAX_CODE_POINT: Final = 0x10FFFF
_MAX_DIGITS: Final = 400


def int_value(text: str, negative: bool) -> int:
    """The value of an int literal; raises LiteralError outside 64 bits."""
    value = _whole(text, "invalid int literal")
    value = -value if negative else value
    if not MIN_INT <= value <= MAX_INT:
        raise LiteralError("invalid int literal")
    return value


def uint_value(text: str) -> UInt:
    """The value of a uint literal, the ``u`` included; raises LiteralError outside 64 bits."""
    value = _whole(text[:-1], "invalid uint literal")
    if value > MAX_UINT:
        raise LiteralError("invalid uint literal")
    return UInt(value)


def _whole(text: str, message: str) -> int:
    base, digits = (16, text[2:]) if text.startswith("0x") else (10, text)
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        raise LiteralError(message)
    return int(digits, base)


def double_value(text: str, negative: bool) -> float:
    """The value of a double literal; raises LiteralError if it is too large."""
    value = float(text)
    if value == float("inf"):
        raise LiteralError("invalid double literal")
    return -value if negative else value


def string_value(token: str) -> str:
    """The text of a string literal, quotes and prefix included in `token`."""
    if _PLAIN.fullmatch(token):
        return token[1:-1]
    raw, body = _unwrap(token)
    if raw or "\\" not in body:
        return body
    parts: list[str] = []
    position = 0
    for escape in _ESCAPE.finditer(body):
        parts.append(body[position : escape.start()])
        parts.append(_character(escape))
        position = escape.end()
    parts.append(body[position:])
    return "".join(parts)


def bytes_value(token: str) -> bytes:
    r"""The bytes of a bytes literal; ``\x41`` is one byte here, not a code point."""
    raw, body = _unwrap(token[1:])
    if raw or "\\" not in body:
        return body.encode()
    parts: list[bytes] = []
    position = 0
    for escape in _ESCAPE.finditer(body):
        parts.append(body[position : escape.start()].encode())
        if escape["short"] or escape["long"]:
            raise LiteralError("unable to unescape string")
        parts.append(_SIMPLE[escape["simple"]].encode() if escape["simple"] else bytes((_number(escape),)))
        position = escape.end()
    parts.append(body[position:].encode())
    return b"".join(parts)


def _unwrap(token: str) -> tuple[bool, str]:
    token = token.replace("\r\n", "\n").replace("\r", "\n")
    raw = token[0] in "rR"
    token = token[1:] if raw else token
    width = 3 if len(token) >= 6 and token[:3] in ('"""', "'''") else 1
    return raw, token[width : len(token) - width]


def _character(escape: re.Match[str]) -> str:
    if escape["simple"]:
        return _SIMPLE[escape["simple"]]
    code = _number(escape)
    if code > _MAX_CODE_POINT or 0xD800 <= code < 0xE000:
        raise LiteralError("invalid unicode code point")
    return chr(code)


def _number(escape: re.Match[str]) -> int:
    """The number that the digits of an escape stand for."""
    if escape["octal"]:
        return int(escape["octal"], 8)
    return int(escape["hex"] or escape["short"] or escape["long"], 16)


#: What reads a literal of each kind, and whether a sign stands before it.
READ: Final[dict[str, Callable[[str, bool], Any]]] = {
    "int": int_value,
    "uint": lambda text, negative: uint_value(text),
    "float": double_value,
    "string": lambda text, negative: string_value(text),
    "bytes": lambda text, negative: bytes_value(text),
}
