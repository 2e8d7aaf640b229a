"""
Tests of cel-spec in terms of our engine: types, values and verdicts from protobuf's JSON.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.cel.check.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    CelType,
    list_of,
    map_of,
    optional_of,
    param,
    type_of,
    wrapper,
)
from dra_alloc.cel.library.messages import MESSAGES
from dra_alloc.cel.library.time_values import parse_duration, parse_timestamp
from dra_alloc.cel.values.runtime import CelMap, UInt
from tests.unit.cel.evaluator import Answer, answer, same

Json = Mapping[str, Any]
_TIMES: Final = {"google.protobuf.Duration": parse_duration, "google.protobuf.Timestamp": parse_timestamp}
#: Messages that a selector has, and what their JSON stands for.
_KNOWN: Final = MESSAGES.keys() - {"google.protobuf.Any", "google.protobuf.Empty"}
_MESSAGE: Final = re.compile(
    r"TestAllTypes|NestedTestAllTypes|GlobalEnum|NestedEnum|TestRequired|proto2_ext|"
    rf"google\.protobuf\.(?!(?:NullValue|{'|'.join(each.rpartition('.')[2] for each in sorted(_KNOWN))})\b)[A-Z]"
)
_PRIMITIVE: Final = {"BOOL": BOOL, "INT64": INT, "UINT64": UINT, "DOUBLE": DOUBLE, "STRING": STRING, "BYTES": BYTES}
_NAMED: Final = {
    each.name: each for each in (BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, TYPE, UINT)
} | {"list": list_of(DYN), "map": map_of(DYN, DYN), "optional_type": CelType("opaque", "optional_type")}


@dataclass(frozen=True, slots=True)
class Case:
    """One test with the name ``file/section/test``."""

    name: str
    test: Json


def cases(files: list[dict[str, Any]]) -> Iterator[Case]:
    """Every test of every file, in order."""
    for file in files:
        for section in file.get("section", []):
            for test in section["test"]:
                yield Case(f"{file['name']}/{section['name']}/{test['name']}", test)


def needs_messages(test: Json) -> bool:
    """Whether a test is about protobuf messages or enums that no selector has, or about their package."""
    return bool(test.get("container")) or _mentions_messages(test["expr"]) or _holds_messages(test)


def _mentions_messages(expression: str) -> bool:
    return _MESSAGE.search(expression) is not None


def _holds_messages(part: Any) -> bool:
    if isinstance(part, Mapping):
        kind = part.get("@type", "").rpartition("/")[2]
        kind = kind or part.get("messageType", "")
        if (kind and kind not in _KNOWN) or "enumValue" in part:
            return True
        return any(map(_holds_messages, part.values()))
    return isinstance(part, list) and any(map(_holds_messages, part))


def kind_of(given: Json) -> CelType:
    """The type that a type in JSON stands for."""
    (name, body), *_ = [*given.items(), ("dyn", {})]
    simple = {"dyn": DYN, "null": NULL}.get(name)
    if simple is not None:
        return simple
    match name:
        case "primitive":
            return _PRIMITIVE[body]
        case "wrapper":
            return wrapper(_PRIMITIVE[body])
        case "messageType":
            return MESSAGES[body].type
        case "wellKnown":
            return {"DURATION": DURATION, "TIMESTAMP": TIMESTAMP, "ANY": ANY}[body]
        case "listType":
            return list_of(kind_of(body.get("elemType", {})))
        case "mapType":
            return map_of(kind_of(body.get("keyType", {})), kind_of(body.get("valueType", {})))
        case "type":
            return type_of(kind_of(body)) if body else TYPE
        case "typeParam":
            return param(body)
        case _:
            assert name == "abstractType", given
            assert body["name"] == "optional_type", given
            return optional_of(kind_of(body["parameterTypes"][0]))


def value_of(given: Json) -> Any:
    """The value that a value in JSON stands for."""
    (name, body), *_ = [*given.items(), ("nullValue", None)]
    match name:
        case "int64Value":
            return int(body)
        case "uint64Value":
            return UInt(body)
        case "doubleValue":
            return float(body)
        case "bytesValue":
            return base64.b64decode(body)
        case "listValue":
            return tuple(value_of(each) for each in body.get("values", []))
        case "mapValue":
            return CelMap.of((value_of(each["key"]), value_of(each["value"])) for each in body.get("entries", []))
        case "typeValue":
            return _NAMED[body]
        case "objectValue":
            return _message(body["@type"].rpartition("/")[2], body["value"])
        case _:
            return None if name == "nullValue" else body


def _message(name: str, body: Any) -> Any:
    """The value of a well-known message in protobuf's JSON."""
    if name in _TIMES:
        return _TIMES[name](body)
    kind = MESSAGES[name].type
    if not kind.nullable:
        return _plain(body)
    return value_of({{"uint": "uint64Value"}.get(kind.kind, f"{kind.kind.replace('int', 'int64')}Value"): body})


def _plain(body: Any) -> Any:
    """JSON as values."""
    if isinstance(body, dict):
        return CelMap.of((key, _plain(each)) for key, each in body.items())
    if isinstance(body, list):
        return tuple(map(_plain, body))
    return float(body) if type(body) is int else body


def verdict(test: Json) -> str:
    """What is wrong with our answer, empty if nothing is."""
    variables = {each["name"]: kind_of(each["ident"]["type"]) for each in test.get("typeEnv", [])}
    bindings = {name: value_of(each["value"]) for name, each in test.get("bindings", {}).items()}
    variables = dict.fromkeys(bindings, DYN) | variables
    # The newest: cel-spec moves on with it.
    found = answer(test["expr"], "1.37", variables=variables, bindings=bindings)
    if "evalError" in test:
        return "" if found.text else f"is {found.value!r}, must fail"
    typed = test.get("typedResult", {})
    if "deducedType" in typed and str(found.kind) != str(kind_of(typed["deducedType"])):
        return f"has type {found.kind}, must have {kind_of(typed['deducedType'])}: {found.text}"
    if test.get("checkOnly"):
        return found.refused
    return _compared(found, test.get("value", typed.get("result", {"boolValue": True})))


def _compared(found: Answer, expected: Json) -> str:
    if found.text:
        return f"fails: {found.text}"
    wanted = value_of(expected)
    return "" if same(found.value, wanted) else f"is {found.value!r}, must be {wanted!r}"
