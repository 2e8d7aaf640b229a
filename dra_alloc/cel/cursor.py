"""
The parser's place in the tokens: ids, complaints and limits.

Spec: CEL-2, CEL-3
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_alloc.cel.ast import Literal, Node
from dra_alloc.cel.errors import Issue
from dra_alloc.cel.lexer import Token, tokenize
from dra_alloc.cel.source import Source

__all__ = ["MAX_DEPTH", "Cursor", "Deep", "Nesting", "Stop"]

MAX_DEPTH: Final = 250
_LOOKAHEAD: Final = 256
_INNER_CLOSERS: Final = frozenset((")", "]", "}", ",", "eof"))
_OUTER_CLOSERS: Final = frozenset(("eof",))


class Deep(NamedTuple):
    """A node and how many counted levels lie under it; `path` says it is a bare dotted name."""

    node: Node
    height: int
    path: bool = False


class Nesting(NamedTuple):
    """How deep the grammar's rules expr, relation and calc are nested here."""

    expr: int
    relation: int
    calc: int


class Stop(Exception):
    """Parsing cannot go on; the issue has been noted."""


class Cursor:
    """Tokens with a current one, and everything the parts of the parser share."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.tokens, self.issues = tokenize(source)
        self.at = 0
        self._ids = 0

    def new_id(self) -> int:
        """A node id not given before."""
        self._ids += 1
        return self._ids

    def report(self, offset: int, message: str) -> None:
        """Note a complaint about the place `offset`."""
        line, column = self._source.location(offset)
        self.issues.append(Issue(line, column, message))

    def broken(self, offset: int, message: str) -> Deep:
        """Note a complaint and stand in for what it is about, so that parsing can go on."""
        self.report(offset, message)
        return Deep(Literal(self.new_id(), offset, "<<error>>"), 0)

    def syntax_error(self, token: Token, expecting: str, *, nested: bool | None = None) -> Stop:
        """
        Note a syntax error.

        Upstream skips to a token that can follow and gives up after 256; where
        it would search, `nested` says whether brackets may end the search.
        """
        if nested is not None:
            closers = _INNER_CLOSERS if nested else _OUTER_CLOSERS
            rest = self.tokens[self.at : self.at + _LOOKAHEAD + 1]
            if len(rest) > _LOOKAHEAD and not any(each.kind in closers for each in rest):
                self.issues.append(Issue(-1, -1, f"error recovery token lookahead limit exceeded: {_LOOKAHEAD}"))
        self.report(token.start, f"Syntax error: mismatched input '{token.text}' expecting {expecting}")
        return Stop()

    def expect(self, kind: str, *, nested: bool | None = None) -> Token:
        """The current token, which must be of `kind`, and go on; raises Stop otherwise."""
        token = self.tokens[self.at]
        if token.kind != kind:
            raise self.syntax_error(token, "IDENTIFIER" if kind == "id" else f"'{kind}'", nested=nested)
        self.at += 1
        return token

    def accept(self, kind: str) -> bool:
        """Go past the current token if it is of `kind`."""
        if self.tokens[self.at].kind == kind:
            self.at += 1
            return True
        return False

    def check_depth(self, depth: int) -> None:
        """Raise Stop beyond the limit of nested rules."""
        if depth > MAX_DEPTH:
            self.issues.append(Issue(-1, -1, f"expression recursion limit exceeded: {MAX_DEPTH}"))
            raise Stop
