"""
Run-time values of CEL as Python values.

===========  ==========================================
CEL          Python
===========  ==========================================
bool         bool
int          int
uint         :class:`UInt`
double       float
string       str
bytes        bytes
null         None
list         tuple, :class:`ConcatList` or range
map          :class:`CelMap`
optional     :class:`Optional`
type         :class:`~dra_alloc.cel.check.types.CelType`
===========  ==========================================

Other value classes set `cel_type` and `go_type` (the Go name upstream's
texts show), define ``cel_equal(other)`` (raising CelError for "no such
overload") and may set ``go_hashable = False``.
The trap: Python holds ``1 == 1.0 == True``, CEL does not, so never compare or
hash CEL values with Python's operators; use :mod:`dra_alloc.cel.values.equality`
and :func:`key_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from dra_alloc.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    TYPE,
    UINT,
    CelType,
    list_of,
    map_of,
    optional_of,
)
from dra_alloc.cel.errors import CelAbort, CelError

MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
MAX_UINT: Final = 2**64 - 1
NO_SUCH_OVERLOAD: Final = "no such overload"


class UInt(int):
    """A CEL uint; arithmetic on it yields int, so wrap the result again."""

    __slots__ = ()


class Optional:
    """An optional value; `NONE` is the empty one."""

    __slots__ = ("present", "value")
    cel_type: ClassVar[CelType] = optional_of(DYN)

    def __init__(self, value: Any, present: bool = True) -> None:
        self.value = value
        self.present = present

    def get(self) -> Any:
        """The value; raises CelError if there is none."""
        if not self.present:
            raise CelError("optional.none() dereference")
        broken = getattr(self.value, "cel_error", None)
        if broken is not None:
            raise CelError(broken)
        return self.value


NONE: Final = Optional(None, present=False)


class ConcatList:
    """
    Two lists end to end, joined only when looked into.

    ``a + a`` forty times over has 2**40 elements; upstream charges 1 for each
    step, so the join must not copy. Upstream counts the elements one by one
    whenever it needs the length; for more than an int can count it never ends.

    Raises: CelAbort for such a length.
    """

    __slots__ = ("left", "right", "size")

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right
        self.size = len(left) + len(right)
        if self.size > MAX_INT:
            raise CelAbort("operation cancelled: actual cost limit exceeded")

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        here: Any = self
        while isinstance(here, ConcatList):
            left = len(here.left)
            if index < left:
                here = here.left
            else:
                index -= left
                here = here.right
        return here[index]

    def __iter__(self) -> Iterator[Any]:
        stack: list[Any] = [self]
        while stack:
            here = stack.pop()
            if isinstance(here, ConcatList):
                stack.append(here.right)
                stack.append(here.left)
            else:
                yield from here


class MutableList(list[Any]):
    """The list a fold is building: ``+`` appends to it. :func:`frozen` ends that."""

    __slots__ = ()


_KEY_KINDS: Final = (str, bool, int, UInt, float)


class _Identity:
    """Hashes and compares by the identity of what it holds."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        # Literals and the empty optional are one object upstream; results of calls are new each time, ours may be kept.
        literal = self.value is NONE or is_list(self.value) or isinstance(self.value, CelMap)
        return literal and type(other) is _Identity and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of(value: Any) -> Any:
    """
    The dictionary key under which `value` is filed: strings as they are, others with their class.

    Keys are found by value where Go compares them so, else by identity.
    """
    kind = type(value)
    if kind is str:
        return value
    if kind in _KEY_KINDS or _by_value(value):
        return (kind, value)
    return (kind, _Identity(value))


def _by_value(value: Any) -> bool:
    """Whether Go compares map keys of this kind by what is in them."""
    return value is None or type(value) is CelType or getattr(value, "go_map_key", False)


def check_hashable(key: Any) -> None:
    """Raises CelAbort for a value that upstream panics on as a map key."""
    if not go_hashable(key):
        raise CelAbort(f"internal error: runtime error: hash of unhashable type {go_type(key)}")


def _key(filed: Any) -> Any:
    if type(filed) is str:
        return filed
    key = filed[1]
    return key.value if type(key) is _Identity else key


