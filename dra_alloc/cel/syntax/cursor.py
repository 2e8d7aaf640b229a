"""
The parser's place in the tokens: ids, complaints and limits.

Spec: CEL-2, CEL-3
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dra_alloc.cel.errors import Issue
from dra_alloc.cel.syntax.ast import Literal, Node
from dra_alloc.cel.syntax.lexer import Token, printable, tokenize
from dra_alloc.cel.syntax.recovery import CLOSES, GOES_ON, MORE, expected, may_follow
from dra_alloc.cel.syntax.source import SourceText

MAX_DEPTH: Final = 250
_LOOKAHEAD: Final = 256
_MOST_RECOVERIES: Final = 30
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


class ParseStop(Exception):
    """
    Parsing cannot go on here; the issue has been noted.

    Not `within` the brackets around it at all; with `ended`, what was read
    takes no more selections or indices.
    """

    def __init__(self, *, within: bool = True) -> None:
        super().__init__()
        self.within = within
        self.ended = False


class Limit(Exception):
    """Parsing must not go on; the issue has been noted, and nothing else is said."""


class Cursor:
    """Tokens with a current one, and everything the parts of the parser share."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self.tokens, self.issues = tokenize(source)
        self.at = 0
        self._ids = 0
        self._recoveries = 0
        #: What closes the brackets that are open here, outermost first; a comma where elements are separated by it.
        self.open: list[frozenset[str]] = []
        #: Where parsing was taken up again: what does not fit there has been complained about.
        self._resumed = -1
        self._ended = False

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

    def syntax_error(self, token: Token, expecting: str, *, nested: bool | None = None) -> ParseStop:
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
                self._ended = True
        if self.at != self._resumed:
            self.report(token.start, f"Syntax error: mismatched input '{token.text}' expecting {expecting}")
        return ParseStop()

    def resume(self) -> bool:
        """Go past what cannot be read, to something that goes on with or ends what is open; whether there is such."""
        if self._ended or not self.open:
            return False
        wanted = (GOES_ON - MORE).union(*self.open)
        if self.at == self._resumed and self.tokens[self.at].kind in GOES_ON:
            self.at += 1
        while self.tokens[self.at].kind not in wanted:
            if self.tokens[self.at].kind == "eof":
                return False
            self.at += 1
        self._resumed = self.at
        return True

    def closed_before(self, stop: ParseStop) -> bool:
        """Whether the brackets around a dot without a name are taken for closed: where a dot may follow them."""
        return not stop.within and any("." in each for each in self.open)

    def closes(self, closing: str) -> bool:
        """Whether a list or map can be closed where its elements could not be read, past a comma that may trail."""
        self.open.append(CLOSES[closing] | MORE)
        found = self.resume()
        self.open.pop()
        if found and self.tokens[self.at].kind == ",":
            self.at += 1
        return found and self.accept(closing)

    def expect(self, kind: str, *, nested: bool | None = None) -> Token:
        """
        The current token, which must be of `kind`, and go on.

        A token too many in front of it is passed over; if it alone is missing,
        what stands there is returned and kept. Raises ParseStop otherwise.
        """
        token = self.tokens[self.at]
        if token.kind == kind:
            self.at += 1
            return token
        self._recoveries += 1
        if self._recoveries > _MOST_RECOVERIES:
            self.report(token.start, f"Syntax error: error recovery attempt limit exceeded: {_MOST_RECOVERIES}")
            self._ended = True
            raise ParseStop
        wanted = frozenset((kind,))
        if self.pass_over(wanted):
            return self.expect(kind)
        if kind != "id" and token.kind in may_follow(self.tokens, self.at, kind):
            self.report(token.start, f"Syntax error: missing {expected(wanted)} at '{token.text}'")
            return token
        raise self.syntax_error(token, expected(wanted), nested=nested)

    def pass_over(self, wanted: frozenset[str]) -> bool:
        """Go past one token that does not fit, if the next one does; whether that was so."""
        token = self.tokens[self.at]
        if token.kind == "eof" or self.tokens[self.at + 1].kind not in wanted:
            return False
        self.report(token.start, f"Syntax error: extraneous input '{token.text}' expecting {expected(wanted)}")
        self.at += 1
        return True

    def no_name(self, start: int, token: Token) -> ParseStop:
        """Note that no name follows the dot at `start`."""
        seen = self._source.text[start : token.start]
        seen += "" if token.kind == "eof" else token.text
        self.report(token.start, f"Syntax error: no viable alternative at input '{printable(seen)}'")
        # The brackets are taken for closed in front of the dot.
        return ParseStop(within=False)

    def accept(self, kind: str) -> bool:
        """Go past the current token if it is of `kind`."""
        if self.tokens[self.at].kind == kind:
            self.at += 1
            return True
        return False

    def check_depth(self, depth: int) -> None:
        """Raise Limit beyond the limit of nested rules."""
        if depth > MAX_DEPTH:
            self.issues.append(Issue(-1, -1, f"expression recursion limit exceeded: {MAX_DEPTH}"))
            raise Limit
