"""
Operators, `size` and `@in`: one implementation each that looks at the run-time types.

Spec: CEL-20, CEL-21, CEL-22
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import BEFORE_033, SINCE_033, Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    NULL,
    TIMESTAMP,
    TYPE,
    UINT,
    CelType,
    list_of,
    map_of,
    param,
)
from dra_alloc.cel.check.types import (
    STRING as STRING_TYPE,
)
from dra_alloc.cel.count.costs import STRING, Range, actual_size, share
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.syntax.macros import STANDARD_MACROS
from dra_alloc.cel.values import arithmetic
from dra_alloc.cel.values.equality import compare, equal, is_comparable
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, CelMap, is_list, size_of, unsupported

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_A, _B = param("A"), param("B")
_LIST, _MAP = list_of(_A), map_of(_A, _B)
#: Values upstream compares at a flat cost of 1.
_FLAT: Final = frozenset(
    ("kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL", "kubernetes.NamedFormat", "net.IP", "net.CIDR")
)
_FLAT_STATIC: Final = frozenset(("kubernetes.Quantity", "kubernetes.Semver", "net.IP", "net.CIDR"))


def _smaller_size(args: Sequence[Any], result: Any) -> int:
    return share(min(actual_size(args[0]), actual_size(args[1])), STRING)


def _equality_actual(args: Sequence[Any], result: Any) -> int:
    kind = getattr(args[0], "cel_type", None)
    if kind is not None and kind.name in _FLAT:
        return 1
    return _smaller_size(args, result)


def _smaller_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    smallest = min(estimator.size(args[0]).high, estimator.size(args[1]).high)
    return estimator.call(Range(1 if smallest > 0 else 0, smallest).scaled(STRING))


def _equality_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    left, right = args[0].type, args[1].type
    if left == right:
        if left.name in _FLAT_STATIC:
            return estimator.call(Range(1, 1))
        if left.name == "kubernetes.NamedFormat":
            return estimator.call(Range(1, 64).scaled(STRING))
        if left.name == "kubernetes.URL":
            size = args[1].size
            return estimator.call(Range(1, 1 if size is None else size.high).scaled(STRING))
    return _smaller_estimate(estimator, target, args)


def _sum_actual(args: Sequence[Any], result: Any) -> int:
    return share(actual_size(args[0]) + actual_size(args[1]), STRING)


def _sum_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    size = estimator.joined(args[0], args[1])
    return estimator.call(estimator.share(size, 10), size, joined=True)


def _list_sum_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    return estimator.call(Range(1, 1), estimator.joined(args[0], args[1]), joined=True)


def _in_list_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    return estimator.call(estimator.share(estimator.size(args[1]), 1))


_EQUALITY: Final = Cost(_equality_actual, _equality_estimate)
_INEQUALITY: Final = Cost(_smaller_size, _smaller_estimate)
_ORDER: Final = Cost(_smaller_size, _smaller_estimate)
_SUM: Final = Cost(_sum_actual, _sum_estimate)
_LIST_SUM: Final = Cost(lambda args, result: 1, _list_sum_estimate)
_IN_LIST: Final = Cost(lambda args, result: actual_size(args[1]), _in_list_estimate)


def contains_value(value: Any, container: Any) -> bool:
    """``value in container``; raises CelError unless `container` is a list or map."""
    if isinstance(container, CelMap):
        return container.contains(value)
    if not is_list(container):
        raise CelError(NO_SUCH_OVERLOAD)
    kind = type(value)
    for element in container:
        try:
            if (element == value) if kind is str and type(element) is str else equal(value, element):
                return True
        except CelError:
            continue
    return False


def _not(value: Any) -> bool:
    if type(value) is not bool:
        raise CelError(NO_SUCH_OVERLOAD)
    return not value


def _size(value: Any) -> int:
    size = size_of(value)
    if size is None:
        raise unsupported("size", value)
    return size


def _ordered(function: str, test: Callable[[int], bool], numbers: bool) -> Callable[[Any, Any], bool]:
    def run(left: Any, right: Any) -> bool:
        if not is_comparable(left):
            raise unsupported(function, left)
        if not numbers and (_is_nan(left) or _is_nan(right)):
            return False
        return test(compare(left, right))

    return run


def _is_nan(value: Any) -> bool:
    return type(value) is float and value != value


_COMPARED: Final[tuple[tuple[str, CelType, CelType], ...]] = (
    ("bool", BOOL, BOOL),
    ("int64", INT, INT),
    ("int64_double", INT, DOUBLE),
    ("int64_uint64", INT, UINT),
    ("uint64", UINT, UINT),
    ("uint64_double", UINT, DOUBLE),
    ("uint64_int64", UINT, INT),
    ("double", DOUBLE, DOUBLE),
    ("double_int64", DOUBLE, INT),
    ("double_uint64", DOUBLE, UINT),
    ("string", STRING_TYPE, STRING_TYPE),
    ("bytes", BYTES, BYTES),
    ("timestamp", TIMESTAMP, TIMESTAMP),
    ("duration", DURATION, DURATION),
)


def _comparison(function: str, prefix: str, test: Callable[[int], bool], numbers: bool) -> Function:
    overloads = tuple(
        Overload(f"{prefix}_{name}", (left, right), BOOL, cost=_ORDER if name in ("string", "bytes") else None)
        for name, left, right in _COMPARED
    )
    return Function(function, overloads, run=_ordered(function, test, numbers))


def _overloads(rows: Sequence[tuple[str, CelType, CelType, CelType]], costs: dict[str, Cost]) -> tuple[Overload, ...]:
    return tuple(Overload(name, (left, right), result, cost=costs.get(name)) for name, left, right, result in rows)


_ADD_ROWS: Final = (
    ("add_bytes", BYTES, BYTES, BYTES),
    ("add_double", DOUBLE, DOUBLE, DOUBLE),
    ("add_duration_duration", DURATION, DURATION, DURATION),
    ("add_duration_timestamp", DURATION, TIMESTAMP, TIMESTAMP),
    ("add_timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP),
    ("add_int64", INT, INT, INT),
    ("add_list", _LIST, _LIST, _LIST),
    ("add_string", STRING_TYPE, STRING_TYPE, STRING_TYPE),
    ("add_uint64", UINT, UINT, UINT),
)
_SUBTRACT_ROWS: Final = (
    ("subtract_double", DOUBLE, DOUBLE, DOUBLE),
    ("subtract_duration_duration", DURATION, DURATION, DURATION),
    ("subtract_int64", INT, INT, INT),
    ("subtract_timestamp_duration", TIMESTAMP, DURATION, TIMESTAMP),
    ("subtract_timestamp_timestamp", TIMESTAMP, TIMESTAMP, DURATION),
    ("subtract_uint64", UINT, UINT, UINT),
)


def _numeric(function: str, prefix: str, kinds: str, run: Callable[[Any, Any], Any]) -> Function:
    types = {"double": DOUBLE, "int64": INT, "uint64": UINT}
    rows = [(f"{prefix}_{kind}", types[kind], types[kind], types[kind]) for kind in kinds.split()]
    return Function(function, _overloads(rows, {}), run=run)


def _sizes() -> tuple[Overload, ...]:
    rows = (("bytes", BYTES), ("list", _LIST), ("map", _MAP), ("string", STRING_TYPE))
    return tuple(
        overload
        for name, kind in rows
        for overload in (
            Overload(f"size_{name}", (kind,), INT),
            Overload(f"{name}_size", (kind,), INT, member=True),
        )
    )


def _comparisons(window: Window, *, numbers: bool) -> Library:
    """``<`` and its like; `numbers` says that only numbers can be ordered, otherwise NaN is unlike everything."""
    rows: tuple[tuple[str, str, Callable[[int], bool]], ...] = (
        ("_<_", "less", lambda order: order < 0),
        ("_<=_", "less_equals", lambda order: order <= 0),
        ("_>_", "greater", lambda order: order > 0),
        ("_>=_", "greater_equals", lambda order: order >= 0),
    )
    functions = tuple(_comparison(*row, numbers) for row in rows)
    return Library("standard comparisons", functions, window=window)


COMPARISONS_BEFORE_033: Final = _comparisons(BEFORE_033, numbers=True)
COMPARISONS_LIBRARY: Final = _comparisons(SINCE_033, numbers=False)
OPERATORS_LIBRARY: Final = Library(
    "standard operators",
    functions=(
        Function("_?_:_", (Overload("conditional", (BOOL, _A, _A), _A),)),
        Function("_&&_", (Overload("logical_and", (BOOL, BOOL), BOOL),)),
        Function("_||_", (Overload("logical_or", (BOOL, BOOL), BOOL),)),
        Function("!_", (Overload("logical_not", (BOOL,), BOOL),), run=_not),
        Function("@not_strictly_false", (Overload("not_strictly_false", (BOOL,), BOOL),)),
        Function("_==_", (Overload("equals", (_A, _A), BOOL, cost=_EQUALITY),), run=equal),
        Function("_!=_", (Overload("not_equals", (_A, _A), BOOL, cost=_INEQUALITY),)),
        Function(
            "_+_",
            _overloads(_ADD_ROWS, {"add_bytes": _SUM, "add_string": _SUM, "add_list": _LIST_SUM}),
            run=arithmetic.add,
        ),
        _numeric("_/_", "divide", "double int64 uint64", arithmetic.divide),
        _numeric("_%_", "modulo", "int64 uint64", arithmetic.modulo),
        _numeric("_*_", "multiply", "double int64 uint64", arithmetic.multiply),
        Function(
            "-_",
            (Overload("negate_double", (DOUBLE,), DOUBLE), Overload("negate_int64", (INT,), INT)),
            run=arithmetic.negate,
        ),
        Function("_-_", _overloads(_SUBTRACT_ROWS, {}), run=arithmetic.subtract),
        Function("_[_]", (Overload("index_list", (_LIST, INT), _A), Overload("index_map", (_MAP, _A), _B))),
        Function(
            "@in",
            (Overload("in_list", (_A, _LIST), BOOL, cost=_IN_LIST), Overload("in_map", (_A, _MAP), BOOL)),
            run=contains_value,
        ),
        Function("size", _sizes(), run=_size),
    ),
    macros=STANDARD_MACROS,
    types=(BOOL, BYTES, DOUBLE, DURATION, INT, _LIST, _MAP, NULL, STRING_TYPE, TIMESTAMP, TYPE, UINT),
)
