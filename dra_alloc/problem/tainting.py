"""
Which taints DeviceTaintRules add to the devices of a slice.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import DeviceTaint, DeviceTaintRule
from dra_alloc.profiles import Profile, Trait


def has_effect(rule: DeviceTaintRule, profile: Profile) -> bool:
    """
    Return whether the rule can taint any device.

    Spec: TAINTRULE-1.
    """
    return rule.spec.device_selector is not None or profile.shows(Trait.RULE_WITHOUT_SELECTOR)


def rules_for_pool(rules: Sequence[DeviceTaintRule], driver: str, pool: str) -> tuple[DeviceTaintRule, ...]:
    """
    Return the rules that select a pool, in their order; a rule without a selector selects every pool.

    Where such rules select nothing, `has_effect` leaves them out before.

    Spec: TAINTRULE-1.
    """
    return tuple(rule for rule in rules if _selects_pool(rule, driver, pool)) if rules else ()


def _selects_pool(rule: DeviceTaintRule, driver: str, pool: str) -> bool:
    selector = rule.spec.device_selector
    return selector is None or (selector.driver in (None, driver) and selector.pool in (None, pool))


def taints_for(rules: Sequence[DeviceTaintRule], device: str) -> tuple[DeviceTaint, ...]:
    """
    Return the taints that rules for a device's pool add to it, after its own.

    Spec: TAINTRULE-2.
    """
    return tuple(
        rule.spec.taint
        for rule in rules
        if rule.spec.device_selector is None or rule.spec.device_selector.device in (None, device)
    )
