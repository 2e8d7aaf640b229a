"""
Quantities: numeric comparison and arithmetic; integer questions look at the representation.

Spec: CEL-40, QTY
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.api import Quantity
from dra_alloc.api.amounts.text import QuantityError
from dra_alloc.cel.check.declarations import Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, DOUBLE, INT, STRING, struct
from dra_alloc.cel.count.costs import NOMINAL, TRAVERSE_FIRST
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD

QUANTITY: Final = struct("kubernetes.Quantity")


class CelQuantity:
    """
    A quantity as a CEL value.

    The trap: what was `computed` by ``add`` or ``sub`` is of another Go class,
    so that nothing can be compared with it by ``==``; it can with others.
    """

    __slots__ = ("computed", "quantity")
    cel_type = QUANTITY
    go_native = "*resource.Quantity"
    go_type = "cel.Quantity"

    def __init__(self, quantity: Quantity, *, computed: bool = False) -> None:
        self.quantity = quantity
        self.computed = computed

    def __str__(self) -> str:
        return str(self.quantity)

    def cel_equal(self, other: Any) -> bool:
        """Numeric equality; raises CelError if `other` is no quantity, or computed."""
        if not isinstance(other, CelQuantity) or other.computed:
            raise CelError(NO_SUCH_OVERLOAD)
        return self.quantity.nano == other.quantity.nano


def _parse(text: str) -> CelQuantity:
    try:
        return CelQuantity(Quantity.parse(text))
    except QuantityError as error:
        raise CelError(error.message) from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _as_integer(value: CelQuantity) -> int:
    whole = value.quantity.as_int64()
    if whole is None:
        raise CelError("cannot convert value to integer")
    return whole


def _compare(left: CelQuantity, right: CelQuantity) -> int:
    return (left.quantity.nano > right.quantity.nano) - (left.quantity.nano < right.quantity.nano)


def _sign(value: CelQuantity) -> int:
    return (value.quantity.nano > 0) - (value.quantity.nano < 0)


def _unary(name: str, overload: str, result: Any, run: Any) -> Function:
    return Function(name, (Overload(overload, (QUANTITY,), result, run, member=True),), cost=NOMINAL)


def _binary(name: str, overload: str, result: Any, run: Any) -> Function:
    return Function(name, (Overload(overload, (QUANTITY, QUANTITY), result, run, member=True),), cost=NOMINAL)


def _arithmetic(name: str, run: Any) -> Function:
    def with_int(left: CelQuantity, right: int) -> CelQuantity:
        return CelQuantity(run(left.quantity, Quantity.of(right)), computed=True)

    def with_quantity(left: CelQuantity, right: CelQuantity) -> CelQuantity:
        return CelQuantity(run(left.quantity, right.quantity), computed=True)

    return Function(
        name,
        (
            Overload(f"quantity_{name}", (QUANTITY, QUANTITY), QUANTITY, with_quantity, member=True),
            Overload(f"quantity_{name}_int", (QUANTITY, INT), QUANTITY, with_int, member=True),
        ),
        cost=NOMINAL,
    )


QUANTITY_LIBRARY: Final = Library(
    "kubernetes.quantity",
    functions=(
        Function("quantity", (Overload("string_to_quantity", (STRING,), QUANTITY, _parse),), cost=TRAVERSE_FIRST),
        Function("isQuantity", (Overload("is_quantity_string", (STRING,), BOOL, _is_quantity),), cost=TRAVERSE_FIRST),
        _binary("isLessThan", "quantity_is_less_than", BOOL, lambda left, right: _compare(left, right) < 0),
        _binary("isGreaterThan", "quantity_is_greater_than", BOOL, lambda left, right: _compare(left, right) > 0),
        _binary("compareTo", "quantity_compare_to", INT, _compare),
        _unary("asApproximateFloat", "quantity_get_float", DOUBLE, lambda q: q.quantity.as_approximate_float()),
        _unary("asInteger", "quantity_get_int", INT, _as_integer),
        _unary("isInteger", "quantity_is_integer", BOOL, lambda q: q.quantity.as_int64() is not None),
        _arithmetic("add", Quantity.__add__),
        _arithmetic("sub", Quantity.__sub__),
        Function("sign", (Overload("quantity_sign", (QUANTITY,), INT, _sign),), cost=NOMINAL),
    ),
    window=Window(since=28),
)
