"""
Evaluation that counts its cost and stops at a limit.

It follows the expanded tree step by step, on a heap-allocated stack, so it
also serves expressions too deep for closures. Errors are values here, because
what upstream charges depends on what it evaluates beside them. That makes it 12
to 60 times as slow as the closures, so it does not stand in for them; only what
needs a figure, or might exceed the limit, is counted.

Spec: CEL-32
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.cel.check.checking import Checked, Resolved
from dra_alloc.cel.check.declarations import Cost
from dra_alloc.cel.count.attributes import PENDING
from dra_alloc.cel.count.folds import FoldCounter
from dra_alloc.cel.environments import Declarations
from dra_alloc.cel.errors import CelAbort, CelError
from dra_alloc.cel.plan.build import Planned
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.plan.literals import build_list, build_map, build_message
from dra_alloc.cel.plan.membership import is_member
from dra_alloc.cel.syntax.ast import Call, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.values.equality import equal
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, Optional

_NEW_LIST, _NEW_MAP, _NEW_STRUCT = 10, 30, 40


def count(checked: Checked, plan: Planned, declared: Declarations, device: Any, limit: int) -> tuple[Any, int]:
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


class _Site(NamedTuple):
    """
    What is known about a call before it runs; `run` is None where operands are not simply evaluated.

    One of the first `unpaid` operands that fails ends the call, which is not charged then.
    """

    operands: tuple[Node, ...]
    unpaid: int
    cost: Cost | None
    run: Callable[..., Any] | None


class _Counter(FoldCounter):
    """Calls and literals; the rest is inherited."""

    def __init__(self, checked: Checked, plan: Planned, declared: Declarations, device: Any, limit: int) -> None:
        super().__init__(checked, plan, declared, device, limit)
        self._sites: dict[int, _Site] = {}

    def value(self, node: Node, *, observed: bool = True) -> Steps[Any]:
        """
        The value of `node`, or a Failed.

        Not `observed` is the branch of a ternary or a computed index: its
        attribute as such is free there.
        """
        if node.id in self.plan.constants or isinstance(node, Literal):
            return _given(self.quick(node))
        if isinstance(node, (Ident, Select)) or self.is_index(node):
            return self.attribute(node, observed=observed)
        if isinstance(node, Call):
            return self.call(node)
        if isinstance(node, ListNode):
            return self.list(node)
        if isinstance(node, MapNode):
            return self.map(node)
        if isinstance(node, StructNode):
            return self.struct(node)
        return self.fold(node)

    # Calls

    def call(self, node: Call) -> Steps[Any]:
        """The value of a call; some have a way of their own to look at their operands."""
        site = self._sites.get(node.id)
        if site is None:
            site = self._sites[node.id] = self._site(node)
        if site.run is not None:
            return self.strict_call(site, site.run)
        resolved = self.checked.calls[node.id]
        function = resolved.function
        if function in ("_&&_", "_||_"):
            return self.connective(resolved.args, function == "_||_")
        if function == "_?_:_":
            return self.ternary(resolved.args)
        if function in ("or", "orValue"):
            return self.either(resolved.operands, function == "orValue")
        if function == "@not_strictly_false":
            return self.not_strictly_false(resolved.args[0])
        return self.member(resolved.args[0], self.plan.members[node.id])

    def _site(self, node: Call) -> _Site:
        resolved = self.checked.calls[node.id]
        run = _EQUALITY.get(resolved.function) or self.plan.calls.get(node.id)
        unpaid = len(resolved.operands)
        if not self.settings.stops_at_failure:
            unpaid = unpaid - 1 if node.id in self.plan.eager else 0
        elif resolved.function in _PAID:
            unpaid = 0
        return _Site(resolved.operands, unpaid, self._cost(resolved), run)

    def _cost(self, resolved: Resolved) -> Cost | None:
        function = self.functions[resolved.function]
        if len(resolved.overloads) == 1:
            for overload in function.overloads:
                if overload.id == resolved.overloads[0] and overload.cost is not None:
                    return overload.cost
        return function.cost

    def strict_call(self, site: _Site, run: Callable[..., Any]) -> Steps[Any]:
        """A call of all its operands, or of those up to the first that fails."""
        operands = []
        failed: Failed | None = None
        for index, node in enumerate(site.operands):
            value = self.quick(node)
            if value is PENDING:
                value = yield self.value(node)
            if type(value) is Failed and failed is None:
                failed = value
                if index < site.unpaid:
                    return value
                if self.settings.stops_at_failure:
                    operands += [value] * (len(site.operands) - index)
                    break
            operands.append(value)
        cost = site.cost
        if cost is not None and cost.before:
            self.charge(cost.actual(self._weighed(operands, cost), None))
            return _answer(run, operands) if failed is None else failed
        # Upstream charges afterwards: what crashes is free.
        value = _answer(run, operands) if failed is None else failed
        self.charge(1 if cost is None else cost.actual(self._weighed(operands, cost), value))
        return value

    def _weighed(self, operands: list[Any], cost: Cost) -> list[Any]:
        """The operands as a cost sees them."""
        if self.settings.weighs_optionals or cost.opens:
            return operands
        return [1 if type(each) is Optional else each for each in operands]

    def not_strictly_false(self, term: Node) -> Steps[bool]:
        """False only if `term` is."""
        value = yield self.value(term)
        self.charge(1)
        return value is not False

    def member(self, element: Node, members: frozenset[Any]) -> Steps[Any]:
        """``element in [constants]``, which is free."""
        value = yield self.value(element)
        return value if type(value) is Failed else is_member(value, members)

    def connective(self, terms: Sequence[Node], decisive: bool) -> Steps[Any]:
        failed: Failed | None = None
        for term in terms:
            value = self.quick(term)
            if value is PENDING:
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
            return (
                Failed(CelError(NO_SUCH_OVERLOAD))
                if self.settings.strict_optionals and type(value) is not Failed
                else value
            )
        if value.present:
            return _content(value) if unwrap else value
        return (yield self.value(operands[1]))

    # Literals

    def parts(self, nodes: Sequence[Node], cost: int) -> Steps[list[Any] | Failed]:
        """The values of literal elements; the first that fails ends it, and is charged for up to 1.37."""
        values: list[Any] = []
        for node in nodes:
            value = self.quick(node)
            if value is PENDING:
                value = yield self.value(node)
            if type(value) is Failed:
                if not self.settings.stops_at_failure:
                    self.charge(cost)
                return value
            values.append(value)
        return values

    def list(self, node: ListNode) -> Steps[Any]:
        values: Any = yield from self.parts(node.elements, _NEW_LIST)
        if type(values) is Failed:
            return values
        made = _tried(build_list([_give(each) for each in values], node.optional))
        self.charge(_NEW_LIST)
        return made

    def map(self, node: MapNode) -> Steps[Any]:
        nodes = [part for entry in node.entries for part in (entry.key, entry.value) if not isinstance(part, str)]
        values: Any = yield from self.parts(nodes, _NEW_MAP)
        if type(values) is Failed:
            return values
        optional = frozenset(index for index, entry in enumerate(node.entries) if entry.optional)
        gives = [_give(each) for each in values]
        made = _tried(build_map(gives[::2], gives[1::2], optional))
        self.charge(_NEW_MAP)
        return made

    def struct(self, node: StructNode) -> Steps[Any]:
        values: Any = yield from self.parts([entry.value for entry in node.entries], _NEW_STRUCT)
        if type(values) is Failed:
            return values
        self.charge(_NEW_STRUCT)
        return _tried(build_message(node, [_give(each) for each in values], self.settings.optional_type))


def _given(value: Any) -> Steps[Any]:
    yield from ()
    return value


def _answer(run: Callable[..., Any], operands: list[Any]) -> Any:
    try:
        return run(*operands)
    except CelError as error:
        return Failed(error)


def _differs(left: Any, right: Any) -> bool:
    try:
        return not equal(left, right)
    except CelError:
        return True


#: What is charged even where an operand fails and the call ends with it.
_PAID: Final = frozenset(("_==_", "_!=_", "!_"))
_EQUALITY: Final[dict[str, Callable[..., Any]]] = {"_==_": equal, "_!=_": _differs}


def _content(value: Optional) -> Any:
    try:
        return value.get()
    except CelError as error:
        return Failed(error)


def _give(value: Any) -> Any:
    return lambda frame: value


def _tried(build: Any) -> Any:
    try:
        return build([])
    except CelError as error:
        return Failed(error)
