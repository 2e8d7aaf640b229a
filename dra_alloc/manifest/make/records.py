"""
ResourceSlices at native speed: msgspec structs with the attributes of the wire models.

The structs are derived from the models field by field, so the two cannot
drift apart. They refuse everything the models refuse, and null as well: what
they refuse goes to the models, which read null and say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from threading import RLock
from typing import Annotated, Any, Final, Self, cast

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace
from pydantic.fields import FieldInfo

from dra_alloc.api import FrozenMap, KubeModel, Quantity, QuantityError, ResourceSlice
from dra_alloc.api._base import wire_names
from dra_alloc.api.meta import read_time
from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType, schema_of
from dra_alloc.manifest.read.json_numbers import JsonFloat


class WireRecord(Struct, frozen=True, gc=False):
    """
    An immutable record with the attributes of a wire model.

    `model` makes the pydantic object, on each call anew; most readers never need it.
    """

    def model(self) -> KubeModel:
        """Return the wire model with the same content."""
        plain = msgspec.json.decode(msgspec.json.encode(self, enc_hook=written_special))
        return _MODELS[type(self)].from_wire(plain)

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a record with some members replaced, as the wire models do."""
        return replace(self, **update)

    def replaced(self, **values: Any) -> Self:
        """Return a record with some members replaced by values that are known to fit, as the wire models do."""
        return replace(self, **values)

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object as the API server would send it."""
        return self.model().to_wire()


def slice_from_json(text: bytes | memoryview) -> ResourceSlice:
    """
    Return the slice in a JSON text of v1 shape.

    Raises: msgspec.MsgspecError, ValueError or RecursionError if the text needs a closer look.
    """
    return cast(ResourceSlice, _decoder().decode(text))


def slice_from_plain(value: object) -> ResourceSlice:
    """
    Return the slice for plain values of v1 shape.

    Raises: msgspec.MsgspecError or ValueError if they need a closer look.
    """
    return cast(ResourceSlice, msgspec.convert(value, record_of(ResourceSlice), dec_hook=read_special))


def record_from_model(value: Any) -> Any:
    """Return the record with the content of a model; other values as they are."""
    if isinstance(value, KubeModel):
        members = {name: record_from_model(getattr(value, name)) for name in type(value).model_fields}
        return record_of(type(value))(**members)
    if isinstance(value, tuple):
        return tuple(record_from_model(member) for member in value)
    if isinstance(value, FrozenMap):
        return FrozenMap({key: record_from_model(member) for key, member in value.items()})
    return value


class _Time(str):
    """A text that was read as a time; msgspec wants the type it was promised."""

    __slots__ = ()


class _Dropped:
    """Stands for a member that is read and forgotten."""


_INT64: Final = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_LEAVES: Final[dict[Leaf, Any]] = {
    Leaf.STRING: str,
    Leaf.INT64: _INT64,
    Leaf.BOOL: bool,
    Leaf.QUANTITY: Quantity,
    Leaf.TIME: _Time,
    Leaf.RAW: Any,
    Leaf.DROPPED: _Dropped,
}


def written_special(value: Any) -> Any:
    """Return what is written for a value that msgspec does not know: a quantity's text, a late spec's content."""
    return getattr(value, "record", None) or str(value)


_FORGOTTEN: Final = _Dropped()
_UTC_LENGTH: Final = len("2026-01-31T12:00:00Z")


def read_special(kind: type, value: Any) -> Any:
    """Return a value of the types msgspec does not know; called for each capacity, so without detours."""
    if kind is Quantity:
        if value.__class__ is not str and isinstance(value, float | JsonFloat):
            raise QuantityError("a quantity with a point must be read from its text")
        return Quantity.from_wire(value)
    return _read_time(value) if kind is _Time else _FORGOTTEN


def _read_time(value: Any) -> _Time:
    """Return a time as the models do; most are in their form already and only need a check. Raises: ValueError."""
    if isinstance(value, str) and len(value) == _UTC_LENGTH and value[10::9] == "TZ" and value.isascii():
        datetime.fromisoformat(value)
        return _Time(value)
    return _Time(read_time(value))


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(record_of(ResourceSlice), dec_hook=read_special)


@cache
def record_of(model: type[KubeModel]) -> type[WireRecord]:
    """Return the struct class with the fields, wire names and defaults of a model; one for all threads."""
    # Records of different classes are never equal. And msgspec crashes where a class is used while another thread has
    # it work out its fields, so that a class is handed out when that is done.
    with _MAKING:
        found = _RECORDS.get(model)
        if found is None:
            found = _made(model)
            msgspec.json.Decoder(found)
            _RECORDS[model] = found
        return found


def _made(model: type[KubeModel]) -> type[WireRecord]:
    shape = schema_of(model)
    wire = wire_names(model)
    kinds = {name: shape.fields[wire[name]] for name in wire}
    fields = [
        (name, _annotation(kinds[name], info), _default(kinds[name], info)) for name, info in model.model_fields.items()
    ]
    maps = tuple(name for name, kind in kinds.items() if isinstance(kind, MapType))
    dropped = tuple(name for name, kind in kinds.items() if kind is Leaf.DROPPED)
    made = msgspec.defstruct(
        model.__name__ + "Record",
        fields,
        bases=(WireRecord,),
        namespace={"__post_init__": _after_reading(maps, dropped)} if maps or dropped else {},
        rename=wire,
        forbid_unknown_fields=shape.closed,
        omit_defaults=True,
        frozen=True,
        gc=False,
    )
    _MODELS[made] = model
    return cast(type[WireRecord], made)


_MODELS: Final[dict[type, type[KubeModel]]] = {}
_RECORDS: Final[dict[type[KubeModel], type[WireRecord]]] = {}
#: Records are made with those that they hold.
_MAKING: Final = RLock()
_EMPTY: Final[FrozenMap[str, Any]] = FrozenMap()
_new_map: Final = dict.__new__
_fill_map: Final = dict.update


def _annotation(kind: SchemaType, info: FieldInfo) -> Any:
    """Return the type of a field; null is refused where the model reads it as something else than None."""
    if info.default is not None:
        return _inner(kind)
    if kind is Leaf.STRING and info.metadata:  # empty means absent here: let the model see to it
        return Annotated[str, Meta(min_length=1)] | None
    return _inner(kind) | None


def _inner(kind: SchemaType) -> Any:
    if isinstance(kind, Leaf):
        return _LEAVES[kind]
    if isinstance(kind, ListType):
        return Annotated[tuple[_inner(kind.item), ...], _fewer(kind.crowd)]  # type: ignore[misc]
    if isinstance(kind, MapType):
        return Annotated[dict[str, _inner(kind.value)], _fewer(kind.crowd)]  # type: ignore[misc]
    return record_of(cast(type[KubeModel], kind.model))


def _fewer(crowd: int | None) -> Meta:
    return Meta(max_length=None if crowd is None else crowd - 1)


def _default(kind: SchemaType, info: FieldInfo) -> Any:
    if info.default is None:
        return None
    if kind is Leaf.STRING:
        return ""  # for apiVersion and kind too: a record tells whether the text had them
    if isinstance(kind, ObjectType):
        return record_of(cast(type[KubeModel], kind.model))()
    return _EMPTY if isinstance(kind, MapType) else info.default


def _after_reading(maps: tuple[str, ...], dropped: tuple[str, ...]) -> Callable[[Any], None]:
    """Return what a struct does once its fields are read: make its maps unchangeable, forget what is forgotten."""

    def freeze(self: Any) -> None:
        for name in maps:
            read = getattr(self, name)
            if read is not _EMPTY:
                made = _EMPTY
                if read:
                    # What FrozenMap does, without its calls in Python: this is done for every device.
                    made = _new_map(FrozenMap)
                    _fill_map(made, read)
                force_setattr(self, name, made)
        for name in dropped:
            if getattr(self, name) is not None:
                force_setattr(self, name, None)

    return freeze
