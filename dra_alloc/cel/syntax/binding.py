"""
How tightly binary operators bind, and what chains of them become.

Spec: CEL-1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dra_alloc.cel.syntax.ast import Call, Node

#: Levels of binding, loosest first.
OR, AND, RELATION, SUM, PRODUCT = 1, 2, 3, 4, 5
TERNARY: Final = "_?_:_"
#: Levels and functions of the operators.
BINARY: Final[dict[str, tuple[int, str]]] = {
    "||": (OR, "_||_"),
    "&&": (AND, "_&&_"),
    "<": (RELATION, "_<_"),
    "<=": (RELATION, "_<=_"),
    ">=": (RELATION, "_>=_"),
    ">": (RELATION, "_>_"),
    "==": (RELATION, "_==_"),
    "!=": (RELATION, "_!=_"),
    "in": (RELATION, "@in"),
    "+": (SUM, "_+_"),
    "-": (SUM, "_-_"),
    "*": (PRODUCT, "_*_"),
    "/": (PRODUCT, "_/_"),
    "%": (PRODUCT, "_%_"),
}


def balanced(new_id: Callable[[], int], function: str, terms: Sequence[Node], offsets: Sequence[int]) -> Node:
    """A chain of ``&&`` or ``||`` as a tree that is as flat as can be; `offsets` are the operators' places."""
    middle = len(offsets) // 2
    left = terms[0] if middle == 0 else balanced(new_id, function, terms[: middle + 1], offsets[:middle])
    rest = offsets[middle + 1 :]
    right = balanced(new_id, function, terms[middle + 1 :], rest) if rest else terms[-1]
    return Call(new_id(), offsets[middle], function, None, (left, right))