class CelMap:
    """An immutable map; `entries` is keyed by :func:`key_of`, `keys_in_order` holds the keys themselves."""

    __slots__ = ("entries",)

    def __init__(self, entries: dict[Any, Any]) -> None:
        self.entries = entries

    @classmethod
    def of(cls, pairs: Iterable[tuple[Any, Any]]) -> CelMap:
        """A map of `pairs`; the last value of a key wins."""
        return cls({key_of(key): value for key, value in pairs})

    def __len__(self) -> int:
        return len(self.entries)

    def keys(self) -> Iterator[Any]:
        """The keys, in a fixed order."""
        for key in self.entries:
            yield _key(key)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Keys and values, in a fixed order."""
        for key, value in self.entries.items():
            yield _key(key), value

    def find(self, key: Any, default: Any = NONE) -> Any:
        """The value of `key`, or `default`; numbers find each other across types."""
        entries = self.entries
        kind = type(key)
        if kind is str:
            return entries.get(key, default)
        if not entries:
            return default  # an empty map hashes no key
        if kind not in _KEY_KINDS:
            check_hashable(key)
            return entries.get(key_of(key), default)
        found = entries.get((kind, key), default)
        if found is not default or kind is bool:
            return found
        return self._find_number(key, default)

    def _find_number(self, key: Any, default: Any) -> Any:
        """A double finds whole keys of both types, an int a uint and the reverse; nothing finds a double."""
        if key != key or key in (float("inf"), float("-inf")) or int(key) != key:
            return default
        whole = int(key)
        for kind in (int, UInt):
            found = self.entries.get((kind, whole), default)
            if found is not default:
                return found
        return default

    def contains(self, key: Any) -> bool:
        """Whether ``key in map``; a default of a device map does not count, nor does what is broken."""
        if type(key) is str:
            return key in self.entries
        return CelMap.find(self, key, _MISSING) is not _MISSING


class MutableMap(CelMap):
    """The map a fold is building; functions that insert may change it in place. :func:`frozen` ends that."""

    __slots__ = ()


def frozen(value: Any) -> Any:
    """`value`, made immutable if a fold was still building it."""
    kind = type(value)
    if kind is MutableList:
        return tuple(value)
    return CelMap(value.entries) if kind is MutableMap else value


def started(value: Any) -> Any:
    """`value`, or what a fold builds in place if it is an empty list or map."""
    if value == ():
        return MutableList()
    return MutableMap({}) if isinstance(value, CelMap) and not len(value) else value


_MISSING: Final = object()

_TYPES: Final[dict[type, CelType]] = {
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
    tuple: list_of(DYN),
    ConcatList: list_of(DYN),
    CelType: TYPE,
}
_MAP: Final = map_of(DYN, DYN)


def type_value(value: Any) -> CelType:
    """The run-time type of `value`; parameters are erased to dyn."""
    known = _TYPES.get(type(value))
    if known is not None:
        return known
    if isinstance(value, CelMap):
        return _MAP
    if isinstance(value, (list, range)):
        return _TYPES[tuple]
    declared: CelType = value.cel_type
    return declared


def type_name(value: Any) -> str:
    """The run-time type name used in error texts."""
    return type_value(value).name


_GO_TYPES: Final[dict[type, str]] = {
    bool: "types.Bool",
    int: "types.Int",
    UInt: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    tuple: "*types.baseList",
    ConcatList: "*types.concatList",
    range: "*types.baseList",
    CelType: "*types.Type",
    Optional: "*types.Optional",
}


def go_hashable(value: Any) -> bool:
    """Whether upstream can use `value` as a map key; it crashes otherwise."""
    return type(value) is not bytes and bool(getattr(value, "go_hashable", True))


def go_type(value: Any) -> str:
    """The Go type that upstream's texts name for `value`."""
    known = _GO_TYPES.get(type(value))
    if known is not None:
        return known
    return "*types.baseMap" if isinstance(value, CelMap) else str(getattr(value, "go_type", type(value).__name__))


def no_such_overload(function: str, *args: Any) -> CelError:
    """The error of a call whose arguments fit no overload."""
    return CelError(f"no such overload: {function}({', '.join(type_name(each) for each in args)})")


#: How upstream's classes name themselves where they say that they do not convert; others are quoted.
_CONVERTING: Final = {name.lower(): name for name in ("bool", "Double", "Bytes", "list", "map")} | {
    "kubernetes.NamedFormat": "'Format'",
    "google.protobuf.Empty": "'*dynamicpb.Message'",
}


def native_error(value: Any, go: str) -> CelError:
    """The error of a value that should become one of a Go type and cannot."""
    name = type_name(value)
    if name == "type":
        return CelError("type conversion not supported for 'type'")
    if name == "string":
        return CelError(f"unsupported native conversion from string to '{go}'")
    if name in ("int", "uint"):
        return CelError(f"unsupported type conversion from '{name}' to {go}")
    return CelError(f"type conversion error from {_CONVERTING.get(name) or repr(name.rpartition('.')[2])} to '{go}'")


def unsupported(function: str, value: Any) -> CelError:
    """The error of an operator that the class of `value` does not have; some of upstream's classes word it shorter."""
    if type(value) is str or getattr(value, "go_receiver", False):
        return CelError(NO_SUCH_OVERLOAD)
    return CelError(f"{NO_SUCH_OVERLOAD}: {function}")


def is_list(value: Any) -> bool:
    """Whether `value` is a CEL list."""
    return isinstance(value, (tuple, ConcatList, list, range))


def size_of(value: Any) -> int | None:
    """The size of a string, bytes, list or map, None for anything else."""
    if isinstance(value, (str, bytes, tuple, ConcatList, CelMap, list, range)):
        return len(value)
    return None
