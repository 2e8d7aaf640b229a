"""
Which selectors must be counted at every evaluation, whatever their estimate says.

The estimate of a function of kubernetes.lists knows the list it walks, not what
lies in its elements; the counted cost is of everything. Other functions
crash while they are charged.

Spec: CEL-34
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_alloc.cel.check.checking import Checked, Resolved
from dra_alloc.cel.check.declarations import Cost, Function
from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.device import MAX_VALUE
from dra_alloc.cel.syntax.ast import Node, Select

_PLAIN: Final = frozenset(
    ("bool", "bytes", "double", "duration", "int", "null", "string", "struct", "timestamp", "type", "uint")
)


def must_count(checked: Checked, functions: Mapping[str, Function], estimated: int, limit: int) -> bool:
    """Whether evaluations are counted although no more than `limit` is `estimated`."""
    nested: bool | None = None
    for resolved, cost in _charged(checked, functions):
        if cost.crashes and len(resolved.overloads) == 1:
            return True
        if not cost.deep:
            continue
        over = resolved.operands[0]
        # An attribute is no more than a list of texts, estimated as one text.
        small = _of_device(over, checked) and estimated * MAX_VALUE <= limit
        if not small and not _holds_plain(checked.types[over.id]):
            return True
        if nested is None:
            nested = any(kind.kind == "list" and not _holds_plain(kind) for kind in checked.types.values())
        if nested:
            # Static types prove nothing, but lists of lists have to come from somewhere.
            return True
    return False


def _charged(checked: Checked, functions: Mapping[str, Function]) -> Iterator[tuple[Resolved, Cost]]:
    """Calls with each of the costs that they may have."""
    for resolved in checked.calls.values():
        function = functions[resolved.function]
        if function.cost is not None:
            yield resolved, function.cost
        for overload in function.overloads:
            if overload.cost is not None and overload.id in resolved.overloads:
                yield resolved, overload.cost


def _holds_plain(kind: CelType) -> bool:
    """Whether lists of this type hold nothing that holds something else."""
    return kind.kind == "list" and kind.params[0].kind in _PLAIN


def _of_device(node: Node, checked: Checked) -> bool:
    """Whether `node` only selects and indices down from the device."""
    while node.id not in checked.names:
        resolved = checked.calls.get(node.id)
        if isinstance(node, Select):
            node = node.operand
        elif resolved is not None and resolved.function in ("_[_]", "_[?_]", "_?._"):
            node = resolved.args[0]
        else:
            return False
    return checked.names[node.id] == "device"
