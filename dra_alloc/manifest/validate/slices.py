"""
Admission rules of slices.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Final

from dra_alloc.api import (
    Device,
    DeviceAttribute,
    DeviceRequestAllocationResult,
    FrozenMap,
    NodeSelector,
    ResourceSlice,
    ResourceSliceSpec,
)
from dra_alloc.api.devices import VALUE_LISTS, has_lists, value_lists
from dra_alloc.api.names import label_faults, pool_faults, qualified_name_faults, subdomain_faults
from dra_alloc.limits import ATTRIBUTES_MAX, DEVICES_MAX, DEVICES_WITH_FEATURES_MAX
from dra_alloc.manifest.read.paths import key_path
from dra_alloc.manifest.validate.counters import (
    check_counter_sets,
    check_device_counters,
    check_partition_type,
    check_references_to_counters,
)
from dra_alloc.manifest.validate.metadata import IMMUTABLE, PLAIN, check_metadata
from dra_alloc.manifest.validate.node_allocatable import check_node_allocatable
from dra_alloc.manifest.validate.parts import (
    check_label_keys,
    check_node_selector,
    check_taint,
    first_of_each,
)
from dra_alloc.manifest.validate.policies import check_request_policy
from dra_alloc.manifest.validate.releases import (
    CAPACITIES_KEPT,
    COUNTERS_TOGETHER,
    DEVICES_KEPT,
    EMPTY_IS_REQUIRED,
    GENERATED,
    NODES_OF_ALL,
    ONE_SLASH,
    ONE_TERM_A_DEVICE,
    TAINTS_KEPT,
    VALUES_COUNTED,
    VERSIONS_BOUNDED,
)
from dra_alloc.manifest.validate.violations import Violations

ATTRIBUTE_VALUES_MAX: Final = 48
ATTRIBUTE_TEXT_MAX: Final = 64
TAINTS_MAX: Final = 16
EARLY_TAINTS_MAX: Final = 4
CONDITIONS_MAX: Final = 4
_SEMVER_TEXT: Final = "must be a string compatible with semver.org spec 2.0.0"


def _semver(number: str) -> re.Pattern[str]:
    """Return what versions look like with numbers of a form. `Semver` bounds them otherwise than admission does."""
    pre = rf"(?:{number}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    build = r"[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*"
    return re.compile(rf"{number}\.{number}\.{number}(?:-{pre}(?:\.{pre})*)?(?:\+{build})?")


_SEMVER: Final = _semver("(?:0|[1-9][0-9]*)")
_BOUNDED: Final = _semver("(?:0|[1-9][0-9]{0,17})")
_VALUE_FIELDS: Final = ("int_", "bool_", "string", "version", *VALUE_LISTS)
_GIVEN: Final = attrgetter(*_VALUE_FIELDS)
_VALUES: Final = ", ".join(f"`{name.rstrip('_')}`" for name in _VALUE_FIELDS)
_NODE_FIELDS: Final = {
    "node_name": "nodeName",
    "node_selector": "nodeSelector",
    "all_nodes": "allNodes",
    "per_device_node_selection": "perDeviceNodeSelection",
}
_ONE_NODE_FIELD: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_DEVICE_NODE_FIELD: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_DEVICE_NODE_FIELD: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_PREPARE: Final = "NodePrepareResources"
_UNPREPARE: Final = "NodeUnprepareResources"
_TRUE_OR_UNSET: Final = "must be either unset or set to true"


def check_slice(v: Violations, item: ResourceSlice, old: ResourceSlice | None = None) -> None:
    """Check a slice. Spec: VAL-11."""
    check_metadata(v, item.metadata, PLAIN, None if old is None else old.metadata)
    spec, before = item.spec, (old or item).spec
    v.driver("spec.driver", spec.driver)
    v.names("spec.pool.name", pool_faults(spec.pool.name))
    for name, now, then in (
        ("driver", spec.driver, before.driver),
        ("pool.name", spec.pool.name, before.pool.name),
        ("nodeName", spec.node_name, before.node_name),
    ):
        if now != then:
            v.invalid(f"spec.{name}", now, IMMUTABLE)
    if spec.pool.resource_slice_count <= 0:
        v.invalid("spec.pool.resourceSliceCount", spec.pool.resource_slice_count, "must be greater than zero")
    if spec.pool.generation < 0:
        v.invalid("spec.pool.generation", spec.pool.generation, "must be greater than or equal to zero")
    _nodes(v, spec)
    if spec.devices and spec.shared_counters and not v.holds(COUNTERS_TOGETHER):
        v.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    before_skipped = () if old is None else before.skip_node_operations
    check_node_operations(v, spec.skip_node_operations, "spec.skipNodeOperations", before_skipped)
    with v.stored(old is not None and spec.shared_counters == before.shared_counters):
        check_counter_sets(v, spec)
    _devices(v, spec, None if old is None else before)
    check_partition_type(v, spec, None if old is None else before.partition_type_attribute)


def _nodes(v: Violations, spec: ResourceSliceSpec) -> None:
    """Check that a slice says in exactly one way which nodes reach it. Spec: VAL-63 to VAL-65, VAL-68, VAL-69."""
    if spec.node_name is not None:
        if not spec.node_name:
            v.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string")
        else:
            v.names("spec.nodeName", subdomain_faults(spec.node_name))
    if spec.node_selector is not None:
        check_node_selector(v, spec.node_selector, "spec.nodeSelector")
        _one_term(v, spec.node_selector, "spec.nodeSelector")
    for name in ("all_nodes", "per_device_node_selection"):
        if getattr(spec, name) is False:
            v.invalid(f"spec.{_NODE_FIELDS[name]}", False, _TRUE_OR_UNSET)
    given = [wire for name, wire in _NODE_FIELDS.items() if getattr(spec, name) not in (None, False, "")]
    if not given:
        v.required("spec", _ONE_NODE_FIELD)
    elif len(given) > 1:
        v.invalid("spec", _listed(given), f"{_ONE_NODE_FIELD}, but multiple fields are set")


def _listed(names: list[str]) -> str:
    return "{" + ", ".join(f"`{name}`" for name in names) + "}"


def _one_term(v: Violations, selector: NodeSelector, path: str) -> None:
    terms = selector.node_selector_terms
    if len(terms) != 1:
        # The server prints the terms as Go does; their number says as much.
        shown = f"{len(terms)} terms" if terms else []
        v.invalid(f"{path}.nodeSelectorTerms", shown, "must have exactly one node selector term")


def check_node_operations(v: Violations, skipped: tuple[str, ...], path: str, before: tuple[str, ...] = ()) -> None:
    """Check which operations of the node are skipped, generated checks but for what was there. Spec: VAL-12, VAL-57."""
    if _PREPARE in skipped and not {"*", _UNPREPARE} & set(skipped):
        v.invalid(path, str(list(skipped)), f"{_PREPARE} cannot be skipped unless {_UNPREPARE} is also skipped")
    firsts = first_of_each(skipped)
    for position, operation in enumerate(skipped):
        if not firsts[position] and skipped != before:
            v.duplicate(f"{path}[{position}]", operation)
        if operation not in ("*", _PREPARE, _UNPREPARE, *before):
            v.unsupported(f"{path}[{position}]", operation, ("*", _PREPARE, _UNPREPARE))


def _devices(v: Violations, spec: ResourceSliceSpec, before: ResourceSliceSpec | None) -> None:
    """Check devices, some of which were there, and their nodes. Spec: VAL-12, VAL-67."""
    same = before is not None and _are_same(spec.devices, before.devices)
    kept = same and v.holds(DEVICES_KEPT)
    if kept and before is not None and spec.per_device_node_selection == before.per_device_node_selection:
        return
    crowded = not kept and _are_crowded(v, spec.devices)
    if not kept and (v.generated or not crowded):
        with v.generated_checks(crowded):
            _each_device(v, spec, before, same=same)
    with v.generated_checks(crowded and not v.holds(NODES_OF_ALL)):
        for position, device in enumerate(spec.devices):
            per_device = bool(spec.per_device_node_selection)
            _device_nodes(v, device, f"spec.devices[{position}]", per_device=per_device)


def _are_crowded(v: Violations, devices: tuple[Device, ...]) -> bool:
    """Check the number of devices, which rare features halve. Spec: VAL-8, VAL-71."""
    special = not v.holds(COUNTERS_TOGETHER) and any(
        device.taints or device.consumes_counters or any(map(has_lists, device.attributes.values()))
        for device in devices
    )
    return v.too_many("spec.devices", len(devices), DEVICES_WITH_FEATURES_MAX if special else DEVICES_MAX)


def _each_device(v: Violations, spec: ResourceSliceSpec, before: ResourceSliceSpec | None, *, same: bool) -> None:
    there = {} if before is None else {each.name: each for each in before.devices}
    firsts = first_of_each(device.name for device in spec.devices)
    check_references_to_counters(v, spec)
    for position, device in enumerate(spec.devices):
        path = f"spec.devices[{position}]"
        if not firsts[position]:
            v.named_twice(path, device.name)
        _device(v, device, path, there.get(device.name), same=same)


def _device(v: Violations, device: Device, path: str, was: Device | None, *, same: bool) -> None:
    """Check a device, `was` being the one of its name before, and `same` whether no device changes."""
    v.names(f"{path}.name", label_faults(device.name))
    with v.stored(same):
        _attributes(v, device, path)
        if was is None or device.capacity != was.capacity or not v.holds(CAPACITIES_KEPT):
            _capacities(v, device, path)
        check_device_counters(v, device, path)
        check_node_allocatable(v, device, path)
        check_binding(v, device, path)
    if not same or not v.holds(GENERATED):
        _taints(v, device, path, kept=was is not None and device.taints == was.taints and v.holds(TAINTS_KEPT))


def _are_same(devices: tuple[Device, ...], before: tuple[Device, ...]) -> bool:
    """Say whether all devices stay as they were; an attribute's list of nothing is none."""
    return devices == before or list(map(_without_empty, devices)) == list(map(_without_empty, before))


