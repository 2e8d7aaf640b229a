"""
JSON numbers that remember their text, because a Quantity is read from the text.
"""

from __future__ import annotations

from typing import Final

# Go's encoding/json leaves the plain form outside these bounds.
_PLAIN_FROM: Final = 1e-6
_PLAIN_BELOW: Final = 1e21


class JsonFloat:
    """
    A number with a fraction or an exponent, as it was written.

    Not a `float` on purpose: nothing may take it for one and forget the text,
    from which a Quantity is read (``1e3`` prints ``1e3``, 1000 prints ``1k``).
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonFloat) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __float__(self) -> float:
        return float(self.text)


def go_number(value: float) -> int | JsonFloat:
    """
    Return a finite float as Go's JSON encoder would write it, read back.

    A whole number below 1e21 is written without a point and so comes back as
    an int; everything else keeps the shortest text.

    Spec: YAML-12.
    """
    if value == int(value) and abs(value) < _PLAIN_BELOW:
        digits = repr(value)
        if "e" not in digits:
            return int(value)
        return int(_plain(digits))
    return JsonFloat(_text(value))


def _text(value: float) -> str:
    """Return the shortest text: plain between 1e-6 and 1e21, else with an exponent without leading zeros."""
    digits = repr(value)
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return _plain(digits)
    mantissa, _, exponent = digits.partition("e")
    if not exponent:  # repr is plain down to 1e-4 only, so this is never reached for small numbers
        return digits
    sign = "-" if exponent.startswith("-") else "+"
    return f"{mantissa}e{sign}{exponent.lstrip('+-0')}"


def _plain(digits: str) -> str:
    """Write Python's shortest digits of a float without an exponent."""
    mantissa, _, exponent = digits.partition("e")
    if not exponent:
        return digits
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent)
    figures = whole + fraction
    if point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    return f"{sign}{figures[:point].ljust(point, '0')}" + (f".{figures[point:]}" if figures[point:] else "")
