"""
The lists extension, version 3.

The trap: some costs look into their arguments without asking what they are.
Where an argument failed, or is no list, the whole evaluation crashes and no
``||`` saves it; see `_list_size`.

Spec: CEL-55
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import BEFORE_029, SINCE_029, Cost, Function, Library, Macro, Overload, Window
from dra_alloc.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    TIMESTAMP,
    UINT,
    CelType,
    list_of,
    param,
)
from dra_alloc.cel.check.types import (
    STRING as STRING_TYPE,
)
from dra_alloc.cel.count.costs import STRING, UNBOUNDED, UNKNOWN, Range, plain_size
from dra_alloc.cel.errors import CelAbort, CelError
from dra_alloc.cel.library.budget import check_elements
from dra_alloc.cel.library.time_values import Duration, Timestamp
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.syntax.ast import Call, Comprehension, Ident, ListNode, Literal, Node, Select
from dra_alloc.cel.syntax.macros import MacroError, MacroExpansion, variable_name
from dra_alloc.cel.values.equality import compare, equal
from dra_alloc.cel.values.runtime import UInt, go_type, is_list, type_value, unsupported

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import CallEstimate, Estimator, Operand

__all__ = ["LISTS_LIBRARY"]

_T: Final = param("T")
_LIST: Final = list_of(_T)
_ORDERED: Final = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING_TYPE, BYTES)
_COMPARABLE: Final = (int, UInt, float, bool, Duration, Timestamp, str, bytes)
_NOT_A_LIST: Final = "internal error: interface conversion: {} is not traits.Lister: missing method"
#: What knows how to be added, the first thing asked of a list.
_ADDED: Final = (int, float, str, bytes, Duration, Timestamp)
_BY_KEYS: Final = "@sortByAssociatedKeys"
_INPUT: Final = "@__sortBy_input__"
#: A new list, and the call.
_BASE: Final = Range(11, 11)


def _slice(values: Any, start: int, end: int) -> tuple[Any, ...]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(values):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(values)}")
    check_elements(end - start)
    return tuple(values[index] for index in range(start, end))


def _flatten(values: Any, depth: Any = None, spelled: Callable[[Any], str] | None = None) -> tuple[Any, ...]:
    if not is_list(values) or type(depth) not in (int, type(None)):
        name = spelled or _spelled
        argument = "" if depth is None else name(depth)
        raise CelError(f"no such overload: {name(values)}.flatten({argument})")
    levels = 1 if depth is None else depth
    if levels < 0:
        raise CelError("level must be non-negative")
    flat: list[Any] = []
    looked_at = 0
    stack = [(iter(values), levels)]
    while stack:
        elements, left = stack[-1]
        for value in elements:
            looked_at += 1
            check_elements(looked_at)
            if left and is_list(value):
                stack.append((iter(value), left - 1))
                break
            flat.append(value)
        else:
            stack.pop()
    return tuple(flat)


def _flatten_from_029(values: Any, depth: Any = None) -> tuple[Any, ...]:
    return _flatten(values, depth, lambda value: str(type_value(value)))


def _spelled(value: Any) -> str:
    kind = type_value(value)
    return kind.name if kind.is_optional else str(kind)


def _range(size: int) -> range:
    check_elements(size)
    return range(size)


def _strict_range(size: int) -> range:
    if size < 0:
        raise CelError(f"lists.range: size must be non-negative, got {size}")
    return _range(size)


def _distinct(values: Any) -> tuple[Any, ...]:
    kept: list[Any] = []
    check_elements(len(values) ** 2)
    for value in values:
        if not any(_same(value, other) for other in kept):
            kept.append(value)
    return tuple(kept)


def _same(left: Any, right: Any) -> bool:
    try:
        return equal(left, right)
    except CelError:
        return False


def _reverse(values: Any) -> tuple[Any, ...]:
    check_elements(len(values))
    return tuple(values)[::-1]


def _order(left: Any, right: Any) -> int:
    try:
        return compare(left, right)
    except CelError:
        return 0


def _by_key(left: tuple[Any, Any], right: tuple[Any, Any]) -> int:
    return _order(left[0], right[0])


def _sorted(values: Any, keys: Any) -> tuple[Any, ...]:
    """
    `values` in the order of their `keys`; equal keys keep their places, upstream's only do in short lists.

    Raises: CelError unless the keys are of one type that has an order.
    """
    check_elements(len(keys) ** 2)
    if not len(keys):
        return tuple(values)
    kind = type(keys[0])
    if kind not in _COMPARABLE:
        raise CelError("list elements must be comparable")
    if any(type(key) is not kind for key in keys):
        raise CelError("list elements must have the same type")
    pairs = sorted(zip(keys, values, strict=True), key=cmp_to_key(_by_key))
    return tuple(value for _, value in pairs)


def _sort(values: Any) -> tuple[Any, ...]:
    if not is_list(values):
        raise unsupported("sort", values)
    return _sorted(values, values)


def _sort_by_keys(values: Any, keys: Any) -> tuple[Any, ...]:
    if not is_list(values) or not is_list(keys):
        raise CelError(f"no such overload: {_BY_KEYS}")
    return _sorted(values, keys)


def _sort_by(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    """``list.sortBy(x, key)``: the list bound to a name, sorted by the list of its keys."""
    assert target is not None
    if not isinstance(target, (Call, Comprehension, Ident, ListNode, Select)):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target, message)
    name = variable_name(args[0], "argument is not an identifier")
    step = make.call("_+_", make.accumulator(), make.list(args[1]))
    parts = (make.list(), make.literal(True), step, make.accumulator())
    keys = make.fold(make.ident(_INPUT), (name,), parts, "map")
    return make.bind(_INPUT, target, make.member_call(_BY_KEYS, make.ident(_INPUT), keys))


# Costs


def _list_size(value: Any) -> int:
    """The length of a list; raises CelAbort for anything else, as upstream panics."""
    if is_list(value):
        return len(value)
    if type(value) is Failed:
        raise CelAbort(f"{_NOT_A_LIST.format('*types.Err')} Add")
    missing = "Contains" if isinstance(value, _ADDED) and type(value) is not bool else "Add"
    raise CelAbort(f"{_NOT_A_LIST.format(go_type(value))} {missing}")


def _linear_actual(args: Sequence[Any], result: Any) -> int:
    return _BASE.low + (len(args[0]) if is_list(args[0]) else 1)


def _linear(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    size = estimator.size(target)
    return estimator.call(size.plus(_BASE), size)


def _literal(operand: Operand) -> int | None:
    """The value of an int literal, None for anything else."""
    node = operand.node
    return node.value if isinstance(node, Literal) and type(node.value) is int else None


def _slice_actual(args: Sequence[Any], result: Any) -> int:
    return _BASE.low + plain_size(result)


def _slice_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    start, end = _literal(args[0]), _literal(args[1])
    # Negative numbers count as 0, and the difference of unsigned numbers wraps around.
    last = estimator.size(target).high if end is None else max(end, 0)
    size = (last - max(start or 0, 0)) % 2**64
    return estimator.call(Range(size, size).scaled(1.0).plus(_BASE), Range(size, size))


def _flatten_actual(args: Sequence[Any], result: Any) -> int:
    # A negative depth wraps around.
    return (_BASE.low + _whole(plain_size(args[0]) * float(_depth(args)))) % 2**64


def _flatten_actual_from_029(args: Sequence[Any], result: Any) -> int:
    depth = _depth(args)
    return _BASE.low + _whole(plain_size(args[0]) * float(1 if depth < 0 else depth))


def _depth(args: Sequence[Any]) -> int:
    depth = args[1] if len(args) > 1 else 1
    if type(depth) is not int:
        found = "*types.Err" if type(depth) is Failed else go_type(depth)
        raise CelAbort(f"internal error: interface conversion: ref.Val is {found}, not types.Int")
    return depth


def _whole(cost: float) -> int:
    return int(cost) if cost < 2.0**64 else UNBOUNDED


def _flatten_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    size = estimator.size(target)
    depth = _literal(args[0]) if args else 1
    if depth is None:
        return estimator.call(size.times(Range(UNBOUNDED, UNBOUNDED)).plus(_BASE), size)
    return estimator.call(size.scaled(float(max(depth, 0))).plus(_BASE), size)


def _range_actual(args: Sequence[Any], result: Any) -> int:
    return _BASE.low + (max(args[0], 0) if type(args[0]) is int else 1)


def _strict_range_actual(args: Sequence[Any], result: Any) -> int:
    return _BASE.low + (args[0] if type(args[0]) is int and args[0] >= 0 else 1)


def _range_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    size = _literal(args[0])
    if size is None:
        return estimator.call(Range(UNBOUNDED, UNBOUNDED), UNKNOWN)
    whole = Range(max(size, 0), max(size, 0))
    return estimator.call(whole.plus(_BASE), whole)


def _square_actual(args: Sequence[Any], result: Any) -> int:
    values = args[-1]
    pairs = _list_size(values) ** 2
    texts = pairs and isinstance(values[0], (str, bytes))
    return _BASE.low + int(pairs * (2 + STRING if texts else 2))


def _square(size: Range) -> Range:
    return size.times(size)


def _distinct_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    pairs = _square(estimator.size(target))
    return estimator.call(pairs.plus(pairs).plus(_BASE), pairs)


def _sort_estimate(compared: CelType) -> Callable[[Estimator, Operand | None, Sequence[Operand]], CallEstimate | None]:
    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
        if target is None:
            return None
        pairs = _square(estimator.size(target))
        cost = pairs.plus(pairs).plus(_BASE)
        if compared in (STRING_TYPE, BYTES):
            cost = cost.plus(pairs.scaled(STRING))
        return estimator.call(cost, pairs)

    return estimate


def _sort_overloads(form: str, keyed: bool) -> tuple[Overload, ...]:
    made = []
    for kind in _ORDERED:
        compared = list_of(kind)
        params, result = ((_LIST, compared), _LIST) if keyed else ((compared,), compared)
        cost = Cost(_square_actual, _sort_estimate(kind), crashes=True)
        made.append(Overload(form.format(kind.name), params, result, member=True, cost=cost))
    return tuple(made)


_LINEAR: Final = Cost(_linear_actual, _linear)
_SLICE: Final = Cost(_slice_actual, _slice_estimate, before=False)
_FLATTEN: Final = Cost(_flatten_actual, _flatten_estimate, crashes=True)
_FLATTEN_FROM_029: Final = Cost(_flatten_actual_from_029, _flatten_estimate, crashes=True)
_RANGE: Final = Cost(_range_actual, _range_estimate)
_STRICT_RANGE: Final = Cost(_strict_range_actual, _range_estimate)
_DISTINCT: Final = Cost(_square_actual, _distinct_estimate, crashes=True)


def _flatten_overloads(identifier: str, params: tuple[CelType, ...], result: CelType) -> tuple[Overload, ...]:
    variants = (
        (_flatten, _FLATTEN, BEFORE_029),
        (_flatten_from_029, _FLATTEN_FROM_029, SINCE_029),
    )
    return tuple(
        Overload(identifier, params, result, run, member=True, cost=cost, window=window)
        for run, cost, window in variants
    )


LISTS_LIBRARY: Final = Library(
    "lists",
    functions=(
        Function("slice", (Overload("list_slice", (_LIST, INT, INT), _LIST, _slice, member=True, cost=_SLICE),)),
        Function(
            "flatten",
            (
                *_flatten_overloads("list_flatten", (list_of(_LIST),), _LIST),
                *_flatten_overloads("list_flatten_int", (list_of(DYN), INT), list_of(DYN)),
            ),
            guarded=False,
        ),
        Function(
            "lists.range",
            (
                Overload("lists_range", (INT,), list_of(INT), _range, cost=_RANGE, window=BEFORE_029),
                Overload("lists_range", (INT,), list_of(INT), _strict_range, cost=_STRICT_RANGE, window=SINCE_029),
            ),
        ),
        Function("distinct", (Overload("list_distinct", (_LIST,), _LIST, _distinct, member=True, cost=_DISTINCT),)),
        Function("reverse", (Overload("list_reverse", (_LIST,), _LIST, _reverse, member=True, cost=_LINEAR),)),
        Function("sort", _sort_overloads("list_{}_sort", keyed=False), run=_sort),
        Function(_BY_KEYS, _sort_overloads("list_{}_sortByAssociatedKeys", keyed=True), run=_sort_by_keys),
    ),
    macros=(Macro("sortBy", 2, _sort_by),),
    window=Window(since=34),
)
