"""
Looking into values: ``a.b``, ``a[b]``, ``a.?b``, ``a[?b]`` and ``has(a.b)``.

Spec: CEL-16, CEL-18
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.go_numbers import format_double
from dra_alloc.cel.values.runtime import MAX_INT, NO_SUCH_OVERLOAD, CelMap, UInt, go_type, is_list, type_name

MISSING: Final = object()
_QUALIFIERS: Final = frozenset((str, bool, int, UInt, float))


def bad_qualifier(key: Any) -> str | None:
    """Why `key` cannot index anything, None if it can."""
    if type(key) in _QUALIFIERS:
        return None
    return f"invalid qualifier type: {go_type(key)}"


def shown(key: Any) -> str:
    """`key` as error texts show it."""
    if type(key) is bool:
        return "true" if key else "false"
    if type(key) is float:
        return format_double(key)
    return str(int(key)) if type(key) is UInt else str(key)


def _position(key: Any) -> int:
    kind = type(key)
    if kind is int:
        return int(key)
    if kind is UInt:
        if key <= MAX_INT:
            return int(key)
        raise CelError(f"unsupported index value {shown(key)} in list")
    if kind is float:
        if key == key and abs(key) < 2.0**63 and int(key) == key:
            return int(key)
        raise CelError(f"unsupported index value {shown(key)} in list")
    raise CelError(f"unsupported index type '{type_name(key)}' in list")


def _no_field(key: Any) -> CelError:
    return CelError(f"no such field '{key}'" if type(key) is str else NO_SUCH_OVERLOAD)


def lookup(value: Any, key: Any) -> Any:
    """``value[key]``; raises CelError if there is no such thing."""
    if isinstance(value, CelMap):
        found = value.find(key, MISSING)
        if found is MISSING:
            raise CelError(f"no such key: {shown(key)}")
        return found
    if is_list(value):
        index = _position(key)
        if not 0 <= index < len(value):
            raise CelError(f"index out of bounds: {shown(key)}")
        return value[index]
    raise _no_field(key) if hasattr(value, "cel_message") else CelError(f"no such key: {shown(key)}")


def lookup_if_present(value: Any, key: Any) -> Any:
    """``value[key]`` or MISSING; raises CelError only if a list is indexed by something that is no number."""
    if isinstance(value, CelMap):
        return value.find(key, MISSING)
    if is_list(value):
        index = _position(key)
        return value[index] if 0 <= index < len(value) else MISSING
    if hasattr(value, "cel_message"):
        raise _no_field(key)
    return MISSING
