"""
Admission rules of the counters that slices share and devices consume.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.api import Device, ResourceSliceSpec
from dra_alloc.api.names import fully_qualified_name_faults, label_faults
from dra_alloc.limits import COUNTER_SETS_MAX, COUNTERS_MAX
from dra_alloc.manifest.read.paths import key_path
from dra_alloc.manifest.validate.parts import first_of_each
from dra_alloc.manifest.validate.releases import COUNTERS_TOGETHER, ONE_SLASH
from dra_alloc.manifest.validate.violations import Violations

CONSUMED_MAX: Final = 1024
CONSUMED_SETS_MAX: Final = 2
GROUPS_MAX: Final = 2
_PREFIX: Final = "prefix: "
_MISSING_TYPE: Final = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
_NO_REFERENCE: Final = "must reference a {} defined in the ResourceSlice sharedCounters"


def check_counter_sets(v: Violations, spec: ResourceSliceSpec) -> None:
    """Check the counters a slice shares. Spec: VAL-70."""
    path = "spec.sharedCounters"
    if v.holds(COUNTERS_TOGETHER):
        total = sum(len(each.counters) for each in spec.shared_counters)
        if total > COUNTERS_MAX:
            v.invalid(path, total, f"the total number of shared counters must not exceed {COUNTERS_MAX}")
    elif v.too_many(path, len(spec.shared_counters), COUNTER_SETS_MAX):
        return
    firsts = first_of_each(one.name for one in spec.shared_counters)
    for position, counter_set in enumerate(spec.shared_counters):
        _counters(v, counter_set.name, counter_set.counters, (f"{path}[{position}]", "name"))
        if not firsts[position]:
            v.named_twice(f"{path}[{position}]", counter_set.name)


def _counters(v: Violations, name: str, counters: Mapping[str, Any], place: tuple[str, str]) -> None:
    """Check the name of a counter set, and the names of its counters."""
    path, name_field = place
    if not name:
        v.required(v.sent(f"{path}.{name_field}"))
    elif name_field == "name" or not v.holds(COUNTERS_TOGETHER):
        v.names(v.sent(f"{path}.{name_field}"), label_faults(name, declarative=v.generated))
    if not counters:
        v.required(v.sent(f"{path}.counters"))
    elif v.holds(COUNTERS_TOGETHER) or not v.too_many(f"{path}.counters", len(counters), COUNTERS_MAX) or v.generated:
        for counter in counters:
            place_of_key = v.of_key(f"{path}.counters", counter, is_label=True)
            v.names(v.sent(place_of_key), label_faults(counter, declarative=v.generated))


def check_device_counters(v: Violations, device: Device, path: str) -> None:
    """Check what a device takes from counters. Spec: VAL-79."""
    path = f"{path}.consumesCounters"
    if not v.holds(COUNTERS_TOGETHER) and v.too_many(v.sent(path), len(device.consumes_counters), CONSUMED_SETS_MAX):
        return
    firsts = first_of_each(one.counter_set for one in device.consumes_counters)
    for position, taken in enumerate(device.consumes_counters):
        _counters(v, taken.counter_set, taken.counters, (f"{path}[{position}]", "counterSet"))
        _groups(v, taken.compatibility_groups, f"{path}[{position}].compatibilityGroups")
        if not firsts[position]:
            v.named_twice(v.sent(f"{path}[{position}]"), taken.counter_set, "counterSet")


def _groups(v: Violations, groups: tuple[str, ...], path: str) -> None:
    """Check compatibility groups. Spec: VAL-58."""
    if v.as_stored or v.too_many(v.sent(path), len(groups), GROUPS_MAX):
        return
    firsts = first_of_each(groups)
    for position, group in enumerate(groups):
        v.names(v.sent(f"{path}[{position}]"), label_faults(group, declarative=True))
        if not firsts[position]:
            v.duplicate(v.sent(f"{path}[{position}]"), group)


def check_references_to_counters(v: Violations, spec: ResourceSliceSpec) -> None:
    """Check that devices consume what their slice shares, where it has to be in one slice, and not too much of it."""
    if not v.holds(COUNTERS_TOGETHER):
        return
    shared = {each.name: each.counters for each in spec.shared_counters}
    totals = [sum(len(taken.counters) for taken in device.consumes_counters) for device in spec.devices]
    if sum(totals) > CONSUMED_MAX:
        text = f"the total number of counters in devices must not exceed {CONSUMED_MAX}"
        v.invalid("spec.devices", sum(totals), text)
    for position, (device, total) in enumerate(zip(spec.devices, totals, strict=True)):
        path = f"spec.devices[{position}]"
        if total > COUNTERS_MAX:
            v.invalid(path, total, f"the total number of counters must not exceed {COUNTERS_MAX}")
        for index, taken in enumerate(device.consumes_counters):
            place, known = f"{path}.consumesCounters[{index}]", shared.get(taken.counter_set)
            if known is None:
                v.invalid(f"{place}.counterSet", taken.counter_set, _NO_REFERENCE.format("counterSet"))
                continue
            for name in taken.counters:
                if name not in known:
                    v.invalid(f"{place}.counters", name, _NO_REFERENCE.format("counter"))


def check_partition_type(v: Violations, spec: ResourceSliceSpec, before: str | None) -> None:
    """
    Check the attribute that tells kinds of partitions apart, which may go but not change. Spec: VAL-111.

    A device is looked at where the name can be one of its attributes.
    """
    path, name = "spec.partitionTypeAttribute", spec.partition_type_attribute
    if name is None:
        return
    faults = fully_qualified_name_faults(name, declarative=True, one_slash=v.holds(ONE_SLASH))
    if before is None:
        v.names(path, faults)
    elif name != before:
        v.forbidden(path, "")
    if not any(each.consumes_counters for each in spec.devices):
        v.invalid(path, name, "may only be set on a slice which declares devices that consume counters")
    if any(not fault.detail.startswith(_PREFIX) for fault in faults):
        return
    domain, _, short = name.partition("/")
    names = (name, short) if domain == spec.driver else (name,)
    for position, device in enumerate(spec.devices):
        if device.consumes_counters:
            place = key_path(f"spec.devices[{position}].attributes", name)
            given = next((device.attributes[each] for each in names if each in device.attributes), None)
            if given is None:
                v.required(place, _MISSING_TYPE)
            elif given.string is None:
                v.invalid(place, "", "must be a string value because `partitionTypeAttribute` names this attribute")
