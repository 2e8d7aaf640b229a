"""
What every wire model shares: immutability, wire names, and the reading of null.

A model holds what Go's decoder would hold, before defaulting and validation:
nothing is required, null is the zero value, numbers and booleans are never
made from text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from threading import RLock
from typing import Annotated, Any, ClassVar, Final, Generic, NoReturn, Self, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

from dra_alloc.api.amounts.quantity import Quantity

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

MAX_JSON_DEPTH: Final = 200
"""How deep raw JSON may nest (ours; Go's decoder stops at 10,000, stored objects at 10 KiB of it)."""


class FrozenMap(dict[K, V]):
    """A dict nothing can change, with a hash. Equal to a dict of the same items."""

    __slots__ = ("_hash",)

    _hash: int

    def __new__(cls, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> Self:
        made = dict.__new__(cls)
        dict.update(made, items)
        return made

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        """Do nothing: calling it again must not change the map."""

    def __hash__(self) -> int:  # type: ignore[override]  # dict says None
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMap, (dict(self),)

    def __copy__(self) -> Self:
        return self

    def copy(self) -> Self:
        """Return the map itself: it cannot change."""
        return self

    def __or__(self, other: Mapping[Any, Any]) -> FrozenMap[Any, Any]:
        return FrozenMap({**self, **other})

    def __ror__(self, other: Mapping[Any, Any]) -> FrozenMap[Any, Any]:
        return FrozenMap({**other, **self})

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("a FrozenMap cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    @classmethod
    def fromkeys(cls, keys: Iterable[Any], value: Any = None) -> FrozenMap[Any, Any]:
        """Return a map that gives every key the same value."""
        return FrozenMap((key, value) for key in keys)

    def __repr__(self) -> str:
        return f"FrozenMap({dict(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        key, value = get_args(source) or (Any, Any)
        annotated: Any = Annotated
        item = annotated[value, _NullIsZero()]
        items = core_schema.dict_schema(handler.generate_schema(key), handler.generate_schema(item))
        return core_schema.no_info_after_validator_function(_freeze_map, core_schema.nullable_schema(items))


EMPTY_MAP: Final[FrozenMap[Any, Any]] = FrozenMap()


def _freeze_map(items: dict[Any, Any] | None) -> FrozenMap[Any, Any]:
    return FrozenMap(items) if items else EMPTY_MAP


def null_reads_as(zero: object, inner: core_schema.CoreSchema, keep: core_schema.CoreSchema) -> core_schema.CoreSchema:
    """
    Return a schema that reads null as `zero`, with no Python call per value.

    What passes `inner` and not `keep` becomes `zero` as well.
    """
    kept = core_schema.with_default_schema(keep, default=zero, on_error="default")
    return core_schema.chain_schema(
        [core_schema.nullable_schema(inner), kept], serialization=inner.get("serialization")
    )


class _NullIsZero:
    """Annotation: null reads as Go's zero value of the type: "", 0, false, an object with nothing set."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        inner = handler(source)
        if not isinstance(source, type) or source is Quantity:  # the latter reads null itself
            return inner
        zero = source.model_construct() if issubclass(source, KubeModel) else source()
        return null_reads_as(zero, inner, core_schema.is_instance_schema(source))


class _NullIsEmptyList:
    """Annotation: null reads as a list of nothing."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return null_reads_as((), handler(source), core_schema.is_instance_schema(tuple))


class _EmptyIsAbsent:
    """Annotation: null and the empty string read as None."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return null_reads_as(None, handler(source), core_schema.str_schema(min_length=1))


_STRICT: Final = Field(strict=True)
_INT64: Final = Field(strict=True, ge=-(2**63), le=2**63 - 1)

Text = Annotated[str, _STRICT, _NullIsZero()]
"""A string that is always written, empty if unset."""

OptText = Annotated[str | None, _STRICT, _EmptyIsAbsent()]
"""A string where empty means absent."""

PtrText = Annotated[str, _STRICT] | None
"""A string where empty is not the same as absent."""

Int = Annotated[int, _INT64, _NullIsZero()]
"""An int64 that is always written, 0 if unset."""

PtrInt = Annotated[int, _INT64] | None
"""An int64 where 0 is not the same as absent."""

Bool = Annotated[bool, _STRICT, _NullIsZero()]
"""A boolean in a list."""

PtrBool = Annotated[bool, _STRICT] | None
"""A boolean where false is not the same as absent."""

Struct = Annotated[T, _NullIsZero()]
"""An object that is always written; absent, null and empty are one."""

List = Annotated[tuple[Struct[T], ...], _NullIsEmptyList()]
"""A list; absent, null and empty are one, and an item that is null is its zero value."""

PtrList = tuple[Struct[T], ...] | None
"""A list where empty is not the same as absent."""


def freeze_json(value: Any, depth: int = MAX_JSON_DEPTH) -> Any:
    """
    Return decoded JSON with maps and lists made immutable.

    Raises: ValueError, on a value JSON does not have or on nesting over 200.
    """
    if isinstance(value, str | bool | int | float | type(None)):
        return value
    if depth <= 0:
        raise ValueError(f"JSON nested deeper than {MAX_JSON_DEPTH}")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("keys of a JSON object must be strings")
        return FrozenMap({key: freeze_json(item, depth - 1) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze_json(item, depth - 1) for item in value)
    raise ValueError(f"not a JSON value: {type(value).__name__}")


def _read_raw(value: Any) -> Any:
    try:
        return freeze_json(value)
    except ValueError as problem:
        raise PydanticCustomError("raw_json", "{reason}", {"reason": str(problem)}) from None


RawJson = Annotated[Any, BeforeValidator(_read_raw)]
"""Any JSON value, maps as FrozenMap and lists as tuples."""


class KubeModel(BaseModel):
    """
    A frozen wire model: snake_case in Python, camelCase on the wire, unknown names refused.

    `from_wire` and `from_json` accept wire names only; the constructor accepts both.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
        protected_namespaces=(),
    )

    wire_null: ClassVar[frozenset[str]] = frozenset()
    """Python names of the fields that Go writes as null when they are empty."""

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Return the model of a decoded JSON object. Raises: pydantic.ValidationError."""
        return cls.model_validate(value, by_alias=True, by_name=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the model of a JSON text. Raises: pydantic.ValidationError."""
        return cls.model_validate_json(text, by_alias=True, by_name=False)

    @classmethod
    def made(cls, **values: Any) -> Self:
        """
        Return the model of values that are known to fit, by Python names: nothing is checked.

        For what this package computed itself, at a tenth of the cost of reading it.
        """
        return _put_together(cls, {**_defaults(cls), **values}, set(values))

    def replaced(self, **values: Any) -> Self:
        """Return a copy with some members replaced by values that are known to fit."""
        return _put_together(type(self), {**self.__dict__, **values}, {*self.__pydantic_fields_set__, *values})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return pydantic's copy, at half its cost where it is not a deep one."""
        return super().model_copy(update=update, deep=True) if deep else self.replaced(**(update or {}))

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """
        Build the model if that was put off until now, as pydantic does on first use, in one thread at a time.

        pydantic before 2.14 lets two threads take a half-built model apart. Options are pydantic's.
        """
        with _BUILDING:
            if cls.__pydantic_complete__ and not options.get("force"):
                return None
            # Where pydantic looks for names is counted from its caller, which is this method now.
            depth = options.pop("_parent_namespace_depth", 2) + 1
            return super().model_rebuild(**options, _parent_namespace_depth=depth)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return pydantic's dump by Python names; `to_wire` is the API server's. Options are pydantic's."""
        _build_serializers()
        return super().model_dump(**options)

    def model_dump_json(self, **options: Any) -> str:
        """Return pydantic's dump as JSON text. Options are pydantic's."""
        _build_serializers()
        return super().model_dump_json(**options)

    def to_wire(self) -> dict[str, Any]:
        """
        Return the JSON object the API server would send: keys sorted, absent fields absent.

        Required strings, numbers and objects are written even when empty, as Go does.
        """
        written: dict[str, Any] = {}
        values = self.__dict__
        for alias, name, raw in _wire_fields(type(self)):
            value = values[name]
            if value is not None and (raw or value not in ((), {})):
                written[alias] = _to_wire(value)
            elif name in self.wire_null:
                written[alias] = None
        return written


#: Held while any model is built: models are built with those that they hold.
_BUILDING: Final = RLock()
_Model = TypeVar("_Model", bound=KubeModel)
_NEW: Final[Any] = object.__new__
# What a model consists of, set without a look for the name in its classes: half of the time of making one.
_set_members, _set_given, _set_extra, _set_private = (
    vars(BaseModel)[name].__set__
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def _put_together(model: type[_Model], members: dict[str, Any], given: set[str]) -> _Model:
    made: _Model = _NEW(model)
    _set_members(made, members)
    _set_given(made, given)
    _set_extra(made, None)
    _set_private(made, None)
    return made


class Mould(Generic[_Model]):
    """
    Makes models that are alike but for some members, at half the cost of `made`, whose values are known to fit.

    Each says that the same members were given, by one set that is never changed: copies of models copy it.
    """

    __slots__ = ("_given", "_members", "_model")

    def __init__(self, model: type[_Model], members: Mapping[str, Any], given: Iterable[str]) -> None:
        self._model = model
        self._members = {**members}
        self._given = {*given}

    @classmethod
    def of(cls, model: type[_Model], *names: str, **values: Any) -> Mould[_Model]:
        """Return what makes models of these values and more under the names."""
        return Mould(model, {**_defaults(model), **values}, (*values, *names))

    @classmethod
    def like(cls, model: _Model, *names: str) -> Mould[_Model]:
        """Return what makes copies of a model with other members under the names."""
        return Mould(type(model), model.__dict__, (*model.__pydantic_fields_set__, *names))

    def made(self, **values: Any) -> _Model:
        """Return a model with values for all the names."""
        return _put_together(self._model, {**self._members, **values}, self._given)


@cache
def _defaults(model: type[KubeModel]) -> dict[str, Any]:
    """Return what absent fields are; every default is immutable."""
    return {name: info.default for name, info in model.model_fields.items()}


@cache
def _build_serializers() -> None:
    """Finish all models at once: pydantic before 2.14 cannot dump a nested model whose building is deferred."""
    waiting: list[type[KubeModel]] = [KubeModel]
    while waiting:
        subclasses = waiting.pop().__subclasses__()
        waiting += subclasses
        for model in subclasses:
            model.model_rebuild()


def wire_names(model: type[KubeModel]) -> dict[str, str]:
    """
    Return the wire name of each field of a model, by its Python name.

    Not as pydantic tells it: before 2.12 an alias that was made is only there once the deferred model is built.
    """
    return {name: info.alias or to_camel(name) for name, info in model.model_fields.items()}


@cache
def _wire_fields(model: type[KubeModel]) -> tuple[tuple[str, str, bool], ...]:
    """Return wire name, Python name and rawness of a model's fields, by wire name."""
    fields = model.model_fields
    return tuple(sorted((wire, name, fields[name].annotation is Any) for name, wire in wire_names(model).items()))


def _to_wire(value: Any) -> Any:
    if isinstance(value, KubeModel):
        return value.to_wire()
    if isinstance(value, tuple):
        return [_to_wire(item) for item in value]
    if isinstance(value, FrozenMap):
        return {key: _to_wire(value[key]) for key in sorted(value)}
    if isinstance(value, str | bool | int | float | type(None)):
        return value
    return str(value)
