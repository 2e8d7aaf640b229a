"""
Everything that is wrong with the types and names of one object, in the words of its own version.

The fast readers stop at the first thing they cannot take. This one goes
through the whole object, and returns what is left of it when the unknown
fields are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from dra_alloc.api import Quantity, QuantityError
from dra_alloc.api.meta import read_time
from dra_alloc.errors import in_brief
from dra_alloc.manifest.make.hints import hint_for_type, hint_for_unknown
from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType
from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.paths import MapKey, Path, render
from dra_alloc.manifest.read.raw import Unread
from dra_alloc.manifest.read.yaml_scalars import INT64

_SHOWN: Final = 60
# Guessing what a name was meant to be is slow, and nobody reads that many.
_HINTED: Final = 100


@dataclass(frozen=True, slots=True)
class Flaw:
    """
    One thing wrong with an object; an unknown field may be forgiven, a wrong type may not. `line` if known.

    `number` is one that the message quotes, as it was read: YAML may have it in other words, ``1_000`` or ``0x1F``.
    """

    path: Path
    message: str
    hint: str = ""
    unknown_field: bool = False
    line: int | None = None
    number: int | JsonFloat | None = None


def inspect(value: Any, shape: ObjectType, nesting: int) -> tuple[Any, tuple[Flaw, ...]]:
    """
    Return the object without the unknown fields of closed objects, and everything found wrong in it.

    Spec: CONV-10 to CONV-18.
    """
    inspector = _Inspector(nesting)
    return inspector.read(value, shape, ()), tuple(inspector.findings)


def crowded(value: Any, shape: SchemaType) -> bool:
    """Return whether a list or map has more members than any server stores, so that nothing is to be made of them."""
    found = _crowding(shape)
    return found is not None and found(value)


@cache
def _crowding(shape: SchemaType) -> Callable[[Any], bool] | None:
    """Return what tells that of a value; None for a shape without lists and maps of limited length in it."""
    if isinstance(shape, Leaf):
        return None
    if isinstance(shape, ObjectType):
        members = {name: found for name, inner in shape.fields.items() if (found := _crowding(inner)) is not None}
        return partial(_in_members, members) if members else None
    inside, kind = (_crowding(shape.item), list) if isinstance(shape, ListType) else (None, dict)
    most = shape.crowd
    if most is None:
        return None if inside is None else lambda value: isinstance(value, kind) and any(map(inside, value))
    return lambda value: (
        isinstance(value, kind) and (len(value) >= most or (inside is not None and any(map(inside, value))))
    )


def _in_members(members: Mapping[str, Callable[[Any], bool]], value: Any) -> bool:
    if isinstance(value, dict):
        for name, member in value.items():
            found = members.get(name)
            if found is not None and found(member):
                return True
    return False


@dataclass(slots=True)
class _Inspector:
    """Walks value and shape together; as deep as the shape is, and no deeper."""

    nesting: int
    findings: list[Flaw] = field(default_factory=list)

    def read(self, value: Any, shape: SchemaType, path: Path) -> Any:
        """Return the value as far as it fits the shape; null fits everywhere."""
        if value is None or shape is Leaf.DROPPED or _is_unread(value):
            return None
        if isinstance(shape, Leaf):
            return self._leaf(value, shape, path)
        if isinstance(shape, ListType):
            return self._list(value, shape, path)
        if not isinstance(value, dict):
            what = shape.name if isinstance(shape, ObjectType) else "object"
            self._wrong(
                path,
                f"expected an object{f' ({what})' if what != 'object' else ''}, got {in_words(value)}",
                shape,
                value,
            )
            return None
        if isinstance(shape, MapType):
            if self._is_crowd(value, shape, path):
                return None
            return {key: self.read(member, shape.value, (*path, MapKey(key))) for key, member in value.items()}
        return self._object(value, shape, path)

    def _object(self, value: dict[str, Any], shape: ObjectType, path: Path) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name, member in value.items():
            inner = shape.fields.get(name)
            if inner is not None:
                kept[name] = self.read(member, inner, (*path, name))
            elif shape.closed:
                hint = hint_for_unknown(shape, name) if len(self.findings) < _HINTED else ""
                place = (*path, name)
                self.findings.append(Flaw(place, f'unknown field "{render(place)}"', hint, unknown_field=True))
            else:
                kept[name] = member
        return kept

    def _list(self, value: Any, shape: ListType, path: Path) -> list[Any] | None:
        if not isinstance(value, list):
            self._wrong(path, f"expected a list, got {in_words(value)}", shape, value)
            return None
        if self._is_crowd(value, shape, path):
            return None
        return [self.read(member, shape.item, (*path, position)) for position, member in enumerate(value)]

    def _is_crowd(self, value: Sized, shape: ListType | MapType, path: Path) -> bool:
        """Complain about far too many members; return whether there are."""
        if shape.crowd is None or len(value) < shape.crowd:
            return False
        self._wrong(path, f"Too many: {len(value)}: must have at most {shape.most} items", shape, value)
        return True

    def _leaf(self, value: Any, shape: Leaf, path: Path) -> Any:
        problem = ""
        if shape is Leaf.QUANTITY:
            value, problem = _quantity(value)
        elif shape is Leaf.TIME:
            value, problem = _time(value)
        elif shape is Leaf.RAW:
            value, problem = _raw(value, self.nesting)
        elif shape is Leaf.INT64 and number_of(value) is not None and not _fits(value):
            problem = f"{in_words(value)} does not fit into 64 bits"
        elif type(value) is not _PYTHON[shape]:
            problem = f"expected {shape.value}, got {in_words(value)}"
        if problem:
            self._wrong(path, problem, shape, value)
            return None
        return value

    def _wrong(self, path: Path, message: str, shape: SchemaType, value: Any) -> None:
        self.findings.append(Flaw(path, message, hint_for_type(shape, value), number=number_of(value)))


_PYTHON: Final = {Leaf.STRING: str, Leaf.INT64: int, Leaf.BOOL: bool}


def _fits(number: int | JsonFloat) -> bool:
    """Say whether 64 bits hold a number, as far as it has no fraction."""
    return number in INT64 if isinstance(number, int) else INT64.start <= float(number) < INT64.stop


def _is_unread(value: Any) -> bool:
    """Say whether the text of a value had a fault, or that of a key of it."""
    if value.__class__ is dict:
        return "?" in value and any(key.__class__ is Unread for key in value)
    return value.__class__ is Unread


def in_words(value: Any) -> str:
    """Name a value as the user would: its kind, and its text if that is short."""
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | JsonFloat):
        return number_in_words(repr(value))
    return f'the string "{in_brief(str(value), _SHOWN)}"'


def number_of(value: Any) -> int | JsonFloat | None:
    """Return a value if it is a number."""
    return value if type(value) in (int, JsonFloat) else None


def number_in_words(text: str) -> str:
    """Name a number by its text."""
    return f"the number {in_brief(text, _SHOWN)}"


def _quantity(value: Any) -> tuple[Any, str]:
    """Return what a Quantity can be read from; a number is read from its text."""
    text = value.text if isinstance(value, JsonFloat) else value
    if isinstance(text, bool) or not isinstance(text, str | int):
        return value, f"expected {Leaf.QUANTITY.value}, got {in_words(value)}"
    try:
        Quantity.from_wire(text)
    except QuantityError as error:
        return value, f"{error} (got {in_words(value)})"
    return text, ""


def _time(value: Any) -> tuple[Any, str]:
    try:
        read_time(value)
    except ValueError:
        return value, f"expected {Leaf.TIME.value}, got {in_words(value)}"
    return value, ""


def _raw(value: Any, nesting: int) -> tuple[Any, str]:
    """Return free JSON with its fractions as floats, if it is not too deep."""
    level = [value]
    for _ in range(nesting):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return plain(value), ""
    return value, f"nested deeper than {nesting} levels"


def _members(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def plain(value: Any) -> Any:
    """Return plain values with fractions as floats."""
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    return float(value) if isinstance(value, JsonFloat) else value
