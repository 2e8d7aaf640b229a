"""
The static cost estimate: what a selector can cost at most on the largest device.

Sizes are followed through calls, literals and macro variables; what cannot be
followed is unbounded, so ``type(x) == int`` is refused at admission.

Spec: CEL-31
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dra_alloc.cel.check.checking import Checked, Resolved
from dra_alloc.cel.check.declarations import Function
from dra_alloc.cel.count.bounds import is_scalar, literal_size, size_at
from dra_alloc.cel.count.costs import FREE, ONE, UNBOUNDED, UNKNOWN, Range
from dra_alloc.cel.count.operands import CallEstimate, Entries, Local, Operand, Path
from dra_alloc.cel.syntax.ast import (
    Call,
    Comprehension,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
    StructNode,
    children,
)
from dra_alloc.cel.syntax.macros import ACCUMULATOR
from dra_alloc.cel.trampoline import STRIDE, Steps, run

_NEW_LIST: Final = Range(10, 10)
_NEW_MAP: Final = Range(30, 30)
_NEW_STRUCT: Final = Range(40, 40)
_SELECTABLE: Final = frozenset(("map", "struct", "param"))


class Estimator:
    """
    Walks a checked tree once; cost entries of libraries ask it for sizes.

    `exact` says that the standard library is estimated in whole numbers, and that what gets too large stays there.
    """

    exact = False

    def __init__(self, checked: Checked, functions: Mapping[str, Function]) -> None:
        self._checked = checked
        self._functions = functions
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, Entries] = {}
        self._paths: dict[int, Path] = {}
        self._costs: dict[int, Range] = {}
        self._locals: dict[str, list[Local]] = {}
        self._depth = 0

    def most(self) -> int:
        """The highest cost of evaluating the tree, which is what admission looks at."""
        return run(self.cost(self._checked.root)).high

    # For cost entries

    def call(self, cost: Range, size: Range | None = None, *, joined: bool = False) -> CallEstimate:
        """An estimate; `joined` says that the result holds the elements of both arguments."""
        return CallEstimate(cost, size, joined)

    def size(self, operand: Operand) -> Range:
        """The size range of an operand, everything if unknown."""
        if operand.size is not None:
            return operand.size
        most = size_at(operand.path)
        return UNKNOWN if most is None else Range(0, most)

    def share(self, size: Range, parts: int) -> Range:
        """The cost of one of so many parts of a size, for functions of the standard library."""
        return size.scaled(1 / parts)

    def grown(self, low: int, high: int) -> Range:
        """A size that may have become too large for its type: then it wraps around."""
        return Range(low % 2**64, high % 2**64)

    def joined(self, left: Operand, right: Operand) -> Range:
        """The size of both together."""
        return self.size(left).plus(self.size(right))

    def element(self, operand: Operand) -> Operand | None:
        """An element of a list operand, None if its type has no elements."""
        if not operand.type.params:
            return None
        path = (*operand.path, "@items") if operand.path else ()
        return Operand(None, operand.type.params[0], path, None)

    # What is known about nodes

    def _local(self, node: Node) -> Local | None:
        if isinstance(node, Ident):
            stack = self._locals.get(self._checked.names[node.id])
            if stack:
                return stack[-1]
        return None

    def _path(self, node: Node) -> Path:
        local = self._local(node)
        return self._paths.get(node.id, ()) if local is None else local.path

    def _size(self, node: Node) -> Range | None:
        known = self._sizes.get(node.id)
        if known is not None:
            return known
        own = literal_size(node)
        if own is not None:
            return Range(own, own)
        most = size_at(self._path(node))
        if most is not None:
            self._sizes[node.id] = Range(0, most)
            return Range(0, most)
        if is_scalar(self._checked.types[node.id]):
            return ONE
        local = self._local(node)
        return None if local is None else local.size

    def _size_or_unknown(self, node: Node) -> Range:
        return self._size(node) or UNKNOWN

    def _entries_of(self, node: Node) -> Entries | None:
        known = self._entries.get(node.id)
        if known is not None:
            return known
        local = self._local(node)
        return None if local is None else local.entries

    def _operand(self, node: Node) -> Operand:
        path = self._path(node)
        if path and path[0] == ACCUMULATOR:
            path = ()
        return Operand(node, self._checked.types[node.id], path, self._size(node))

    # The walk

    def cost(self, node: Node) -> Steps[Range]:
        """The cost range of evaluating `node`."""
        known = self._costs.get(node.id)
        if known is not None:
            return known
        cost: Range
        if isinstance(node, Literal):
            cost = FREE
        elif isinstance(node, Ident):
            cost = self._ident(node)
        else:
            self._depth += 1
            steps = self._follow(node)
            cost = (yield from steps) if self._depth % STRIDE else (yield steps)
            self._depth -= 1
        self._costs[node.id] = cost
        return cost

    def _follow(self, node: Node) -> Steps[Range]:
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, ListNode):
            return self._list(node)
        if isinstance(node, MapNode):
            return self._map(node)
        if isinstance(node, StructNode):
            return self._sum([entry.value for entry in node.entries], _NEW_STRUCT)
        assert isinstance(node, Comprehension)
        return self._fold(node)

    def _sum(self, nodes: Sequence[Node], start: Range = FREE) -> Steps[Range]:
        total = start
        for node in nodes:
            if not isinstance(node, Literal):
                cost = yield from self.cost(node)
                total = total.plus(cost)
        return total

    def _ident(self, node: Ident) -> Range:
        local = self._local(node)
        name = self._checked.names[node.id].removeprefix(".")
        self._paths[node.id] = (name,) if local is None else local.path
        return ONE

    def _select(self, node: Select) -> Steps[Range]:
        if node.id in self._checked.names:
            self._paths[node.id] = (self._checked.names[node.id],)
            return ONE
        cost: Range = yield from self.cost(node.operand)
        if node.test:
            return cost
        if self._checked.types[node.operand.id].kind in _SELECTABLE:
            cost = cost.plus(ONE)
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost

    def _call(self, node: Call) -> Steps[Range]:
        resolved = self._checked.calls[node.id]
        if resolved.function == "dyn":
            argument: Range = yield from self._dyn(node, resolved.args[0])
            return argument
        costs: list[Range] = []
        for each in resolved.args:
            cost: Range = FREE if isinstance(each, Literal) else (yield from self.cost(each))
            costs.append(cost)
        own: Range = FREE
        if resolved.target is not None:
            own = yield from self.cost(resolved.target)
        return own.plus(self._overloads(node, resolved, costs))

    def _dyn(self, node: Call, argument: Node) -> Steps[Range]:
        cost: Range = yield from self.cost(argument)
        self._copy(node, argument)
        return cost.plus(ONE)

    def _overloads(self, node: Call, resolved: Resolved, costs: list[Range]) -> Range:
        """The union over every overload that may be meant; also notes the size of the result."""
        total = Range(UNBOUNDED, 0)
        size: Range | None = None
        for overload in resolved.overloads:
            found = self._overload(node, resolved, overload, costs)
            total = total.union(found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if overload in ("index_list", "index_map"):
                over = resolved.args[0]
                entries = self._entries_of(over)
                size = None if entries is None else entries.value
                self._paths[node.id] = (*self._path(over), "@items" if overload == "index_list" else "@values")
            if size is None and len(resolved.overloads) > 1:
                size = self._size(node)
        if size is not None:
            self._sizes[node.id] = size
        return total

    def _overload(self, node: Call, resolved: Resolved, overload: str, costs: list[Range]) -> CallEstimate:
        if overload in ("logical_and", "logical_or"):
            return CallEstimate(Range(costs[0].low, costs[0].plus(costs[1]).high))
        if overload == "conditional":
            return self._conditional(node, resolved, costs)
        total = FREE
        for cost in costs:
            total = total.plus(cost)
        found = self._entry(resolved, overload)
        if found is None:
            return CallEstimate(ONE.plus(total))
        if found.joined:
            left, right = (self._entries_of(each) for each in resolved.args)
            if left is not None and right is not None:
                self._entries[node.id] = left.union(right)
        return CallEstimate(found.cost.plus(total), found.size)

    def _entry(self, resolved: Resolved, overload: str) -> CallEstimate | None:
        """What the table says about this overload, None for the default of 1."""
        declared = self._functions[resolved.function]
        own = next((each.cost for each in declared.overloads if each.id == overload), None)
        if own is None and declared.cost is None:
            return None
        target = None if resolved.target is None else self._operand(resolved.target)
        args = [self._operand(argument) for argument in resolved.args]
        for entry in (own, declared.cost):
            if entry is not None:
                found = entry.estimate(self, target, args)
                if found is not None:
                    return found
        return None

    def _conditional(self, node: Call, resolved: Resolved, costs: list[Range]) -> CallEstimate:
        chosen, other = resolved.args[1], resolved.args[2]
        left, right = self._entries_of(chosen), self._entries_of(other)
        if left is not None and right is not None:
            self._entries[node.id] = left.union(right)
        size = self._size_or_unknown(chosen).union(self._size_or_unknown(other))
        return CallEstimate(costs[0].plus(costs[1].union(costs[2])), size)

    def _list(self, node: ListNode) -> Steps[Range]:
        cost: Range = yield from self._sum(node.elements)
        self._note_literal(node)
        return cost.plus(_NEW_LIST)

    def _map(self, node: MapNode) -> Steps[Range]:
        cost: Range = yield from self._sum(children(node))
        self._note_literal(node)
        return cost.plus(_NEW_MAP)

    def _note_literal(self, node: ListNode | MapNode) -> None:
        """Remember how large what a literal holds can be."""
        if isinstance(node, ListNode):
            self._entries[node.id] = Entries("list", ONE, self._union(node.elements))
            return
        keys = [entry.key for entry in node.entries if not isinstance(entry.key, str)]
        self._entries[node.id] = Entries("map", self._union(keys), self._union([entry.value for entry in node.entries]))

    def _union(self, nodes: Sequence[Node]) -> Range:
        if not nodes:
            return FREE
        size = Range(UNBOUNDED, 0)
        for node in nodes:
            size = size.union(self._size_or_unknown(node))
        return size

    def _copy(self, to: Node, source: Node) -> None:
        size = self._size(source)
        if size is not None:
            self._sizes[to.id] = size
        entries = self._entries_of(source)
        if entries is not None:
            self._entries[to.id] = entries

    # Comprehensions

    def _push(self, name: str, path: Path, size: Range | None, entries: Entries | None = None) -> None:
        self._locals.setdefault(name, []).append(Local(path, size, entries))

    def _push_value_of(self, name: str, node: Node) -> None:
        self._push(name, self._path(node), self._size(node), self._entries_of(node))

    def _push_loop(self, node: Comprehension) -> None:
        entries = self._entries_of(node.range)
        kind = entries.kind if entries is not None else self._checked.types[node.range.id].kind
        key, value = (entries.key, entries.value) if entries is not None else (None, None)
        path = self._path(node.range)
        is_list = kind == "list"
        if node.var2:
            self._push(node.var, (*path, "@indices" if is_list else "@keys"), key)
            self._push(node.var2, (*path, "@items" if is_list else "@values"), value)
        else:
            self._push(node.var, (*path, "@items" if is_list else "@keys"), value if is_list else key)

    def _pop(self, name: str) -> None:
        self._locals[name].pop()

    def _fold(self, node: Comprehension) -> Steps[Range]:
        total: Range = yield from self._sum((node.range, node.init))
        self._push_value_of(node.accumulator, node.init)
        if _is_bind(node):
            cost = yield from self.cost(node.result)
            self._end_bind(node)
            return total.plus(cost)
        self._push_loop(node)
        each = yield from self._sum((node.step, node.condition))
        self._pop(node.var)
        if node.var2:
            self._pop(node.var2)
        cost = yield from self.cost(node.result)
        total = total.plus(cost)
        self._pop(node.accumulator)
        count = self._size_or_unknown(node.range)
        self._note_result(node, count)
        return total.plus(count.times(each))

    def _end_bind(self, node: Comprehension) -> None:
        self._pop(node.accumulator)
        self._copy(node, node.result)

    def _note_result(self, node: Comprehension, count: Range) -> None:
        if isinstance(node.init, Literal):
            size = self._size(node.init)
            if size is not None:
                self._sizes[node.id] = size
        elif isinstance(node.init, (ListNode, MapNode)):
            self._sizes[node.id] = count
            entries = self._entries_of(node.step)
            if entries is not None:
                self._entries[node.id] = entries


def _is_bind(node: Comprehension) -> bool:
    return (
        isinstance(node.range, ListNode)
        and not node.range.elements
        and isinstance(node.condition, Literal)
        and node.condition.value is False
    )
