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

__all__ = ["KEYWORDS", "Token", "printable", "tokenize"]


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
#: Possessive: a comment once passed is not looked into for want of a token behind it.
_SKIPPED = r"(?:[\t\ \r\n\f]++|//[^\n]*+)*+"
_SKIP: Final = re.compile(_SKIPPED)
_TOKEN: Final = re.compile(
    rf"""
    {_SKIPPED}
    (?:
    (?P<bytes>[bB](?:{_STRING.replace(" ", chr(92) + " ")}))
    |(?P<string>{_STRING.replace(" ", chr(92) + " ")})
    |(?P<id>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<uint>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])
    |(?P<quoted>`[A-Za-z0-9_.\-/\ ]+`)
    |(?P<eof>\Z)
    )
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
    position = 0
    match, add, make = _TOKEN.match, tokens.append, Token
    while True:
        found = match(text, position)
        if found is None:
            start, position = _unreadable(text, position)
            line, column = source.location(start)
            seen = printable(text[start:position])
            issues.append(Issue(line, column, f"Syntax error: token recognition error at: '{seen}'"))
            continue
        kind = found.lastgroup or ""
        start, position = found.span(kind)
        lexeme = text[start:position]
        if kind == "op" or lexeme in KEYWORDS:
            kind = lexeme
        elif kind == "eof":
            add(make(kind, "<EOF>", start))
            return tokens, issues
        add(make(kind, lexeme, start))


def _unreadable(text: str, position: int) -> tuple[int, int]:
    """The text given up on behind `position`: up to the first character that fits nothing, included."""
    skipped = _SKIP.match(text, position)
    start = skipped.end() if skipped else position
    if text[start] in _TWO_CHARACTERS:
        return start, min(start + 2, len(text))
    opening = _OPENING.match(text, start)
    if opening is None:
        return start, start + 1
    body = _BODY.match(text, opening.end())
    stop = body.end() if body else opening.end()
    more = 2 if text[stop : stop + 1] == "\\" else 1
    return start, min(stop + more, len(text))


def printable(text: str) -> str:
    """`text` as error texts show it."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
