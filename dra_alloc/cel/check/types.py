"""
Static types of CEL.

Two spellings exist upstream: :func:`checker_name` is the checker's
(``map(string, any)``), ``str(type)`` the one of the result-type message
(``map(string, google.protobuf.Any)``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

_Kind = Literal[
    "any",
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "error",
    "int",
    "list",
    "map",
    "null",
    "opaque",
    "param",
    "string",
    "struct",
    "timestamp",
    "type",
    "uint",
]


MAX_TYPE_DEPTH: Final = 300
MAX_TYPE_WEIGHT: Final = 20_000


class TypeTooLarge(Exception):
    """A type nested deeper, or spelled longer, than any honest expression needs."""


@dataclass(frozen=True, slots=True)
class CelType:
    """
    A type: its kind, its run-time name and its parameters.

    `depth` and `weight` bound what following a type can cost: ``cel.bind``
    can double a type at every step. `nullable` is the type of a wrapper message,
    the same but for null. Whether something can be used where the type is wanted
    is plain to see if the type is `ground`: no type variable, not nullable.
    """

    kind: _Kind
    name: str
    params: tuple[CelType, ...] = ()
    nullable: bool = False
    depth: int = field(default=0, compare=False, repr=False)
    weight: int = field(default=1, compare=False, repr=False)
    ground: bool = field(default=True, init=False, compare=False, repr=False)
    _hash: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Types are looked up far more often than made.
        object.__setattr__(self, "_hash", hash((self.kind, self.name, self.params)))
        if not self.params:
            object.__setattr__(self, "ground", self.kind != "param" and not self.nullable)
            return
        object.__setattr__(self, "ground", all(each.ground for each in self.params))
        depth = 1 + max(each.depth for each in self.params)
        weight = 1 + sum(each.weight for each in self.params)
        if depth > MAX_TYPE_DEPTH or weight > MAX_TYPE_WEIGHT:
            raise TypeTooLarge
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "weight", weight)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[CelType], tuple[_Kind, str, tuple[CelType, ...], bool]]:
        """Make the type anew where it arrives: texts hash differently in every process."""
        return CelType, (self.kind, self.name, self.params, self.nullable)

    def __str__(self) -> str:
        if not self.params:
            return f"wrapper({self.name})" if self.nullable else self.name
        return f"{self.name}({', '.join(str(each) for each in self.params)})"

    @property
    def plain(self) -> CelType:
        """The same with no wrapper in it."""
        if self.ground:
            return self
        return CelType(self.kind, self.name, tuple([each.plain for each in self.params]))

    @property
    def is_dyn(self) -> bool:
        """Whether the type matches everything: `dyn` or `any`."""
        return self.kind in ("dyn", "any")

    @property
    def is_optional(self) -> bool:
        return self.kind == "opaque" and self.name == "optional_type"


ANY = CelType("any", "google.protobuf.Any")
BOOL = CelType("bool", "bool")
BYTES = CelType("bytes", "bytes")
DOUBLE = CelType("double", "double")
DURATION = CelType("duration", "google.protobuf.Duration")
DYN = CelType("dyn", "dyn")
ERROR = CelType("error", "error")
INT = CelType("int", "int")
NULL = CelType("null", "null_type")
STRING = CelType("string", "string")
TIMESTAMP = CelType("timestamp", "google.protobuf.Timestamp")
TYPE = CelType("type", "type")
UINT = CelType("uint", "uint")

_CHECKER_NAMES: dict[str, str] = {
    "any": "any",
    "duration": "duration",
    "error": "!error!",
    "null": "null",
    "timestamp": "timestamp",
}


def list_of(element: CelType) -> CelType:
    """The type of lists of `element`."""
    return CelType("list", "list", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    """The type of maps from `key` to `value`."""
    return CelType("map", "map", (key, value))


def optional_of(value: CelType) -> CelType:
    """The type of optional `value`."""
    return CelType("opaque", "optional_type", (value,))


def opaque(name: str) -> CelType:
    """A type without fields that is no struct, such as ``net.IP``."""
    return CelType("opaque", name)


def struct(name: str) -> CelType:
    """An object type, such as ``kubernetes.Quantity``."""
    return CelType("struct", name)


def param(name: str) -> CelType:
    """A type parameter."""
    return CelType("param", name)


def type_of(value: CelType) -> CelType:
    """The type of the type value `value`."""
    return CelType("type", "type", (value,))


def wrapper(value: CelType) -> CelType:
    """The type of the wrapper messages of `value`, which null fits."""
    return CelType(value.kind, value.name, nullable=True)


def checker_name(kind: CelType) -> str:
    """The spelling used in the checker's messages."""
    known = _CHECKER_NAMES.get(kind.kind)
    if known is not None:
        return known
    if not kind.params:
        return str(kind)
    return f"{kind.name}({', '.join(checker_name(each) for each in kind.params)})"
