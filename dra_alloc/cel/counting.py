"""
Evaluation that counts its cost and stops at a limit.

It follows the expanded tree step by step, on a heap-allocated stack, so it
also serves expressions too deep for closures. Errors are values here, because
what upstream charges depends on what it evaluates beside them.

Spec: CEL-32
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dra_alloc.cel.ast import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from dra_alloc.cel.checker import Checked, Resolved
from dra_alloc.cel.declarations import Cost
from dra_alloc.cel.environment import Declarations
from dra_alloc.cel.equality import equal
from dra_alloc.cel.errors import CelAbort, CelError
from dra_alloc.cel.frame import UNSET, Failed
from dra_alloc.cel.membership import is_member
from dra_alloc.cel.plan import Plan
from dra_alloc.cel.plan_folds import iterate, iterate_pairs
from dra_alloc.cel.plan_literals import build_list, build_map
from dra_alloc.cel.qualifiers import MISSING, bad_qualifier, lookup, lookup_if_present
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.values import NO_SUCH_OVERLOAD, NONE, Optional, frozen, started

__all__ = ["LIMIT_EXCEEDED", "count"]

LIMIT_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"
_INDEXING: Final = frozenset(("_[_]", "_[?_]", "_?._"))
_NEW_LIST, _NEW_MAP, _NEW_STRUCT = 10, 30, 40


def count(checked: Checked, plan: Plan, declared: Declarations, device: Any, limit: int) -> tuple[Any, int]:
    """
    The value of a selector on a device (a ``Failed`` if it has none) and what it cost.

    Going over `limit` is an error of its own that nothing in the selector absorbs.
    """
    counter = _Counter(checked, plan, declared, device, limit)
    try:
        value = run(counter.value(checked.root))
    except CelAbort as error:
        value = Failed(CelError(error.text))
    return value, counter.total


class _Binding:
    """A macro variable; `init` is evaluated in `scope` when it is first read."""

    __slots__ = ("init", "name", "outer", "value")

    def __init__(self, name: str, value: Any, outer: _Binding | None, init: Node | None = None) -> None:
        self.name = name
        self.value = value
        self.outer = outer
        self.init = init


class _Counter:
    def __init__(self, checked: Checked, plan: Plan, declared: Declarations, device: Any, limit: int) -> None:
        self.total = 0
        self._checked = checked
        self._plan = plan
        self._functions = declared.functions
        self._strict = declared.settings.strict_optionals
        self._device = device
        self._limit = limit
        self._scope: _Binding | None = None

    def charge(self, amount: int) -> None:
        self.total += amount
        if self.total > self._limit:
            self.total = min(self.total, self._limit + 1)
            raise CelAbort(LIMIT_EXCEEDED)

    def value(self, node: Node, observed: bool = True) -> Steps[Any]:
        """
        The value of `node`, or a Failed.

        Not `observed` is the branch of a ternary or a computed index: its
        attribute as such is free there.
        """
        if node.id in self._plan.constants:
            return self._plan.constants[node.id]
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, (Ident, Select)) or self._is_index(node):
            return (yield self.attribute(node, observed))
        if isinstance(node, Call):
            return (yield self.call(node))
        if isinstance(node, ListNode):
            return (yield self.list(node))
        if isinstance(node, MapNode):
            return (yield self.map(node))
        if isinstance(node, StructNode):
            return (yield self.struct(node))
        assert isinstance(node, Comprehension)
        return (yield self.fold(node))

    def _is_index(self, node: Node) -> bool:
        resolved = self._checked.calls.get(node.id)
        return resolved is not None and resolved.function in _INDEXING

    # Attributes

    def attribute(self, node: Node, observed: bool) -> Steps[Any]:
        steps: list[tuple[bool, bool, Any]] = []
        while True:
            if node.id in self._checked.names:
                break
            if isinstance(node, Select):
                steps.append((False, node.test, node.field))
                node = node.operand
            elif self._is_index(node):
                resolved = self._checked.calls[node.id]
                steps.append((resolved.function != "_[_]", False, resolved.args[1]))
                node = resolved.args[0]
            else:
                break
        charged = observed and not (steps and steps[0][1])
        root_is_ternary = False
        if node.id in self._checked.names:
            root = yield self.variable(self._checked.names[node.id])
        else:
            resolved_root = self._checked.calls.get(node.id)
            root_is_ternary = resolved_root is not None and resolved_root.function == "_?_:_"
            root = yield self.value(node)
        steps.reverse()
        value = root if type(root) is Failed else (yield self.qualify(root, steps))
        if charged and not root_is_ternary:
            self.charge(1)
        return value

    def variable(self, name: str) -> Steps[Any]:
        binding = self._scope
        while binding is not None and binding.name != name:
            binding = binding.outer
        if binding is None:
            return self._device
        if binding.value is UNSET:
            assert binding.init is not None
            here, self._scope = self._scope, binding.outer
            value = yield self.value(binding.init)
            self._scope = here
            binding.value = value if type(value) is Failed else started(value)
        return binding.value

    def qualify(self, value: Any, steps: Sequence[tuple[bool, bool, Any]]) -> Steps[Any]:
        testing = bool(steps) and steps[-1][1]
        optional = type(value) is Optional
        if optional and steps:
            if not value.present:
                return False if testing else value
            value = value.value
        for is_optional, test, name in steps:
            optional = optional or is_optional
            key = name if isinstance(name, str) else (yield self.key(name))
            found = _looked_up(value, key, optional or test)
            if type(found) is Failed:
                if not optional:
                    self.charge(1)
                return found
            if found is MISSING:
                if test and not optional:
                    self.charge(1)
                return False if testing else NONE
            self.charge(1)
            value = found
        if testing:
            return True
        return Optional(value) if optional and steps else value

    def key(self, node: Node) -> Steps[Any]:
        """The value of an index, a Failed if it cannot index anything."""
        key = yield self.value(node, observed=False)
        if type(key) is Failed:
            return key
        bad = bad_qualifier(key)
        return key if bad is None else Failed(CelError(bad))

    # Calls

    def call(self, node: Call) -> Steps[Any]:
        resolved = self._checked.calls[node.id]
        function = resolved.function
        if function in ("_&&_", "_||_"):
            return (yield self.connective(resolved.args, function == "_||_"))
        if function == "_?_:_":
            return (yield self.ternary(resolved.args))
        if function in ("or", "orValue"):
            return (yield self.either(resolved.operands, function == "orValue"))
        if node.id in self._plan.members:
            value = yield self.value(resolved.args[0])
            return value if type(value) is Failed else is_member(value, self._plan.members[node.id])
        operands = yield self.operands(resolved.operands, node.id in self._plan.eager)
        if operands is None:
            return self._skipped
        return self.answer(node, resolved, operands)

    _skipped: Any = None

    def operands(self, nodes: Sequence[Node], early: bool) -> Steps[list[Any] | None]:
        """All operands; None if one failed where upstream stops at the first failure, before charging."""
        values = []
        for index, node in enumerate(nodes):
            value = yield self.value(node)
            if early and type(value) is Failed and index < len(nodes) - 1:
                self._skipped = value
                return None
            values.append(value)
        return values

    def answer(self, node: Call, resolved: Resolved, operands: list[Any]) -> Any:
        cost = self._cost(resolved)
        if cost is None or cost.before:
            self.charge(1 if cost is None else cost.actual(operands, None))
        value = self.result(node, resolved, operands)
        if cost is not None and not cost.before:
            self.charge(cost.actual(operands, value))
        return value

    def _cost(self, resolved: Resolved) -> Cost | None:
        function = self._functions[resolved.function]
        if len(resolved.overloads) == 1:
            for overload in function.overloads:
                if overload.id == resolved.overloads[0] and overload.cost is not None:
                    return overload.cost
        return function.cost

    def result(self, node: Call, resolved: Resolved, operands: list[Any]) -> Any:
        if resolved.function == "@not_strictly_false":
            return operands[0] is not False
        for value in operands:
            if type(value) is Failed:
                return value
        try:
            if resolved.function == "_==_":
                return equal(operands[0], operands[1])
            if resolved.function == "_!=_":
                return _differs(operands[0], operands[1])
            return self._plan.calls[node.id](*operands)
        except CelError as error:
            return Failed(error)

    def connective(self, terms: Sequence[Node], decisive: bool) -> Steps[Any]:
        failed: Failed | None = None
        for term in terms:
            value = yield self.value(term)
            if value is decisive:
                return decisive
            if value is not (not decisive) and failed is None:
                failed = value if type(value) is Failed else Failed(CelError(NO_SUCH_OVERLOAD))
        return (not decisive) if failed is None else failed

    def ternary(self, parts: Sequence[Node]) -> Steps[Any]:
        value = yield self.value(parts[0])
        if value is True or value is False:
            return (yield self.value(parts[1] if value else parts[2], observed=False))
        return value if type(value) is Failed else Failed(CelError(NO_SUCH_OVERLOAD))

    def either(self, operands: Sequence[Node], unwrap: bool) -> Steps[Any]:
        value = yield self.value(operands[0])
        if not isinstance(value, Optional):
            return Failed(CelError(NO_SUCH_OVERLOAD)) if self._strict and type(value) is not Failed else value
        if value.present:
            return value.value if unwrap else value
        return (yield self.value(operands[1]))

    # Literals

    def parts(self, nodes: Sequence[Node], cost: int) -> Steps[list[Any] | Failed]:
        """The values of literal elements; the first that fails ends it, and is charged for."""
        values: list[Any] = []
        for node in nodes:
            value = yield self.value(node)
            if type(value) is Failed:
                self.charge(cost)
                return value
            values.append(value)
        return values

    def list(self, node: ListNode) -> Steps[Any]:
        values = yield self.parts(node.elements, _NEW_LIST)
        if type(values) is Failed:
            return values
        made = _tried(build_list([_give(each) for each in values], node.optional))
        self.charge(_NEW_LIST)
        return made

    def map(self, node: MapNode) -> Steps[Any]:
        nodes = [part for entry in node.entries for part in (entry.key, entry.value) if not isinstance(part, str)]
        values = yield self.parts(nodes, _NEW_MAP)
        if type(values) is Failed:
            return values
        optional = frozenset(index for index, entry in enumerate(node.entries) if entry.optional)
        gives = [_give(each) for each in values]
        made = _tried(build_map(gives[::2], gives[1::2], optional))
        self.charge(_NEW_MAP)
        return made

    def struct(self, node: StructNode) -> Steps[Any]:
        values = yield self.parts([entry.value for entry in node.entries], _NEW_STRUCT)
        if type(values) is Failed:
            return values
        self.charge(_NEW_STRUCT)
        return Failed(CelError(f"unknown type '{self._checked.names[node.id]}'"))

    # Comprehensions

    def fold(self, node: Comprehension) -> Steps[Any]:
        if node.macro == "bind":
            outer = self._scope
            self._scope = _Binding(node.accumulator, UNSET, outer, node.init)
            bound = yield self.value(node.result)
            self._scope = outer
            return bound
        over = yield self.value(node.range)
        if type(over) is Failed:
            return over
        try:
            items = iterate_pairs(over) if node.var2 else iterate(over)
        except CelError as error:
            return Failed(error)
        outer = self._scope
        accumulator = self._scope = _Binding(node.accumulator, UNSET, outer, node.init)
        for item in items:
            first, second = item if node.var2 else (item, None)
            self._scope = _Binding(node.var, first, accumulator)
            if node.var2:
                self._scope = _Binding(node.var2, second, self._scope)
            proceed = yield self.value(node.condition)
            if proceed is False:
                break
            accumulator.value = yield self.value(node.step)
        self._scope = accumulator
        result = yield self.value(node.result)
        self._scope = outer
        return frozen(result)


def _looked_up(value: Any, key: Any, if_present: bool) -> Any:
    if type(key) is Failed:
        return key
    try:
        return lookup_if_present(value, key) if if_present else lookup(value, key)
    except CelError as error:
        return Failed(error)


def _differs(left: Any, right: Any) -> bool:
    try:
        return not equal(left, right)
    except CelError:
        return True


def _give(value: Any) -> Any:
    return lambda frame: value


def _tried(build: Any) -> Any:
    try:
        return build([])
    except CelError as error:
        return Failed(error)
