"""
Expression text to syntax tree.

Operators are reduced on an explicit stack and nesting goes through the
trampoline, so no input can exhaust Python's stack. Three limits end parsing:
code points, rule nesting and tree depth.

Spec: CEL-1, CEL-2, CEL-3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from dra_alloc.cel.ast import Call, Entry, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from dra_alloc.cel.declarations import Macro
from dra_alloc.cel.errors import Issue
from dra_alloc.cel.lexer import Token, tokenize
from dra_alloc.cel.literals import LiteralError, bytes_value, double_value, int_value, string_value, uint_value
from dra_alloc.cel.macros import Expansion, MacroError
from dra_alloc.cel.source import Source
from dra_alloc.cel.trampoline import Steps, run

__all__ = ["MAX_CODE_POINTS", "MAX_DEPTH", "MacroTable", "Parsed", "parse"]

MAX_CODE_POINTS: Final = 100_000
MAX_DEPTH: Final = 250
_LOOKAHEAD: Final = 256

MacroTable = Mapping[tuple[str, int, bool], Macro]

_RESERVED: Final = frozenset(
    "as break const continue else false for function if import in let loop package namespace null return true var"
    " void while".split()
)
_BINARY: Final[dict[str, tuple[int, str]]] = {
    "||": (1, "_||_"),
    "&&": (2, "_&&_"),
    "<": (3, "_<_"),
    "<=": (3, "_<=_"),
    ">=": (3, "_>=_"),
    ">": (3, "_>_"),
    "==": (3, "_==_"),
    "!=": (3, "_!=_"),
    "in": (3, "@in"),
    "+": (4, "_+_"),
    "-": (4, "_-_"),
    "*": (5, "_*_"),
    "/": (5, "_/_"),
    "%": (5, "_%_"),
}
_CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_OPERAND: Final = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"


class Parsed(NamedTuple):
    """The tree, or None with the issues that kept us from it."""

    root: Node | None
    issues: list[Issue]


class _Deep(NamedTuple):
    """A node and how many counted levels lie under it; `path` says it is a bare dotted name."""

    node: Node
    height: int
    path: bool = False


class _Nesting(NamedTuple):
    """How deep the rules expr, relation and calc are nested where an expression begins."""

    expr: int
    relation: int
    calc: int


class _Stop(Exception):
    """Parsing cannot go on; the issue has been noted."""


def parse(source: Source, macros: MacroTable, quoted_names: bool) -> Parsed:
    """The syntax tree of `source`, macros expanded, or the issues."""
    size = len(source.text)
    if size > MAX_CODE_POINTS:
        text = f"expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}"
        return Parsed(None, [Issue(-1, -1, text)])
    tokens, issues = tokenize(source)
    parser = _Parser(source, tokens, issues, macros, quoted_names)
    try:
        root = run(parser.start())
    except _Stop:
        return Parsed(None, issues)
    if root.height > MAX_DEPTH:
        issues.append(Issue(-1, -1, "max recursion depth exceeded"))
    return Parsed(None if issues else root.node, issues)


@dataclass(slots=True)
class _Operands:
    """Operands and operators of one level of ``expr``, not yet reduced."""

    operands: list[_Deep] = field(default_factory=list)
    operators: list[tuple[int, str, int]] = field(default_factory=list)


class _Parser:
    def __init__(
        self, source: Source, tokens: list[Token], issues: list[Issue], macros: MacroTable, quoted_names: bool
    ) -> None:
        self._source = source
        self._tokens = tokens
        self._issues = issues
        self._macros = macros
        self._quoted_names = quoted_names
        self._at = 0
        self._ids = 0

    # Places, ids and complaints

    def _new_id(self) -> int:
        self._ids += 1
        return self._ids

    def _report(self, offset: int, message: str) -> None:
        line, column = self._source.location(offset)
        self._issues.append(Issue(line, column, message))

    def _broken(self, offset: int, message: str) -> _Deep:
        self._report(offset, message)
        return _Deep(Literal(self._new_id(), offset, "<<error>>"), 0)

    def _syntax(self, token: Token, expecting: str, nested: bool | None = None) -> _Stop:
        """Note a syntax error; with `nested` given, say so if upstream's recovery would give up."""
        if nested is not None:
            closers = (")", "]", "}", ",", "eof") if nested else ("eof",)
            rest = self._tokens[self._at : self._at + _LOOKAHEAD + 1]
            if len(rest) > _LOOKAHEAD and not any(each.kind in closers for each in rest):
                self._issues.append(Issue(-1, -1, f"error recovery token lookahead limit exceeded: {_LOOKAHEAD}"))
        self._report(token.start, f"Syntax error: mismatched input '{token.text}' expecting {expecting}")
        return _Stop()

    def _expect(self, kind: str, nested: bool | None = None) -> Token:
        token = self._tokens[self._at]
        if token.kind != kind:
            raise self._syntax(token, "IDENTIFIER" if kind == "id" else f"'{kind}'", nested)
        self._at += 1
        return token

    def _accept(self, kind: str) -> bool:
        if self._tokens[self._at].kind == kind:
            self._at += 1
            return True
        return False

    def _check(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self._issues.append(Issue(-1, -1, f"expression recursion limit exceeded: {MAX_DEPTH}"))
            raise _Stop

    # Expressions

    def start(self) -> Steps[_Deep]:
        root: _Deep = yield self._expr(_Nesting(0, 0, 0))
        token = self._tokens[self._at]
        if token.kind != "eof":
            if self._tokens[self._at + 1].kind == "eof":
                self._report(token.start, f"Syntax error: extraneous input '{token.text}' expecting <EOF>")
                raise _Stop
            raise self._syntax(token, "<EOF>", nested=False)
        return root

    def _expr(self, outer: _Nesting) -> Steps[_Deep]:
        """``a ? b : c ? d : e`` is a loop here; only the last part may be a ternary again."""
        pending: list[tuple[int, _Deep, _Deep]] = []
        depth = outer.expr
        while True:
            depth += 1
            self._check(depth)
            here = _Nesting(depth, outer.relation, outer.calc)
            first = yield self._binary(here)
            if self._tokens[self._at].kind != "?":
                break
            mark = self._tokens[self._at].start
            self._at += 1
            second = yield self._binary(here)
            self._expect(":", nested=outer.expr > 0)
            pending.append((mark, first, second))
        result: _Deep = first
        for mark, condition, chosen in reversed(pending):
            parts = (condition.node, chosen.node, result.node)
            height = 1 + max(condition.height, chosen.height, result.height)
            result = _Deep(Call(self._new_id(), mark, "_?_:_", None, parts), height)
        return result

    def _binary(self, outer: _Nesting) -> Steps[_Deep]:
        """The conditional-or level and everything that binds tighter, without the ternary."""
        state = _Operands()
        relation, calc = outer.relation + 1, outer.calc + 1
        self._check(max(relation, calc))
        while True:
            operand = yield self._unary(_Nesting(outer.expr, relation, calc))
            state.operands.append(operand)
            token = self._tokens[self._at]
            binary = _BINARY.get(token.kind)
            if binary is None:
                break
            level, function = binary
            self._reduce(state, level)
            state.operators.append((level, function, token.start))
            self._at += 1
            if level >= 3:
                calc = outer.calc + 1 + sum(1 for each in state.operators if each[0] > 3)
                relation = outer.relation + 1 + any(each[0] == 3 for each in state.operators)
                self._check(max(relation, calc))
            else:
                relation, calc = outer.relation + 1, outer.calc + 1
        self._reduce(state, 0)
        return state.operands[0]

    def _reduce(self, state: _Operands, level: int) -> None:
        """Build every operation binding tighter than `level`, and as tight except for ``&&`` and ``||``."""
        operands, operators = state.operands, state.operators
        while operators:
            top = operators[-1][0]
            if top < level or (top == level and level < 3):
                return
            if top < 3:
                self._balance(state, top)
                continue
            _, function, offset = operators.pop()
            right, left = operands.pop(), operands.pop()
            node = Call(self._new_id(), offset, function, None, (left.node, right.node))
            operands.append(_Deep(node, 1 + max(left.height, right.height)))

    def _balance(self, state: _Operands, level: int) -> None:
        """Join the trailing run of ``&&`` or ``||`` into a balanced tree."""
        count = 0
        while count < len(state.operators) and state.operators[-1 - count][0] == level:
            count += 1
        function = state.operators[-1][1]
        offsets = [each[2] for each in state.operators[-count:]]
        terms = state.operands[-count - 1 :]
        del state.operators[-count:]
        del state.operands[-count - 1 :]
        node = self._balanced(function, [term.node for term in terms], offsets, 0, count - 1)
        state.operands.append(_Deep(node, max(term.height for term in terms)))

    def _balanced(self, function: str, terms: list[Node], offsets: list[int], low: int, high: int) -> Node:
        middle = (low + high + 1) // 2
        left = terms[middle] if middle == low else self._balanced(function, terms, offsets, low, middle - 1)
        right = terms[middle + 1] if middle == high else self._balanced(function, terms, offsets, middle + 1, high)
        return Call(self._new_id(), offsets[middle], function, None, (left, right))

    def _unary(self, nesting: _Nesting) -> Steps[_Deep]:
        token = self._tokens[self._at]
        operator = token.kind
        if operator not in ("!", "-"):
            operand: _Deep = yield self._member(nesting)
            return operand
        start = self._at
        while self._tokens[self._at].kind == operator:
            self._at += 1
        count = self._at - start
        if operator == "-" and count == 1 and self._tokens[self._at].kind in ("int", "float"):
            self._at -= 1
            operand = yield self._member(nesting)
            return operand
        operand = yield self._member(nesting)
        if count % 2 == 0:
            return operand
        function = "!_" if operator == "!" else "-_"
        return _Deep(Call(self._new_id(), token.start, function, None, (operand.node,)), operand.height)

    def _member(self, nesting: _Nesting) -> Steps[_Deep]:
        """A primary and the selections, calls and indices after it."""
        operand = yield self._primary(nesting)
        while True:
            token = self._tokens[self._at]
            kind = token.kind
            if kind == ".":
                self._at += 1
                operand = yield self._dot(token, operand, nesting)
            elif kind == "[":
                self._at += 1
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = yield self._expr(nesting)
                self._expect("]", nested=True)
                node = Call(self._new_id(), token.start, function, None, (operand.node, index.node))
                operand = _Deep(node, 1 + max(operand.height, index.height))
            elif kind == "{" and operand.path:
                operand = yield self._message(operand, nesting)
            else:
                return operand

    def _dot(self, dot: Token, operand: _Deep, nesting: _Nesting) -> Steps[_Deep]:
        optional = self._accept("?")
        name = self._tokens[self._at]
        if name.kind == "quoted":
            self._at += 1
            text = name.text[1:-1]
            if not self._quoted_names:
                return self._broken(dot.start if False else operand_start(operand.node), "unsupported syntax: '`'")
        else:
            text = self._expect("id").text
            if not optional and self._tokens[self._at].kind == "(":
                called: _Deep = yield self._call(text, operand, nesting)
                return called
        height = operand.height + 1
        if optional:
            field_name = Literal(self._new_id(), name.start, text)
            return _Deep(Call(self._new_id(), dot.start, "_?._", None, (operand.node, field_name)), height)
        node = Select(self._new_id(), dot.start, operand.node, text)
        return _Deep(node, height, operand.path and name.kind == "id")

    def _call(self, function: str, target: _Deep | None, nesting: _Nesting) -> Steps[_Deep]:
        opening = self._tokens[self._at]
        self._at += 1
        args: list[_Deep] = []
        if not self._accept(")"):
            while True:
                argument = yield self._expr(nesting)
                args.append(argument)
                if not self._accept(","):
                    break
            self._expect(")", nested=True)
        nodes = tuple(each.node for each in args)
        height = max((each.height for each in args), default=0)
        receiver = None
        if target is not None:
            height = 1 + max(height, target.height)
            receiver = target.node
        return _Deep(self._call_or_macro(function, opening.start, receiver, nodes), height)

    def _call_or_macro(self, function: str, offset: int, target: Node | None, args: tuple[Node, ...]) -> Node:
        macro = self._macros.get((function, len(args), target is not None))
        if macro is not None:
            try:
                expanded = macro.expand(Expansion(self._new_id, offset), target, args)
            except MacroError as error:
                return self._broken(error.node.offset, error.message).node
            if expanded is not None:
                return expanded
        return Call(self._new_id(), offset, function, target, args)

    # Primaries

    def _primary(self, nesting: _Nesting) -> Steps[_Deep]:
        token = self._tokens[self._at]
        kind = token.kind
        if kind in ("id", "."):
            named: _Deep = yield self._named(nesting)
            return named
        if kind == "(":
            self._at += 1
            inner: _Deep = yield self._expr(nesting)
            self._expect(")", nested=True)
            return _Deep(inner.node, inner.height)
        if kind == "[":
            items: _Deep = yield self._list(nesting)
            return items
        if kind == "{":
            mapping: _Deep = yield self._map(nesting)
            return mapping
        return self._literal()

    def _named(self, nesting: _Nesting) -> Steps[_Deep]:
        first = self._tokens[self._at]
        leading = self._accept(".")
        token = self._expect("id")
        name = "." + token.text if leading else token.text
        called = self._tokens[self._at].kind == "("
        if token.text in _RESERVED:
            if called:
                yield self._call(name, None, nesting)
            return self._broken(first.start, f"reserved identifier: {token.text}")
        if called:
            result: _Deep = yield self._call(name, None, nesting)
            return result
        return _Deep(Ident(self._new_id(), token.start, name), 0, path=True)

    def _literal(self) -> _Deep:
        first = token = self._tokens[self._at]
        negative = token.kind == "-"
        if negative:
            self._at += 1
            token = self._tokens[self._at]
            if token.kind not in ("int", "float"):
                raise self._syntax(token, "{NUM_FLOAT, NUM_INT}")
        kind, text = token.kind, token.text
        if kind in _CONSTANTS:
            self._at += 1
            return _Deep(Literal(self._new_id(), first.start, _CONSTANTS[kind]), 0)
        if kind in _READ:
            self._at += 1
            try:
                return _Deep(Literal(self._new_id(), first.start, _READ[kind](text, negative)), 0)
            except LiteralError as error:
                return self._broken(first.start, str(error))
        raise self._syntax(token, _OPERAND)

    def _list(self, nesting: _Nesting) -> Steps[_Deep]:
        opening = self._expect("[")
        elements: list[_Deep] = []
        optional: set[int] = set()
        while self._tokens[self._at].kind not in ("]", ","):
            if self._accept("?"):
                optional.add(len(elements))
            element = yield self._expr(nesting)
            elements.append(element)
            if not self._accept(","):
                break
            if self._tokens[self._at].kind == "]":
                break
        else:
            self._accept(",")
        self._expect("]", nested=True)
        nodes = tuple(each.node for each in elements)
        height = max((each.height for each in elements), default=0)
        return _Deep(ListNode(self._new_id(), opening.start, nodes, frozenset(optional)), height)

    def _map(self, nesting: _Nesting) -> Steps[_Deep]:
        opening = self._expect("{")
        entries, height = yield self._entries(nesting, self._key)
        return _Deep(MapNode(self._new_id(), opening.start, entries), height)

    def _message(self, name: _Deep, nesting: _Nesting) -> Steps[_Deep]:
        opening = self._expect("{")
        entries, height = yield self._entries(nesting, self._field)
        parts: list[str] = []
        node = name.node
        while isinstance(node, Select):
            parts.append(node.field)
            node = node.operand
        assert isinstance(node, Ident)
        parts.append(node.name)
        return _Deep(StructNode(self._new_id(), opening.start, ".".join(reversed(parts)), entries), height)

    def _entries(
        self, nesting: _Nesting, key: Callable[[_Nesting], Steps[tuple[Node | str, int]]]
    ) -> Steps[tuple[tuple[Entry, ...], int]]:
        entries: list[Entry] = []
        height = 0
        while self._tokens[self._at].kind not in ("}", ","):
            optional = self._accept("?")
            name, key_height = yield key(nesting)
            colon = self._expect(":", nested=True)
            value = yield self._expr(nesting)
            entries.append(Entry(self._new_id(), colon.start, name, value.node, optional))
            height = max(height, key_height, value.height)
            if not self._accept(","):
                break
            if self._tokens[self._at].kind == "}":
                break
        else:
            self._accept(",")
        self._expect("}", nested=True)
        return tuple(entries), height

    def _key(self, nesting: _Nesting) -> Steps[tuple[Node | str, int]]:
        key = yield self._expr(nesting)
        return key.node, key.height

    def _field(self, nesting: _Nesting) -> Steps[tuple[Node | str, int]]:
        token = self._tokens[self._at]
        if token.kind == "quoted":
            self._at += 1
            if not self._quoted_names:
                self._report(token.start, "unsupported syntax: '`'")
            return token.text[1:-1], 0
        return self._expect("id").text, 0
        yield


def operand_start(node: Node) -> int:
    """The leftmost offset of `node`."""
    while True:
        if isinstance(node, Select):
            node = node.operand
        elif isinstance(node, Call) and node.target is not None:
            node = node.target
        elif isinstance(node, Call) and node.args and node.function in ("_[_]", "_[?_]", "_?._"):
            node = node.args[0]
        else:
            return node.offset


_READ: Final[dict[str, Callable[[str, bool], Any]]] = {
    "int": int_value,
    "uint": lambda text, negative: uint_value(text),
    "float": double_value,
    "string": lambda text, negative: string_value(text),
    "bytes": lambda text, negative: bytes_value(text),
}
