"""
Checks of literals once the types are known.

Spec: CEL-13
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_alloc.cel.check.checking import Checked
from dra_alloc.cel.check.declarations import Function
from dra_alloc.cel.check.types import CelType, checker_name
from dra_alloc.cel.errors import CelError, Issue
from dra_alloc.cel.syntax.ast import Call, Ident, ListNode, Literal, MapNode, Node, Select, children
from dra_alloc.cel.syntax.source import MAX_REPORTED, SourceText
from dra_alloc.cel.values.regex import compiled

#: Calls whose literal arguments may mix types.
_MIXED: Final = frozenset(("format",))


def validate(checked: Checked, source: SourceText, functions: Mapping[str, Function]) -> list[Issue]:
    """Literals that cannot mean anything: patterns, times, formats, lists and maps of mixed types."""
    if not checked.doubtful:
        return []
    found: list[tuple[Node, Issue]] = []

    def report(node: Node, message: str) -> None:
        line, column = source.location(node.offset)
        found.append((node, Issue(line, column, message)))

    for node, mixed in _examined(checked):
        if isinstance(node, Call):
            _call(node, checked, functions, report)
        elif isinstance(node, ListNode) and not mixed:
            _list(node, checked, report)
        elif isinstance(node, MapNode) and not mixed:
            _map(node, checked, report)
    if not found:
        return []
    times = _occurrences(checked)
    return [issue for node, issue in found for _ in range(times.get(node.id, 1))]


def _occurrences(checked: Checked) -> dict[int, int]:
    """How often each node occurs in the tree that macros made, up to more than is reported."""
    order: list[Node] = []
    stack: list[tuple[Node, bool]] = [(checked.root, False)]
    seen: set[int] = set()
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node.id not in seen:
            seen.add(node.id)
            stack.append((node, True))
            stack.extend((child, False) for child in children(node))
    times = {checked.root.id: 1}
    for node in reversed(order):
        for child in children(node):
            times[child.id] = min(times.get(child.id, 0) + times[node.id], 2 * MAX_REPORTED)
    return times


def _examined(checked: Checked) -> list[tuple[Node, bool]]:
    """Every call, list and map once, and whether it lies inside a call that may mix types."""
    found: list[tuple[Node, bool]] = []
    stack: list[tuple[Node, bool]] = [(checked.root, False)]
    seen: set[int] = set()
    while stack:
        node, mixed = stack.pop()
        if node.id in seen or node.id not in checked.types:
            continue
        seen.add(node.id)
        if not isinstance(node, Select):
            found.append((node, mixed))
        mixed = mixed or (isinstance(node, Call) and node.function in _MIXED)
        stack.extend((child, mixed) for child in reversed(children(node)) if not isinstance(child, (Literal, Ident)))
    return found


_Report = Callable[[Node, str], None]


def _call(node: Call, checked: Checked, functions: Mapping[str, Function], report: _Report) -> None:
    resolved = checked.calls.get(node.id)
    if resolved is None:
        return
    if resolved.function in ("duration", "timestamp") and len(resolved.args) == 1:
        argument = resolved.args[0]
        function = functions[resolved.function]
        if isinstance(argument, Literal) and not _runs(function, resolved.overloads, argument.value):
            report(argument, f"invalid {resolved.function} argument")
    elif resolved.function == "matches" and resolved.args:
        # Upstream looks at argument 0, which is the subject of the global form.
        argument = resolved.args[0]
        if isinstance(argument, Literal) and not _pattern(argument.value):
            report(argument, "invalid matches argument")
    named = functions.get(resolved.function)
    if named is not None and named.validate is not None:
        for place, message in named.validate(node, resolved.operands, checked.types):
            report(place, message)


def _runs(function: Function, overloads: tuple[str, ...], value: Any) -> bool:
    chosen = next((each for each in function.overloads if each.id == overloads[0]), None)
    if chosen is None or chosen.run is None:
        return True
    try:
        chosen.run(value)
    except CelError:
        return False
    return True


def _pattern(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    try:
        compiled(value)
    except CelError:
        return False
    return True


def _mismatch(node: Node, expected: CelType, found: CelType, report: _Report) -> None:
    report(node, f"expected type '{checker_name(expected)}' but found '{checker_name(found)}'")


class CompilerCrash(Exception):
    """Upstream's compiler panics here; `text` is what its log would say."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _unwrapped(kind: CelType, optional: bool) -> CelType:
    if not optional:
        return kind
    if not kind.params:
        raise CompilerCrash("panic: runtime error: index out of range [0] with length 0")
    return kind.params[0]


def _list(node: ListNode, checked: Checked, report: _Report) -> None:
    expected: CelType | None = None
    for index, element in enumerate(node.elements):
        kind = _unwrapped(checked.types[element.id], index in node.optional)
        if expected is None:
            expected = kind
        elif kind.plain != expected.plain:
            _mismatch(element, expected, kind, report)
            return


def _map(node: MapNode, checked: Checked, report: _Report) -> None:
    keys: CelType | None = None
    values: CelType | None = None
    for entry in node.entries:
        assert not isinstance(entry.key, str)
        key = checked.types[entry.key.id]
        value = _unwrapped(checked.types[entry.value.id], entry.optional)
        if keys is None or values is None:
            keys, values = key, value
            continue
        if key.plain != keys.plain:
            _mismatch(entry.key, keys, key, report)
        if value.plain != values.plain:
            _mismatch(entry.value, values, value, report)
