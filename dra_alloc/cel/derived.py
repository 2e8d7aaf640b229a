"""
Derived attributes: expressions whose value stands in for an attribute of a device.

Spec: DERIVED-4, DERIVED-5, DERIVED-6
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from dra_alloc.api import DeviceAttribute
from dra_alloc.cel.check.types import BOOL, DYN, INT, STRING, CelType
from dra_alloc.cel.device import CelDevice, DomainMap
from dra_alloc.cel.engine import Environment
from dra_alloc.cel.environments import EnvironmentKey
from dra_alloc.cel.errors import EvaluationError
from dra_alloc.cel.library.semver import SEMVER, CelSemver
from dra_alloc.cel.program import Program
from dra_alloc.cel.values.runtime import CelMap, Optional, UInt, go_type, is_list, type_name

_SCALARS: Final = (STRING, INT, BOOL, SEMVER, DYN)
_KINDS: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    str: "string",
    CelType: "string",
    CelSemver: "semver",
}
#: What upstream's Go values are called where they are not wanted.
_NATIVE: Final[dict[type, str]] = {
    bool: "bool",
    int: "int64",
    str: "string",
    CelType: "string",
    UInt: "uint64",
    float: "float64",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
}
_NATIVE_BY_NAME: Final = {"google.protobuf.Duration": "time.Duration", "google.protobuf.Timestamp": "time.Time"}


# An expression as long as is allowed makes a program of about 1 MB.
@lru_cache(maxsize=64)
def compile_derived(environment: Environment, expression: str, *, lists: bool = True) -> Program:
    """
    The program of a derived attribute, which may be one of `lists`.

    Raises: CompileError with upstream's text.
    """
    return Program(expression, environment.declared, refused=_refused if lists else _no_scalar)


def _no_scalar(output: CelType, settings: EnvironmentKey) -> str:
    accepted = output in _SCALARS or output == settings.attribute_type
    return "" if accepted else f"must evaluate to a primitive scalar (string, integer, boolean, semver), not {output}"


def _refused(output: CelType, settings: EnvironmentKey) -> str:
    element = output.params[0] if output.kind == "list" else output
    if element in _SCALARS:
        return ""
    return (
        "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars, "
        f"not {output}"
    )


def attribute_value(program: Program, device: CelDevice) -> DeviceAttribute:
    """
    The value of a derived attribute as if the device had published it.

    Raises: EvaluationError with upstream's text, also for values that no attribute can have.
    """
    value = program.evaluate(device)
    if is_list(value):
        return _list(value, device)
    value = _content(value)
    known = _kind(value)
    if known is None:
        raise EvaluationError(f"unsupported CEL return type: {_native(value, device)}")
    return _SCALAR[known](_plain(value))


_SCALAR: Final[dict[str, Callable[[Any], DeviceAttribute]]] = {
    "int": lambda value: DeviceAttribute(int_=value),
    "bool": lambda value: DeviceAttribute(bool_=value),
    "string": lambda value: DeviceAttribute(string=value),
    "semver": lambda value: DeviceAttribute(version=value),
}
_LIST: Final[dict[str, Callable[[Sequence[Any]], DeviceAttribute]]] = {
    "int": lambda values: DeviceAttribute(ints=tuple(values)),
    "bool": lambda values: DeviceAttribute(bools=tuple(values)),
    "string": lambda values: DeviceAttribute(strings=tuple(values)),
    "semver": lambda values: DeviceAttribute(versions=tuple(values)),
}


def _list(values: Any, device: CelDevice) -> DeviceAttribute:
    elements = [_content(each) for each in values]
    if not elements:
        return DeviceAttribute(strings=())
    kind = _kind(elements[0])
    if kind is None:
        raise EvaluationError(f"unsupported list element type: {_native(elements[0], device)}")
    for index, element in enumerate(elements):
        if _kind(element) != kind:
            found = _native(element, device)
            raise EvaluationError(f"expected list element at index {index} to be {kind}, got {found}")
    return _LIST[kind](list(map(_plain, elements)))


def _content(value: Any) -> Any:
    while isinstance(value, Optional) and value.present:
        value = value.value
    return value


def _kind(value: Any) -> str | None:
    return _KINDS.get(type(value))


def _plain(value: Any) -> Any:
    return value.name if isinstance(value, CelType) else str(value) if isinstance(value, CelSemver) else value


def _native(value: Any, device: CelDevice) -> str:
    """Return the name of the Go value that upstream has for a value no attribute can have."""
    if isinstance(value, Optional):
        return "<nil>"
    if is_list(value):
        return "[]ref.Val"
    if isinstance(value, CelDevice | DomainMap) or _is_of(value, device):
        return "map[string]interface {}"
    if isinstance(value, CelMap):
        return "map[ref.Val]ref.Val"
    known = _NATIVE.get(type(value)) or _NATIVE_BY_NAME.get(type_name(value))
    return known or str(getattr(value, "go_native", go_type(value)))


def _is_of(value: Any, device: CelDevice) -> bool:
    if not isinstance(value, CelMap):
        return False
    whole = device.value
    domains = [names for key in ("attributes", "capacity") for _, names in whole.find(key).items()]
    return value is whole or any(value is names or value.entries == names.entries for names in domains)
