"""
DeviceTaintRules merged into the slices they select.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_alloc.api import Device, DeviceTaintRule, ResourceSlice

__all__ = ["merge_taint_rules"]


def merge_taint_rules(slices: Iterable[ResourceSlice], rules: Sequence[DeviceTaintRule]) -> tuple[ResourceSlice, ...]:
    """
    Return the slices with the taint of every matching rule appended, in rule order.

    A slice no rule selects is returned as it is.

    Spec: TAINTRULE-1, TAINTRULE-2.
    """
    return tuple(_tainted(each, rules) for each in slices) if rules else tuple(slices)


def _tainted(resource_slice: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> ResourceSlice:
    spec = resource_slice.spec
    matching = [rule for rule in rules if _selects_pool(rule, spec.driver, spec.pool.name)]
    if not matching:
        return resource_slice
    devices = tuple(_tainted_device(device, matching) for device in spec.devices)
    if all(new is old for new, old in zip(devices, spec.devices, strict=True)):
        return resource_slice
    return resource_slice.model_copy(update={"spec": spec.model_copy(update={"devices": devices})})


def _selects_pool(rule: DeviceTaintRule, driver: str, pool: str) -> bool:
    selector = rule.spec.device_selector
    return selector is None or (selector.driver in (None, driver) and selector.pool in (None, pool))


def _tainted_device(device: Device, rules: Sequence[DeviceTaintRule]) -> Device:
    taints = tuple(
        rule.spec.taint
        for rule in rules
        if rule.spec.device_selector is None or rule.spec.device_selector.device in (None, device.name)
    )
    return device.model_copy(update={"taints": (*device.taints, *taints)}) if taints else device
