"""
Admission rules of the status of a claim: who may use it, what was allocated, how the devices are.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from dra_alloc.api import (
    AllocatedDeviceStatus,
    AllocationResult,
    NetworkDeviceData,
    ResourceClaim,
    ResourceClaimStatus,
)
from dra_alloc.api.names import label_faults, pool_faults, uuid_faults
from dra_alloc.manifest.validate.claims import check_references, request_names
from dra_alloc.manifest.validate.conditions import check_conditions
from dra_alloc.manifest.validate.metadata import IMMUTABLE, NAMESPACED, check_metadata
from dra_alloc.manifest.validate.parts import (
    PARAMETERS_MAX,
    check_amounts,
    check_node_selector,
    check_opaque,
    check_tolerations,
    first_of_each,
)
from dra_alloc.manifest.validate.releases import TWICE_AT_NAME
from dra_alloc.manifest.validate.slices import check_binding, check_node_operations
from dra_alloc.manifest.validate.violations import Violations

RESERVED_MAX: Final = 256
RESULTS_MAX: Final = 32
CONFIG_MAX: Final = 64
IPS_MAX: Final = 16
_GOING: Final = "`deallocationRequested` or `deletionTimestamp`"
_SOURCES: Final = ("FromClaim", "FromClass")
#: How many bits of an address of 128 stand before one of 32 in it.
_MAPPED: Final = 96
#: Zeros before another digit of a number.
_LEADING: Final = re.compile(r"(?<![0-9A-Fa-f])0+(?=[0-9A-Fa-f])")
_NO_CIDR: Final = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"


def check_claim_status(v: Violations, claim: ResourceClaim, old: ResourceClaim) -> None:
    """Check a changed status; nothing but it and metadata is looked at. Spec: VAL-13 to VAL-15."""
    check_metadata(v, claim.metadata, NAMESPACED, old.metadata)
    status, before = claim.status, old.status.allocation
    if status.reserved_for and status.allocation is None:
        v.forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    elif old.metadata.deletion_timestamp and not {*status.reserved_for} <= {*old.status.reserved_for}:
        v.forbidden("status.reservedFor", f"new entries may not be added while {_GOING} are set")
    _reserved(v, status)
    if before is not None and status.allocation is not None and status.allocation != before:
        text = "field cannot be modified once set" if v.generated else IMMUTABLE
        v.invalid("status.allocation", "", text)
    elif status.allocation is not None and before is None:
        _allocation(v, status.allocation, request_names(old.spec.devices))
    _devices(v, status)


def _reserved(v: Violations, status: ResourceClaimStatus) -> None:
    path = "status.reservedFor"
    if v.too_many(path, len(status.reserved_for), RESERVED_MAX):
        return
    firsts = first_of_each(each.uid for each in status.reserved_for)
    for position, each in enumerate(status.reserved_for):
        for name in ("resource", "name", "uid"):
            if not getattr(each, name):
                v.required(f"{path}[{position}].{name}")
        if not firsts[position]:
            place = f"{path}[{position}]"
            v.duplicate(f"{place}.uid" if v.holds(TWICE_AT_NAME) else place, each.uid)


def _allocation(v: Violations, allocation: AllocationResult, names: frozenset[str]) -> None:
    path = "status.allocation.devices"
    if not v.too_many(f"{path}.results", len(allocation.devices.results), RESULTS_MAX):
        for position, result in enumerate(allocation.devices.results):
            place = f"{path}.results[{position}]"
            check_references(v, (result.request,), names, f"{place}.request", single=True)
            v.driver(f"{place}.driver", result.driver, generated=v.generated)
            v.names(f"{place}.pool", pool_faults(result.pool, declarative=v.generated))
            v.names(f"{place}.device", label_faults(result.device))
            check_amounts(v, result.consumed_capacity, f"{place}.consumedCapacity")
            if result.share_id is not None:
                v.names(f"{place}.shareID", uuid_faults(result.share_id, declarative=v.generated))
            check_binding(v, result, place)
            check_node_operations(v, result.skip_node_operations, f"{place}.skipNodeOperations")
            if v.generated:
                check_tolerations(v, result.tolerations, f"{place}.tolerations")
    if not v.too_many(f"{path}.config", len(allocation.devices.config), CONFIG_MAX):
        for position, config in enumerate(allocation.devices.config):
            place = f"{path}.config[{position}]"
            if not config.source:
                v.required(f"{place}.source")
            elif config.source not in _SOURCES:
                v.unsupported(f"{place}.source", config.source, _SOURCES)
            check_references(v, config.requests, names, f"{place}.requests")
            check_opaque(v, config.opaque, f"{place}.opaque")
    if allocation.node_selector is not None:
        check_node_selector(v, allocation.node_selector, "status.allocation.nodeSelector")


def without_deallocated(status: ResourceClaimStatus, old: ResourceClaimStatus) -> ResourceClaimStatus:
    """Return a status that reports on no device which was allocated and is not any more. Spec: VAL-17."""
    there, kept = (
        set(map(_key, () if each.allocation is None else each.allocation.devices.results)) for each in (old, status)
    )
    devices = tuple(each for each in status.devices if _key(each) not in there - kept)
    return status if len(devices) == len(status.devices) else status.model_copy(update={"devices": devices})


def _key(each: Any) -> tuple[str, str, str, str]:
    return each.driver, each.pool, each.device, each.share_id or ""


def _devices(v: Violations, status: ResourceClaimStatus) -> None:
    results = () if status.allocation is None else status.allocation.devices.results
    allocated = set(map(_key, results))
    firsts = first_of_each(map(_key, status.devices))
    for position, device in enumerate(status.devices):
        path = f"status.devices[{position}]"
        if not firsts[position]:
            v.duplicate(f"{path}.deviceID" if v.holds(TWICE_AT_NAME) else path, "/".join(_key(device)[:3]))
        v.driver(f"{path}.driver", device.driver)
        v.names(f"{path}.pool", pool_faults(device.pool))
        v.names(f"{path}.device", label_faults(device.device))
        if device.share_id is not None:
            v.names(f"{path}.shareID", uuid_faults(device.share_id, declarative=v.generated))
        if _key(device) not in allocated:
            v.invalid(path, "/".join(_key(device)[:3]), "must be an allocated device in the claim")
        _reported(v, device, path)


def _reported(v: Violations, device: AllocatedDeviceStatus, path: str) -> None:
    check_conditions(v, device.conditions, f"{path}.conditions")
    if device.data is not None:
        text = msgspec.json.encode(device.data).decode()
        if not v.too_long(f"{path}.data", text, PARAMETERS_MAX) and not isinstance(device.data, Mapping):
            v.invalid(f"{path}.data", "<value omitted>", "must be a valid JSON object")
    if device.network_data is not None:
        _network(v, device.network_data, f"{path}.networkData")


def _network(v: Violations, network: NetworkDeviceData, path: str) -> None:
    v.too_long(f"{path}.interfaceName", network.interface_name or "", 256)
    v.too_long(f"{path}.hardwareAddress", network.hardware_address or "", 128)
    if v.too_many(f"{path}.ips", len(network.ips), IPS_MAX):
        return
    firsts = first_of_each(network.ips)
    for position, address in enumerate(network.ips):
        canonical = _canonical(address)
        if canonical != address:
            text = _NO_CIDR if canonical is None else f'must be in canonical form ("{canonical}")'
            v.invalid(f"{path}.ips[{position}]", address, text)
        if not firsts[position]:
            v.duplicate(f"{path}.ips[{position}]", address)


def _canonical(text: str) -> str | None:
    """Return an address with the length of its prefix as Go writes both, or None: zeros may lead where it reads."""
    address, _, digits = text.partition("/")
    try:
        read = ipaddress.ip_address(_LEADING.sub("", address))
    except ValueError:
        return None
    length = _length(digits, read.max_prefixlen)
    if "%" in address or length is None:
        return None
    within = read.ipv4_mapped if isinstance(read, ipaddress.IPv6Address) else None
    if within is None:
        return f"{read}/{length}"
    # One that an address of 32 bits could have is taken for one of these.
    return f"{within}/{length if length <= within.max_prefixlen else length - _MAPPED}"


def _length(digits: str, most: int) -> int | None:
    """Return a number that is not above another one, which may have any zeros before it."""
    if not (digits.isascii() and digits.isdecimal()):
        return None
    rest = digits.lstrip("0") or "0"
    return int(rest) if len(rest) <= len(str(most)) and int(rest) <= most else None
