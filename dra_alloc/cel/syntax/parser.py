"""
Expression text to syntax tree.

Operators are reduced on an explicit stack and nesting goes through the
trampoline, so no input can exhaust Python's stack. Three limits end parsing:
code points, rule nesting and tree depth.

Spec: CEL-1, CEL-2, CEL-3
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from dra_alloc.cel.errors import Issue
from dra_alloc.cel.syntax.ast import Call, Node
from dra_alloc.cel.syntax.binding import AND, BINARY, RELATION, TERNARY, balanced
from dra_alloc.cel.syntax.cursor import MAX_DEPTH, Deep, Limit, Nesting, ParseStop
from dra_alloc.cel.syntax.lexer import scan
from dra_alloc.cel.syntax.macros import MacroTable
from dra_alloc.cel.syntax.operands import OperandParser
from dra_alloc.cel.syntax.recovery import POSTFIX
from dra_alloc.cel.syntax.short_parser import read_short
from dra_alloc.cel.syntax.source import SourceText
from dra_alloc.cel.trampoline import Steps, run

MAX_CODE_POINTS: Final = 100_000


class Parsed(NamedTuple):
    """The tree, or None with the issues that kept us from it."""

    root: Node | None
    issues: list[Issue]


def parse(source: SourceText, macros: MacroTable, *, quoted_names: bool) -> Parsed:
    """The syntax tree of `source`, macros expanded, or the issues."""
    size = len(source.text)
    if size > MAX_CODE_POINTS:
        text = f"expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}"
        return Parsed(None, [Issue(-1, -1, text)])
    tokens = scan(source.text)
    root = None if tokens is None else read_short(tokens, macros)
    if root is not None:
        return Parsed(root, [])
    return parse_carefully(source, macros, quoted_names=quoted_names)


def parse_carefully(source: SourceText, macros: MacroTable, *, quoted_names: bool) -> Parsed:
    """The same whatever the selector, with every complaint."""
    parser = _Parser(source, macros, quoted_names=quoted_names)
    try:
        root = run(parser.start())
    except Limit:
        return Parsed(None, parser.issues)
    except ParseStop:
        if parser.partial is not None and parser.partial.height > MAX_DEPTH:
            parser.issues.insert(0, Issue(-1, -1, "max recursion depth exceeded"))
        return Parsed(None, parser.issues)
    if root.height > MAX_DEPTH:
        parser.issues.append(Issue(-1, -1, "max recursion depth exceeded"))
    return Parsed(None if parser.issues else root.node, parser.issues)


@dataclass(slots=True)
class _Pending:
    """Operands and operators of one level of ``expr``, not yet reduced."""

    operands: list[Deep] = field(default_factory=list)
    operators: list[tuple[int, str, int]] = field(default_factory=list)


class _Parser(OperandParser):
    """Operators: each reads its operands with what :class:`OperandParser` offers."""

    def start(self) -> Steps[Deep]:
        root: Deep = yield self.expr(Nesting(0, 0, 0))
        token = self.tokens[self.at]
        if token.kind == "eof":
            return root
        if self.tokens[self.at + 1].kind == "eof":
            self.report(token.start, f"Syntax error: extraneous input '{token.text}' expecting <EOF>")
            raise ParseStop
        raise self.syntax_error(token, "<EOF>", nested=False)

    def expr(self, outer: Nesting, start: Deep | None = None) -> Steps[Deep]:
        """``a ? b : c ? d : e`` is a loop here; only the last part may be a ternary again."""
        pending: list[tuple[int, Deep, Deep]] = []
        depth = outer.expr
        while True:
            depth += 1
            self.check_depth(depth)
            here = Nesting(depth, outer.relation, outer.calc)
            first: Deep = yield from self._binary(here, start)
            start = None
            mark = self.tokens[self.at]
            if mark.kind != "?":
                break
            self.at += 1
            try:
                second: Deep = yield from self._binary(here, None)
                self.expect(":", nested=outer.expr > 0)
            except ParseStop:
                self.partial = Deep(Call(self.new_id(), mark.start, TERNARY, None, (first.node,)), first.height)
                raise
            pending.append((mark.start, first, second))
        result = first
        for offset, condition, chosen in reversed(pending):
            parts = (condition.node, chosen.node, result.node)
            height = 1 + max(condition.height, chosen.height, result.height)
            result = Deep(Call(self.new_id(), offset, TERNARY, None, parts), height)
        return result

    def _binary(self, outer: Nesting, start: Deep | None) -> Steps[Deep]:
        """The conditional-or level and everything that binds tighter, without the ternary."""
        tokens = self.tokens
        pending = _Pending()
        nesting = Nesting(outer.expr, outer.relation + 1, outer.calc + 1)
        self.check_depth(max(nesting))
        while True:
            operand = self.quick() if start is None else start
            start = None
            if operand is None or tokens[self.at].kind in POSTFIX:
                try:
                    operand = yield from self._unary(nesting, operand)
                except ParseStop:
                    self._give_up(pending)
                    raise
            binary = BINARY.get(tokens[self.at].kind)
            if binary is None and not pending.operators:
                return operand
            pending.operands.append(operand)
            if binary is None:
                self._reduce(pending, 0)
                return pending.operands[0]
            level, function = binary
            self._reduce(pending, level)
            pending.operators.append((level, function, tokens[self.at].start))
            self.at += 1
            nesting = _inside(outer, pending)
            self.check_depth(max(nesting))

    def _give_up(self, pending: _Pending) -> None:
        """Make the best of what was read before parsing stopped: macros complain about it."""
        if pending.operators:
            pending.operands.append(self.partial or self.absent())
            self._reduce(pending, 0)
            self.partial = pending.operands[0]

    def _reduce(self, pending: _Pending, level: int) -> None:
        """Build every operation binding tighter than `level`, and as tight except for ``&&`` and ``||``."""
        operands, operators = pending.operands, pending.operators
        while operators:
            top = operators[-1][0]
            if top < level or (top == level and level <= AND):
                return
            if top <= AND:
                self._balance(pending, top)
                continue
            _, function, offset = operators.pop()
            right, left = operands.pop(), operands.pop()
            node = Call(self.new_id(), offset, function, None, (left.node, right.node))
            operands.append(Deep(node, 1 + max(left.height, right.height)))

    def _balance(self, pending: _Pending, level: int) -> None:
        """Join the trailing run of ``&&`` or ``||`` into a balanced tree."""
        count = 0
        while count < len(pending.operators) and pending.operators[-1 - count][0] == level:
            count += 1
        function = pending.operators[-1][1]
        offsets = [each[2] for each in pending.operators[-count:]]
        terms = pending.operands[-count - 1 :]
        del pending.operators[-count:]
        del pending.operands[-count - 1 :]
        node = balanced(self.new_id, function, [term.node for term in terms], offsets)
        pending.operands.append(Deep(node, max(term.height for term in terms)))

    def _unary(self, nesting: Nesting, start: Deep | None) -> Steps[Deep]:
        """An operand with its signs; an even number of them cancels out."""
        if start is None:
            self.want_operand()
        first = self.tokens[self.at]
        operator = first.kind
        if start is not None or operator not in ("!", "-"):
            plain: Deep = yield from self.member(nesting, start)
            return plain
        begin = self.at
        while self.tokens[self.at].kind == operator:
            self.at += 1
        count = self.at - begin
        if operator == "-" and count == 1 and self.tokens[self.at].kind in ("int", "float"):
            # The sign belongs to the literal.
            self.at -= 1
            signed: Deep = yield from self.member(nesting, self.literal())
            return signed
        operand: Deep = yield from self.member(nesting, None)
        if count % 2 == 0:
            return operand
        function = "!_" if operator == "!" else "-_"
        return Deep(Call(self.new_id(), first.start, function, None, (operand.node,)), operand.height)


def _inside(outer: Nesting, pending: _Pending) -> Nesting:
    """How deep the rules are nested right of the operators that wait."""
    relation, calc = outer.relation + 1, outer.calc + 1
    for level, _, _ in reversed(pending.operators):
        if level <= AND:
            break
        if level == RELATION:
            relation += 1
        else:
            calc += 1
    return Nesting(outer.expr, relation, calc)
