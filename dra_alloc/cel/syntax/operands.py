"""
Operands: names, literals, calls, lists, maps, messages, and what follows them.

Spec: CEL-1
"""

from __future__ import annotations

from collections.abc import Callable

from dra_alloc.cel.syntax import recovery as after
from dra_alloc.cel.syntax.ast import (
    Call,
    Entry,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
    StructNode,
    dotted_name,
)
from dra_alloc.cel.syntax.cursor import Cursor, Deep, Nesting, ParseStop
from dra_alloc.cel.syntax.lexer import Token
from dra_alloc.cel.syntax.literals import CONSTANTS, READ, RESERVED, LiteralError
from dra_alloc.cel.syntax.macros import MacroError, MacroExpansion, MacroTable
from dra_alloc.cel.syntax.recovery import FIELDS, GOES_ON, POSTFIX, STARTERS, expected, operand_tokens
from dra_alloc.cel.syntax.source import SourceText
from dra_alloc.cel.trampoline import Steps


class OperandParser(Cursor):
    """The parts of an expression below its operators; `expr` is what the operator part adds."""

    def __init__(self, source: SourceText, macros: MacroTable, *, quoted_names: bool) -> None:
        super().__init__(source)
        self._macros = macros
        self._quoted_names = quoted_names
        self.partial: Deep | None = None

    def expr(self, outer: Nesting, start: Deep | None = None) -> Steps[Deep]:
        """A whole expression inside `outer`; `start` is its first operand, as far as it has been read."""
        raise NotImplementedError

    def read_so_far(self) -> Deep | None:
        """What had been read of the operand in which parsing stopped."""
        return self.partial

    def element(self, nesting: Nesting, closers: frozenset[str], start: Deep | None = None) -> Steps[Deep]:
        """An expression inside brackets; where it cannot be read, as far as it goes, with what follows that."""
        depth = len(self.open)
        self.open.append(closers)
        while True:
            try:
                found: Deep = yield self.expr(nesting, start)
                break
            except ParseStop as stop:
                del self.open[depth + 1 :]
                found = self.partial or self.absent()
                if not stop.within and self.tokens[self.at].kind in closers - after.NOT_CLOSING[closers is after.KEY]:
                    break  # a dot in front of what closes is passed over
                ended, stop.ended = stop.ended, False
                if self.closed_before(stop) or not self.resume() or (ended and self.tokens[self.at].kind in POSTFIX):
                    stop.within = closers is not after.PARENTHESES or stop.within
                    raise
                start, self.partial = found, None
                if self.tokens[self.at].kind not in GOES_ON:
                    break
        del self.open[depth:]
        return found

    def absent(self) -> Deep:
        """What stands for an operand that is not there."""
        return Deep(Literal(self.new_id(), self.tokens[self.at].start, "<<error>>"), 0)

    def want_operand(self) -> None:
        """Go past a token too many in front of an operand; raises ParseStop if there is no operand."""
        token = self.tokens[self.at]
        if token.kind in STARTERS:
            return
        wanted = operand_tokens(self.tokens, self.at)
        if not self.pass_over(wanted):
            raise self.syntax_error(token, expected(wanted))

    def quick(self) -> Deep | None:
        """
        The operand here as far as it needs no nesting: a name or literal, selections, constant indices.

        None if it starts with something else. Most operands end here, without
        a single generator.
        """
        tokens = self.tokens
        token = tokens[self.at]
        if token.kind == "id":
            if token.text in RESERVED or tokens[self.at + 1].kind == "(":
                return None
            self.at += 1
            node: Node = Ident(self.new_id(), token.start, token.text)
            path = True
        elif token.kind in READ or token.kind in CONSTANTS:
            node, path = self.literal().node, False
        else:
            return None
        height = 0
        while True:
            token = tokens[self.at]
            if token.kind == ".":
                name = tokens[self.at + 1]
                if name.kind != "id" or tokens[self.at + 2].kind == "(":
                    break
                self.at += 2
                node = Select(self.new_id(), token.start, node, name.text)
            elif token.kind == "[" and tokens[self.at + 1].kind == "string" and tokens[self.at + 2].kind == "]":
                self.at += 1
                key = self.literal().node
                self.at += 1
                node = Call(self.new_id(), token.start, "_[_]", None, (node, key))
                path = False
            else:
                break
            height += 1
        return Deep(node, height, path)

    def member(self, nesting: Nesting, operand: Deep | None) -> Steps[Deep]:
        """A primary, unless `operand` is one already, and the selections, calls and indices after it."""
        if operand is None:
            operand = self.quick()
        if operand is None:
            operand = yield from self._primary(nesting)
        while True:
            token = self.tokens[self.at]
            kind = token.kind
            if kind == ".":
                self.at += 1
                operand = yield from self._dot(token, operand, nesting)
            elif kind == "[":
                self.at += 1
                try:
                    operand = yield from self._index(token, operand, nesting)
                except ParseStop as stop:
                    stop.ended = True
                    parts = operand.node, (self.partial or self.absent()).node
                    self.partial = Deep(Call(self.new_id(), token.start, "_[_]", None, parts), operand.height)
                    raise
            elif kind == "{" and operand.path:
                operand = yield from self._message(operand, nesting)
            else:
                return operand

    def _index(self, opening: Token, operand: Deep, nesting: Nesting) -> Steps[Deep]:
        function = "_[?_]" if self.accept("?") else "_[_]"
        index: Deep = yield from self.element(nesting, after.INDEX)
        self.partial = index
        self.expect("]", nested=True)
        node = Call(self.new_id(), opening.start, function, None, (operand.node, index.node))
        return Deep(node, 1 + max(operand.height, index.height))

    def _dot(self, dot: Token, operand: Deep, nesting: Nesting) -> Steps[Deep]:
        optional = self.accept("?")
        name = self.tokens[self.at]
        if name.kind == "quoted":
            self.at += 1
            text = name.text[1:-1]
            if not self._quoted_names:
                return self.broken(name.start, "unsupported syntax: '`'")
        else:
            if name.kind != "id":
                self.partial = operand
                if not optional:
                    raise self.no_name(dot.start, name)
                parts = operand.node, self.absent().node
                self.partial = Deep(Call(self.new_id(), dot.start, "_?._", None, parts), operand.height)
                stop = self.syntax_error(name, "{IDENTIFIER, ESC_IDENTIFIER}")
                self.report(name.start, "unsupported ident kind")
                raise stop
            self.at += 1
            text = name.text
            if not optional and self.tokens[self.at].kind == "(":
                called: Deep = yield from self._call(text, operand, nesting)
                return called
        height = operand.height + 1
        if optional:
            field = Literal(self.new_id(), name.start, text)
            return Deep(Call(self.new_id(), dot.start, "_?._", None, (operand.node, field)), height)
        node = Select(self.new_id(), dot.start, operand.node, text)
        return Deep(node, height, operand.path and name.kind == "id")

    def _call(self, function: str, target: Deep | None, nesting: Nesting) -> Steps[Deep]:
        opening = self.tokens[self.at]
        self.at += 1
        args: list[Deep] = []
        try:
            yield from self._arguments(args, nesting, after.MEMBER_ARGUMENTS if target else after.ARGUMENTS)
        except ParseStop as stop:
            stop.ended = target is not None
            nodes = tuple([each.node for each in args])
            made = self._call_or_macro(function, opening.start, target and target.node, nodes)
            self.partial = Deep(made, 0)
            raise
        nodes = tuple([each.node for each in args])
        height = max([each.height for each in args], default=0)
        receiver = None
        if target is not None:
            height = 1 + max(height, target.height)
            receiver = target.node
        return Deep(self._call_or_macro(function, opening.start, receiver, nodes), height)

    def _arguments(self, args: list[Deep], nesting: Nesting, closers: frozenset[str]) -> Steps[None]:
        """Read arguments up to the closing parenthesis; the one in which parsing stops is added as far as it goes."""
        if self.accept(")"):
            return
        self.check_depth(1 + max(nesting))
        while True:
            self.partial = None
            try:
                argument = self.quick()
                if argument is None or self.tokens[self.at].kind not in (",", ")"):
                    argument = yield from self.element(nesting, closers, argument)
            except ParseStop:
                read = self.read_so_far()
                if read is not None or args:
                    args.append(read or self.absent())
                raise
            args.append(argument)
            if not self.accept(","):
                break
        self.expect(")", nested=True)

    def _call_or_macro(self, function: str, offset: int, target: Node | None, args: tuple[Node, ...]) -> Node:
        macro = self._macros.get((function, len(args), target is not None))
        if macro is not None:
            try:
                expanded = macro.expand(MacroExpansion(self.new_id, offset), target, args)
            except MacroError as error:
                return self.broken(error.node.offset, error.message).node
            if expanded is not None:
                return expanded
        return Call(self.new_id(), offset, function, target, args)

    # Primaries

    def _primary(self, nesting: Nesting) -> Steps[Deep]:
        kind = self.tokens[self.at].kind
        made: Deep
        if kind in ("id", "."):
            made = yield from self._named(nesting)
        elif kind == "(":
            self.at += 1
            inner: Deep = yield from self.element(nesting, after.PARENTHESES)
            self.partial = inner
            self.expect(")", nested=True)
            made = Deep(inner.node, inner.height)
        elif kind == "[":
            made = yield from self._list(nesting)
        elif kind == "{":
            opening = self.expect("{")
            self.partial = None
            try:
                entries, height = yield from self._entries(nesting, self._key)
            except ParseStop:
                entries, height = (), 0
                self.partial = Deep(MapNode(self.new_id(), opening.start, ()), 0)
                if not self.closes("}"):
                    raise
            made = Deep(MapNode(self.new_id(), opening.start, entries), height)
        else:
            made = self.literal()
        return made

    def _named(self, nesting: Nesting) -> Steps[Deep]:
        first = self.tokens[self.at]
        leading = self.accept(".")
        token = self.tokens[self.at]
        if token.kind != "id":
            raise self.no_name(first.start, token)
        self.at += 1
        name = "." + token.text if leading else token.text
        called = self.tokens[self.at].kind == "("
        if token.text in RESERVED and not self._names_message():
            try:
                if called:
                    yield from self._call(name, None, nesting)
            except ParseStop:
                self.report(first.start, f"reserved identifier: {token.text}")
                raise
            return self.broken(first.start, f"reserved identifier: {token.text}")
        if called:
            result: Deep = yield from self._call(name, None, nesting)
            return result
        return Deep(Ident(self.new_id(), token.start, name), 0, path=True)

    def _names_message(self) -> bool:
        """Whether what follows makes the name before the cursor that of a message, which may be reserved."""
        at = self.at
        while self.tokens[at].kind == "." and self.tokens[at + 1].kind == "id":
            at += 2
        return self.tokens[at].kind == "{"

    def literal(self) -> Deep:
        """The literal at the cursor; raises ParseStop if there is none."""
        first = token = self.tokens[self.at]
        negative = token.kind == "-"
        if negative:
            self.at += 1
            token = self.tokens[self.at]
            if token.kind not in ("int", "float"):
                raise self.syntax_error(token, "{NUM_FLOAT, NUM_INT}")
        kind = token.kind
        if kind in CONSTANTS:
            self.at += 1
            return Deep(Literal(self.new_id(), first.start, CONSTANTS[kind]), 0)
        read = READ.get(kind)
        if read is None:
            raise self.syntax_error(token, expected(operand_tokens(self.tokens, self.at)))
        self.at += 1
        try:
            return Deep(Literal(self.new_id(), first.start, read(token.text, negative)), 0)
        except LiteralError as error:
            return self.broken(first.start, str(error))

    def _list(self, nesting: Nesting) -> Steps[Deep]:
        opening = self.expect("[")
        elements: list[Deep] = []
        optional: set[int] = set()
        more = self.tokens[self.at].kind not in ("]", ",")
        try:
            while more:
                if self.accept("?"):
                    optional.add(len(elements))
                element = yield from self.element(nesting, after.ELEMENTS)
                elements.append(element)
                more = self._continues("]")
            self.accept(",")
            self.expect("]", nested=True)
        except ParseStop:
            self.partial = Deep(ListNode(self.new_id(), opening.start, ()), 0)
            if not self.closes("]"):
                raise
        nodes = tuple([each.node for each in elements])
        height = max([each.height for each in elements], default=0)
        return Deep(ListNode(self.new_id(), opening.start, nodes, frozenset(optional)), height)

    def _continues(self, closing: str) -> bool:
        """Go past a comma that has another element behind it; one may also trail."""
        token = self.tokens[self.at]
        if token.kind not in after.CLOSES[closing] and not self.pass_over(after.CLOSES[closing]):
            raise self.syntax_error(token, expected(after.CLOSES[closing]), nested=True)
        if self.tokens[self.at].kind != "," or self.tokens[self.at + 1].kind in (closing, ",", "eof"):
            return False
        self.at += 1
        return True

    def _message(self, name: Deep, nesting: Nesting) -> Steps[Deep]:
        opening = self.expect("{")
        entries, height = yield from self._entries(nesting, self._field)
        text = dotted_name(name.node)
        assert text is not None
        return Deep(StructNode(self.new_id(), opening.start, text, entries), height)

    def _entries(
        self, nesting: Nesting, key: Callable[[Nesting], Steps[tuple[Node | str, int]]]
    ) -> Steps[tuple[tuple[Entry, ...], int]]:
        """Entries up to the closing brace, and the greatest height among them."""
        entries: list[Entry] = []
        height = 0
        more = self.tokens[self.at].kind not in ("}", ",")
        while more:
            optional = self.accept("?")
            name, key_height = yield key(nesting)
            colon = self.expect(":", nested=True)
            value: Deep = yield from self.element(nesting, after.VALUES)
            entries.append(Entry(self.new_id(), colon.start, name, value.node, optional))
            height = max(height, key_height, value.height)
            more = self._continues("}")
        self.accept(",")
        self.expect("}", nested=True)
        return tuple(entries), height

    def _key(self, nesting: Nesting) -> Steps[tuple[Node | str, int]]:
        key: Deep = yield from self.element(nesting, after.KEY)
        return key.node, key.height

    def _field(self, nesting: Nesting) -> Steps[tuple[Node | str, int]]:
        token = self.tokens[self.at]
        if token.kind not in ("id", "quoted"):
            behind = self.tokens[self.at - 1].kind == "{"
            raise self.syntax_error(token, expected(FIELDS if behind else FIELDS - {"}", ",", "?"}))
        if token.kind != "quoted":
            self.at += 1
            name: Node | str = token.text
        else:
            self.at += 1
            name = token.text[1:-1]
            if not self._quoted_names:
                self.report(token.start, "unsupported syntax: '`'")
        yield from ()
        return name, 0
