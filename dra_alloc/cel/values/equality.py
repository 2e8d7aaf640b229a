"""
Equality and order of CEL values.

Spec: CEL-20, CEL-21
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.errors import CelAbort, CelError
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, CelMap, ConcatList, Optional, UInt, is_list

_NUMBERS: Final = frozenset((int, UInt, float))
_MISSING: Final = object()
#: Elements: comparing so many costs all that one evaluation may.
_MAX_COMPARED: Final = 10_000_000
_NO_ORDER: Final = "NaN values cannot be ordered"


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal; those that cannot be compared are not."""
    try:
        return equal(left, right)
    except CelError:
        return False


def equal(left: Any, right: Any) -> bool:
    """
    Whether two values are equal; values of different kinds are not.

    Raises: CelError ("no such overload") if `left` is a Kubernetes value and
    `right` of another kind; inside lists and maps that counts as equal.
    """
    while True:
        if left is None or right is None:
            return left is right
        if not isinstance(left, Optional):
            break
        if not isinstance(right, Optional) or left.present != right.present:
            return False
        if not left.present:
            return True
        left, right = left.value, right.value
    if is_list(left) or isinstance(left, CelMap):
        return _containers_equal(left, right)
    return _scalars_equal(left, right)


def _scalars_equal(left: Any, right: Any) -> bool:
    kind, other = type(left), type(right)
    if kind is other:
        if kind is CelType:
            return bool(left.name == right.name)
        own = getattr(left, "cel_equal", None)
        return bool(left == right) if own is None else bool(own(right))
    if kind in _NUMBERS:
        return other in _NUMBERS and _numbers_equal(left, right)
    own = getattr(left, "cel_equal", None)
    return False if own is None else bool(own(right))


def _numbers_equal(left: float, right: float) -> bool:
    # Upstream compares a whole number with a double as doubles, so large neighbours are equal.
    if type(left) is float or type(right) is float:
        return float(left) == float(right)
    return left == right


class _Pairs:
    """
    Pairs of values still to be compared, each pair of containers once.

    ``[x, x]`` sixty times over is a few lists that occur 2**60 times; upstream
    would compare each occurrence. Work beyond any cost limit is given up.
    """

    __slots__ = ("_met", "_waiting", "_work", "listed")

    def __init__(self) -> None:
        #: Keeps what it names alive, since only then the identities stay theirs.
        self._met: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._waiting: list[tuple[Any, Any, bool]] = []
        self._work = 0
        #: Whether the pair at hand lies in a list, where errors do not count.
        self.listed = False

    def add(self, left: Any, right: Any) -> None:
        pair = id(left), id(right)
        if pair not in self._met:
            self._met[pair] = left, right
            self._waiting.append((left, right, self.listed))

    def pop(self) -> tuple[Any, Any] | None:
        if not self._waiting:
            return None
        left, right, self.listed = self._waiting.pop()
        return left, right

    def work(self, amount: int) -> None:
        """Raises CelAbort once more was compared than any selector may."""
        self._work += amount
        if self._work > _MAX_COMPARED:
            raise CelAbort("operation cancelled: actual cost limit exceeded")


def _containers_equal(left: Any, right: Any) -> bool:
    """Compare nested lists and maps on a heap-allocated stack; only a definite difference counts."""
    pairs = _Pairs()
    pair: tuple[Any, Any] | None = (left, right)
    while pair is not None:
        left, right = pair
        if isinstance(left, Optional) and isinstance(right, Optional) and left.present and right.present:
            alike = _parts_alike(((left.value, right.value),), pairs)
        elif is_list(left):
            alike = is_list(right) and len(left) == len(right) and _lists_alike(left, right, pairs)
        elif isinstance(left, CelMap):
            alike = isinstance(right, CelMap) and len(left) == len(right) and _maps_alike(left, right, pairs)
        else:
            alike = _maybe_equal(left, right)
        if not alike:
            return False
        pair = pairs.pop()
    return True


def _lists_alike(left: Any, right: Any, pairs: _Pairs) -> bool:
    """Whether two lists of one length differ in no plain element; the others are left in `pairs`."""
    if isinstance(left, ConcatList) and isinstance(right, ConcatList) and len(left.left) == len(right.left):
        pairs.add(left.left, right.left)
        pairs.add(left.right, right.right)
        return True
    pairs.work(len(left))
    pairs.listed = True
    return _parts_alike(zip(left, right, strict=True), pairs)


def _maps_alike(left: CelMap, right: CelMap, pairs: _Pairs) -> bool:
    pairs.work(len(left))
    for key, value in left.items():
        if type(value) is Failed:
            if pairs.listed:
                return True
            raise CelError(value.error.text)
        other = right.find(key, _MISSING) if right.contains(key) else _MISSING
        if other is _MISSING or not _parts_alike(((value, other),), pairs):
            return False
    return True


def _parts_alike(parts: Iterable[tuple[Any, Any]], pairs: _Pairs) -> bool:
    for left, right in parts:
        if is_list(left) or isinstance(left, (CelMap, Optional)):
            pairs.add(left, right)
        elif (left is not right or left != left) and not _maybe_equal(left, right):
            return False
    return True


def _maybe_equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    if isinstance(left, Optional):
        return isinstance(right, Optional) and not left.present and not right.present
    try:
        return _scalars_equal(left, right)
    except CelError:
        return True


def _number_order(left: float, right: float) -> int:
    if left != left or right != right:
        raise CelError(_NO_ORDER)
    if type(left) is float or type(right) is float:
        left, right = float(left), float(right)
    return (left > right) - (left < right)


def _plain_order(left: bytes, right: bytes) -> int:
    return (left > right) - (left < right)


def _text_order(left: str, right: str) -> int:
    # Go compares bytes; UTF-8 keeps code-point order, and so does Python.
    return (left > right) - (left < right)


_ORDERS: Final[dict[type, Callable[[Any, Any], int]]] = {
    bool: _plain_order,
    bytes: _plain_order,
    str: _text_order,
    int: _number_order,
    UInt: _number_order,
    float: _number_order,
}


def is_comparable(value: Any) -> bool:
    """Whether `value` may stand left of ``<``."""
    return type(value) in _ORDERS or hasattr(value, "cel_compare")


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1; raises CelError ("no such overload") across kinds, except between numbers."""
    kind, other = type(left), type(right)
    if kind is float and left != left:
        raise CelError(_NO_ORDER)
    if kind is other or (kind in _NUMBERS and other in _NUMBERS):
        order = _ORDERS.get(kind)
        if order is not None:
            return order(left, right)
        own = getattr(left, "cel_compare", None)
        if own is not None:
            return int(own(right))
    raise CelError(NO_SUCH_OVERLOAD)
