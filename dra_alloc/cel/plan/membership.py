"""
``x in [constants]``: a set, with the number twins upstream puts into it.

Spec: CEL-26
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dra_alloc.cel.errors import CelAbort
from dra_alloc.cel.plan.frame import Code, Frame, Run
from dra_alloc.cel.values.runtime import MAX_INT, MAX_UINT, MIN_INT, CelMap, UInt, go_hashable, go_type, key_of

_PRIMITIVE: Final = frozenset((bool, int, UInt, float, str))


def constant_set(values: Any) -> frozenset[Any] | None:
    """The keys that count as members, None if the list holds anything but plain scalars."""
    keys: set[Any] = set()
    for value in values:
        if type(value) not in _PRIMITIVE:
            return None
        keys.add(key_of(value))
        keys.update(_twins(value))
    return frozenset(keys)


def _twins(value: Any) -> list[Any]:
    """The same number in the other number types, as far as it exists there."""
    kind = type(value)
    if kind in (bool, str):
        return []
    if kind is float:
        if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
            return []
        whole = int(value)
        return [key_of(number) for number in _integers(whole, exclusive=True)]
    twins: list[Any] = [number for number in _integers(int(value), exclusive=False) if type(number) is not kind]
    twins.append(float(value))
    return [key_of(number) for number in twins]


def _integers(whole: int, exclusive: bool) -> list[Any]:
    found: list[Any] = []
    # Doubles at the very ends of the ranges do not convert.
    if MIN_INT + exclusive <= whole <= MAX_INT:
        found.append(whole)
    if 0 <= whole <= MAX_UINT:
        found.append(UInt(whole))
    return found


def is_member(value: Any, keys: frozenset[Any]) -> bool:
    """Whether `value` is in the set; raises CelAbort where upstream's hash panics."""
    kind = type(value)
    if kind is str:
        return value in keys
    if kind in _PRIMITIVE:
        return (kind, value) in keys
    if not go_hashable(value):
        raise CelAbort(f"internal error: runtime error: hash of unhashable type {go_type(value)}")
    return False


def text_in(text: str, container: Code, otherwise: Callable[..., Any]) -> Run:
    """Code for "`text` is a key of a map"; `otherwise` judges what is no map."""
    if container.domains == "attributes":
        return lambda frame: text in frame[0].attributes
    if container.domains == "capacity":
        return lambda frame: text in frame[0].capacity
    read = container.run

    def run(frame: Frame) -> Any:
        value = read(frame)
        return text in value.entries if isinstance(value, CelMap) else otherwise(text, value)

    return run


def in_set(operand: Run, keys: frozenset[Any]) -> Run:
    """Code for "`operand` is in the set"."""

    def run(frame: Frame) -> bool:
        value = operand(frame)
        return value in keys if type(value) is str else is_member(value, keys)

    return run
