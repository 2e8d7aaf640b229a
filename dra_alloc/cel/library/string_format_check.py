"""
What the compiler says about a literal format string with a literal list of arguments.

Spec: CEL-51
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.string_format import END, FAILED, TEXT_ONLY, clause_at
from dra_alloc.cel.syntax.ast import ListNode, Literal, MapNode, Node


def format_complaints(
    call: Node, operands: tuple[Node, ...], types: Mapping[int, CelType]
) -> Iterable[tuple[Node, str]]:
    """What is wrong with a literal format string and a literal list of arguments: nothing, or the first thing."""
    text, args = operands
    if not isinstance(text, Literal) or type(text.value) is not str or not isinstance(args, ListNode):
        return ()
    try:
        _check(text.value.encode(), args, types)
    except _Misfit as misfit:
        return ((misfit.node, f"{FAILED}{misfit.text}"),)
    except CelError as error:
        return ((call, error.text),)
    return ()


class _Misfit(Exception):
    """An argument that its clause does not take."""

    def __init__(self, node: Node, text: str) -> None:
        super().__init__(text)
        self.node = node
        self.text = text


def _check(raw: bytes, args: ListNode, types: Mapping[int, CelType]) -> None:
    position = used = 0
    while (percent := raw.find(b"%", position)) >= 0:
        if percent + 1 >= len(raw):
            raise CelError(END)
        if raw[percent + 1 : percent + 2] == b"%":
            position = percent + 2
            continue
        if used >= len(args.elements):
            raise CelError(f"index {used} out of range")
        clause = clause_at(raw, percent + 1)
        _check_argument(clause.verb, args.elements[used], types)
        used += 1
        position = clause.end
    if used < len(args.elements):
        raise CelError(f"too many arguments supplied to string.format (expected {used}, got {len(args.elements)})")


_NUMBERS: Final = ("int", "uint")
_ACCEPTED: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "b": ((*_NUMBERS, "bool"), "only integers and bools can be formatted as binary, was given "),
    "d": (_NUMBERS, "decimal clause can only be used on integers, was given "),
    "e": (("double", "string"), "scientific clause can only be used on doubles, was given "),
    "f": (("double", "string"), "fixed-point clause can only be used on doubles, was given "),
    "o": (_NUMBERS, "octal clause can only be used on integers, was given "),
    "s": (
        ("bool", "bytes", "double", "duration", "list", "map", "null", "string", "timestamp", "type", *_NUMBERS),
        TEXT_ONLY,
    ),
    "x": (
        (*_NUMBERS, "bytes", "string"),
        "only integers, byte buffers, and strings can be formatted as hex, was given ",
    ),
}


def _check_argument(verb: str, argument: Node, types: Mapping[int, CelType]) -> None:
    """Raises _Misfit; literal lists and maps are looked into."""
    accepted, complaint = _ACCEPTED[verb.lower()]
    stack = [argument]
    while stack:
        node = stack.pop()
        kind = types[node.id]
        if kind.kind not in ("dyn", "param", "error", *accepted):
            raise _Misfit(node, f"{complaint}{kind.name}")
        if verb == "s" and isinstance(node, ListNode):
            stack.extend(reversed(node.elements))
        elif verb == "s" and isinstance(node, MapNode):
            for entry in reversed(node.entries):
                stack.append(entry.value)
                if not isinstance(entry.key, str):
                    stack.append(entry.key)
