"""
What the lists extension costs.

The trap: some costs look into their arguments without asking what they are.
Where an argument failed, or is no list, the whole evaluation crashes and no
``||`` saves it; see `_list_size`.

Spec: CEL-32, CEL-55
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import Cost
from dra_alloc.cel.check.types import BYTES, DYN, CelType
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import ONE, STRING, UNBOUNDED, Range, actual_size, plain_size
from dra_alloc.cel.errors import CelAbort
from dra_alloc.cel.library.time_values import Duration, Timestamp
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.syntax.ast import Literal
from dra_alloc.cel.values.runtime import Optional, go_type, is_list

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

_NOT_A_LIST: Final = "internal error: interface conversion: {} is not traits.Lister: missing method"
#: What knows how to be added, the first thing asked of a list.
_ADDED: Final = (int, float, str, bytes, Duration, Timestamp)
#: A new list, and the call.
_BASE: Final = Range(11, 11)


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


def _result_actual(args: Sequence[Any], result: Any) -> int:
    """A new list as long as the result; nothing where there is none."""
    return _BASE.low + (0 if type(result) is Failed else plain_size(result))


def _slice_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    start, end = _literal(args[0]), _literal(args[1])
    # Negative numbers count as 0, and the difference of unsigned numbers wraps around.
    last = estimator.size(target).high if end is None else max(end, 0)
    size = (last - max(start or 0, 0)) % 2**64
    held = estimator.size(target).element
    return estimator.call(Range(size, size).scaled(1.0).plus(_BASE), Range(size, size, None, held))


def _flatten_actual(args: Sequence[Any], result: Any) -> int:
    # A negative depth wraps around.
    return (_BASE.low + _whole(plain_size(args[0]) * float(_depth(args)))) % 2**64


def _flatten_actual_from_033(args: Sequence[Any], result: Any) -> int:
    """A new list as long as the old one, as often as there are levels; what is no number counts as one level."""
    depth = args[1] if len(args) > 1 and isinstance(args[1], int) and type(args[1]) is not bool else 1
    size = 0 if isinstance(args[0], Optional) and not args[0].present else actual_size(args[0])
    return min(_BASE.low + size * max(int(depth), 0), UNBOUNDED)


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
    most = UNBOUNDED if size is None else max(size, 0)
    return estimator.call(Range(most, most).plus(_BASE), Range(most, most, None, ONE))


def _square_actual(args: Sequence[Any], result: Any) -> int:
    values = args[-1]
    pairs = _list_size(values) ** 2
    texts = pairs and isinstance(values[0], (str, bytes))
    return _BASE.low + int(pairs * (2 + STRING if texts else 2))


def _pairs_estimate(estimator: Estimator, of: Operand, kept: Operand, compared: CelType) -> CallEstimate:
    """Every element against every other; texts are walked besides. The result is as large as there are pairs."""
    size = estimator.size(of)
    pairs = size.times(size)
    texts = compared in (STRING_TYPE, BYTES)
    if estimator.exact:
        cost = pairs.scaled(2 + STRING if texts else 2)
    else:
        cost = pairs.plus(pairs)
        cost = cost.plus(pairs.scaled(STRING)) if texts else cost
    return estimator.call(cost.plus(_BASE), Range(pairs.low, pairs.high, None, estimator.size(kept).element))


def _distinct_estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
    if target is None:
        return None
    # Up to 1.37 texts count as anything else.
    compared = target.type.params[0] if estimator.exact and target.type.params else DYN
    return _pairs_estimate(estimator, target, target, compared)


def _sort_estimate(compared: CelType) -> Callable[[Estimator, Operand | None, Sequence[Operand]], CallEstimate | None]:
    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
        if target is None:
            return None
        return _pairs_estimate(estimator, args[0] if args and estimator.exact else target, target, compared)

    return estimate


def sorting(compared: CelType) -> Cost:
    """The cost of sorting a list of such keys."""
    return Cost(_square_actual, _sort_estimate(compared), crashes=True, opens=True)


REVERSE_BEFORE_033: Final = Cost(_linear_actual, _linear)
SLICE_BEFORE_033: Final = Cost(_slice_actual, _slice_estimate, before=False)
FLATTEN_BEFORE_029: Final = Cost(_flatten_actual, _flatten_estimate, crashes=True, opens=True)
FLATTEN_ONLY_029: Final = Cost(_flatten_actual_from_029, _flatten_estimate, crashes=True, opens=True)
FLATTEN: Final = Cost(_flatten_actual_from_033, _flatten_estimate, opens=True)
RANGE_BEFORE_029: Final = Cost(_range_actual, _range_estimate)
RANGE_ONLY_029: Final = Cost(_strict_range_actual, _range_estimate)
RANGE: Final = Cost(_result_actual, _range_estimate, before=False)
REVERSE: Final = Cost(_result_actual, _linear, before=False)
SLICE: Final = Cost(_result_actual, _slice_estimate, before=False)
DISTINCT: Final = Cost(_square_actual, _distinct_estimate, crashes=True, opens=True)