def _without_empty(device: Device) -> Device:
    attributes = {
        name: each.model_copy(update={one: getattr(each, one) or None for one in VALUE_LISTS})
        for name, each in device.attributes.items()
    }
    return device.model_copy(update={"attributes": FrozenMap(attributes)})


def _taints(v: Violations, device: Device, path: str, *, kept: bool) -> None:
    """Check taints; of those that are kept only generated checks say something."""
    most = EARLY_TAINTS_MAX if v.holds(COUNTERS_TOGETHER) else TAINTS_MAX
    with v.generated_checks(kept or v.too_many(f"{path}.taints", len(device.taints), most)):
        for index, taint in enumerate(device.taints):
            check_taint(v, taint, f"{path}.taints[{index}]")


def _attributes(v: Violations, device: Device, path: str) -> None:
    """Check attributes, and how many capacities there are beside them. Spec: VAL-73 to VAL-78."""
    entries = len(device.attributes) + len(device.capacity)
    if entries > ATTRIBUTES_MAX:
        v.invalid(path, entries, f"the total number of attributes and capacities must not exceed {ATTRIBUTES_MAX}")
    values = sum(max(1, _values(attribute)) for attribute in device.attributes.values())
    if values > ATTRIBUTE_VALUES_MAX and v.holds(VALUES_COUNTED):
        v.invalid(path, values, f"the total number of attribute values must not exceed {ATTRIBUTE_VALUES_MAX}")
    one_slash = v.holds(ONE_SLASH)
    for name, attribute in device.attributes.items():
        v.names(v.of_key(f"{path}.attributes", name), qualified_name_faults(name, one_slash=one_slash))
        _attribute(v, attribute, name, f"{path}.attributes")


