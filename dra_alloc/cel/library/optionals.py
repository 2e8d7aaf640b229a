"""
Optional values; ``.?`` and ``[?]`` themselves are evaluated with the attributes they belong to.

Spec: CEL-18
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.cel.check.declarations import Function, Library, Macro, Overload, Window
from dra_alloc.cel.check.types import BOOL, DYN, INT, STRING, CelType, list_of, map_of, optional_of, param
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.syntax.ast import Ident, Node
from dra_alloc.cel.syntax.macros import MacroError, MacroExpansion
from dra_alloc.cel.values.runtime import NONE, Optional, UInt, size_of

_K, _V = param("K"), param("V")
_OPTIONAL = optional_of(_V)
_LIST, _MAP = list_of(_V), map_of(_K, _V)


def _of_non_zero(value: Any) -> Optional:
    kind = type(value)
    if value is None or (kind in (bool, int, UInt, float) and not value) or size_of(value) == 0:
        return NONE
    if getattr(value, "cel_zero", False):
        return NONE
    return Optional(value)


def _first(values: Any) -> Optional:
    return Optional(values[0]) if len(values) else NONE


def _last(values: Any) -> Optional:
    return Optional(values[len(values) - 1]) if len(values) else NONE


def _unwrap(values: Any) -> tuple[Any, ...]:
    kept = []
    for each in values:
        if not isinstance(each, Optional):
            raise CelError(f"value {each} is not optional")
        if each.present:
            kept.append(each.value)
    return tuple(kept)


def _mapper(wrapped: bool, message: str) -> Any:
    def expand(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None
        name, body = args
        if not isinstance(name, Ident):
            raise MacroError(name, message)
        bound = make.bind(name.name, make.member_call("value", target), body)
        mapped = make.call("optional.of", bound) if wrapped else bound
        return make.call("_?_:_", make.member_call("hasValue", target), mapped, make.call("optional.none"))

    return expand


def _index(function: str, rows: tuple[tuple[str, CelType, CelType], ...]) -> Function:
    return Function(function, tuple(Overload(name, (over, key), _OPTIONAL) for name, over, key in rows))


def _member(name: str, overload: str, params: tuple[CelType, ...], result: CelType, run: Any = None) -> Function:
    return Function(name, (Overload(overload, params, result, run, member=True),))


OPTIONALS_LIBRARY: Final = Library(
    "optional",
    functions=(
        Function("optional.of", (Overload("optional_of", (_V,), _OPTIONAL, Optional),)),
        Function("optional.ofNonZeroValue", (Overload("optional_ofNonZeroValue", (_V,), _OPTIONAL, _of_non_zero),)),
        Function("optional.none", (Overload("optional_none", (), _OPTIONAL, lambda: NONE),)),
        _member("value", "optional_value", (_OPTIONAL,), _V, Optional.get),
        _member("hasValue", "optional_hasValue", (_OPTIONAL,), BOOL, lambda value: value.present),
        _member("or", "optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL),
        _member("orValue", "optional_orValue_value", (_OPTIONAL, _V), _V),
        Function("_?._", (Overload("select_optional_field", (DYN, STRING), _OPTIONAL),)),
        _index(
            "_[?_]",
            (
                ("list_optindex_optional_int", _LIST, INT),
                ("optional_list_optindex_optional_int", optional_of(_LIST), INT),
                ("map_optindex_optional_value", _MAP, _K),
                ("optional_map_optindex_optional_value", optional_of(_MAP), _K),
            ),
        ),
        _index(
            "_[_]",
            (
                ("optional_list_index_int", optional_of(_LIST), INT),
                ("optional_map_index_value", optional_of(_MAP), _K),
            ),
        ),
        _member("last", "list_last", (_LIST,), _OPTIONAL, _last),
        _member("first", "list_first", (_LIST,), _OPTIONAL, _first),
        Function("optional.unwrap", (Overload("optional_unwrap", (list_of(_OPTIONAL),), _LIST, _unwrap),)),
        _member("unwrapOpt", "optional_unwrapOpt", (list_of(_OPTIONAL),), _LIST, _unwrap),
    ),
    macros=(
        Macro("optMap", 2, _mapper(True, "optMap() variable name must be a simple identifier")),
        Macro("optFlatMap", 2, _mapper(False, "optFlatMap() variable name must be a simple identifier")),
    ),
    types=(CelType("opaque", "optional_type"),),
    window=Window(since=28),
)
