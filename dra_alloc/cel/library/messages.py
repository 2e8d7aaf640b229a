"""
The well-known messages of protobuf: what their fields take, and the plain value that each becomes.

A message is a way to write a value: ``google.protobuf.Int32Value{value: 1}`` is the int 1. Only the checker tells
wrappers apart, since null fits them.

Spec: CEL-66, CEL-67, CEL-68, CEL-69
"""

from __future__ import annotations

import base64
import struct as binary
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from dra_alloc.cel.check.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    CelType,
    list_of,
    map_of,
    struct,
    wrapper,
)
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.budget import check_elements
from dra_alloc.cel.library.time_values import SECOND, Duration, Timestamp
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.values.runtime import MAX_INT, MIN_INT, CelMap, Optional, UInt, is_list, native_error, type_value

NULL_VALUE: Final = "google.protobuf.NullValue.NULL_VALUE"
#: Whole numbers beyond are text in JSON.
_MAX_WHOLE: Final = 2**53 - 1
_JSON: Final = "*structpb.Value"


class EmptyMessage:
    """The one message that is a value of its own; it has no fields."""

    __slots__ = ()
    cel_type = struct("google.protobuf.Empty")
    go_type = "*types.protoObj"
    go_native = "*dynamicpb.Message"
    cel_zero = True
    cel_message = True

    def cel_equal(self, other: Any) -> bool:
        """Whether `other` is one, too."""
        return isinstance(other, EmptyMessage)

    def __str__(self) -> str:
        return ""


class Message(NamedTuple):
    """Its static type, its fields with their types and Go types, and what makes its value of those that are set."""

    type: CelType
    fields: Mapping[str, tuple[CelType, str]]
    make: Callable[[Mapping[str, Any]], Any]


def built(name: str, given: Mapping[str, Any], optional_type: str) -> Any:
    """
    The value of the message `name` whose fields are `given`; `optional_type` is what optionals are called.

    Raises: CelError for a value that its field does not take, the first by order.
    """
    message = MESSAGES.get(name)
    if message is None:
        raise CelError(f"unknown type '{name}'")
    taken: dict[str, Any] = {}
    for field, value in given.items():
        kind, go = message.fields[field]
        if kind.params and go == _JSON and not (is_list(value) if kind.kind == "list" else isinstance(value, CelMap)):
            shown = optional_type if isinstance(value, Optional) else type_value(value)
            raise CelError(f"unsupported field type for {name}.{field}: {shown}")
        try:
            taken[field] = _native(value, go)
        except CelError as error:
            raise CelError(f"field type conversion error for {name}.{field} value type: {error.text}") from None
    return message.make(taken)


def _native(value: Any, go: str) -> Any:
    """`value` as a field of Go type `go` holds it; raises CelError if it is none such."""
    while isinstance(value, Optional):
        value = value.get()
    if go == _JSON:
        return run(_json(value, {}))
    take = _TAKES[go].get(type(value))
    if take is not None:
        return take(value)
    if go == "string" and hasattr(value, "go_native") and not isinstance(value, EmptyMessage):
        return str(value)
    if go == "[]uint8" and is_list(value):
        return bytes([_native(each, "uint8") for each in value])
    if go == "*structpb.ListValue" and (is_list(value) or isinstance(value, CelMap)):
        return _listed(value)
    if go == "*structpb.Struct" and isinstance(value, CelMap):
        return _native(value, _JSON)
    raise native_error(value, go)


def _listed(value: Any) -> Any:
    """A list in JSON. Upstream looks for the keys of a map among the fields of a list, of which only one exists."""
    if is_list(value):
        return _native(value, _JSON)
    key = next(value.keys(), None)
    if key is None:
        return ()
    raise CelError(f"type conversion error, no such field '{str(key).title()}' in type 'structpb.ListValue'")


def _json(value: Any, known: dict[int, Any]) -> Steps[Any]:
    """`value` as JSON has it, again as a value; lists that occur many times over are converted once."""
    while isinstance(value, Optional):
        value = value.get()
    if id(value) in known:
        return known[id(value)]
    take = _TAKES[_JSON].get(type(value))
    if take is not None:
        return take(value)
    if is_list(value):
        check_elements(len(value))
        parts: list[Any] = []
        for each in value:
            part = yield _json(each, known)
            parts.append(part)
        known[id(value)] = tuple(parts)
    elif isinstance(value, CelMap):
        entries = {}
        for key, each in value.items():
            entries[_native(key, "string")] = yield _json(each, known)
        known[id(value)] = CelMap(entries)
    else:
        raise native_error(value, _JSON)
    return known[id(value)]


def _whole(value: int) -> float | str:
    return float(value) if abs(value) <= _MAX_WHOLE else str(int(value))


