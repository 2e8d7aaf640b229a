"""
The cost of walking a list with all that is in it, shared by the functions of kubernetes.lists.

Spec: CEL-53
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import Cost
from dra_alloc.cel.count.costs import ONE, STRING
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.values.runtime import CelMap, ConcatList, is_list

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand


def _actual(args: Sequence[Any], result: Any) -> int:
    return run(_weight(args[0], {}))


def _weight(value: Any, known: dict[int, int]) -> Steps[int]:
    """
    A tenth of each string, rounded down, 1 for any other scalar.

    What occurs many times over is weighed once: lists can hold themselves
    2**40 times over in a few characters.
    """
    if isinstance(value, str):
        return int(len(value.encode()) * STRING)
    if isinstance(value, bytes):
        return int(len(value) * STRING)
    if not is_list(value) and not isinstance(value, CelMap):
        return 1
    total = known.get(id(value))
    if total is not None:
        return total
    total = 0
    if isinstance(value, ConcatList):
        parts: Any = (value.left, value.right)
    elif isinstance(value, CelMap):
        parts = (part for entry in value.items() for part in entry)
    else:
        parts = value
    for part in parts:
        total += yield _weight(part, known)
    known[id(value)] = total
    return total


def _estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    size = estimator.size(target)
    element = estimator.element(target) if target.type.kind == "list" else None
    if element is None:
        return estimator.call(size.scaled(STRING))
    each = ONE
    if element.type.kind in ("string", "bytes"):
        each = each.plus(estimator.size(element).scaled(STRING))
    return estimator.call(size.times(each))


WALK: Final = Cost(_actual, _estimate, deep=True)
