"""
Short selectors that read well, parsed in one go.

What nearly every selector is needs no recovery and meets no limit: this parser
makes the same tree as :mod:`dra_alloc.cel.syntax.parser`, ids included, in less than half
the time. It gives up, rather than complain, at anything else: errors, limits,
messages, maps, reserved and quoted names, deep nesting. It stays because it
pays: without it reading the selectors of ``benchmarks/cel.py`` takes 2.3 times as
long, and compiling them a quarter to a half more.

Spec: CEL-1
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from dra_alloc.cel.syntax.ast import Call, Ident, ListNode, Literal, Node, Select
from dra_alloc.cel.syntax.binding import AND, BINARY, TERNARY, balanced
from dra_alloc.cel.syntax.lexer import Scan
from dra_alloc.cel.syntax.literals import CONSTANTS, READ, RESERVED, LiteralError
from dra_alloc.cel.syntax.macros import MacroError, MacroExpansion, MacroTable

#: Every level of what is limited takes a token, so that no limit can be met by fewer than it allows.
_MOST_TOKENS: Final = 200
_DEEPEST: Final = 16


class _Unusual(Exception):
    """Something for the other parser."""


def read_short(tokens: Scan, macros: MacroTable) -> Node | None:
    """The syntax tree, macros expanded, or None if the selector is not short and plain."""
    if len(tokens.kinds) > _MOST_TOKENS:
        return None
    parser = _ShortParser(tokens, macros)
    try:
        root = parser.expr(0)
    except (_Unusual, LiteralError, MacroError):
        return None
    return root if tokens.kinds[parser.at] == "eof" else None


class _ShortParser:
    """Tokens with a current one; every method reads from it and goes past what it read."""

    __slots__ = ("_kinds", "_macros", "_new_id", "_starts", "_texts", "at")

    def __init__(self, tokens: Scan, macros: MacroTable) -> None:
        self._kinds, self._texts, self._starts = tokens
        self._macros = macros
        self._new_id: Callable[[], int] = count(1).__next__
        self.at = 0

    def expr(self, depth: int) -> Node:
        """An expression."""
        if depth > _DEEPEST:
            raise _Unusual
        condition = self._binary(depth)
        mark = self.at
        if self._kinds[mark] != "?":
            return condition
        self.at = mark + 1
        chosen = self._binary(depth)
        self._pass(":")
        other = self.expr(depth + 1)
        return Call(self._new_id(), self._starts[mark], TERNARY, None, (condition, chosen, other))

    def _pass(self, kind: str) -> None:
        if self._kinds[self.at] != kind:
            raise _Unusual
        self.at += 1

    def _binary(self, depth: int) -> Node:
        """Operands and the operators between them."""
        first = self._operand(depth)
        found = BINARY.get(self._kinds[self.at])
        if found is None:
            return first
        operands = [first]
        operators: list[tuple[int, str, int]] = []
        while found is not None:
            level, function = found
            if operators:
                self._reduce(operands, operators, level)
            operators.append((level, function, self._starts[self.at]))
            self.at += 1
            operands.append(self._operand(depth))
            found = BINARY.get(self._kinds[self.at])
        self._reduce(operands, operators, 0)
        return operands[0]

    def _reduce(self, operands: list[Node], operators: list[tuple[int, str, int]], level: int) -> None:
        """Build what binds tighter than `level`, and as tight except for ``&&`` and ``||``."""
        while operators:
            top, function, offset = operators[-1]
            if top < level or (top == level and level <= AND):
                return
            if top > AND:
                operators.pop()
                right = operands.pop()
                operands[-1] = Call(self._new_id(), offset, function, None, (operands[-1], right))
                continue
            first = len(operators)
            while first and operators[first - 1][0] == top:
                first -= 1
            offsets = [each[2] for each in operators[first:]]
            joined = balanced(self._new_id, function, operands[first:], offsets)
            del operators[first:]
            operands[first:] = [joined]

    def _operand(self, depth: int) -> Node:
        """An operand with its signs, and what follows it."""
        kind = self._kinds[self.at]
        if kind == "!":
            return self._negated(depth)
        if kind == "-":
            return self._after(self._negative(), depth)
        return self._after(self._primary(kind, depth), depth)

    def _negated(self, depth: int) -> Node:
        first = self.at
        while self._kinds[self.at] == "!":
            self.at += 1
        odd = (self.at - first) % 2
        kind = self._kinds[self.at]
        operand = self._after(self._primary(kind, depth), depth)
        return Call(self._new_id(), self._starts[first], "!_", None, (operand,)) if odd else operand

    def _negative(self) -> Node:
        first = self.at
        kind = self._kinds[first + 1]
        if kind not in ("int", "float"):
            raise _Unusual
        self.at = first + 2
        return Literal(self._new_id(), self._starts[first], READ[kind](self._texts[first + 1], True))

    def _primary(self, kind: str, depth: int) -> Node:
        """A name, call, literal, list or parenthesised expression."""
        first = self.at
        self.at = first + 1
        if kind == "id":
            name = self._texts[first]
            if name in RESERVED:
                raise _Unusual
            if self._kinds[first + 1] == "(":
                return self._call(name, None, depth)
            return Ident(self._new_id(), self._starts[first], name)
        read = READ.get(kind)
        if read is not None:
            return Literal(self._new_id(), self._starts[first], read(self._texts[first], False))
        if kind in CONSTANTS:
            return Literal(self._new_id(), self._starts[first], CONSTANTS[kind])
        if kind == "(":
            inner = self.expr(depth + 1)
            self._pass(")")
            return inner
        if kind != "[":
            raise _Unusual
        elements = self._elements("]", depth)
        return ListNode(self._new_id(), self._starts[first], elements)

    def _after(self, node: Node, depth: int) -> Node:
        """`node` with the selections, calls and indices that follow it."""
        kinds, new_id = self._kinds, self._new_id
        while True:
            first = self.at
            kind = kinds[first]
            if kind == ".":
                node = self._dot(node, depth)
            elif kind == "[":
                self.at = first + 1
                function = "_[_]"
                if kinds[first + 1] == "?":
                    self.at, function = first + 2, "_[?_]"
                index = self.expr(depth + 1)
                self._pass("]")
                node = Call(new_id(), self._starts[first], function, None, (node, index))
            else:
                return node

    def _dot(self, node: Node, depth: int) -> Node:
        dot = self.at
        optional = self._kinds[dot + 1] == "?"
        name = dot + 1 + optional
        if self._kinds[name] != "id":
            raise _Unusual
        self.at = name + 1
        if optional:
            field = Literal(self._new_id(), self._starts[name], self._texts[name])
            return Call(self._new_id(), self._starts[dot], "_?._", None, (node, field))
        if self._kinds[name + 1] == "(":
            return self._call(self._texts[name], node, depth)
        return Select(self._new_id(), self._starts[dot], node, self._texts[name])

    def _call(self, function: str, target: Node | None, depth: int) -> Node:
        offset = self._starts[self.at]
        self.at += 1
        args = self._elements(")", depth)
        macro = self._macros.get((function, len(args), target is not None))
        expanded = None if macro is None else macro.expand(MacroExpansion(self._new_id, offset), target, args)
        return expanded or Call(self._new_id(), offset, function, target, args)

    def _elements(self, closing: str, depth: int) -> tuple[Any, ...]:
        """Expressions between commas, and the bracket behind them."""
        if self._kinds[self.at] == closing:
            self.at += 1
            return ()
        elements = [self.expr(depth + 1)]
        while self._kinds[self.at] == ",":
            self.at += 1
            elements.append(self.expr(depth + 1))
        self._pass(closing)
        return tuple(elements)
