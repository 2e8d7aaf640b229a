"""
Code for list, map and message literals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.messages import built
from dra_alloc.cel.plan.frame import Frame, Run
from dra_alloc.cel.syntax.ast import StructNode
from dra_alloc.cel.values.runtime import CelMap, Optional, check_hashable, key_of


def build_list(elements: Sequence[Run], optional: frozenset[int]) -> Run:
    """A list; elements marked `?` are left out if they are none."""
    parts = tuple(elements)
    if not optional:
        return lambda frame: tuple([part(frame) for part in parts])

    def run(frame: Frame) -> tuple[Any, ...]:
        built = []
        for index, part in enumerate(parts):
            value = part(frame)
            if index in optional:
                if not isinstance(value, Optional):
                    raise CelError(f"cannot initialize optional list element from non-optional value {value}")
                if not value.present:
                    continue
                value = value.value
            built.append(value)
        return tuple(built)

    return run


def build_map(keys: Sequence[Run], values: Sequence[Run], optional: frozenset[int]) -> Run:
    """A map; the last value of a key wins, and an entry marked `?` that is none removes it."""
    pairs = tuple(zip(keys, values, strict=True))

    def run(frame: Frame) -> CelMap:
        entries: dict[Any, Any] = {}
        for index, (key, part) in enumerate(pairs):
            name = key(frame)
            value = part(frame)
            check_hashable(name)
            filed = key_of(name)
            if index in optional:
                value = _optional_entry(name, value)
                if not value.present:
                    entries.pop(filed, None)
                    continue
                value = value.value
            entries[filed] = value
        return CelMap(entries)

    return run


def _optional_entry(name: Any, value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise CelError(f"cannot initialize optional entry '{name}' from non-optional value {value}")
    return value


def build_message(node: StructNode, values: Sequence[Run], optional_type: str) -> Run:
    """A message; the last value of a field wins, and one marked `?` that is none leaves it unset."""
    fields = [(str(entry.key), entry.optional, value) for entry, value in zip(node.entries, values, strict=True)]
    name = node.name.removeprefix(".")

    def run(frame: Frame) -> Any:
        given: dict[str, Any] = {}
        for field, optional, part in fields:
            value = part(frame)
            if optional:
                value = _optional_entry(field, value)
                if not value.present:
                    given.pop(field, None)
                    continue
                value = value.value
            given[field] = value
        return built(name, given, optional_type)

    return run
