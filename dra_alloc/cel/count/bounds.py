"""
How large what `device` leads to, a literal or a type can be, for the static estimate.

Spec: CEL-31
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.device import MAX_DOMAIN, MAX_ID, MAX_NAMES, MAX_VALUE
from dra_alloc.cel.syntax.ast import ListNode, Literal, MapNode, Node

_SCALARS: Final = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))


@dataclass(frozen=True, slots=True)
class _Bound:
    """The most elements or characters something holds, and what its parts hold."""

    most: int
    key: _Bound | None = None
    value: _Bound | None = None
    fields: dict[str, _Bound] = field(default_factory=dict)


_VALUE: Final = _Bound(MAX_VALUE)
_QUANTITY: Final = _Bound(0)
_NAMES: Final = _Bound(MAX_NAMES, _Bound(MAX_ID), _VALUE)
_AMOUNTS: Final = _Bound(MAX_NAMES, _Bound(MAX_ID), _QUANTITY)
_DEVICE: Final = _Bound(
    0,
    fields={
        "driver": _Bound(MAX_DOMAIN),
        "allowMultipleAllocations": _Bound(1),
        "attributes": _Bound(MAX_NAMES, _Bound(MAX_DOMAIN), _NAMES),
        "capacity": _Bound(MAX_NAMES, _Bound(MAX_DOMAIN), _AMOUNTS),
    },
)


def size_at(path: tuple[str, ...]) -> int | None:
    """
    The bound at the end of a path such as ``("device", "attributes", "@values", "model")``.

    None if the path leads nowhere known. Names are only understood where
    every value has the same bound: under an attribute domain reached by an
    index.
    """
    if not path or path[0] != "device":
        return None
    here: _Bound | None = _DEVICE
    for name in path[1:]:
        assert here is not None
        if name in ("@items", "@values"):
            here = here.value
        elif name == "@keys":
            here = here.key
        elif name in here.fields:
            here = here.fields[name]
        else:
            here = _VALUE if here.value is _VALUE else None
        if here is None:
            return None
    return here.most if here else None


def literal_size(node: Node) -> int | None:
    """The size of a literal, None of anything else."""
    if isinstance(node, Literal):
        value: Any = node.value
        return len(value) if isinstance(value, (str, bytes)) else 1
    if isinstance(node, ListNode):
        return len(node.elements)
    return len(node.entries) if isinstance(node, MapNode) else None


def is_fixed(kind: CelType) -> bool:
    """Whether values of a type count 1 from 1.38 on: scalars, types, and optionals of them."""
    held = kind.params[0] if kind.is_optional and kind.params else kind
    return held.kind in _SCALARS or held.kind == "type"


def is_scalar(kind: CelType) -> bool:
    """Whether values of a type, looked into if optional, count 1 up to 1.37."""
    while kind.is_optional and kind.params:
        kind = kind.params[0]
    return kind.kind in _SCALARS
