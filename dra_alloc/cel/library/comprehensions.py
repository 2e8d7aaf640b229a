"""
Two-variable comprehensions: index and element of a list, key and value of a map.

Spec: CEL-57
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.cel.check.declarations import Function, Library, Macro, Overload, Window
from dra_alloc.cel.check.types import map_of, param
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.printed import printed
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.syntax.ast import Node
from dra_alloc.cel.syntax.macros import NO_SIMPLE_NAME, MacroError, MacroExpansion, variable_name
from dra_alloc.cel.values.runtime import CelMap, MutableMap, check_hashable, key_of

MAP_INSERT: Final = "cel.@mapInsert"
_K, _V = param("K"), param("V")
_MAP: Final = map_of(_K, _V)


def _variables(args: tuple[Node, ...]) -> tuple[str, str]:
    first = variable_name(args[0], NO_SIMPLE_NAME)
    second = variable_name(args[1], NO_SIMPLE_NAME)
    if first == second:
        raise MacroError(args[1], f"duplicate variable name: {second}")
    return first, second


def _all(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    condition = make.call("@not_strictly_false", make.accumulator())
    step = make.call("_&&_", make.accumulator(), args[2])
    return make.fold(target, _variables(args), (make.literal(True), condition, step, make.accumulator()), "all")


def _exists(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    condition = make.call("@not_strictly_false", make.call("!_", make.accumulator()))
    step = make.call("_||_", make.accumulator(), args[2])
    return make.fold(target, _variables(args), (make.literal(False), condition, step, make.accumulator()), "exists")


def _exists_one(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None
    more = make.call("_+_", make.accumulator(), make.literal(1))
    step = make.call("_?_:_", args[2], more, make.accumulator())
    result = make.call("_==_", make.accumulator(), make.literal(1))
    return make.fold(target, _variables(args), (make.literal(0), make.literal(True), step, result), "exists_one")


def _transform(make: MacroExpansion, target: Node | None, args: tuple[Node, ...], init: Node, step: Node) -> Node:
    """A fold that takes every step, or with a fourth argument the ones it selects."""
    assert target is not None
    if len(args) == 4:
        step = make.call("_?_:_", args[2], step, make.accumulator())
    return make.fold(target, _variables(args), (init, make.literal(True), step, make.accumulator()), "transform")


def _transform_list(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    step = make.call("_+_", make.accumulator(), make.list(args[-1]))
    return _transform(make, target, args, make.list(), step)


def _transform_map(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    key = make.ident(_variables(args)[0])
    step = make.call(MAP_INSERT, make.accumulator(), key, args[-1])
    return _transform(make, target, args, make.empty_map(), step)


def _transform_entry(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
    step = make.call(MAP_INSERT, make.accumulator(), args[-1])
    return _transform(make, target, args, make.empty_map(), step)


def _insert(into: CelMap, key: Any, value: Any) -> CelMap:
    """`into` with one more entry; raises CelError if it has the key, CelAbort if nothing can be filed under it."""
    check_hashable(key)
    if into.contains(key):
        raise CelError(f"insert failed: key {printed(key)} already exists")
    if type(into) is not MutableMap:
        into = CelMap(dict(into.entries))
    into.entries[key_of(key)] = value
    return into


def _insert_all(into: CelMap, other: CelMap) -> CelMap:
    for key, value in other.items():
        if type(value) is Failed:
            raise CelError(value.error.text)
        into = _insert(into, key, value)
    return into


COMPREHENSIONS_LIBRARY: Final = Library(
    "two-variable comprehensions",
    functions=(
        Function(
            MAP_INSERT,
            (
                Overload("@mapInsert_map_key_value", (_MAP, _K, _V), _MAP, _insert),
                Overload("@mapInsert_map_map", (_MAP, _MAP), _MAP, _insert_all),
            ),
        ),
    ),
    macros=(
        Macro("all", 3, _all),
        Macro("exists", 3, _exists),
        Macro("existsOne", 3, _exists_one),
        Macro("exists_one", 3, _exists_one),
        Macro("transformList", 3, _transform_list),
        Macro("transformList", 4, _transform_list),
        Macro("transformMap", 3, _transform_map),
        Macro("transformMap", 4, _transform_map),
        Macro("transformMapEntry", 3, _transform_entry),
        Macro("transformMapEntry", 4, _transform_entry),
    ),
    window=Window(since=32),
)
