"""
How much of a device's capacity a request takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from dra_alloc.api import CapacityRequestPolicy, DeviceCapacity, Quantity
from spec.reference.question import Offer, Question, Wanted

T = TypeVar("T")
ONE = 10**9
LARGEST = 2**63 - 1


def by_full_name(named: Mapping[str, T], driver: str) -> dict[str, T]:
    """
    Return what has names of capacities, named with their domain; the spelling with the domain counts.

    Spec: CAP-13.
    """
    short = {f"{driver}/{name}": each for name, each in named.items() if "/" not in name}
    return short | {name: each for name, each in named.items() if "/" in name}


def capacities(offer: Offer) -> dict[str, DeviceCapacity]:
    """Return the capacities of the device by their full names."""
    return by_full_name(offer.device.capacity, offer.slice.spec.driver)


def amounts(wanted: Wanted, offer: Offer, question: Question) -> Mapping[str, int] | None:
    """
    Return what the request takes of every capacity of the device, in billionths; None if that cannot be had.

    Spec: CAP-1, CAP-4, CAP-7.
    """
    if not question.on("ConsumableCapacity"):
        return {}
    requests = wanted.wire.capacity.requests if wanted.wire.capacity is not None else {}
    asked, offered = by_full_name(requests, offer.slice.spec.driver), capacities(offer)
    if not set(asked) <= set(offered):
        return None
    taken = {name: _amount(capacity, asked.get(name)) for name, capacity in offered.items()}
    known = {name: amount for name, amount in taken.items() if amount is not None and amount.nano >= 0}
    policies = {name: capacity.request_policy for name, capacity in offered.items()}
    if len(known) < len(taken) or not all(_is_allowed(policies[name], amount) for name, amount in known.items()):
        return None
    return {name: amount.nano for name, amount in known.items()}


def _amount(capacity: DeviceCapacity, asked: Quantity | None) -> Quantity | None:
    """
    Return the amount after rounding; None if it cannot be computed.

    Spec: CAP-1, CAP-2, CAP-8.
    """
    policy = capacity.request_policy
    if asked is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return asked
    span = policy.valid_range
    if span is not None and span.min is not None:
        if asked < span.min:
            return span.min
        return asked if span.step is None else _to_a_step(asked, span.min, span.step)
    large_enough = [value for value in policy.valid_values if value >= asked]
    return large_enough[0] if large_enough else asked


def _to_a_step(asked: Quantity, low: Quantity, step: Quantity) -> Quantity | None:
    """Return the next whole step above the minimum, in whole numbers."""
    start, width, wanted = _whole(low), _whole(step), -(-asked.nano // ONE)
    if width == 0:
        return asked
    steps = -(-(wanted - start) // width)
    amount = start + steps * width
    return Quantity.of(amount, step.format) if wanted <= LARGEST and amount <= LARGEST else None


def _whole(quantity: Quantity) -> int:
    """Return the quantity in whole numbers, away from zero."""
    up = -(-abs(quantity.nano) // ONE)
    return up if quantity.nano >= 0 else -up


def _is_allowed(policy: CapacityRequestPolicy | None, amount: Quantity) -> bool:
    """
    Return whether the policy allows the amount; what is spelt as the default always is, unless it is wide (GROW-6).

    Spec: CAP-3.
    """
    is_default = policy is not None and policy.default is not None and amount.same_representation(policy.default)
    if policy is None or (is_default and not amount.wide):
        return True
    span = policy.valid_range
    if span is None:
        return not policy.valid_values or amount in policy.valid_values
    if span.max is not None and amount > span.max:
        return False
    if span.min is None or span.step is None or _whole(span.step) == 0:
        return True
    return (_whole(amount) - _whole(span.min)) % _whole(span.step) == 0
