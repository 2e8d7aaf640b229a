"""
The type checker: names, overloads and types of every node, or upstream's complaints.

Spec: CEL-11, CEL-12, CEL-13
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from dra_alloc.cel.ast import (
    Call,
    Comprehension,
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
from dra_alloc.cel.declarations import Function
from dra_alloc.cel.environment import Declarations
from dra_alloc.cel.errors import Issue
from dra_alloc.cel.source import MAX_REPORTED, Source
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    CelType,
    checker_name,
    list_of,
    map_of,
    optional_of,
)
from dra_alloc.cel.unify import Unifier, is_dyn_or_error, less_specific
from dra_alloc.cel.values import UInt

__all__ = ["Checked", "Resolved", "check"]


class Resolved(NamedTuple):
    """What a call turned out to be; a namespaced function has lost its target."""

    function: str
    target: Node | None
    args: tuple[Node, ...]
    overloads: tuple[str, ...]

    @property
    def operands(self) -> tuple[Node, ...]:
        """The receiver, if any, and the arguments."""
        return self.args if self.target is None else (self.target, *self.args)


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked tree: types by node id, names of qualified identifiers, resolved calls."""

    root: Node
    types: Mapping[int, CelType]
    names: Mapping[int, str]
    calls: Mapping[int, Resolved]

    @property
    def output_type(self) -> CelType:
        return self.types[self.root.id]


