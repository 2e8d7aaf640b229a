"""
The sets extension: lists taken as sets, element by element with CEL's equality.

Spec: CEL-56
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, list_of, param
from dra_alloc.cel.count.costs import ONE, plain_size
from dra_alloc.cel.library.budget import check_elements
from dra_alloc.cel.library.operators import contains_value

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_LIST: Final = list_of(param("T"))


def _contains(values: Any, wanted: Any) -> bool:
    check_elements(len(values) * len(wanted))
    return all(contains_value(value, values) for value in wanted)


def _equivalent(left: Any, right: Any) -> bool:
    return _contains(left, right) and _contains(right, left)


def _intersects(left: Any, right: Any) -> bool:
    check_elements(len(left) * len(right))
    return any(contains_value(value, right) for value in left)


def _pairs(times: int) -> Cost:
    """Every element against every other, `times` over."""

    def actual(args: Sequence[Any], result: Any) -> int:
        return 1 + times * plain_size(args[0]) * plain_size(args[1])

    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
        if len(args) != 2:
            return None
        product = estimator.size(args[0]).times(estimator.size(args[1]))
        for _ in range(times - 1):
            product = product.plus(product)
        return estimator.call(ONE.plus(product))

    return Cost(actual, estimate)


def _function(name: str, run: Any, times: int = 1) -> Function:
    overload = Overload(f"list_sets_{name}_list", (_LIST, _LIST), BOOL, run)
    return Function(f"sets.{name}", (overload,), cost=_pairs(times))


SETS_LIBRARY: Final = Library(
    "sets",
    functions=(
        _function("contains", _contains),
        _function("equivalent", _equivalent, 2),
        _function("intersects", _intersects),
    ),
    window=Window(since=29),
)
