"""
Admission rules of claims, claim templates and classes.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.api import (
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from dra_alloc.api.claims import AnyRequest
from dra_alloc.api.constraints import CONSTRAINT_KINDS
from dra_alloc.api.names import (
    extended_resource_faults,
    fully_qualified_name_faults,
    label_faults,
    subdomain_faults,
)
from dra_alloc.limits import ALTERNATIVES_MAX, CONFIG_MAX, CONSTRAINTS_MAX, REQUESTS_MAX
from dra_alloc.manifest.validate.derived import check_derived, compared_by
from dra_alloc.manifest.validate.metadata import (
    CLASS,
    IMMUTABLE,
    NAMESPACED,
    check_generate_name,
    check_labels,
    check_metadata,
)
from dra_alloc.manifest.validate.parts import (
    check_amounts,
    check_opaque,
    check_selectors,
    check_tolerations,
    first_of_each,
)
from dra_alloc.manifest.validate.releases import BOTH_LOOKED_AT, GENERATED, NAMES_IN_EARLY_WORDS, ONE_SLASH
from dra_alloc.manifest.validate.violations import Violations

#: What the metadata of what a template makes cannot have, and what the server calls it.
_NO_TEMPLATE: Final = {
    "name": "name",
    "generate_name": "generateName",
    "namespace": "namespace",
    "self_link": "selfLink",
    "uid": "uID",
    "resource_version": "resourceVersion",
    "generation": "generation",
    "creation_timestamp": "creationTimestamp",
    "deletion_timestamp": "deletionTimestamp",
    "deletion_grace_period_seconds": "deletionGracePeriodSeconds",
    "owner_references": "ownerReferences",
    "finalizers": "finalizers",
}
_UNSET: Final[tuple[tuple[object, ...], ...]] = ((None, "", ()), (None, 0))
MODES: Final = ("All", "ExactCount")
_ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
_NOT_A_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
# The words of upstream, although nothing is set here.
_KINDS: Final = " or ".join(f'"{kind.wire}"' for kind in CONSTRAINT_KINDS)
_NO_ATTRIBUTE: Final = f"exactly one of {_KINDS} is required, but multiple fields are set"


def check_claim(v: Violations, claim: ResourceClaim, old: ResourceClaim | None = None) -> None:
    """Check a claim as it is when it is created or changed: of a change the spec is not looked at. Spec: VAL-11."""
    check_metadata(v, claim.metadata, NAMESPACED, None if old is None else old.metadata)
    if old is None:
        _devices(v, claim.spec.devices, "spec.devices")
    elif claim.spec != old.spec:
        v.invalid("spec", "", IMMUTABLE)


def check_template(v: Violations, template: ResourceClaimTemplate, old: ResourceClaimTemplate | None = None) -> None:
    """Check a claim template. Spec: VAL-11."""
    check_metadata(v, template.metadata, NAMESPACED, None if old is None else old.metadata)
    same = old is not None and _stated(template) == _stated(old)
    with v.stored(same):
        _check_template(v, template)
    if old is not None and not same:
        v.invalid("spec", "", IMMUTABLE)


def _stated(template: ResourceClaimTemplate) -> tuple[ObjectMeta, ResourceClaimSpec]:
    """Return what a template says: a generation of 0 is none."""
    metadata = template.spec.metadata
    return metadata.model_copy(update={"generation": metadata.generation or None}), template.spec.spec


def _check_template(v: Violations, template: ResourceClaimTemplate) -> None:
    check_labels(v, template.spec.metadata, "spec.metadata")
    for name, wire in _NO_TEMPLATE.items():
        if getattr(template.spec.metadata, name) not in _UNSET[name == "generation"]:
            v.forbidden(f"spec.metadata.{wire}", "cannot be set")
    _devices(v, template.spec.spec.devices, "spec.spec.devices")


def check_class(v: Violations, device_class: DeviceClass, old: DeviceClass | None = None) -> None:
    """Check a class. Spec: VAL-12, VAL-55, VAL-56."""
    check_metadata(v, device_class.metadata, CLASS, None if old is None else old.metadata)
    spec, before = device_class.spec, None if old is None else old.spec
    same = before is not None and spec.selectors == before.selectors
    with v.stored(same):
        check_selectors(v, spec.selectors, "spec.selectors", read=not same or not v.holds(GENERATED))
    with v.stored(before is not None and spec.config == before.config):
        if not v.too_many("spec.config", len(spec.config), CONFIG_MAX):
            for position, config in enumerate(spec.config):
                check_opaque(v, config.opaque, f"spec.config[{position}].opaque")
    name = spec.extended_resource_name
    with v.stored(before is not None and name == before.extended_resource_name):
        if name is not None:
            v.names("spec.extendedResourceName", extended_resource_faults(name, declarative=v.generated))
    check_generate_name(v, device_class.metadata)


def _devices(v: Violations, devices: DeviceClaim, path: str) -> None:
    """Check requests, and what speaks of them."""
    if not v.too_many(f"{path}.requests", len(devices.requests), REQUESTS_MAX):
        firsts = first_of_each(request.name for request in devices.requests)
        for position, request in enumerate(devices.requests):
            _request(v, request, devices.constraints, f"{path}.requests[{position}]")
            if not firsts[position]:
                v.named_twice(f"{path}.requests[{position}]", request.name)
    names = request_names(devices)
    if not v.too_many(f"{path}.constraints", len(devices.constraints), CONSTRAINTS_MAX):
        for position, constraint in enumerate(devices.constraints):
            place = f"{path}.constraints[{position}]"
            check_references(v, constraint.requests, names, f"{place}.requests")
            _constraint(v, constraint, place)
    if not v.too_many(f"{path}.config", len(devices.config), CONFIG_MAX):
        for position, config in enumerate(devices.config):
            check_references(v, config.requests, names, f"{path}.config[{position}].requests")
            check_opaque(v, config.opaque, f"{path}.config[{position}].opaque")


def request_names(devices: DeviceClaim) -> frozenset[str]:
    """
    Return what constraints and configuration may call requests and subrequests.

    Of two requests with one name the later counts. A name with a slash cannot
    be spoken of, since it would mean a subrequest.
    """
    alternatives = {request.name: request.first_available for request in devices.requests}
    subrequests = {f"{name}/{sub.name}" for name, subs in alternatives.items() for sub in subs}
    return frozenset(name for name in alternatives if "/" not in name) | subrequests


def check_references(
    v: Violations, requests: tuple[str, ...], names: frozenset[str], path: str, *, single: bool = False
) -> None:
    """Check a list of requests by name. Spec: VAL-46 to VAL-48."""
    if v.too_many(path, len(requests), REQUESTS_MAX):
        return
    firsts = first_of_each(requests)
    for position, name in enumerate(requests):
        place = path if single else f"{path}[{position}]"
        segments = name.split("/")
        if len(segments) > 2:
            v.invalid(place, name, _NOT_A_REQUEST)
        else:
            for segment in segments:
                v.names(place, label_faults(segment))
            if name not in names:
                v.invalid(place, name, _NOT_A_REQUEST)
        if not firsts[position]:
            v.duplicate(place, name)


def _constraint(v: Violations, constraint: DeviceConstraint, path: str) -> None:
    """Check what a constraint states; of several kinds hand-written checks look at the first only. Spec: VAL-49."""
    stated = constraint.stated
    if stated is None and not v.server.gates.get("DRAConsumableCapacity", True):
        v.required(f"{path}.matchAttribute")
    elif stated is None:
        v.required(path, _NO_ATTRIBUTE)
    for kind in CONSTRAINT_KINDS:
        value = getattr(constraint, kind.member)
        if value is not None and (v.generated or (stated is not None and kind is stated.kind)):
            name, place = kind.attribute(value), v.sent(f"{path}.{kind.wire}")
            if not name and v.holds(NAMES_IN_EARLY_WORDS):
                v.required(place, "name required")
                continue
            one_slash = v.holds(ONE_SLASH)
            v.names(place, fully_qualified_name_faults(name, declarative=v.generated, one_slash=one_slash))


def _request(v: Violations, request: DeviceRequest, constraints: tuple[DeviceConstraint, ...], path: str) -> None:
    """Check one request. Spec: VAL-30 to VAL-34."""
    v.names(f"{path}.name", label_faults(request.name))
    both = request.exactly is not None and bool(request.first_available)
    if both:
        v.invalid(path, None, f"{_ONE_OF}, but multiple fields are set")
    elif request.exactly is None and not request.first_available:
        v.required(path, _ONE_OF)
    with v.generated_checks(both and not v.holds(BOTH_LOOKED_AT)):
        if request.exactly is not None:
            _exactly(v, request.exactly, compared_by(constraints, request.name), f"{path}.exactly")
        if request.first_available:
            _alternatives(v, request, constraints, f"{path}.firstAvailable")


def _alternatives(v: Violations, request: DeviceRequest, constraints: tuple[DeviceConstraint, ...], path: str) -> None:
    if v.too_many(v.sent(path), len(request.first_available), ALTERNATIVES_MAX):
        return
    firsts = first_of_each(sub.name for sub in request.first_available)
    for position, sub in enumerate(request.first_available):
        place = f"{path}[{position}]"
        v.names(f"{place}.name", label_faults(sub.name))
        _exactly(v, sub, compared_by(constraints, request.name, f"{request.name}/{sub.name}"), place)
        if not firsts[position]:
            v.named_twice(v.sent(place), sub.name)


def _exactly(v: Violations, wanted: AnyRequest, compared: frozenset[str], path: str) -> None:
    """Check class, selectors, mode, count, tolerations and derived attributes of a request or an alternative."""
    if not wanted.device_class_name:
        place = f"{path}.deviceClassName"
        v.required(v.sent(place) if isinstance(wanted, DeviceSubRequest) else place)
    else:
        generated = v.generated and isinstance(wanted, DeviceSubRequest)
        place = f"{path}.deviceClassName"
        v.names(
            v.sent(place) if generated else place, subdomain_faults(wanted.device_class_name, declarative=generated)
        )
    check_selectors(v, wanted.selectors, f"{path}.selectors")
    count, mode = wanted.count or 0, wanted.allocation_mode or ""
    if mode == "All" and count:
        v.invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        v.invalid(f"{path}.count", count, "must be greater than zero")
    elif mode not in MODES:
        place = f"{path}.allocationMode"
        v.unsupported(v.sent(place) if mode else place, mode, MODES)
    check_tolerations(v, wanted.tolerations, f"{path}.tolerations")
    if wanted.capacity is not None:
        check_amounts(v, wanted.capacity.requests, f"{path}.capacity.requests")
    check_derived(v, wanted.derived_attributes, compared, f"{path}.derivedAttributes")
