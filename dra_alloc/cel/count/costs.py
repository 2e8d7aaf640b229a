"""
Cost arithmetic, and the entries that libraries share.

Sizes and costs are ranges of unsigned 64-bit integers that saturate instead
of wrapping. Strings cost a tenth of their length to walk, patterns a quarter.

Spec: CEL-30
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dra_alloc.cel.check.declarations import Cost
from dra_alloc.cel.values.runtime import Optional, size_of

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

UNBOUNDED: Final = 2**64 - 1
STRING: Final = 0.1
PATTERN: Final = 0.25


class Range(NamedTuple):
    """
    A range of sizes or costs, both ends included.

    From 1.38 on a size may know the sizes of its keys and of its elements (of a map, the values); what is made of two
    sizes holds what either does.
    """

    low: int
    high: int
    key: Range | None = None
    element: Range | None = None

    def plus(self, other: Range) -> Range:
        if other is FREE:
            return self
        low, high = self.low + other.low, self.high + other.high
        if high > UNBOUNDED or low > UNBOUNDED:
            low, high = min(low, UNBOUNDED), min(high, UNBOUNDED)
        return Range(low, high, self.key, self.element).with_parts(other.key, other.element)

    def times(self, other: Range) -> Range:
        low, high = min(self.low * other.low, UNBOUNDED), min(self.high * other.high, UNBOUNDED)
        return Range(low, high, self.key, self.element).with_parts(other.key, other.element)

    def scaled(self, factor: float) -> Range:
        """Both ends times `factor`, rounded up: a cost."""
        return Range(share(self.low, factor), share(self.high, factor))

    def union(self, other: Range) -> Range:
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Range(low, high, self.key, self.element).with_parts(other.key, other.element)

    def with_parts(self, key: Range | None, element: Range | None) -> Range:
        """The same, with keys and elements that may be as large as these, too."""
        if key is None and element is None:
            return self
        key = key if self.key is None or key is None else self.key.union(key)
        element = element if self.element is None or element is None else self.element.union(element)
        return Range(self.low, self.high, key or self.key, element or self.element)


FREE: Final = Range(0, 0)
ONE: Final = Range(1, 1)
UNKNOWN: Final = Range(0, UNBOUNDED)


def share(amount: int, factor: float) -> int:
    """`amount` times `factor` in double precision, rounded up, saturating."""
    value = math.ceil(float(amount) * factor)
    return UNBOUNDED if value >= 2**64 else value


def actual_size(value: Any) -> int:
    """The size a value is charged by: its length, or 1. Optionals are looked into."""
    while isinstance(value, Optional) and value.present:
        value = value.value
    return plain_size(value)


def plain_size(value: Any) -> int:
    """The size a value is charged by outside of the standard library: its length, or 1."""
    size = size_of(value)
    if size is not None:
        return size
    own = getattr(value, "cel_size", None)
    return 1 if own is None else int(own)


def fixed(amount: int) -> Cost:
    """The same cost every time."""

    def actual(args: Sequence[Any], result: Any) -> int:
        return amount

    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
        return estimator.call(Range(amount, amount))

    return Cost(actual, estimate)


def traverse(factor: float, *, sized: bool = False) -> Cost:
    """
    A walk over the first argument (the receiver of a member): its size times `factor`.

    `sized` says that the result is estimated as large as the argument.
    """

    def actual(args: Sequence[Any], result: Any) -> int:
        return share(plain_size(args[0]), factor)

    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
        size = estimator.size(target if target is not None else args[0])
        return estimator.call(size.scaled(factor), size if sized else None)

    return Cost(actual, estimate)


NOMINAL: Final = fixed(1)
TRAVERSE_FIRST: Final = traverse(STRING)