def _capacities(v: Violations, device: Device, path: str) -> None:
    """Check names and policies of capacities. Spec: VAL-75."""
    one_slash = v.holds(ONE_SLASH)
    for name, capacity in device.capacity.items():
        place = key_path(f"{path}.capacity", name)
        v.names(v.of_key(f"{path}.capacity", name), qualified_name_faults(name, one_slash=one_slash))
        check_request_policy(v, capacity, place, shared=device.allow_multiple_allocations is True)


def _values(attribute: DeviceAttribute) -> int:
    return sum(len(each or ()) for each in value_lists(attribute))


def _attribute(v: Violations, attribute: DeviceAttribute, name: str, around: str) -> None:
    """Check that an attribute has one value, and that it is fine."""
    path = key_path(around, name)
    given = len(_VALUE_FIELDS) - _GIVEN(attribute).count(None)
    listed = has_lists(attribute)
    if given != 1 or listed:
        _one_value(v, attribute, given, (path, f"{around}[{name}]"))
    if attribute.version is None and not listed:  # most are so
        if attribute.string is not None:
            v.too_long(f"{path}.string", attribute.string, ATTRIBUTE_TEXT_MAX)
        return
    for member in VALUE_LISTS:
        if getattr(attribute, member) == ():
            v.invalid(f"{path}.{member}", "", "must not be empty if specified")
    texts = [(f"{path}.string", attribute.string)]
    texts += [(f"{path}.strings[{index}]", text) for index, text in enumerate(attribute.strings or ())]
    versions = [(f"{path}.version", attribute.version)]
    versions += [(f"{path}.versions[{index}]", text) for index, text in enumerate(attribute.versions or ())]
    for place, text in texts + versions:
        if text is not None:
            v.too_long(place, text, ATTRIBUTE_TEXT_MAX)
    bounded = v.holds(VERSIONS_BOUNDED)
    for place, text in versions:
        if text is not None and not (_BOUNDED if bounded else _SEMVER).fullmatch(text):
            v.invalid(place, text, f"{_SEMVER_TEXT}, with at most 18 digits in numbers" if bounded else _SEMVER_TEXT)


