"""
Conversions between scalar types, `type` and `dyn`.

Time values bring theirs along in their own library.

Spec: CEL-23
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import Cost, Function, Library, Overload
from dra_alloc.cel.check.types import BOOL, BYTES, DOUBLE, DYN, INT, UINT, param, type_of
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import STRING, Range, actual_size, share
from dra_alloc.cel.errors import CelError, not_converted
from dra_alloc.cel.values.go_numbers import format_double, parse_bool, parse_double, parse_int, parse_uint
from dra_alloc.cel.values.runtime import MAX_INT, MAX_UINT, UInt, type_value

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

#: Functions applied at compile time when their argument is a constant.
FOLDED: Final = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
_A: Final = param("A")


def identity(value: Any) -> Any:
    """`value` itself."""
    return value


def _text_to_bool(text: str) -> bool:
    value = parse_bool(text)
    if value is None:
        raise not_converted("string", "bool")
    return value


def _text_to_double(text: str) -> float:
    value = parse_double(text)
    if value is None:
        raise not_converted("string", "double")
    return value


def _text_to_int(text: str) -> int:
    value = parse_int(text)
    if value is None:
        raise not_converted("string", "int")
    return value


def _text_to_uint(text: str) -> UInt:
    value = parse_uint(text)
    if value is None:
        raise not_converted("string", "uint")
    return UInt(value)


def _double_to_int(value: float) -> int:
    # The ends themselves are refused: they cannot be told from their neighbours.
    if not -(2.0**63) < value < 2.0**63:
        raise CelError("integer overflow")
    return math.trunc(value)


def _double_to_uint(value: float) -> UInt:
    if not 0 <= value < 2.0**64:
        raise CelError("unsigned integer overflow")
    return UInt(math.trunc(value))


def _uint_to_int(value: int) -> int:
    if value > MAX_INT:
        raise CelError("integer overflow")
    return int(value)


def _int_to_uint(value: int) -> UInt:
    if not 0 <= value <= MAX_UINT:
        raise CelError("unsigned integer overflow")
    return UInt(value)


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def _scan(args: Sequence[Any], result: Any) -> int:
    return share(actual_size(args[0]), STRING)


def _to_bytes(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    size = estimator.size(args[0])
    # Each character may take four bytes.
    return estimator.call(estimator.share(size, 10), estimator.grown(size.low, size.high * 4))


def _to_text(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate:
    size = estimator.size(args[0])
    # A character may be four bytes, of which up to 1.37 what is left over does not count.
    least = -(-size.low // 4) if estimator.exact else size.low // 4
    return estimator.call(estimator.share(size, 10), Range(least, size.high))


CONVERSIONS_LIBRARY: Final = Library(
    "standard conversions",
    functions=(
        Function("type", (Overload("type", (_A,), type_of(_A)),), run=type_value),
        Function("dyn", (Overload("to_dyn", (_A,), DYN),), run=identity),
        Function(
            "bool",
            (
                Overload("bool_to_bool", (BOOL,), BOOL, identity),
                Overload("string_to_bool", (STRING_TYPE,), BOOL, _text_to_bool),
            ),
        ),
        Function(
            "bytes",
            (
                Overload("bytes_to_bytes", (BYTES,), BYTES, identity),
                Overload("string_to_bytes", (STRING_TYPE,), BYTES, str.encode, cost=Cost(_scan, _to_bytes)),
            ),
        ),
        Function(
            "double",
            (
                Overload("double_to_double", (DOUBLE,), DOUBLE, identity),
                Overload("int64_to_double", (INT,), DOUBLE, float),
                Overload("string_to_double", (STRING_TYPE,), DOUBLE, _text_to_double),
                Overload("uint64_to_double", (UINT,), DOUBLE, float),
            ),
        ),
        Function(
            "int",
            (
                Overload("int64_to_int64", (INT,), INT, identity),
                Overload("double_to_int64", (DOUBLE,), INT, _double_to_int),
                Overload("string_to_int64", (STRING_TYPE,), INT, _text_to_int),
                Overload("uint64_to_int64", (UINT,), INT, _uint_to_int),
            ),
        ),
        Function(
            "uint",
            (
                Overload("uint64_to_uint64", (UINT,), UINT, identity),
                Overload("double_to_uint64", (DOUBLE,), UINT, _double_to_uint),
                Overload("int64_to_uint64", (INT,), UINT, _int_to_uint),
                Overload("string_to_uint64", (STRING_TYPE,), UINT, _text_to_uint),
            ),
        ),
        Function(
            "string",
            (
                Overload("string_to_string", (STRING_TYPE,), STRING_TYPE, identity),
                Overload("bool_to_string", (BOOL,), STRING_TYPE, lambda value: "true" if value else "false"),
                Overload("bytes_to_string", (BYTES,), STRING_TYPE, _bytes_to_text, cost=Cost(_scan, _to_text)),
                Overload("double_to_string", (DOUBLE,), STRING_TYPE, format_double),
                Overload("int64_to_string", (INT,), STRING_TYPE, str),
                Overload("uint64_to_string", (UINT,), STRING_TYPE, lambda value: str(int(value))),
            ),
        ),
    ),
)
