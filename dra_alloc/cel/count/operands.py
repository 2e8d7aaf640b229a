"""
What the static estimate knows of nodes, and what it and the cost entries of libraries tell each other.

Spec: CEL-31
"""

from __future__ import annotations

from typing import NamedTuple

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.count.costs import Range
from dra_alloc.cel.syntax.ast import Node

Path = tuple[str, ...]


class Entries(NamedTuple):
    """Sizes of the keys (indices) and values of a list or map."""

    kind: str
    key: Range
    value: Range

    def union(self, other: Entries) -> Entries:
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value))


class CallEstimate(NamedTuple):
    """The cost of a call without its operands, and the size of the result if known."""

    cost: Range
    size: Range | None = None
    joined: bool = False


class Operand(NamedTuple):
    """An operand as cost entries see it: `size` is None where nothing is known."""

    node: Node | None
    type: CelType
    path: Path
    size: Range | None


class Local(NamedTuple):
    """What is known of a variable of a macro."""

    path: Path
    size: Range | None
    entries: Entries | None
