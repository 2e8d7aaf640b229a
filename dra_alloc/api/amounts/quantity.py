"""Exact Kubernetes quantities: ``1500m``, ``80Gi``, ``1e3``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import total_ordering
from operator import attrgetter
from typing import Any, Final, NoReturn

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from dra_alloc.api.amounts.int64 import approximate, scaled_int64
from dra_alloc.api.amounts.text import (
    FORMAT_WRONG,
    MAX_EXPONENT,
    MAX_INT64,
    MIN_INT64,
    NANO,
    Format,
    QuantityError,
    print_json_number,
    print_quantity,
    read_quantity,
    rescale,
)

_MEMO: Final[dict[str, Quantity]] = {}
_MEMO_LIMIT: Final = 16_384
_MAX_BITS: Final = (10**MAX_EXPONENT).bit_length()


@total_ordering
class Quantity:
    """
    An exact amount that remembers how it prints.

    Comparison and hash are numeric (``8Gi == 8192Mi``). Upstream also has a
    struct equality that tells apart equal numbers held differently: see
    `same_representation`.

    Spec: QTY-1 to QTY-33.
    """

    __slots__ = ("_exponent", "_nano", "_text", "_unscaled", "_verbatim", "_wide", "format")

    _unscaled: int
    _exponent: int
    _wide: bool
    _verbatim: str
    _text: str | None
    _nano: int | None
    format: Format

    def __new__(cls, text: str) -> Quantity:  # noqa: PYI034  # the memo hands out Quantity itself
        """Same as `parse`."""
        return cls.parse(text)

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """
        Return the quantity a text stands for.

        Blanks are not trimmed here; JSON strings are, see `from_wire`.

        Raises: QuantityError, with upstream's words.
        """
        known = _MEMO.get(text)
        if known is not None:
            return known
        made = _make(*read_quantity(text))
        if not made._wide:  # two wide quantities are different objects upstream, and it shows
            if len(_MEMO) >= _MEMO_LIMIT:
                _MEMO.clear()
            _MEMO[text] = made
        return made

    @classmethod
    def of(cls, value: int, form: Format = Format.DECIMAL_SI, exponent: int = 0) -> Quantity:
        """Return an integer, times a power of ten, as a quantity that prints in the given format."""
        return _make(value, exponent, not MIN_INT64 <= value <= MAX_INT64, form, "")

    @classmethod
    def from_wire(cls, value: object) -> Quantity:
        """
        Return what a decoded JSON value stands for: text, number, or null for zero.

        A float has lost its literal: JSON ``1e3`` arrives as 1000.0 and prints
        ``1k`` where the API server, which sees the literal, prints ``1e3``.

        Raises: QuantityError.
        """
        if type(value) is str:
            known = _MEMO.get(value)
            return known if known is not None else cls.parse(value.strip(_BLANKS))
        if isinstance(value, Quantity):
            return value
        if value is None:
            return ZERO
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise QuantityError(FORMAT_WRONG)
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise QuantityError(f"quantity is larger than 1e{MAX_EXPONENT}")
        if isinstance(value, float):
            return cls.parse(print_json_number(value))
        return cls.parse(str(value))

    @property
    def nano(self) -> int:
        """The exact value in units of 1e-9."""
        if self._nano is None:
            _set(self, "_nano", rescale(self._unscaled, self._exponent, NANO))
        return self._nano  # type: ignore[return-value]  # set just above

    @property
    def wide(self) -> bool:
        """
        Whether upstream holds it in its arbitrary-precision form, by reference.

        Spec: GROW-1.
        """
        return self._wide

    def value(self) -> int:
        """
        Return the integer value as upstream's `Value` does.

        It is rounded away from zero while it is held in 64 bits; a wide negative
        value is rounded towards zero and then 1 is added. Outside int64 it wraps or is 0.

        Spec: QTY-23 to QTY-26.
        """
        whole = self._unscaled
        if not self._exponent and not self._wide and MIN_INT64 <= whole <= MAX_INT64:
            return whole
        return scaled_int64(whole, self._exponent, 0, wide=self._wide)

    def milli_value(self) -> int:
        """Return the value in thousandths, with the oddities of `value`."""
        return scaled_int64(self._unscaled, self._exponent, -3, wide=self._wide)

    def as_int64(self) -> int | None:
        """
        Return the integer if it is held as one, else None.

        ``1.5Gi`` is an integer and yet none here: a binary fraction is held wide.
        """
        if self._wide or (self._exponent < 0):
            return None
        whole = rescale(self._unscaled, self._exponent, 0)
        return whole if MIN_INT64 <= whole <= MAX_INT64 else None

    def as_approximate_float(self) -> float:
        """Return the nearest float upstream's two-step conversion gives."""
        return approximate(self._unscaled, self._exponent)

    def same_representation(self, other: Quantity) -> bool:
        """
        Decide upstream's struct equality: same digits, scale, format and kept text.

        Wide values are held by reference upstream: equal only to themselves.
        """
        if self._wide or other._wide:
            return self is other
        return (self._unscaled, self._exponent, self.format, self._verbatim) == (
            other._unscaled,
            other._exponent,
            other.format,
            other._verbatim,
        )

    def canonical(self) -> str:
        """Return the computed canonical text, also where `str` keeps the text as it was typed."""
        return print_quantity(self._unscaled, self._exponent, self.format)

    def stored(self) -> Quantity:
        """Return the quantity as it is after a trip through the API server's store: printed and read again."""
        return Quantity.parse(str(self))

    def __str__(self) -> str:
        if self._text is None:
            _set(self, "_text", self._verbatim or self.canonical())
        return self._text  # type: ignore[return-value]  # set just above

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (self.nano == other.nano if isinstance(other, Quantity) else NotImplemented)

    def __lt__(self, other: object) -> bool:
        return self.nano < other.nano if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nano)

    def grown(self, other: Quantity) -> Quantity:
        """Return the wide quantity after another one was added into it, which leaves its format alone."""
        total = self + other
        return _make(total._unscaled, total._exponent, True, self.format, "")

    def __add__(self, other: object) -> Quantity:
        """Return the sum; it prints in this quantity's format, or in the other's if this one is zero."""
        return _sum(self, other, other._unscaled) if isinstance(other, Quantity) else NotImplemented

    def __sub__(self, other: object) -> Quantity:
        """Return the difference; formats as in a sum."""
        return _sum(self, other, -other._unscaled) if isinstance(other, Quantity) else NotImplemented

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Quantity is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Quantity is immutable: cannot delete {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self._unscaled, self._exponent, self._wide, self.format, self._verbatim)

    def __copy__(self) -> Quantity:
        return self

    def __deepcopy__(self, memo: object) -> Quantity:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _validate,
            serialization=core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema()),
            json_schema_input_schema=core_schema.union_schema([core_schema.str_schema(), core_schema.float_schema()]),
        )


