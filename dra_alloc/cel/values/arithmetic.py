"""
Checked arithmetic, by the class of the left operand.

Spec: CEL-22
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.runtime import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    NO_SUCH_OVERLOAD,
    ConcatList,
    MutableList,
    UInt,
    is_list,
    unsupported,
)

Binary = Callable[[Any, Any], Any]


def _int(value: int) -> int:
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelError("integer overflow")


def _uint(value: int) -> UInt:
    if 0 <= value <= MAX_UINT:
        return UInt(value)
    raise CelError("unsigned integer overflow")


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _divide_int(left: int, right: int) -> int:
    if right == 0:
        raise CelError("division by zero")
    return _int(_truncated(left, right))


def _modulo_int(left: int, right: int) -> int:
    if right == 0:
        raise CelError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise CelError("integer overflow")
    return left - right * _truncated(left, right)


def _divide_uint(left: int, right: int) -> UInt:
    if right == 0:
        raise CelError("division by zero")
    return UInt(left // right)


def _modulo_uint(left: int, right: int) -> UInt:
    if right == 0:
        raise CelError("modulus by zero")
    return UInt(left % right)


def _divide_double(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _multiply_double(left: float, right: float) -> float:
    return left * right


def _concat(left: Any, right: Any) -> Any:
    if not left:
        return right
    if not right:
        return left
    return ConcatList(left, right)


def add_lists(left: Any, right: Any) -> Any:
    """`left` and `right` end to end; raises CelError if `right` is no list."""
    if not is_list(right):
        raise CelError(NO_SUCH_OVERLOAD)
    if type(left) is MutableList:
        left.extend(right)
        return left
    return _concat(left, right)


_ADD: Final[dict[type, Binary]] = {
    int: lambda left, right: _int(left + right),
    UInt: lambda left, right: _uint(int(left) + int(right)),
    float: lambda left, right: left + right,
    str: lambda left, right: left + right,
    bytes: lambda left, right: left + right,
}
_SUBTRACT: Final[dict[type, Binary]] = {
    int: lambda left, right: _int(left - right),
    UInt: lambda left, right: _uint(int(left) - int(right)),
    float: lambda left, right: left - right,
}
_MULTIPLY: Final[dict[type, Binary]] = {
    int: lambda left, right: _int(left * right),
    UInt: lambda left, right: _uint(int(left) * int(right)),
    float: _multiply_double,
}
_DIVIDE: Final[dict[type, Binary]] = {int: _divide_int, UInt: _divide_uint, float: _divide_double}
_MODULO: Final[dict[type, Binary]] = {int: _modulo_int, UInt: _modulo_uint}


def _operate(table: Mapping[type, Binary], function: str, method: str, left: Any, right: Any) -> Any:
    kind = type(left)
    operation = table.get(kind)
    if operation is not None:
        if type(right) is kind:
            return operation(left, right)
        raise CelError(NO_SUCH_OVERLOAD)
    own = getattr(left, method, None)
    if own is None:
        raise unsupported(function, left)
    return own(right)


def add(left: Any, right: Any) -> Any:
    """``left + right``."""
    if is_list(left):
        return add_lists(left, right)
    return _operate(_ADD, "_+_", "cel_add", left, right)


def subtract(left: Any, right: Any) -> Any:
    """``left - right``."""
    return _operate(_SUBTRACT, "_-_", "cel_subtract", left, right)


def multiply(left: Any, right: Any) -> Any:
    """``left * right``."""
    return _operate(_MULTIPLY, "_*_", "cel_multiply", left, right)


def divide(left: Any, right: Any) -> Any:
    """``left / right``, truncated for integers."""
    return _operate(_DIVIDE, "_/_", "cel_divide", left, right)


def modulo(left: Any, right: Any) -> Any:
    """``left % right``, with the sign of `left`."""
    return _operate(_MODULO, "_%_", "cel_modulo", left, right)


def negate(value: Any) -> Any:
    """``-value``."""
    kind = type(value)
    if kind is int:
        return _int(-value)
    if kind is float:
        return -value
    if kind is bool:
        raise CelError(NO_SUCH_OVERLOAD)
    own = getattr(value, "cel_negate", None)
    if own is None:
        raise unsupported("-_", value)
    return own()
