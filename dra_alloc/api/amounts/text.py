"""
The text forms of a quantity: reading them into numbers, printing numbers canonically.

Numbers here are plain integers: a value is ``unscaled * 10 ** exponent``.
A *wide* value is one upstream cannot hold in its 64-bit fast form; the
difference can be seen (`as_int64`, wrapping), so it is kept.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from dra_alloc.errors import InputError

MAX_TEXT: Final = 1024
"""The longest text that is read (ours: upstream has no limit, and needs seconds for a megabyte)."""

MAX_EXPONENT: Final = 1000
"""The largest power of ten a non-zero value may carry (ours: upstream accepts 2**31 - 1)."""

FORMAT_WRONG: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_WRONG: Final = "unable to parse quantity's suffix"
NUMBER_WRONG: Final = "unable to parse numeric part of quantity"

MAX_INT64: Final = 2**63 - 1
MIN_INT64: Final = -(2**63)
NANO: Final = -9


class QuantityError(InputError, ValueError):
    """A text or JSON value that is no quantity; the message is upstream's."""


class Format(StrEnum):
    """How a quantity prints; a zero made from nothing has no format yet."""

    UNSET = ""
    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class Parts(NamedTuple):
    """What a text says, and the text itself if upstream would print it back unchanged."""

    unscaled: int
    exponent: int
    wide: bool
    format: Format
    verbatim: str


_DECIMAL_SUFFIXES: Final = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES: Final = {0: "", 1: "Ki", 2: "Mi", 3: "Gi", 4: "Ti", 5: "Pi", 6: "Ei"}
_DECIMAL_POWER: Final = {suffix: power for power, suffix in _DECIMAL_SUFFIXES.items()}
_BINARY_POWER: Final = {suffix: power for power, suffix in _BINARY_SUFFIXES.items() if suffix}

_SHAPE: Final = re.compile(
    r"(?P<sign>[+-]?)0*(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)"
)
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")


def read_quantity(text: str) -> Parts:
    """
    Return the number and format a text stands for.

    The scanner is looser than the expression its error quotes: ``.``, ``-`` and ``Ki`` are zero.

    Spec: QTY-1 to QTY-16. Raises: QuantityError.
    """
    if len(text) > MAX_TEXT:
        raise QuantityError(f"quantity of {len(text)} characters is longer than {MAX_TEXT}")
    shape = _SHAPE.fullmatch(text)
    if not text or shape is None:
        raise QuantityError(FORMAT_WRONG)
    if text == "0":
        return Parts(0, 0, False, Format.DECIMAL_SI, text)
    whole, fraction = shape["whole"] or "0", shape["fraction"] or ""
    power, form = _read_suffix(shape["suffix"])
    digits = whole + fraction
    number = int(digits)
    if number and form is not Format.BINARY_SI and power + len(digits) > MAX_EXPONENT:
        raise QuantityError(f"quantity is larger than 1e{MAX_EXPONENT}")
    signed = -number if shape["sign"] == "-" else number
    if form is Format.BINARY_SI:
        if not fraction and 15 - len(whole) - power * 3 - 1 >= 0:
            return Parts(signed << (10 * power), 0, False, form, text if number & 7 else "")
        return _wide(signed << (10 * power), -len(fraction), form, shape)
    exponent = power - len(fraction)
    if len(digits) > 18 or exponent < NANO:
        return _wide(signed, exponent, form, shape)
    kept = exponent % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
    return Parts(signed, exponent, False, form, text if kept else "")


def _read_suffix(suffix: str) -> tuple[int, Format]:
    """Return the power (of ten, or of 1024 for BinarySI) a suffix stands for."""
    if suffix in _DECIMAL_POWER:
        return _DECIMAL_POWER[suffix], Format.DECIMAL_SI
    if suffix in _BINARY_POWER:
        return _BINARY_POWER[suffix], Format.BINARY_SI
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent is None:
        raise QuantityError(SUFFIX_WRONG)
    power = int(exponent[1])
    if not MIN_INT64 <= power <= MAX_INT64:
        raise QuantityError(SUFFIX_WRONG)
    # Upstream narrows the exponent to 32 bits without a check, so 1e4294967296 is 1.
    return (power + 2**31) % 2**32 - 2**31, Format.DECIMAL_EXPONENT


def _wide(unscaled: int, exponent: int, form: Format, shape: re.Match[str]) -> Parts:
    """Round away from zero to nano, cap BinarySI at 2**63-1, as upstream's slow path does."""
    if not any(map(str.isdigit, shape[0].removesuffix(shape["suffix"]))):
        raise QuantityError(NUMBER_WRONG)  # only here: the fast path reads no digits as 0
    if not unscaled:
        return Parts(0, max(-MAX_EXPONENT, min(exponent, MAX_EXPONENT)), True, form, "")
    nano = rescale(unscaled, exponent, NANO)
    if form is Format.BINARY_SI:
        if abs(nano) > MAX_INT64 * 10**9:
            return Parts(MAX_INT64 if nano > 0 else -MAX_INT64, 0, True, form, "")
        if abs(nano) < 10**9:
            form = Format.DECIMAL_SI
    return Parts(nano, NANO, True, form, "")


def rescale(unscaled: int, exponent: int, target: int) -> int:
    """Return the value in units of ``10 ** target``, rounded away from zero."""
    if not unscaled:
        return 0
    shift = exponent - target
    if shift >= 0:
        return unscaled * _power_of_ten(shift)
    if -shift > 2 * MAX_TEXT:
        return 1 if unscaled > 0 else -1
    whole = -(-abs(unscaled) // _power_of_ten(-shift))
    return whole if unscaled > 0 else -whole


def _power_of_ten(exponent: int) -> int:
    """Return a power of ten; for mypy, `int ** int` could be a float."""
    power: int = 10**exponent
    return power


def print_quantity(unscaled: int, exponent: int, form: Format) -> str:
    """
    Return the canonical text: all factors of ten (or 1024) moved into the suffix.

    A power with no suffix of its own prints none, which changes the value:
    ``1000E`` prints as ``1``. That is upstream's behaviour.

    Spec: QTY-17 to QTY-21.
    """
    if not unscaled:
        return "0"
    if form is Format.BINARY_SI:
        whole = rescale(unscaled, exponent, 0)
        exact = exponent >= 0 or unscaled % 10**-exponent == 0
        # The least int64 has no positive twin to strip factors from, so it is printed as it is.
        if exact and abs(whole) >= 1024 and whole != -(2**63):
            mantissa, power = _strip(whole, 1024)
            return f"{mantissa}{_BINARY_SUFFIXES.get(power, '')}"
    mantissa, tens = _strip(unscaled, 10)
    power = exponent + tens
    mantissa *= 10 ** (power % 3)
    power -= power % 3
    if form in (Format.DECIMAL_SI, Format.BINARY_SI):
        return f"{mantissa}{_DECIMAL_SUFFIXES.get(power, '')}"
    return f"{mantissa}e{power}" if power else str(mantissa)


def _strip(value: int, base: int) -> tuple[int, int]:
    """Divide all factors of `base` out of a non-zero value and count them."""
    count = 0
    while value % base == 0:
        value //= base
        count += 1
    return value, count


def print_json_number(value: float) -> str:
    """Return a float as JSON numbers are written by Go: exponent form only below 1e-6 and from 1e21."""
    if value and not 1e-6 <= abs(value) < 1e21:
        return repr(value) if "e" in repr(value) else f"{value:e}"
    if value == int(value):
        return str(int(value))
    text = repr(value)
    return f"{value:.20f}".rstrip("0") if "e" in text else text
