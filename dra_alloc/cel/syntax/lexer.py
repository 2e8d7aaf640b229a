"""
Tokens of an expression, by one regular expression.

Text that is no token becomes an issue and is skipped, as upstream does; a
broken string literal swallows what its scanner had consumed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dra_alloc.cel.errors import Issue
from dra_alloc.cel.syntax.source import SourceText


class Token(NamedTuple):
    """`kind` is the operator itself or id, quoted, int, uint, float, string, bytes, eof."""

    kind: str
    text: str
    start: int


class Scan(NamedTuple):
    """The members of all tokens, each in a list of its own: reading these costs less than making tokens."""

    kinds: list[str]
    texts: list[str]
    starts: list[int]


_OPERATORS: Final = ("==", "!=", "<=", ">=", "&&", "||", *"[]{}().,-!?:+*/%<>")
#: Texts that are tokens of a kind of their own.
_FIXED: Final = {text: text for text in (*_OPERATORS, "in", "true", "false", "null")}

_ESCAPE: Final = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
#: Possessive where nothing else can be read: no text is looked at twice.
_STRING: Final = (
    rf'"""(?:{_ESCAPE}|[^\\])*?"""'
    rf"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf'|"[^\\"\n\r]*+(?:{_ESCAPE}[^\\"\n\r]*+)*+"'
    rf"|'[^\\'\n\r]*+(?:{_ESCAPE}[^\\'\n\r]*+)*+'"
    r'|[rR]"""(?:.|\n)*?"""'
    r"|[rR]'''(?:.|\n)*?'''"
    r'|[rR]"[^"\n\r]*"'
    r"|[rR]'[^'\n\r]*'"
)
#: A comment once passed is not looked into for want of a token behind it.
_SKIPPED: Final = r"(?:[\t\ \r\n\f]++|//[^\n]*+)*+"
_SKIP: Final = re.compile(_SKIPPED)
#: What is passed over and the token behind it, which is empty at the end; what most tokens are comes first.
_TOKEN: Final = re.compile(
    rf"""
    ({_SKIPPED})
    ([\[\](){{}},?:+*%\-]
    |[ac-qs-zAC-QS-Z_][A-Za-z0-9_]*+
    |{_STRING.replace(" ", chr(92) + " ")}
    |[bB](?:{_STRING.replace(" ", chr(92) + " ")})
    |[bBrR][A-Za-z0-9_]*+
    |[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?
    |0x[0-9a-fA-F]+[uU]?|[0-9]+[uU]?
    |&&|\|\||==|!=|<=|>=|[.!/<>]
    |`[A-Za-z0-9_.\-/\ ]+`
    |\Z)
    """,
    re.VERBOSE,
)
_TWO_CHARACTERS: Final = frozenset("=&|")
_OPENING: Final = re.compile(r"""[bB]?[rR]?("{3}|'{3}|"|')""")
#: As far as an escape that is none reads like one.
_BROKEN_ESCAPE: Final = re.compile(r"\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?")
_BODY: Final = re.compile(rf"(?:{_ESCAPE}|[^\\\n\r])*")


def scan(text: str) -> Scan | None:
    """Every token and one of kind eof at the end; None if there is text that is no token."""
    found = Scan([], [], [])
    known = _FIXED.get
    add_kind, add_text, add_start = found.kinds.append, found.texts.append, found.starts.append
    position = 0
    for skipped, lexeme in _TOKEN.findall(text):
        if skipped:
            position += len(skipped)
        add_kind(known(lexeme) or _kind(lexeme))
        add_text(lexeme)
        add_start(position)
        if not lexeme:
            break
        position += len(lexeme)
    # What is no token was passed over, and its length is missing.
    return found if position == len(text) else None


def tokenize(source: SourceText) -> tuple[list[Token], list[Issue]]:
    """Every token, an eof token at the end, and the places where nothing could be read."""
    text = source.text
    tokens: list[Token] = []
    issues: list[Issue] = []
    position = 0
    while True:
        found = _TOKEN.match(text, position)
        if found is None:
            start, position = _unreadable(text, position)
            line, column = source.location(start)
            seen = printable(text[start:position])
            issues.append(Issue(line, column, f"Syntax error: token recognition error at: '{seen}'"))
            continue
        lexeme, start = found[2], found.start(2)
        tokens.append(Token(_FIXED.get(lexeme) or _kind(lexeme), lexeme or "<EOF>", start))
        if not lexeme:
            return tokens, issues
        position = found.end()


def _kind(lexeme: str) -> str:
    """The kind of a token whose text is not fixed."""
    if not lexeme:
        return "eof"
    first, last = lexeme[0], lexeme[-1]
    if last in "\"'":
        return "bytes" if first in "bB" else "string"
    if first == "`":
        return "quoted"
    if not (first.isdigit() or first == "."):
        return "id"
    if last in "uU":
        return "uint"
    return "int" if lexeme.isdigit() or lexeme.startswith("0x") else "float"


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
    escape = _BROKEN_ESCAPE.match(text, stop)
    return start, min((escape.end() if escape else stop) + 1, len(text))


def printable(text: str) -> str:
    """`text` as error texts show it."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
