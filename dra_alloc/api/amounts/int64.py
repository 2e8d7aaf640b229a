"""
Quantities as int64 and float64, with the rounding and wrapping of upstream's code.

Callers upstream ignore overflow, so what it leaves behind is an answer.
"""

from __future__ import annotations

import math
from typing import Final

from dra_alloc.api.amounts.text import MAX_INT64, MIN_INT64, rescale

_UNCHECKED_POWERS: Final = frozenset({1, 2, 3, 6, 9})
"""Powers of ten by which upstream multiplies in one step and hands out the wrapped product."""


def wrap_int64(value: int) -> int:
    """Return the low 64 bits as a signed integer."""
    return (value - MIN_INT64) % 2**64 + MIN_INT64


def scaled_int64(unscaled: int, exponent: int, target: int, *, wide: bool) -> int:
    """Return the value in units of ``10 ** target`` as an int64."""
    if wide:
        return _scaled_wide(unscaled, target - exponent)
    whole = rescale(unscaled, exponent, target)
    if MIN_INT64 <= whole <= MAX_INT64:
        return whole
    return wrap_int64(whole) if exponent - target in _UNCHECKED_POWERS and unscaled != MIN_INT64 else 0


def _scaled_wide(unscaled: int, drop: int) -> int:
    """Return `unscaled` without its last `drop` digits; dropped digits add 1, whatever the sign."""
    if drop <= 0:
        # The factor is converted from a float: beyond int64 it becomes the smallest int64.
        factor = 10**-drop if drop >= -18 else MIN_INT64
        return wrap_int64(wrap_int64(unscaled) * factor)
    if unscaled < MAX_INT64 and drop < 19:
        number = wrap_int64(unscaled)
        quotient, rest = divmod(abs(number), int(10**drop))
        return (quotient if number > 0 else -quotient) + (rest != 0)
    whole, rest = divmod(unscaled, 10**drop)
    return wrap_int64(wrap_int64(whole) + (rest != 0))


def approximate(unscaled: int, exponent: int) -> float:
    """Return the value as a float, computed as digits times a power of ten."""
    try:
        base = float(unscaled)
    except OverflowError:
        base = math.copysign(math.inf, unscaled)
    return base * _power_of_ten(exponent) if exponent else base


def _power_of_ten(exponent: int) -> float:
    """Return a power of ten as the product (or quotient) of two exact ones, as Go computes it."""
    if exponent < -323:
        return 0.0
    if exponent > 308:
        return math.inf
    coarse, fine = divmod(abs(exponent), 32)
    if exponent < 0:
        return float(f"1e-{32 * coarse}") / float(f"1e{fine}")
    return float(f"1e{32 * coarse}") * float(f"1e{fine}")
