"""
The syntax tree: frozen nodes with ids and code-point offsets.

`offset` is the place complaints about the node point at: the operator of an
operation, the bracket of a call or index, the first character of the rest;
-1 is nowhere. Nodes are told apart by their ids, never compared: that would follow
the whole tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias


class Literal(NamedTuple):
    """A constant."""

    id: int
    offset: int
    value: Any


class Ident(NamedTuple):
    """A name."""

    id: int
    offset: int
    name: str


class Select(NamedTuple):
    """``operand.field``; `test` marks what ``has()`` made of it."""

    id: int
    offset: int
    operand: Node
    field: str
    test: bool = False


class Call(NamedTuple):
    """A call; `target` is the receiver of a member call."""

    id: int
    offset: int
    function: str
    target: Node | None
    args: tuple[Node, ...]


class ListNode(NamedTuple):
    """A list literal; `optional` holds the indices of ``?element``."""

    id: int
    offset: int
    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


class Entry(NamedTuple):
    """``key: value`` of a map literal, or ``field: value`` of a message (then `key` is the field's name)."""

    id: int
    offset: int
    key: Node | str
    value: Node
    optional: bool = False


class MapNode(NamedTuple):
    """A map literal."""

    id: int
    offset: int
    entries: tuple[Entry, ...]


class StructNode(NamedTuple):
    """A message literal."""

    id: int
    offset: int
    name: str
    entries: tuple[Entry, ...]


class Comprehension(NamedTuple):
    """
    What macros expand to: fold `step` over `range` while `condition` holds, then `result`.

    `var2` is empty for one-variable folds; `macro` names the macro, as a hint
    for compiling it to a plain loop.
    """

    id: int
    offset: int
    range: Node
    var: str
    var2: str
    accumulator: str
    init: Node
    condition: Node
    step: Node
    result: Node
    macro: str = ""


Node: TypeAlias = Literal | Ident | Select | Call | ListNode | MapNode | StructNode | Comprehension


def children(node: Node) -> tuple[Node, ...]:
    """The direct sub-expressions of `node`, in evaluation order."""
    if isinstance(node, (Literal, Ident)):
        return ()
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, Call):
        return node.args if node.target is None else (node.target, *node.args)
    if isinstance(node, ListNode):
        return node.elements
    if isinstance(node, MapNode):
        return tuple(part for entry in node.entries for part in (entry.key, entry.value) if not isinstance(part, str))
    if isinstance(node, StructNode):
        return tuple(entry.value for entry in node.entries)
    return (node.range, node.init, node.condition, node.step, node.result)


def walk(root: Node) -> Iterator[Node]:
    """Every node under `root`, parents first, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def dotted_name(node: Node) -> str | None:
    """``a.b.c`` if `node` is nothing but identifiers and selections, else None."""
    parts: list[str] = []
    while isinstance(node, Select):
        if node.test:
            return None
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    parts.append(node.name)
    return ".".join(reversed(parts))
