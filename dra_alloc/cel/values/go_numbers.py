"""
Numbers to text and back the way Go's strconv does.
"""

from __future__ import annotations

import math
import re
from typing import Final

_DIGITS: Final = "[0-9](?:_?[0-9])*"
_DECIMAL: Final = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?", re.ASCII)
_HEX: Final = re.compile(
    r"([+-]?)0[xX](?=[0-9a-fA-F_.])(_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)?(?:\.([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*))?"
    r"[pP]([+-]?[0-9]+)",
    re.ASCII,
)
_SPECIAL: Final = {
    "inf": math.inf,
    "+inf": math.inf,
    "-inf": -math.inf,
    "infinity": math.inf,
    "+infinity": math.inf,
    "-infinity": -math.inf,
    "nan": math.nan,
}
_TRUE: Final = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE: Final = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_INT: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UINT: Final = re.compile(r"[0-9]+", re.ASCII)
_MAX_DIGITS: Final = 4000


def parse_bool(text: str) -> bool | None:
    """The truth value of `text`, None if it has none."""
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def _whole(text: str, form: re.Pattern[str]) -> int | None:
    if form.fullmatch(text) is None:
        return None
    sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
    digits = digits.lstrip("0") or "0"
    return None if len(digits) > _MAX_DIGITS else int(sign + digits)


def parse_int(text: str) -> int | None:
    """A decimal int64, None if `text` is none."""
    value = _whole(text, _INT)
    return value if value is not None and -(2**63) <= value < 2**63 else None


def parse_uint(text: str) -> int | None:
    """A decimal uint64 without sign, None if `text` is none."""
    value = _whole(text, _UINT)
    return value if value is not None and value < 2**64 else None


def parse_double(text: str) -> float | None:
    """A double, None if `text` is none or too large."""
    special = _SPECIAL.get(text.lower())
    if special is not None:
        return special
    if _DECIMAL.fullmatch(text) is not None:
        value = float(text.replace("_", ""))
        return None if math.isinf(value) else value
    hexadecimal = _HEX.fullmatch(text)
    if hexadecimal is None:
        return None
    try:
        return float.fromhex(text.replace("_", ""))
    except (OverflowError, ValueError):
        return None


def format_double(value: float, limit: int = 6) -> str:
    """
    The shortest text that reads back as `value`, with an exponent below 1e-4 and from 10**`limit` on.

    `limit` is 6 for strconv's ``'g', -1`` and 21 for fmt's ``%v``.
    """
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    digits, exponent = _shortest(value)
    sign = "-" if value < 0 else ""
    if exponent < -4 or exponent >= limit:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return sign + plain(digits, exponent)


def _shortest(value: float) -> tuple[str, int]:
    """The significant digits of `value`, and the power of ten of the first."""
    mantissa, _, power = f"{abs(value)!r}".partition("e")
    if not power:
        mantissa, power = repr(abs(value)), "0"
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    exponent = len(whole) - 1 + int(power)
    stripped = digits.lstrip("0")
    exponent -= len(digits) - len(stripped)
    return stripped.rstrip("0") or "0", exponent


def plain(digits: str, exponent: int) -> str:
    """`digits` with the decimal point after ``10**exponent``, no exponent."""
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
