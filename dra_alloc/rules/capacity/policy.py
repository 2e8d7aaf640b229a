"""
Request policies: what a request takes of one capacity, and which amounts are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dra_alloc.api import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity, Quantity
from dra_alloc.api.amounts.text import Format
from dra_alloc.profiles import Feature, Profile, Trait

_MOST: Final = 2**63 - 1
_WHOLE: Final = 10**9
_MILLI: Final = 10**6
_UNREPRESENTABLE: Final = "capacity request cannot be represented in the device's range arithmetic"
_NEGATIVE: Final = "capacity value is negative"


class AmountError(ValueError):
    """An amount that cannot be computed, or may not be consumed; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """
    How an allocator computes amounts.

    `checked`: what leaves 64 bits or is negative is an error, it does not wrap
    around. `milli`: ranges are computed in thousandths where they can be.
    `positive`: an amount asked for may not be negative, whatever the policy.
    `knows_default`: a default taken unasked is known as such even if it is wide.
    """

    checked: bool
    milli: bool
    positive: bool = False
    knows_default: bool = False

    @classmethod
    def of(cls, profile: Profile) -> Arithmetic:
        """Return the arithmetic of an allocator."""
        known = _ARITHMETIC.get(id(profile))
        if known is not None and known[0] is profile:
            return known[1]
        if len(_ARITHMETIC) >= _MOST_PROFILES:
            _ARITHMETIC.clear()
        made = cls._made(profile)
        # The profile is kept, so that no other comes by the same id.
        _ARITHMETIC[id(profile)] = profile, made
        return made

    @classmethod
    def _made(cls, profile: Profile) -> Arithmetic:
        return cls(
            not profile.shows(Trait.CAPACITY_WRAPS),
            profile.on(Feature.FRACTIONAL_RANGE),
            not profile.shows(Trait.NEGATIVE_ROUNDED),
            not profile.shows(Trait.WIDE_DEFAULT_COPIED),
        )


#: That of the profiles in use: it is asked for with every amount.
_ARITHMETIC: Final[dict[int, tuple[Profile, Arithmetic]]] = {}
_MOST_PROFILES: Final = 64


def consumed_amount(capacity: DeviceCapacity, requested: Quantity | None, arithmetic: Arithmetic) -> Quantity:
    """
    Return what a request takes of one capacity after rounding by the policy.

    Spec: CAP-1, CAP-2, CAP-7, CAP-8, CAP-9, CAP-12.
    Raises: AmountError.
    """
    if arithmetic.positive and requested is not None and requested.nano < 0:
        raise AmountError(f"{_NEGATIVE}: request {requested}")
    amount = _rounded(capacity, requested, arithmetic)
    if arithmetic.checked and amount.nano < 0:
        raise AmountError(_NEGATIVE)
    return amount


def _rounded(capacity: DeviceCapacity, requested: Quantity | None, arithmetic: Arithmetic) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return requested
    span = policy.valid_range
    if span is not None and span.min is not None:
        return _round_into(requested, span.min, span, arithmetic)
    fitting = (value for value in policy.valid_values if value >= requested)
    return next(fitting, requested)


def _round_into(
    requested: Quantity, low: Quantity, span: CapacityRequestPolicyRange, arithmetic: Arithmetic
) -> Quantity:
    if requested < low:
        return low
    if span.step is None or span.step.value() == 0:
        return requested
    if arithmetic.milli and _is_milli(span):
        return _round_milli(requested, low, span.step)
    step, base = span.step.value(), low.value()
    if not arithmetic.checked:
        return Quantity.of(_wrapping(requested.value(), base, step), Format.BINARY_SI)
    asked = _steps(requested.nano, _WHOLE) if requested.nano > 0 else requested.value()
    if asked > _MOST:
        raise AmountError(f"{_UNREPRESENTABLE}: request {requested} exceeds MaxInt64")
    rounded = _int64(base + _steps(asked - base, step) * step)
    if rounded < asked:
        raise AmountError(f"{_UNREPRESENTABLE}: rounding request {requested} up to the next step passes MaxInt64")
    return Quantity.of(rounded, span.step.format)


def _round_milli(requested: Quantity, low: Quantity, step: Quantity) -> Quantity:
    asked = _milli(requested)
    if asked is None:
        raise AmountError(f"{_UNREPRESENTABLE}: request {requested} is not a representable milli value")
    base, width = low.nano // _MILLI, step.nano // _MILLI
    rounded = base + _steps(asked - base, width) * width
    if rounded > _MOST or base < 0:
        raise AmountError(
            f"{_UNREPRESENTABLE}: rounding request {requested} up to the next step passes the milli-value range"
        )
    return Quantity.of(rounded, step.format, exponent=-3)


def _steps(distance: int, step: int) -> int:
    """Return how many steps cover the distance."""
    return -(-distance // step)


def _wrapping(asked: int, base: int, step: int) -> int:
    """Return the amount as 64 bits leave it; what wrapped below the minimum counts steps towards zero, and one more."""
    distance = _int64(asked - base)
    count = abs(distance) // step * (1 if distance > 0 else -1)
    return _int64(base + (count + (distance % step != 0)) * step)


def _milli(amount: Quantity) -> int | None:
    """Return the amount in thousandths; None if it is no whole number of them, or too large for 64 bits."""
    whole, rest = divmod(amount.nano, _MILLI)
    return None if rest or not -_MOST <= whole <= _MOST else whole


def _is_milli(span: CapacityRequestPolicyRange) -> bool:
    """Return whether minimum, maximum and step are all thousandths, so that the range is computed in them."""
    return all(each is None or _milli(each) is not None for each in (span.min, span.max, span.step))


def _int64(value: int) -> int:
    """Return the value as upstream's 64-bit arithmetic leaves it: it wraps around."""
    return (value + 2**63) % 2**64 - 2**63


def violates_policy(policy: CapacityRequestPolicy, amount: Quantity, arithmetic: Arithmetic) -> bool:
    """
    Return whether a rounded amount is one the policy does not allow.

    The default always is allowed, if it is spelt the same way; a wide one never
    is the same, as what is consumed is a copy of it (up to 1.37).

    Spec: CAP-3, CAP-8, GROW-6.
    """
    if policy.default is not None:
        if arithmetic.knows_default and amount is policy.default:
            return False
        if not amount.wide and amount.same_representation(policy.default):
            return False
    span = policy.valid_range
    if span is not None:
        if span.max is not None and amount > span.max:
            return True
        return _is_off_steps(span, amount, arithmetic)
    return bool(policy.valid_values) and amount not in policy.valid_values


def _is_off_steps(span: CapacityRequestPolicyRange, amount: Quantity, arithmetic: Arithmetic) -> bool:
    if span.step is None or span.min is None or span.step.value() == 0:
        return False
    if arithmetic.milli and _is_milli(span):
        taken = _milli(amount)
        return taken is None or (taken - span.min.nano // _MILLI) % (span.step.nano // _MILLI) != 0
    return _int64(amount.value() - span.min.value()) % span.step.value() != 0
