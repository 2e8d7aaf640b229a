"""
The lists extension, version 3.

Spec: CEL-55
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Final

from dra_alloc.cel.check.declarations import (
    BEFORE_029,
    BEFORE_033,
    CEL_GO_029,
    CEL_GO_033,
    SINCE_033,
    Cost,
    Function,
    Library,
    Macro,
    Overload,
    Window,
)
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
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.budget import check_elements
from dra_alloc.cel.library.list_costs import (
    DISTINCT,
    FLATTEN,
    FLATTEN_BEFORE_029,
    FLATTEN_ONLY_029,
    RANGE,
    RANGE_BEFORE_029,
    RANGE_ONLY_029,
    REVERSE,
    REVERSE_BEFORE_033,
    SLICE,
    SLICE_BEFORE_033,
    sorting,
)
from dra_alloc.cel.library.time_values import Duration, Timestamp
from dra_alloc.cel.syntax.ast import Call, Comprehension, Ident, ListNode, Node, Select
from dra_alloc.cel.syntax.macros import MacroError, MacroExpansion, variable_name
from dra_alloc.cel.values.equality import compare, same
from dra_alloc.cel.values.runtime import UInt, is_list, type_value, unsupported
from dra_alloc.releases import Span

_T: Final = param("T")
_LIST: Final = list_of(_T)
_ORDERED: Final = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING_TYPE, BYTES)
_COMPARABLE: Final = (int, UInt, float, bool, Duration, Timestamp, str, bytes)
_BY_KEYS: Final = "@sortByAssociatedKeys"
_INPUT: Final = "@__sortBy_input__"
_MAX_RANGE: Final = 1_000_000
_ONLY_029: Final = Window(span=Span(CEL_GO_029, CEL_GO_033))


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


def _range_from_033(size: int) -> range:
    if size > _MAX_RANGE:
        raise CelError(f"lists.range: size {size} exceeds maximum allowed ({_MAX_RANGE})")
    return _strict_range(size)


def _strict_range(size: int) -> range:
    if size < 0:
        raise CelError(f"lists.range: size must be non-negative, got {size}")
    return _range(size)


def _distinct(values: Any) -> tuple[Any, ...]:
    kept: list[Any] = []
    check_elements(len(values) ** 2)
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return tuple(kept)


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


def _sort_overloads(form: str, keyed: bool) -> tuple[Overload, ...]:
    made = []
    for kind in _ORDERED:
        compared = list_of(kind)
        params, result = ((_LIST, compared), _LIST) if keyed else ((compared,), compared)
        made.append(Overload(form.format(kind.name), params, result, member=True, cost=sorting(kind)))
    return tuple(made)


def _member(
    identifier: str, params: tuple[CelType, ...], run: Callable[..., Any], before: Cost, since: Cost
) -> tuple[Overload, ...]:
    """A method of lists that is counted otherwise since 1.38."""
    return tuple(
        Overload(identifier, params, _LIST, run, member=True, cost=cost, window=window)
        for cost, window in ((before, BEFORE_033), (since, SINCE_033))
    )


def _flatten_overloads(identifier: str, params: tuple[CelType, ...], result: CelType) -> tuple[Overload, ...]:
    variants = (
        (_flatten, FLATTEN_BEFORE_029, BEFORE_029),
        (_flatten_from_029, FLATTEN_ONLY_029, _ONLY_029),
        (_flatten_from_029, FLATTEN, SINCE_033),
    )
    return tuple(
        Overload(identifier, params, result, run, member=True, cost=cost, window=window)
        for run, cost, window in variants
    )


LISTS_LIBRARY: Final = Library(
    "lists",
    functions=(
        Function("slice", _member("list_slice", (_LIST, INT, INT), _slice, SLICE_BEFORE_033, SLICE)),
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
                Overload("lists_range", (INT,), list_of(INT), _range, cost=RANGE_BEFORE_029, window=BEFORE_029),
                Overload("lists_range", (INT,), list_of(INT), _strict_range, cost=RANGE_ONLY_029, window=_ONLY_029),
                Overload("lists_range", (INT,), list_of(INT), _range_from_033, cost=RANGE, window=SINCE_033),
            ),
        ),
        Function("distinct", (Overload("list_distinct", (_LIST,), _LIST, _distinct, member=True, cost=DISTINCT),)),
        Function("reverse", _member("list_reverse", (_LIST,), _reverse, REVERSE_BEFORE_033, REVERSE)),
        Function("sort", _sort_overloads("list_{}_sort", keyed=False), run=_sort),
        Function(_BY_KEYS, _sort_overloads("list_{}_sortByAssociatedKeys", keyed=True), run=_sort_by_keys),
    ),
    macros=(Macro("sortBy", 2, _sort_by),),
    window=Window(since=34),
)
