"""
The type checker: names, overloads and types of every node, or upstream's complaints.

Spec: CEL-11, CEL-12, CEL-13
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_alloc.cel.check.checking import Checked, CheckState, Resolved, Scope
from dra_alloc.cel.check.declarations import EXAMINED, Function
from dra_alloc.cel.check.suggestions import meant
from dra_alloc.cel.check.types import (
    BOOL,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    CelType,
    checker_name,
    list_of,
    map_of,
    optional_of,
)
from dra_alloc.cel.check.unify import is_dyn_or_error
from dra_alloc.cel.environments import Declarations, Match, MatchKey
from dra_alloc.cel.errors import Issue
from dra_alloc.cel.syntax.ast import (
    Call,
    Comprehension,
    Entry,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
    StructNode,
    dotted_name,
)
from dra_alloc.cel.syntax.source import SourceText
from dra_alloc.cel.trampoline import STRIDE, Steps, run

#: The messages that other names of types stand for.
_SHORT: Final = {
    DURATION: "google.protobuf.Duration",
    TIMESTAMP: "google.protobuf.Timestamp",
    NULL: "google.protobuf.NullValue",
    list_of(DYN): "google.protobuf.ListValue",
}
CONNECTIVES: Final = frozenset(("_&&_", "_||_"))
_MOST_COUNTED: Final = 100_000
_MOST_REMEMBERED: Final = 4096


def check(root: Node, source: SourceText, declared: Declarations) -> tuple[Checked, list[Issue]]:
    """The checked tree and what is wrong with it."""
    checker = _Checker(source, declared)
    run(checker.check(root))
    substitute = checker.unifier.substitute
    types = {node: kind if kind.ground else substitute(kind, free_to_dyn=True) for node, kind in checker.types.items()}
    # Beyond the first hundred only their number is told.
    issues = checker.issues + checker.issues[:1] * min(checker.dropped, _MOST_COUNTED)
    return Checked(root, types, checker.names, checker.calls, checker.doubtful), issues


class _Checker(CheckState):
    """Follows the tree; each kind of node has its method."""

    def check(self, node: Node) -> Steps[None]:
        """Find the types of `node` and all under it."""
        if not self.quick(node):
            yield from self.inner(node)

    def inner(self, node: Node) -> Steps[None]:
        """The same for what is no leaf."""
        if node.id in self.types:
            self.repeat(node)
            return
        seen, first = len(self.issues) + self.dropped, self.unifier.count
        self.depth += 1
        steps = _VISITS[type(node)](self, node)
        if self.depth % STRIDE:
            yield from steps
        else:
            yield steps
        self.depth -= 1
        self.spans[node.id] = seen, len(self.issues) + self.dropped, self.unifier.count - first

    def select(self, node: Select) -> Steps[None]:
        qualified = None if node.test else dotted_name(node)
        if qualified is not None and not self.hidden(qualified):
            found = self.lookup(qualified)
            if found is not None:
                self.names[node.id], self.types[node.id] = found
                return
            if self.misspelt(node, qualified):
                return
        kind = yield from self.field(node, node.operand, node.field)
        self.types[node.id] = BOOL if node.test else self.unifier.substitute(kind)

    def field(self, node: Node, operand: Node, name: str, optional: bool = False) -> Steps[CelType]:
        """The type of ``operand.name``; `node` is where to complain."""
        if not self.quick(operand):
            yield from self.inner(operand)
        target = self.types[operand.id]
        if not target.ground:
            target = self.unifier.substitute(target)
        if target.is_optional:
            target, optional = target.params[0], True
        kind = self.field_type(node, target, name)
        return optional_of(kind) if optional else kind

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
        if fields is None and struct not in self.declared.types:
            self.report(offset, f"unexpected failed resolution of '{struct}'")
            return ERROR
        found = None if fields is None else fields.get(name)
        if found is None:
            self.report(offset, f"undefined field '{name}'")
            return ERROR
        return found

    def call(self, node: Call) -> Steps[None]:
        if node.function == "_?._":
            yield from self.optional_select(node)
            return
        for argument in node.args:
            if not self.quick(argument):
                yield from self.inner(argument)
        target = node.target
        if target is not None:
            prefix = dotted_name(target)
            if prefix is not None:
                namespaced = self.function(f"{prefix}.{node.function}")
                if namespaced is not None:
                    self.resolve(node, namespaced, None)
                    return
                if self.misspelt(node, f"{prefix}.{node.function}"):
                    return
            if not self.quick(target):
                yield from self.inner(target)
        function = self.function(node.function)
        if function is None:
            self.undeclared(node, node.function)
            return
        self.resolve(node, function, target)

    def optional_select(self, node: Call) -> Steps[None]:
        operand, name = node.args
        assert isinstance(name, Literal)
        self.types[name.id] = STRING
        kind = yield from self.field(node, operand, name.value, optional=True)
        self.types[node.id] = self.unifier.substitute(kind)
        self.calls[node.id] = Resolved("_?._", None, node.args, ("select_optional_field",))

    def resolve(self, node: Call, function: Function, target: Node | None) -> None:
        """Note the overloads that fit; the result is dyn if they disagree."""
        if function.validate is not None or function.name in EXAMINED:
            self.doubtful = True
        types = self.types
        args = [types[each.id] for each in node.args]
        if function.name in CONNECTIVES:
            self.logic(node, function, args)
            return
        if target is not None:
            args.insert(0, self.types[target.id])
        match = self.match((function.name, target is not None, tuple(args)))
        if match.result is None:
            self.no_match(node, function.name, args, target is not None)
            return
        self.types[node.id] = match.result
        self.calls[node.id] = Resolved(function.name, target, node.args, match.overloads)

    def match(self, key: MatchKey) -> Match:
        """The overloads that fit; remembered where no type variable is involved, since nothing is learnt then."""
        known = self.declared.matches.get(key)
        if known is not None:
            self.unifier.count += known.variables
            return known
        before = self.unifier.count
        overloads, result = self.fitting(key)
        found = Match(overloads, result, self.unifier.count - before)
        ground = (result is None or result.ground) and all(kind.ground for kind in key[2])
        if ground and len(self.declared.matches) < _MOST_REMEMBERED:
            self.declared.matches[key] = found
        return found

    def fitting(self, key: MatchKey) -> tuple[tuple[str, ...], CelType | None]:
        """Try every candidate; the result is dyn if they disagree, None if there is no one."""
        name, member, args = key
        unifier = self.unifier
        matched: list[str] = []
        result: CelType | None = None
        for candidate in self.declared.candidates.get((name, member, len(args)), ()):
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
        return tuple(matched), result

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

    def list(self, node: ListNode) -> Steps[None]:
        joined: CelType | None = None
        for index, element in enumerate(node.elements):
            if not self.quick(element):
                yield from self.inner(element)
            kind = self.types[element.id]
            if index in node.optional:
                kind = self.unwrap(element, kind)
                self.doubtful = True
            if kind is not joined:
                self.doubtful = self.doubtful or joined is not None
                joined = self.join(element, joined, kind)
        self.types[node.id] = list_of(self.unifier.fresh() if joined is None else joined)

    def map(self, node: MapNode) -> Steps[None]:
        keys: CelType | None = None
        values: CelType | None = None
        self.doubtful = True
        for entry in node.entries:
            assert not isinstance(entry.key, str)
            yield from self.check(entry.key)
            keys = self.join(entry.key, keys, self.types[entry.key.id])
            yield from self.check(entry.value)
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
            self.undeclared(node, node.name)
            return
        name, kind = found
        result = kind.params[0] if kind.kind == "type" and kind.params else kind
        if kind.kind != "type":
            self.report(node.offset, f"'{kind.name}' is not a type{meant(kind.name, self.declared)}")
            result = ERROR
        elif name not in self.declared.fields:
            name = _SHORT.get(result, name)
            if name == node.name.removeprefix("."):
                self.report(node.offset, f"'{result.name}' is not a message type")
                result = ERROR
        self.types[node.id] = result
        for entry in node.entries:
            yield from self.struct_entry(name, entry)

    def struct_entry(self, struct: str, entry: Entry) -> Steps[None]:
        yield from self.check(entry.value)
        expected = self.struct_field(entry.offset, struct, str(entry.key))
        kind = self.types[entry.value.id]
        if entry.optional:
            kind = self.unwrap(entry.value, kind)
        if not self.unifier.assignable(expected, kind):
            text = f"expected type of field '{entry.key}' is '{checker_name(expected)}' but provided type is"
            self.report(entry.offset, f"{text} '{checker_name(kind)}'")

    def fold(self, node: Comprehension) -> Steps[None]:
        yield from self.check(node.range)
        yield from self.check(node.init)
        over = self.unifier.substitute(self.types[node.range.id])
        accumulated = self.types[node.init.id]
        self.scope = Scope({node.accumulator: accumulated}, self.scope)
        first, second = self.loop_variables(node, over)
        names = {node.var: first}
        if node.var2:
            names[node.var2] = second
        self.scope = Scope(names, self.scope)
        yield from self.check(node.condition)
        self.want(node.condition, BOOL)
        yield from self.check(node.step)
        self.want(node.step, accumulated)
        assert self.scope is not None
        self.scope = self.scope.outer
        yield from self.check(node.result)
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


_VISITS: Final[dict[type, Callable[[_Checker, Any], Steps[None]]]] = {
    Select: _Checker.select,
    Call: _Checker.call,
    ListNode: _Checker.list,
    MapNode: _Checker.map,
    StructNode: _Checker.struct,
    Comprehension: _Checker.fold,
}