def is_debt(amounts: Iterable[Quantity]) -> bool:
    """Return whether one of some amounts is less than nothing, without a call in Python for each."""
    return min(map(_UNSCALED, amounts), default=0) < 0


_set: Final = object.__setattr__
_UNSCALED: Final = attrgetter("_unscaled")

_BLANKS: Final = " \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go trims around a JSON string, without the control characters that JSON text cannot hold raw."""


def _make(unscaled: int, exponent: int, wide: bool, form: Format, verbatim: str) -> Quantity:
    made = object.__new__(Quantity)
    _set(made, "_unscaled", unscaled)
    _set(made, "_exponent", exponent)
    _set(made, "_wide", wide)
    _set(made, "format", form)
    _set(made, "_verbatim", verbatim)
    _set(made, "_text", None)
    _set(made, "_nano", None)
    return made


def _sum(left: Quantity, right: Quantity, right_unscaled: int) -> Quantity:
    """Add in upstream's fast form while it fits 64 bits, else wide."""
    form = left.format if left._unscaled else right.format
    wide = left._wide or right._wide
    if not wide and not right_unscaled:
        return _make(left._unscaled, left._exponent, False, form, "")
    if not wide and not left._unscaled:
        return _make(right_unscaled, right._exponent, False, form, "")
    exponent = min(left._exponent, right._exponent)
    parts = [
        number and number * 10 ** (power - exponent)
        for number, power in ((left._unscaled, left._exponent), (right_unscaled, right._exponent))
    ]
    total = sum(parts)
    fits = all(MIN_INT64 <= number <= MAX_INT64 for number in (*parts, total))
    return _make(total, exponent, wide or not fits, form, "")


def _validate(value: object) -> Quantity:
    try:
        return Quantity.from_wire(value)
    except QuantityError as problem:
        raise PydanticCustomError("quantity", "{reason}", {"reason": problem.message}) from None


ZERO: Final = _make(0, 0, False, Format.UNSET, "")
"""What a missing or null amount decodes to."""
