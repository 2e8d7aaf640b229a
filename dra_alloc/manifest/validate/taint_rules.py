"""
Admission rules of taint rules and their status.
"""

from __future__ import annotations

from dra_alloc.api import DeviceTaintRule
from dra_alloc.api.names import label_faults, pool_faults
from dra_alloc.manifest.validate.conditions import check_conditions
from dra_alloc.manifest.validate.metadata import PLAIN, check_metadata
from dra_alloc.manifest.validate.parts import check_taint
from dra_alloc.manifest.validate.releases import EFFECT_ALWAYS
from dra_alloc.manifest.validate.violations import Violations


def check_taint_rule(v: Violations, rule: DeviceTaintRule, old: DeviceTaintRule | None = None) -> None:
    """Check a taint rule. Spec: VAL-45."""
    check_metadata(v, rule.metadata, PLAIN, None if old is None else old.metadata)
    selector = rule.spec.device_selector
    if selector is not None:
        if selector.driver is not None:
            v.driver("spec.deviceSelector.driver", selector.driver)
        if selector.pool is not None:
            v.names("spec.deviceSelector.pool", pool_faults(selector.pool))
        if selector.device is not None:
            v.names("spec.deviceSelector.device", label_faults(selector.device))
    taint, before = rule.spec.taint, None if old is None else old.spec.taint
    looked_at = before is None or taint.effect != before.effect or v.holds(EFFECT_ALWAYS)
    check_taint(v, taint, "spec.taint", effect=looked_at)


def check_taint_rule_status(v: Violations, rule: DeviceTaintRule, old: DeviceTaintRule) -> None:
    """Check a changed status; nothing but it and metadata is looked at. Spec: VAL-16."""
    check_metadata(v, rule.metadata, PLAIN, old.metadata)
    check_conditions(v, rule.status.conditions, "status.conditions")