def _between(least: int, most: int, text: str) -> Callable[[int], int]:
    def take(value: int) -> int:
        if not least <= value <= most:
            raise CelError(text)
        return value

    return take


def _as_is(value: Any) -> Any:
    return value


def _single(value: float) -> float:
    """`value` in single precision."""
    try:
        return float(binary.unpack("f", binary.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


_INT32: Final[Mapping[type, Callable[[Any], Any]]] = {int: _between(-(2**31), 2**31 - 1, "integer overflow")}
#: What a Go type takes of which of our classes, as it is or converted.
_TAKES: Final[Mapping[str, Mapping[type, Callable[[Any], Any]]]] = {
    "bool": {bool: _as_is},
    "int32": _INT32,
    "protoreflect.EnumNumber": _INT32,
    "int64": {int: _as_is},
    "uint8": {UInt: _between(0, 2**8 - 1, "unsigned integer overflow")},
    "uint32": {UInt: _between(0, 2**32 - 1, "unsigned integer overflow")},
    "uint64": {UInt: _as_is},
    "float32": {float: _single},
    "float64": {float: _as_is},
    "string": {str: _as_is},
    "[]uint8": {bytes: _as_is},
    "*structpb.ListValue": {},
    "*structpb.Struct": {},
    _JSON: {
        type(None): _as_is,
        bool: _as_is,
        str: _as_is,
        float: _as_is,
        int: _whole,
        UInt: _whole,
        bytes: lambda value: base64.b64encode(value).decode(),
        Duration: Duration.text,
        Timestamp: Timestamp.text,
        EmptyMessage: lambda value: CelMap({}),
    },
}


def _duration(fields: Mapping[str, Any]) -> Duration:
    """The sum of the parts; what an int64 of nanoseconds cannot hold is the longest there is."""
    total = fields.get("seconds", 0) * SECOND
    if MIN_INT <= total <= MAX_INT:
        total += fields.get("nanos", 0)
    return Duration(max(MIN_INT, min(total, MAX_INT)))


def _timestamp(fields: Mapping[str, Any]) -> Timestamp:
    return Timestamp(*divmod(fields.get("seconds", 0) * SECOND + fields.get("nanos", 0), SECOND))


def _value(fields: Mapping[str, Any]) -> Any:
    """The member that was set last."""
    last = [None if name == "null_value" else value for name, value in fields.items()]
    return last[-1] if last else None


def _any(fields: Mapping[str, Any]) -> Any:
    raise CelError("unsupported conversion to ref.Val: (*dynamicpb.Message)")


def _wrapper(kind: CelType, go: str, zero: Any) -> Message:
    return Message(wrapper(kind), {"value": (kind, go)}, lambda fields: fields.get("value", zero))


_LIST, _STRUCT = list_of(DYN), map_of(STRING, DYN)
_TIME: Final = {"seconds": (INT, "int64"), "nanos": (INT, "int32")}
MESSAGES: Final[Mapping[str, Message]] = {
    f"google.protobuf.{name}": message
    for name, message in {
        "Any": Message(ANY, {"type_url": (STRING, "string"), "value": (BYTES, "[]uint8")}, _any),
        "BoolValue": _wrapper(BOOL, "bool", zero=False),
        "BytesValue": _wrapper(BYTES, "[]uint8", b""),
        "DoubleValue": _wrapper(DOUBLE, "float64", 0.0),
        "Duration": Message(DURATION, _TIME, _duration),
        "Empty": Message(EmptyMessage.cel_type, {}, lambda fields: EmptyMessage()),
        "FloatValue": _wrapper(DOUBLE, "float32", 0.0),
        "Int32Value": _wrapper(INT, "int32", 0),
        "Int64Value": _wrapper(INT, "int64", 0),
        "ListValue": Message(_LIST, {"values": (_LIST, _JSON)}, lambda fields: fields.get("values", ())),
        "StringValue": _wrapper(STRING, "string", ""),
        "Struct": Message(_STRUCT, {"fields": (_STRUCT, _JSON)}, lambda fields: fields.get("fields", CelMap({}))),
        "Timestamp": Message(TIMESTAMP, _TIME, _timestamp),
        "UInt32Value": _wrapper(UINT, "uint32", UInt(0)),
        "UInt64Value": _wrapper(UINT, "uint64", UInt(0)),
        "Value": Message(
            DYN,
            {
                "null_value": (INT, "protoreflect.EnumNumber"),
                "number_value": (DOUBLE, "float64"),
                "string_value": (STRING, "string"),
                "bool_value": (BOOL, "bool"),
                "struct_value": (_STRUCT, "*structpb.Struct"),
                "list_value": (_LIST, "*structpb.ListValue"),
            },
            _value,
        ),
    }.items()
}
