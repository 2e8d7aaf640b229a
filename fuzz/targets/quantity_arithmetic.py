"""
Quantities read, add, compare and print as exact fractions do.

    python -m fuzz.targets.quantity_arithmetic [--cases 500] [--seed 1]

The definition here is independent of the package: a regular expression, `Fraction`, rounding away from zero to 10^-9,
and the cap of binary amounts (QTY-1, QTY-11, QTY-12, QTY-28, QTY-30).
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Final

from dra_alloc.api import Format, Quantity, QuantityError
from dra_alloc.testing.drawing.number_texts import quantity_text
from fuzz.target import Broken, Json, Target, command

_TEXT: Final = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)([numkMGTPE]?|[KMGTPE]i|[eE][+-]?[0-9]+)")
_DECIMAL: Final = {suffix: Fraction(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)}
_BINARY: Final = {f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", 1)}
_NANO: Final = 10**9
_MOST: Final = 2**63 - 1
#: Amounts with more digits before the point are refused: QTY-9.
_DIGITS: Final = 1000
#: Larger amounts print without their suffix: upstream's defect QTY-20.
_PRINTABLE: Final = 10**21


def meaning(text: str) -> Fraction | None:
    """Return the amount a text stands for, or None if it is none."""
    shape = _TEXT.fullmatch(text)
    if shape is None:
        return None
    sign, whole, fraction, suffix = shape.groups()
    digits = (whole + fraction).lstrip("0")
    if suffix[1:].lstrip("+-").isdigit() and digits and int(suffix[1:]) + len(digits) - len(fraction) > _DIGITS:
        return None
    amount = Fraction(int(whole + fraction or "0"), 10 ** len(fraction))
    factor = _DECIMAL.get(suffix) or _BINARY.get(suffix) or Fraction(10) ** int(suffix[1:])
    rounded = Fraction(math.ceil(amount * factor * _NANO), _NANO)
    if suffix in _BINARY:
        rounded = min(rounded, Fraction(_MOST))
    return -rounded if sign == "-" else rounded


def _cases(seed: int) -> Iterator[Json]:
    for number in itertools.count():
        random = Random(f"{seed}/{number}")
        yield {"left": quantity_text(random), "right": quantity_text(random)}


def _read(text: str) -> tuple[Quantity, Fraction] | None:
    expected = meaning(text)
    try:
        found = Quantity.parse(text)
    except QuantityError:
        if expected is not None:
            raise Broken(f"{text!r}: refused, but it is {expected}") from None
        return None
    if expected is None:
        # Upstream's scanner takes texts without a digit for zero (QTY-2).
        if any(each.isdigit() for each in re.split("[eE]", text)[0]):
            raise Broken(f"{text!r}: read as {found}, but it is none")
        return None
    _hold("the amount", found.nano, expected * _NANO)
    if 0 <= expected <= _MOST:
        _hold("the integer", found.value(), math.ceil(expected))
    if abs(expected) < _PRINTABLE or found.format is Format.DECIMAL_EXPONENT:
        _hold("printed and read again", meaning(str(found)), expected)
    return found, expected


def _hold(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Broken(f"{what}: {found}, not {expected}")


def _check(case: Json) -> str:
    left, right = _read(case["left"]), _read(case["right"])
    if left is None or right is None:
        return "no quantity"
    (one, a), (two, b) = left, right
    _hold("the sum", (one + two).nano, (a + b) * _NANO)
    _hold("the difference", (one - two).nano, (a - b) * _NANO)
    _hold("less", one < two, a < b)
    _hold("equal", one == two, a == b)
    _hold("the hashes", hash(one) == hash(two) or a != b, True)
    _hold("the format of the sum", (one + two).format, one.format if a else two.format)
    return "pairs"


TARGET = Target("quantity_arithmetic", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
