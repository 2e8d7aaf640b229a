"""
Admission rules of request policies: how much of a shared device one request may take.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.api import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity, Quantity
from dra_alloc.manifest.validate.releases import DEFAULT_AT_BOUND, STEP_ABOVE_ZERO
from dra_alloc.manifest.validate.violations import Violations

VALUES_MAX: Final = 10
_NANO: Final = 10**9
_INT64_MAX: Final = (1 << 63) - 1
_FRACTIONAL: Final = "DRAFractionalCapacityRange"
_TWO_POLICIES: Final = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
)


def check_request_policy(v: Violations, capacity: DeviceCapacity, path: str, *, shared: bool) -> None:
    """Check the policy of a capacity, if it has one. Spec: VAL-81 to VAL-89."""
    policy = capacity.request_policy
    if policy is None:
        return
    path = f"{path}.requestPolicy"
    if not shared:
        v.forbidden(path, "allowMultipleAllocations must be true")
    elif policy.valid_values and policy.valid_range is not None:
        v.forbidden(path, _TWO_POLICIES)
    elif policy.valid_values:
        _valid_values(v, policy, capacity.value, path)
    elif policy.valid_range is not None:
        _valid_range(v, policy, policy.valid_range, (capacity.value, path))


def _valid_values(v: Violations, policy: CapacityRequestPolicy, limit: Quantity, path: str) -> None:
    place = f"{path}.validValues"
    if policy.default is None:
        v.required(f"{path}.default", "required when validValues is defined")
        return
    too_many = v.too_many(place, len(policy.valid_values), VALUES_MAX)
    exact, seen = v.server.gates.get(_FRACTIONAL, False), set[int]()
    for position, option in enumerate(policy.valid_values):
        if option > limit and not too_many:
            v.invalid(f"{place}[{position}]", str(option), f"option is larger than capacity value: {limit}")
        if position and option < policy.valid_values[position - 1]:
            v.invalid(f"{place}[{position}]", str(option), "values must be sorted in ascending order")
        again = (
            any(_is_again(option, each) for each in policy.valid_values[:position]) if exact else option.value() in seen
        )
        if again and not too_many:
            v.duplicate(f"{place}[{position}]", str(option if exact else option.value()))
        seen.add(option.value())
    # Options beyond the limit are not gathered, so that no default is among them then.
    if too_many or policy.default not in policy.valid_values:
        v.invalid(place, str(policy.default), "default value is not valid according to the requestPolicy")


def _is_again(one: Quantity, other: Quantity) -> bool:
    """Say whether two amounts are one where none is rounded: 1k is 1000, but 1 is not 1000m."""
    if one.wide or other.wide:
        return one.wide and other.wide and one == other
    whole = one.as_int64()
    return one.same_representation(other) if whole is None else whole == other.as_int64()


def _valid_range(
    v: Violations, policy: CapacityRequestPolicy, bounds: CapacityRequestPolicyRange, place: tuple[Quantity, str]
) -> None:
    limit, path = place
    default, path_range = policy.default, f"{path}.validRange"
    if default is None:
        v.required(f"{path}.default", "required when validRange is defined")
        return
    if bounds.min is None:
        v.required(f"{path_range}.min", "required when validRange is defined")
        return
    if bounds.min > limit:
        v.invalid(f"{path_range}.min", str(bounds.min), f"min is larger than capacity value: {limit}")
    if default < bounds.min:
        v.invalid(_of_default(v, path_range, "min"), str(default), f"default is less than min: {bounds.min}")
    if bounds.max is not None:
        _maximum(v, bounds, default, place)
    if bounds.step is not None:
        _step(v, bounds, default, place)


def _of_default(v: Violations, path: str, bound: str) -> str:
    """Return where it is told that the default is beyond a bound."""
    return f"{path}.{bound if v.holds(DEFAULT_AT_BOUND) else 'default'}"


def _maximum(v: Violations, bounds: CapacityRequestPolicyRange, default: Quantity, place: tuple[Quantity, str]) -> None:
    limit, path = place
    assert bounds.min is not None
    assert bounds.max is not None
    path_max = f"{path}.validRange.max"
    if bounds.min > bounds.max:
        v.invalid(path_max, str(bounds.min), f"min is larger than max: {bounds.max}")
    if bounds.max > limit:
        v.invalid(path_max, str(bounds.max), f"max is larger than capacity value: {limit}")
    if default > bounds.max:
        v.invalid(_of_default(v, f"{path}.validRange", "max"), str(default), f"default is more than max: {bounds.max}")


def _step(v: Violations, bounds: CapacityRequestPolicyRange, default: Quantity, place: tuple[Quantity, str]) -> None:
    """Check a step and what is that many steps away; from 1.37 on none of them may wrap. Spec: VAL-87 to VAL-89."""
    limit, path = place
    assert bounds.min is not None
    assert bounds.step is not None
    path_range = f"{path}.validRange"
    path_step, later = f"{path_range}.step", v.holds(STEP_ABOVE_ZERO)
    if bounds.step.nano <= 0 if later else not bounds.step.value():  # 1.36 would divide by 0; later releases say so
        v.invalid(path_step, str(bounds.step), "must be greater than zero")
        return
    given = {"default": default, "min": bounds.min, "max": bounds.max, "step": bounds.step}
    amounts = {name: amount for name, amount in given.items() if amount is not None}
    in_milli = v.server.gates.get(_FRACTIONAL, False) and any(each.nano % _NANO for each in amounts.values())
    faults = {name: text for name, each in amounts.items() if (text := _unrepresented(each, in_milli=in_milli))}
    one = bounds.min + bounds.step
    if one > limit and not (in_milli and later and "step" in faults):
        v.invalid(path_step, str(bounds.step), f"one step {one} is larger than capacity value: {limit}")
    if later and faults:
        for name, text in faults.items():
            v.invalid(f"{path_range}.{name}", str(amounts[name]), text)
        return
    numbers = {name: each.milli_value() if in_milli else each.value() for name, each in amounts.items()}
    for name in ("default", "max"):
        if name in numbers and (numbers[name] - numbers["min"]) % numbers["step"]:
            detail = f"value is not a multiple of a given step ({bounds.step}) from ({bounds.min})"
            v.invalid(path_step, str(amounts[name]), detail)


def _unrepresented(amount: Quantity, *, in_milli: bool) -> str:
    """Return why an amount is no number of the arithmetic of steps; whole ones are rounded up."""
    if amount.nano < 0:
        return "must be greater than or equal to 0"
    if in_milli:
        fits = not amount.nano % (_NANO // 1000) and amount.nano // (_NANO // 1000) <= _INT64_MAX
        return "" if fits else "value cannot be represented as a milli value"
    return f"must not be larger than {_INT64_MAX}" if amount.nano > _INT64_MAX * _NANO else ""