def _one_value(v: Violations, attribute: DeviceAttribute, given: int, paths: tuple[str, str]) -> None:
    """
    Check that one value is given; to generated checks a list of nothing is none, and of theirs no other speaks.

    They cut no long name, and what is told at another path is told again.
    """
    path, whole = paths
    filled = sum(each not in (None, ()) for each in _GIVEN(attribute))
    told = v.generated and filled != 1
    if told:
        v.invalid(v.sent(whole), "", f"must specify {'exactly ' if filled else ''}one of: {_VALUES}")
    if told and whole == path:
        return
    if not given and v.holds(EMPTY_IS_REQUIRED):
        v.required(path, "exactly one value must be specified")
    elif given != 1:
        v.invalid(path, "", "exactly one value must be specified")


def _device_nodes(v: Violations, device: Device, path: str, *, per_device: bool) -> None:
    """Check the nodes of one device. Spec: VAL-66, VAL-67."""
    names = ("node_name", "node_selector", "all_nodes")
    if not per_device:
        if any(getattr(device, name) is not None for name in names):
            v.invalid(path, None, _NO_DEVICE_NODE_FIELD)
        return
    if device.node_name is not None:
        if not device.node_name:
            v.invalid(f"{path}.nodeName", "", "must not be empty")
        else:
            v.names(f"{path}.nodeName", subdomain_faults(device.node_name))
    if device.node_selector is not None:
        check_node_selector(v, device.node_selector, f"{path}.nodeSelector")
        if v.holds(ONE_TERM_A_DEVICE):
            _one_term(v, device.node_selector, f"{path}.nodeSelector")
    if device.all_nodes is False:
        v.invalid(f"{path}.allNodes", False, _TRUE_OR_UNSET)
    given = [_NODE_FIELDS[name] for name in names if getattr(device, name) not in (None, False, "")]
    if not given:
        v.required(path, _ONE_DEVICE_NODE_FIELD)
    elif len(given) > 1:
        v.invalid(path, _listed(given), _ONE_DEVICE_NODE_FIELD)


def check_binding(v: Violations, device: Device | DeviceRequestAllocationResult, path: str) -> None:
    """Check binding conditions: both kinds or none, and nothing in both. Spec: VAL-80."""
    good, bad = device.binding_conditions, device.binding_failure_conditions
    for values, name in ((good, "bindingConditions"), (bad, "bindingFailureConditions")):
        too_many = v.too_many(v.sent(f"{path}.{name}"), len(values), CONDITIONS_MAX)
        check_label_keys(v, values, f"{path}.{name}", only_repeated=too_many)
    for position, value in enumerate(bad):
        if value in good:
            place = f"{path}.bindingFailureConditions[{position}]"
            v.invalid(place, value, "bindingFailureConditions must not overlap with bindingConditions")
    if bad and not good:
        v.invalid(f"{path}.bindingConditions", "[]", "bindingConditions are required to use bindingFailureConditions")
    if good and not bad:
        v.invalid(
            f"{path}.bindingFailureConditions", "[]", "bindingFailureConditions are required to use bindingConditions"
        )
