"""
Tokens of an expression, by one regular expression.

Text that is no token becomes an issue and is skipped, as upstream does; a
broken string literal swallows what its scanner had consumed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dra_alloc.cel.errors import Issue
from dra_alloc.cel.source import Source

__all__ = ["KEYWORDS", "Token", "tokenize"]


class Token(NamedTuple):
    """`kind` is the operator itself or id, quoted, int, uint, float, string, bytes, eof."""

    kind: str
    text: str
    start: int


KEYWORDS: Final = frozenset(("in", "true", "false", "null"))

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = (
    rf'"""(?:{_ESCAPE}|[^\\])*?"""'
    rf"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"'
    rf"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
    r'|[rR]"""(?:.|\n)*?"""'
    r"|[rR]'''(?:.|\n)*?'''"
    r'|[rR]"[^"\n\r]*"'
    r"|[rR]'[^'\n\r]*'"
)
_TOKEN: Final = re.compile(
    rf"""
    (?P<skip>(?:[\t\ \r\n\f]|//[^\n]*)+)
    |(?P<bytes>[bB](?:{_STRING.replace(" ", chr(92) + " ")}))
    |(?P<string>{_STRING.replace(" ", chr(92) + " ")})
    |(?P<id>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<uint>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])
    |(?P<quoted>`[A-Za-z0-9_.\-/\ ]+`)
    """,
    re.VERBOSE,
)
_TWO_CHARACTERS: Final = frozenset("=&|")
_OPENING: Final = re.compile(r"""[bB]?[rR]?("{3}|'{3}|"|')""")
_BODY: Final = re.compile(rf"(?:{_ESCAPE}|[^\\\n\r])*")


def tokenize(source: Source) -> tuple[list[Token], list[Issue]]:
    """Every token, an eof token at the end, and the places where nothing could be read."""
    text = source.text
    tokens: list[Token] = []
    issues: list[Issue] = []
    position, end = 0, len(text)
    match = _TOKEN.match
    while position < end:
        found = match(text, position)
        if found is None:
            stop = _unreadable(text, position)
            line, column = source.location(position)
            seen = _printable(text[position:stop])
            issues.append(Issue(line, column, f"Syntax error: token recognition error at: '{seen}'"))
            position = stop
            continue
        kind = found.lastgroup or ""
        lexeme = found.group()
        if kind == "id":
            tokens.append(Token(lexeme if lexeme in KEYWORDS else "id", lexeme, position))
        elif kind == "op":
            tokens.append(Token(lexeme, lexeme, position))
        elif kind != "skip":
            tokens.append(Token(kind, lexeme, position))
        position = found.end()
    tokens.append(Token("eof", "<EOF>", end))
    return tokens, issues


def _unreadable(text: str, start: int) -> int:
    """The end of the text given up on at `start`: the first character that fits nothing, included."""
    char = text[start]
    if char in _TWO_CHARACTERS:
        return min(start + 2, len(text))
    opening = _OPENING.match(text, start)
    if opening is None:
        return start + 1
    body = _BODY.match(text, opening.end())
    stop = body.end() if body else opening.end()
    if text[stop : stop + 1] == "\\":
        return min(stop + 2, len(text))
    return min(stop + 1, len(text))


def _printable(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
