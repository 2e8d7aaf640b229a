"""
The static cost estimate of 1.38, whose sizes know the sizes of their elements and keys, to any depth.

What a size comes from no longer matters: a call, a list literal, a ``?:`` and a
type have one, and who takes an element of it goes on from there.

Spec: CEL-35
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.cel.check.checking import Checked, Resolved
from dra_alloc.cel.check.declarations import Function
from dra_alloc.cel.check.types import DYN, CelType
from dra_alloc.cel.count.attributes import INDEXING
from dra_alloc.cel.count.bounds import is_fixed, literal_size, size_at
from dra_alloc.cel.count.costs import FREE, ONE, UNBOUNDED, UNKNOWN, Range
from dra_alloc.cel.count.estimate import Estimator
from dra_alloc.cel.count.operands import CallEstimate, Operand, Path
from dra_alloc.cel.library.comprehensions import MAP_INSERT
from dra_alloc.cel.syntax.ast import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select
from dra_alloc.cel.trampoline import Steps

_ANYTHING: Final = frozenset(("dyn", "any", "param"))
_CONTAINERS: Final = frozenset(("list", "map")) | _ANYTHING
#: Values of these types hold nothing.
_PLAIN: Final = frozenset(("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"))


class NestedEstimator(Estimator):
    """Estimates as cel-go 0.33 does with its first cost model, which is the one that Kubernetes asks for."""

    exact = True

    def __init__(self, checked: Checked, functions: Mapping[str, Function]) -> None:
        super().__init__(checked, functions)
        self._typed: dict[tuple[Path, CelType], Range | None] = {}

    # For cost entries

    def share(self, size: Range, parts: int) -> Range:
        """One of so many parts of a size, rounded up in whole numbers; what is unbounded stays so."""
        low, high = (end if end == UNBOUNDED else -(-end // parts) for end in (size.low, size.high))
        return Range(low, high)

    def grown(self, low: int, high: int) -> Range:
        """A size that may have become too large for its type."""
        return Range(min(low, UNBOUNDED), min(high, UNBOUNDED))

    def joined(self, left: Operand, right: Operand) -> Range:
        """The size of both together."""
        one, other = self.size(left), self.size(right)
        return _holding(one.plus(other), (left, one), (right, other))

    # Sizes

    def _size(self, node: Node) -> Range | None:
        known = self._sizes.get(node.id)
        if known is not None:
            return known
        local = self._local(node)
        if local is not None and local.size is not None:
            most = size_at(local.path)
            if most is None:
                return local.size
            found: Range | None = Range(0, most)
        else:
            found = self._estimated(node, self._path(node), self._checked.types[node.id])
        if found is not None:
            self._sizes[node.id] = found
        return found

    def _estimated(self, node: Node, path: Path, kind: CelType) -> Range | None:
        """The size of a node taken for a value of the type, None where nothing is known."""
        if isinstance(node, Literal):
            own = literal_size(node)
            return None if own is None else Range(own, own)
        anything = kind.kind in _ANYTHING
        if kind.kind == "list" or (anything and isinstance(node, ListNode)):
            return self._list_size(path, kind, *self._list_parts(node, kind), named=True)
        if kind.kind == "map" or (anything and isinstance(node, MapNode)):
            return self._map_size(path, kind, self._map_parts(node, kind), named=True)
        if anything and _is_choice(node):
            return self._choice(node, kind)
        return self._of_type(path, kind)

    def _of_type(self, path: Path, kind: CelType) -> Range | None:
        """The size of what lies at the end of a path, by its type."""
        if (path, kind) not in self._typed:
            self._typed[path, kind] = self._found_of_type(path, kind)
        return self._typed[path, kind]

    def _found_of_type(self, path: Path, kind: CelType) -> Range | None:
        if kind.kind == "list":
            return self._list_size(path, kind, None, None)
        if kind.kind == "map":
            return self._map_size(path, kind, None)
        most = size_at(path)
        if most is not None:
            return Range(0, most)
        return ONE if is_fixed(kind) else None

    def _list_size(
        self, path: Path, kind: CelType, size: Range | None, element: Range | None, *, named: bool = False
    ) -> Range | None:
        """The size of a list of which something may be known already; one with a `named` node is at least unknown."""
        size = size or _bound(path)
        element = self._part(path, "@items", _parameter(kind, 0), element)
        if size is None:
            if element is None and not named:
                return None
            size = UNKNOWN
        return Range(size.low, size.high, None, element or (UNKNOWN if size.high else None))

    def _map_size(self, path: Path, kind: CelType, size: Range | None, *, named: bool = False) -> Range | None:
        """The same of a map."""
        key, value = (None, None) if size is None else (size.key, size.element)
        size = size or _bound(path)
        key = self._part(path, "@keys", _parameter(kind, 0), key)
        value = self._part(path, "@values", _parameter(kind, 1), value)
        if size is None:
            if key is None and value is None and not named:
                return None
            size = UNKNOWN
        unknown = UNKNOWN if size.high else None
        return Range(size.low, size.high, key or unknown, value or unknown)

    def _part(self, path: Path, part: str, kind: CelType, known: Range | None) -> Range | None:
        """The size of elements, keys or values: by where they lie, else by their type."""
        if path and (known is None or (known.element is None and kind.kind in _CONTAINERS)):
            found = self._of_type((*path, part), kind)
            if found is not None and found != UNKNOWN:
                known = found if known is None else Range(known.low, known.high, found.key, found.element)
        if known is None and is_fixed(kind):
            return ONE
        return known

    def _held(self, node: Node, kind: CelType) -> Range:
        """The size of a node that is taken for a value of the type."""
        return self._size(node) or self._estimated(node, (), kind) or UNKNOWN

    def _list_parts(self, node: Node, kind: CelType) -> tuple[Range | None, Range | None]:
        """The size of a list and of its elements as far as the node itself says."""
        if isinstance(node, ListNode):
            return self._literal_list(node, _parameter(kind, 0))
        size = None
        if isinstance(node, Call) and node.function == "_+_":
            size = self._held(node.args[0], kind).plus(self._held(node.args[1], kind))
        elif _is_choice(node):
            size = self._choice(node, kind)
        return size, None if size is None else size.element

    def _literal_list(self, node: ListNode, kind: CelType) -> tuple[Range, Range | None]:
        most, element = len(node.elements), None
        for index, each in enumerate(node.elements):
            held: Node | None = self._optional_content(each) if index in node.optional else each
            if held is None:
                most -= 1
                continue
            size = self._held(held, kind)
            element = size if element is None else element.union(size)
        return Range(len(node.elements) - len(node.optional), most), element

    def _optional_content(self, node: Node) -> Node | None:
        """What ``?element`` adds to a list: the content of an optional made on the spot, None where there is none."""
        made = self._checked.calls.get(node.id)
        if made is not None and made.function == "optional.none":
            return None
        known = made is not None and made.function in ("optional.of", "optional.ofNonZeroValue")
        return made.args[0] if made is not None and known else node

    def _map_parts(self, node: Node, kind: CelType) -> Range | None:
        """The size of a map as far as the node itself says."""
        key, value = _parameter(kind, 0), _parameter(kind, 1)
        if isinstance(node, MapNode):
            size = Range(sum(not each.optional for each in node.entries), len(node.entries))
            for entry in node.entries:
                assert not isinstance(entry.key, str)
                size = size.with_parts(self._held(entry.key, key), self._held(entry.value, value))
            return size
        if isinstance(node, Call) and node.function == MAP_INSERT:
            before = self._held(node.args[0], kind)
            if len(node.args) == 2:
                return before.plus(self._held(node.args[1], kind))
            return before.plus(ONE).with_parts(self._held(node.args[1], key), self._held(node.args[2], value))
        return self._choice(node, kind) if _is_choice(node) else None

    def _choice(self, node: Node, kind: CelType) -> Range:
        assert isinstance(node, Call)
        return self._held(node.args[1], kind).union(self._held(node.args[2], kind))

    # The walk

    def _select(self, node: Select) -> Steps[Range]:
        if node.id in self._checked.names:
            self._paths[node.id] = (self._checked.names[node.id],)
            return ONE
        cost: Range = yield from self.cost(node.operand)
        path = self._path(node.operand)
        if path:
            self._paths[node.id] = (*path, node.field)
        return cost.plus(_presence(node.operand) if node.test else ONE)

    def _note_literal(self, node: ListNode | MapNode) -> None:
        # Sizes of what it holds are known by now, which keeps this from following the whole tree.
        self._size(node)

    def _overloads(self, node: Call, resolved: Resolved, costs: list[Range]) -> Range:
        total = Range(UNBOUNDED, 0)
        size: Range | None = None
        for overload in resolved.overloads:
            found = self._overload(node, resolved, overload, costs)
            total = total.union(found.cost)
            own = found.size
            if overload in ("index_list", "index_map"):
                own = self._indexed(node, resolved.args[0], overload)
            if own is None:
                own = self._size(node)
            size = own if size is None else size if own is None else size.union(own)
        if size is not None:
            self._sizes[node.id] = size
        return total

    def _indexed(self, node: Call, container: Node, overload: str) -> Range:
        """The size of an element of a list, or of a value of a map."""
        path = self._path(container)
        if path:
            self._paths[node.id] = (*path, "@items" if overload == "index_list" else "@values")
        size = self._size(container)
        return UNKNOWN if size is None or size.element is None else size.element

    def _conditional(self, node: Call, resolved: Resolved, costs: list[Range]) -> CallEstimate:
        chosen, other = self._operand(resolved.args[1]), self._operand(resolved.args[2])
        one, two = self.size(chosen), self.size(other)
        size = _holding(one.union(two), (chosen, one), (other, two))
        return CallEstimate(costs[0].plus(costs[1].union(costs[2])), size)

    def _copy(self, to: Node, source: Node) -> None:
        size = self._size(source)
        if size is not None:
            self._sizes[to.id] = size

    def _end_bind(self, node: Comprehension) -> None:
        path = self._path(node.result)
        if path:
            self._paths[node.id] = path
        self._copy(node, node.result)
        self._pop(node.accumulator)

    def _push_loop(self, node: Comprehension) -> None:
        size = self._size_or_unknown(node.range)
        path, kind = self._path(node.range), self._checked.types[node.range.id].kind
        is_list = kind == "list"
        if node.var2:
            self._push(node.var, (*path, "@indices" if is_list else "@keys"), ONE if is_list else size.key)
            self._push(node.var2, (*path, "@items" if is_list else "@values"), size.element)
            return
        is_list = is_list or (kind == "dyn" and size.key is None and size.element is not None)
        self._push(node.var, (*path, "@items" if is_list else "@keys"), size.element if is_list else size.key)

    def _note_result(self, node: Comprehension, count: Range) -> None:
        if isinstance(node.init, Literal):
            self._copy(node, node.init)
        elif isinstance(node.init, (ListNode, MapNode)):
            step = self._size(node.step) or UNKNOWN
            key = None if isinstance(node.init, ListNode) else step.key or count.key
            least = 0 if _is_choice(node.step) else count.low
            self._sizes[node.id] = Range(least, count.high, key, step.element or count.element)


def _bound(path: Path) -> Range | None:
    most = size_at(path)
    return None if most is None else Range(0, most)


def _parameter(kind: CelType, index: int) -> CelType:
    """What a list or map holds; anything, unless its type says."""
    wanted = 1 if kind.kind == "list" else 2
    return kind.params[index] if len(kind.params) >= wanted else DYN


def _holding(size: Range, *operands: tuple[Operand, Range]) -> Range:
    """A size whose keys and elements are those of the operands: of one that may hold something, anything."""
    made = Range(size.low, size.high)
    keys = any(each.key for _, each in operands)
    elements = any(each.element for _, each in operands)
    for operand, each in operands:
        unsaid = each.high and each.key is None and each.element is None and operand.type.kind not in _PLAIN
        element = each.element or (UNKNOWN if unsaid or (each.key and each.high) else None)
        key = each.key or (UNKNOWN if unsaid else None)
        made = made.with_parts(key if keys else None, element if elements else None)
    return made


def _is_choice(node: Node) -> bool:
    return isinstance(node, Call) and node.function == "_?_:_"


def _is_attribute(node: Node) -> bool:
    """Whether a node is a variable with steps into it, or a choice."""
    if isinstance(node, Call):
        return node.function in INDEXING or _is_choice(node)
    return isinstance(node, (Ident, Select))


def _presence(node: Node) -> Range:
    """What ``has()`` adds where the value is chosen by a ``?:``: a step into a branch that is no attribute itself."""
    while isinstance(node, Call | Select):
        if isinstance(node, Call) and node.function in INDEXING:
            node = node.args[0]
        elif isinstance(node, Select) and not node.test:
            node = node.operand
        else:
            break
    if not _is_choice(node):
        return FREE
    assert isinstance(node, Call)
    return _branch(node.args[1]).union(_branch(node.args[2]))


def _branch(node: Node) -> Range:
    return _presence(node) if _is_attribute(node) and not (isinstance(node, Select) and node.test) else ONE
