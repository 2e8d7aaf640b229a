"""
What macros build, and the macros of the standard library.

New nodes get the place of the macro call. A sub-tree used twice is shared,
not copied: ``x.optMap(..).optMap(..)`` doubles at every step upstream, so
whoever follows the tree must remember the ids it has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dra_alloc.cel.check.declarations import Macro
from dra_alloc.cel.syntax.ast import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select

#: Macros by name, number of arguments, and whether they are called on a target.
MacroTable = Mapping[tuple[str, int, bool], Macro]

ACCUMULATOR = "@result"
UNUSED = "#unused"
_LEGACY_ACCUMULATOR = "__result__"


class MacroError(Exception):
    """The macro was meant, but its arguments do not fit; `node` is where to say so."""

    def __init__(self, node: Node, message: str) -> None:
        super().__init__(message)
        self.node = node
        self.message = message


class MacroExpansion:
    """Makes nodes at the place of one macro call."""

    __slots__ = ("_new_id", "offset")

    def __init__(self, new_id: Callable[[], int], offset: int) -> None:
        self._new_id = new_id
        self.offset = offset

    def literal(self, value: Any) -> Node:
        return Literal(self._new_id(), self.offset, value)

    def ident(self, name: str) -> Node:
        return Ident(self._new_id(), self.offset, name)

    def accumulator(self) -> Node:
        return self.ident(ACCUMULATOR)

    def call(self, function: str, *args: Node) -> Node:
        return Call(self._new_id(), self.offset, function, None, args)

    def member_call(self, function: str, target: Node, *args: Node) -> Node:
        return Call(self._new_id(), self.offset, function, target, args)

    def list(self, *elements: Node) -> Node:
        return ListNode(self._new_id(), self.offset, elements)

    def empty_map(self) -> Node:
        return MapNode(self._new_id(), self.offset, ())

    def presence(self, operand: Node, field: str) -> Node:
        return Select(self._new_id(), self.offset, operand, field, test=True)

    def fold(self, over: Node, variables: Sequence[str], parts: Sequence[Node], macro: str) -> Node:
        """A comprehension over the hidden accumulator; `parts` are init, condition, step, result."""
        var, var2 = variables if len(variables) > 1 else (variables[0], "")
        init, condition, step, result = parts
        return Comprehension(
            self._new_id(), self.offset, over, var, var2, ACCUMULATOR, init, condition, step, result, macro
        )

    def bind(self, name: str, init: Node, result: Node) -> Node:
        """`result` with `name` standing for `init`, evaluated when first needed."""
        empty = self.list()
        never = self.literal(False)
        return Comprehension(
            self._new_id(), self.offset, empty, UNUSED, "", name, init, never, self.ident(name), result, "bind"
        )


def variable_name(node: Node, message: str) -> str:
    """The name a macro variable is given; raises MacroError unless `node` is a plain identifier."""
    if not isinstance(node, Ident):
        raise MacroError(node, message)
    if node.name in (ACCUMULATOR, _LEGACY_ACCUMULATOR):
        raise MacroError(node, "iteration variable overwrites accumulator variable")
    return node.name


def in_namespace(target: Node | None, namespace: str) -> bool:
    """Whether `target` is the bare identifier `namespace`."""
    return isinstance(target, Ident) and target.name == namespace


def _has(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    argument = args[0]
    if not isinstance(argument, Select):
        raise MacroError(argument, "invalid argument to has() macro")
    return make.presence(argument.operand, argument.field)


NO_SIMPLE_NAME = "argument must be a simple name"
_IDENTIFIER = "argument is not an identifier"


def _all(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    name = variable_name(args[0], NO_SIMPLE_NAME)
    init = make.literal(True)
    condition = make.call("@not_strictly_false", make.accumulator())
    step = make.call("_&&_", make.accumulator(), args[1])
    return make.fold(target, (name,), (init, condition, step, make.accumulator()), "all")


def _exists(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    name = variable_name(args[0], NO_SIMPLE_NAME)
    init = make.literal(False)
    condition = make.call("@not_strictly_false", make.call("!_", make.accumulator()))
    step = make.call("_||_", make.accumulator(), args[1])
    return make.fold(target, (name,), (init, condition, step, make.accumulator()), "exists")


def _exists_one(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    name = variable_name(args[0], NO_SIMPLE_NAME)
    more = make.call("_+_", make.accumulator(), make.literal(1))
    step = make.call("_?_:_", args[1], more, make.accumulator())
    result = make.call("_==_", make.accumulator(), make.literal(1))
    return make.fold(target, (name,), (make.literal(0), make.literal(True), step, result), "exists_one")


def _map(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    name = variable_name(args[0], _IDENTIFIER)
    step = make.call("_+_", make.accumulator(), make.list(args[-1]))
    if len(args) == 3:
        step = make.call("_?_:_", args[1], step, make.accumulator())
    return make.fold(target, (name,), (make.list(), make.literal(True), step, make.accumulator()), "map")


def _filter(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    name = variable_name(args[0], _IDENTIFIER)
    step = make.call("_+_", make.accumulator(), make.list(args[0]))
    step = make.call("_?_:_", args[1], step, make.accumulator())
    return make.fold(target, (name,), (make.list(), make.literal(True), step, make.accumulator()), "filter")


STANDARD_MACROS: tuple[Macro, ...] = (
    Macro("has", 1, _has, member=False),
    Macro("all", 2, _all),
    Macro("exists", 2, _exists),
    Macro("exists_one", 2, _exists_one),
    Macro("map", 2, _map),
    Macro("map", 3, _map),
    Macro("filter", 2, _filter),
)
