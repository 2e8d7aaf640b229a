"""
kubernetes.lists: order, sums and positions. Values of different kinds count as in order.

Spec: CEL-53
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from dra_alloc.cel.check.declarations import Function, Library, Overload
from dra_alloc.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    CelType,
    list_of,
    param,
)
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.budget import check_elements
from dra_alloc.cel.library.time_values import Duration
from dra_alloc.cel.library.walks import WALK
from dra_alloc.cel.values.arithmetic import add
from dra_alloc.cel.values.equality import compare, equal, is_comparable
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, UInt

_A: Final = param("A")
_SUMMED: Final[tuple[tuple[str, CelType, Any], ...]] = (
    ("int", INT, 0),
    ("uint", UINT, UInt(0)),
    ("double", DOUBLE, 0.0),
    ("duration", DURATION, Duration(0)),
)
_ORDERED: Final[tuple[tuple[str, CelType], ...]] = (
    ("int", INT),
    ("uint", UINT),
    ("double", DOUBLE),
    ("bool", BOOL),
    ("duration", DURATION),
    ("timestamp", TIMESTAMP),
    ("string", STRING),
    ("bytes", BYTES),
)


def _follows(left: Any, right: Any) -> bool:
    """Whether `left` belongs after `right`; no if they are of different kinds."""
    try:
        return compare(left, right) > 0
    except CelError:
        return False


def _comparable(values: Any) -> Iterator[Any]:
    """The values in turn; raises CelError at the first that has no order at all."""
    for value in values:
        if not is_comparable(value):
            raise CelError(NO_SUCH_OVERLOAD)
        yield value


def _is_sorted(values: Any) -> bool:
    check_elements(len(values))
    before = values[0] if len(values) else None
    for index, value in enumerate(_comparable(values)):
        if index and _follows(before, value):
            return False
        before = value
    return True


def _sum_from(zero: Any) -> Callable[[Any], Any]:
    def run(values: Any) -> Any:
        check_elements(len(values))
        total = zero
        for value in values:
            total = add(total, value)
        return total

    return run


def _extreme(name: str, replaces: Callable[[Any, Any], bool]) -> Callable[[Any], Any]:
    """The first value that no later one `replaces`."""

    def run(values: Any) -> Any:
        check_elements(len(values))
        if not len(values):
            raise CelError(f"{name} called on empty list")
        best = values[0]
        for value in _comparable(values):
            if replaces(value, best):
                best = value
        return best

    return run


def _position(indexed: Iterable[tuple[int, Any]], wanted: Any) -> int:
    for index, value in indexed:
        try:
            if equal(value, wanted):
                return index
        except CelError:
            continue
    return -1


def _index_of(values: Any, wanted: Any) -> int:
    check_elements(len(values))
    return _position(enumerate(values), wanted)


def _last_index_of(values: Any, wanted: Any) -> int:
    check_elements(len(values))
    return _position(reversed(tuple(enumerate(values))), wanted)


def _ordered(name: str, form: str, run: Callable[[Any], Any], result: CelType | None = None) -> Function:
    """One overload for each element type that has an order; `form` makes its id of the type's name."""
    return Function(
        name,
        tuple(
            Overload(form.format(kind), (list_of(element),), result or element, run, member=True)
            for kind, element in _ORDERED
        ),
        cost=WALK,
    )


def _positions(name: str, identifier: str, run: Callable[[Any, Any], int]) -> Function:
    return Function(name, (Overload(identifier, (list_of(_A), _A), INT, run, member=True),), cost=WALK)


AGGREGATES_LIBRARY: Final = Library(
    "kubernetes.lists",
    functions=(
        _ordered("isSorted", "list_{}_is_sorted_bool", _is_sorted, BOOL),
        Function(
            "sum",
            tuple(
                Overload(f"list_{kind}_sum_{kind}", (list_of(element),), element, _sum_from(zero), member=True)
                for kind, element, zero in _SUMMED
            ),
            cost=WALK,
        ),
        _ordered("max", "list_{0}_max_{0}", _extreme("max", _follows)),
        _ordered("min", "list_{0}_min_{0}", _extreme("min", lambda value, best: _follows(best, value))),
        _positions("indexOf", "list_a_index_of_int", _index_of),
        _positions("lastIndexOf", "list_a_last_index_of_int", _last_index_of),
    ),
)