_MOST_COUNTED: Final = 100_000
_LITERALS: dict[type, CelType] = {
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


def check(root: Node, source: Source, declared: Declarations) -> tuple[Checked, list[Issue]]:
    """The checked tree and what is wrong with it."""
    checker = _Checker(source, declared)
    run(checker.check(root))
    substitute = checker.unifier.substitute
    types = {
        node: kind if not kind.params and kind.kind != "param" else substitute(kind, free_to_dyn=True)
        for node, kind in checker.types.items()
    }
    # Beyond the first hundred only their number is told.
    issues = checker.issues + checker.issues[:1] * min(checker.dropped, _MOST_COUNTED)
    return Checked(root, types, checker.names, checker.calls), issues


@dataclass(slots=True)
class _Scope:
    """Variables of one comprehension, and the scope around it."""

    names: dict[str, CelType]
    outer: _Scope | None = None


class _Span(NamedTuple):
    """Which issues came from under a node, and how many type variables it took."""

    start: int
    stop: int
    variables: int


@dataclass(slots=True)
class _Checker:
    source: Source
    declared: Declarations
    unifier: Unifier = field(default_factory=Unifier)
    types: dict[int, CelType] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    calls: dict[int, Resolved] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    dropped: int = 0
    spans: dict[int, _Span] = field(default_factory=dict)
    scope: _Scope | None = None

    def report(self, offset: int, message: str) -> None:
        line, column = self.source.location(offset)
        self.issues.append(Issue(line, column, message))

    def mismatch(self, node: Node, expected: CelType, found: CelType) -> None:
        text = f"expected type '{checker_name(expected)}' but found '{checker_name(found)}'"
        self.report(node.offset, text)

    def lookup(self, name: str) -> tuple[str, CelType] | None:
        """The declared name and type of an identifier."""
        name = name.removeprefix(".")
        scope = self.scope
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return name, found
            scope = scope.outer
        found = self.declared.variables.get(name) or self.declared.types.get(name)
        return None if found is None else (name, found)

    def function(self, name: str) -> Function | None:
        return self.declared.functions.get(name.removeprefix("."))

    def check(self, node: Node) -> Steps[None]:
        if self.quick(node):
            return
        if node.id in self.types:
            self.repeat(node)
            return
        seen, first = len(self.issues) + self.dropped, self.unifier.count
        yield self.visit(node)
        self.spans[node.id] = _Span(seen, len(self.issues) + self.dropped, self.unifier.count - first)

    def repeat(self, node: Node) -> None:
        """A macro used the sub-tree twice; upstream checks a copy, and complains as often."""
        span = self.spans[node.id]
        self.unifier.count += span.variables
        again = self.issues[span.start : span.stop]
        room = max(0, 2 * MAX_REPORTED - len(self.issues))
        self.issues.extend(again[:room])
        self.dropped += span.stop - span.start - len(again[:room])

    def visit(self, node: Node) -> Steps[None]:
        """Check a node that is no leaf."""
        if isinstance(node, Select):
            yield self.select(node)
        elif isinstance(node, Call):
            yield self.call(node)
        elif isinstance(node, ListNode):
            yield self.list(node)
        elif isinstance(node, MapNode):
            yield self.map(node)
        elif isinstance(node, StructNode):
            yield self.struct(node)
        elif isinstance(node, Comprehension):
            yield self.fold(node)

    def quick(self, node: Node) -> bool:
        """Check `node` if it is a leaf; most are, and leaves need no generator."""
        if isinstance(node, Literal):
            self.types[node.id] = _LITERALS[type(node.value)]
        elif isinstance(node, Ident):
            if node.id not in self.types:
                self.ident(node)
        else:
            return False
        return True

    def ident(self, node: Ident) -> None:
        found = self.lookup(node.name)
        if found is None:
            self.types[node.id] = ERROR
            self.report(node.offset, f"undeclared reference to '{node.name}' (in container '')")
        else:
            self.names[node.id], self.types[node.id] = found

    def select(self, node: Select) -> Steps[None]:
        qualified = None if node.test else dotted_name(node)
        if qualified is not None:
            found = self.lookup(qualified)
            if found is not None:
                self.names[node.id], self.types[node.id] = found
                return
        kind = yield self.field(node, node.operand, node.field)
        self.types[node.id] = BOOL if node.test else self.unifier.substitute(kind)

    def field(self, node: Node, operand: Node, name: str, optional: bool = False) -> Steps[CelType]:
        """The type of ``operand.name``; `node` is where to complain."""
        if not self.quick(operand):
            yield self.check(operand)
        target = self.unifier.substitute(self.types[operand.id])
        unwrapped = target.params[0] if target.is_optional else target
        kind = self.field_type(node, unwrapped, name)
        return optional_of(kind) if optional or target.is_optional else kind

    def field_type(self, node: Node, target: CelType, name: str) -> CelType:
        if target.kind == "map":
            return target.params[1]
        if target.kind == "struct":
            return self.struct_field(node.offset, target.name, name)
        if target.kind == "param":
            self.unifier.assignable(DYN, target)
        elif not is_dyn_or_error(target):
            self.report(node.offset, f"type '{checker_name(target)}' does not support field selection")
        return DYN

    def struct_field(self, offset: int, struct: str, name: str) -> CelType:
        fields = self.declared.fields.get(struct)
        if fields is None:
            self.report(offset, f"unexpected failed resolution of '{struct}'")
            return ERROR
        found = fields.get(name)
        if found is None:
            self.report(offset, f"undefined field '{name}'")
            return ERROR
        return found

    def call(self, node: Call) -> Steps[None]:
        if node.function == "_?._":
            yield self.optional_select(node)
            return
        for argument in node.args:
            if not self.quick(argument):
                yield self.check(argument)
        target = node.target
        if target is not None:
            prefix = dotted_name(target)
            if prefix is not None:
                namespaced = self.function(f"{prefix}.{node.function}")
                if namespaced is not None:
                    self.resolve(node, namespaced, None)
                    return
            yield self.check(target)
        function = self.function(node.function)
        if function is None:
            self.types[node.id] = ERROR
            self.report(node.offset, f"undeclared reference to '{node.function}' (in container '')")
            return
        self.resolve(node, function, target)

    def optional_select(self, node: Call) -> Steps[None]:
        operand, name = node.args
        assert isinstance(name, Literal)
        self.types[name.id] = STRING
        kind = yield self.field(node, operand, name.value, optional=True)
        self.types[node.id] = self.unifier.substitute(kind)
        self.calls[node.id] = Resolved("_?._", None, node.args, ("select_optional_field",))

    def resolve(self, node: Call, function: Function, target: Node | None) -> None:
        """Note the overloads that fit; the result is dyn if they disagree."""
        args = [self.types[each.id] for each in node.args]
        if function.name in ("_&&_", "_||_"):
            self.logic(node, function, args)
            return
        if target is not None:
            args.insert(0, self.types[target.id])
        unifier = self.unifier
        matched: list[str] = []
        result: CelType | None = None
        for candidate in self.declared.candidates.get((function.name, target is not None, len(args)), ()):
            params, kind = candidate.params, candidate.result
            if candidate.generic:
                params, kind = unifier.instantiate(params, kind)
            if not unifier.all_assignable(args, params):
                continue
            matched.append(candidate.id)
            if candidate.generic:
                kind = unifier.substitute(kind)
            if result is None:
                result = kind
            elif not result.is_dyn and kind != result:
                result = DYN
        if result is None:
            self.no_match(node, function.name, args, target is not None)
            return
        self.types[node.id] = result
        self.calls[node.id] = Resolved(function.name, target, node.args, tuple(matched))

    def logic(self, node: Call, function: Function, args: list[CelType]) -> None:
        fits = True
        for argument, kind in zip(node.args, args, strict=True):
            if not self.unifier.assignable(kind, BOOL):
                self.mismatch(argument, BOOL, kind)
                fits = False
        self.types[node.id] = BOOL if fits else ERROR
        if fits:
            self.calls[node.id] = Resolved(function.name, None, node.args, (function.overloads[0].id,))

    def no_match(self, node: Call, name: str, args: list[CelType], member: bool) -> None:
        names = [checker_name(self.unifier.substitute(kind, free_to_dyn=True)) for kind in args]
        receiver = f"{names.pop(0)}." if member else ""
        shown = f"{receiver}({', '.join(names)})"
        self.report(node.offset, f"found no matching overload for '{name}' applied to '{shown}'")
        self.types[node.id] = ERROR

    def join(self, node: Node, previous: CelType | None, kind: CelType) -> CelType:
        """The common type of literal elements; mixed ones are dyn until the validators see them."""
        if previous is None:
            return kind
        if self.unifier.assignable(previous, kind):
            return previous if less_specific(previous, kind) else kind
        return DYN

    def unwrap(self, node: Node, kind: CelType) -> CelType:
        """The type of what ``?element`` holds."""
        if kind.is_optional:
            return kind.params[0]
        if not kind.is_dyn:
            self.mismatch(node, optional_of(kind), kind)
        return kind

    def list(self, node: ListNode) -> Steps[None]:
        joined: CelType | None = None
        for index, element in enumerate(node.elements):
            if not self.quick(element):
                yield self.check(element)
            kind = self.types[element.id]
            if index in node.optional:
                kind = self.unwrap(element, kind)
            joined = self.join(element, joined, kind)
        self.types[node.id] = list_of(self.unifier.fresh() if joined is None else joined)

    def map(self, node: MapNode) -> Steps[None]:
        keys: CelType | None = None
        values: CelType | None = None
        for entry in node.entries:
            assert not isinstance(entry.key, str)
            yield self.check(entry.key)
            keys = self.join(entry.key, keys, self.types[entry.key.id])
            yield self.check(entry.value)
            kind = self.types[entry.value.id]
            if entry.optional:
                kind = self.unwrap(entry.value, kind)
            values = self.join(entry.value, values, kind)
        if keys is None or values is None:
            keys, values = self.unifier.fresh(), self.unifier.fresh()
        self.types[node.id] = map_of(keys, values)

    def struct(self, node: StructNode) -> Steps[None]:
        found = self.lookup(node.name)
        if found is None:
            self.types[node.id] = ERROR
            self.report(node.offset, f"undeclared reference to '{node.name}' (in container '')")
            return
        name, kind = found
        self.names[node.id] = name
        result = ERROR
        if kind.kind != "type":
            self.report(node.offset, f"'{kind.name}' is not a type")
        elif kind.params and kind.params[0].kind == "struct":
            result = kind.params[0]
            name = result.name
        else:
            shown = kind.params[0].name if kind.params else kind.name
            self.report(node.offset, f"'{shown}' is not a message type")
        self.types[node.id] = result
        for entry in node.entries:
            yield self.struct_entry(name, entry)

    def struct_entry(self, struct: str, entry: Entry) -> Steps[None]:
        yield self.check(entry.value)
        expected = self.struct_field(entry.offset, struct, str(entry.key))
        kind = self.types[entry.value.id]
        if entry.optional:
            kind = self.unwrap(entry.value, kind)
        if not self.unifier.assignable(expected, kind):
            text = f"expected type of field '{entry.key}' is '{checker_name(expected)}' but provided type is"
            self.report(entry.offset, f"{text} '{checker_name(kind)}'")

    def fold(self, node: Comprehension) -> Steps[None]:
        yield self.check(node.range)
        yield self.check(node.init)
        over = self.unifier.substitute(self.types[node.range.id])
        accumulated = self.types[node.init.id]
        self.scope = _Scope({node.accumulator: accumulated}, self.scope)
        first, second = self.loop_variables(node, over)
        names = {node.var: first}
        if node.var2:
            names[node.var2] = second
        self.scope = _Scope(names, self.scope)
        yield self.check(node.condition)
        self.want(node.condition, BOOL)
        yield self.check(node.step)
        self.want(node.step, accumulated)
        assert self.scope is not None
        self.scope = self.scope.outer
        yield self.check(node.result)
        assert self.scope is not None
        self.scope = self.scope.outer
        self.types[node.id] = self.unifier.substitute(self.types[node.result.id])

    def loop_variables(self, node: Comprehension, over: CelType) -> tuple[CelType, CelType]:
        if over.kind == "list":
            element = over.params[0]
            return (INT, element) if node.var2 else (element, element)
        if over.kind == "map":
            return over.params[0], over.params[1]
        if over.kind in ("dyn", "error", "param"):
            self.unifier.assignable(DYN, over)
            return DYN, DYN
        text = f"expression of type '{checker_name(over)}' cannot be range of a comprehension"
        self.report(node.range.offset, f"{text} (must be list, map, or dynamic)")
        return ERROR, ERROR

    def want(self, node: Node, expected: CelType) -> None:
        kind = self.types[node.id]
        if not self.unifier.assignable(expected, kind):
            self.mismatch(node, expected, kind)

