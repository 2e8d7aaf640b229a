"""
Admission rules of pods: what they say of claims here, their containers and where they run in files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_alloc.api import Container, Pod, PodResourceClaim, PodSpec
from dra_alloc.api.names import label_faults, subdomain_faults
from dra_alloc.errors import NAME_SHOWN, in_brief
from dra_alloc.manifest.validate.metadata import NAMESPACED, check_metadata
from dra_alloc.manifest.validate.parts import first_of_each
from dra_alloc.manifest.validate.pods.changes import check_pod_change
from dra_alloc.manifest.validate.pods.containers import check_containers, with_host_ports
from dra_alloc.manifest.validate.pods.placement import check_placement
from dra_alloc.manifest.validate.pods.pod_level import check_pod_level, with_amounts
from dra_alloc.manifest.validate.violations import Violations

_BOTH = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
_NEITHER = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"


def check_pod(v: Violations, pod: Pod, old: Pod | None = None) -> None:
    """Check a pod, and that it may take the place of an old one. Spec: VAL-101 for what templates do not share."""
    check_metadata(v, pod.metadata, NAMESPACED)
    check_pod_spec(v, with_host_ports(with_amounts(pod).spec), "spec")
    if pod.spec.node_name and pod.spec.scheduling_gates:
        v.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    if old is not None:
        check_pod_change(v, pod, old)


def check_pod_spec(v: Violations, spec: PodSpec, path: str) -> None:
    """Check what pods and the pods of a template have in common. Spec: VAL-90 to VAL-102."""
    check_containers(v, spec, path)
    check_claims(v, spec, path)
    check_placement(v, spec, path)
    check_pod_level(v, spec, path)


def check_claims(v: Violations, spec: PodSpec, path: str) -> None:
    """Check the claims of a pod and what its containers use of them. Spec: VAL-90 to VAL-93."""
    claims = spec.resource_claims
    firsts = first_of_each(claim.name for claim in claims)
    for position, claim in enumerate(claims):
        place = f"{path}.resourceClaims[{position}]"
        if not claim.name:
            v.required(f"{place}.name")
        elif not firsts[position]:
            v.duplicate(f"{place}.name", claim.name)
        else:
            v.names(f"{place}.name", label_faults(claim.name))
        named, made = claim.resource_claim_name, claim.resource_claim_template_name
        if named is not None and made is not None:
            v.invalid(place, _shown(claim), _BOTH)
        if named is None and made is None:
            v.invalid(place, _shown(claim), _NEITHER)
        for name, value in (("resourceClaimName", named), ("resourceClaimTemplateName", made)):
            if value is not None:
                v.names(f"{place}.{name}", subdomain_faults(value))
    names = frozenset(claim.name for claim in claims if claim.name)
    for kind in ("init_containers", "containers", "ephemeral_containers"):
        wire = {"init_containers": "initContainers", "ephemeral_containers": "ephemeralContainers"}.get(kind, kind)
        for position, container in enumerate(getattr(spec, kind)):
            _uses(v, container, names, f"{path}.{wire}[{position}].resources.claims")


def _uses(v: Violations, container: Container, names: frozenset[str], path: str) -> None:
    """Check which claims, or which of their requests, a container uses."""
    seen: set[tuple[str, str]] = set()
    for position, use in enumerate(container.resources.claims):
        place = f"{path}[{position}]"
        if not use.name:
            v.required(place)
            continue
        key, whole = (use.name, use.request or ""), (use.name, "") in seen
        if whole or (not use.request and any(one == use.name for one, _ in seen)):
            v.duplicate(place, use.name)
        elif key in seen:
            v.duplicate(place, f"{use.name}/{use.request}")
        seen.add(key)
        if use.name not in names:
            listed = ", ".join(in_brief(one, NAME_SHOWN) for one in sorted(names)) if names else ""
            detail = (
                f"must be one of the names in pod.spec.resourceClaims{': ' + listed if listed else ' which is empty'}"
            )
            v.not_found(place, use.name, detail)
        if use.request and not whole:
            v.names(f"{place}.request", label_faults(use.request))


def _shown(claim: PodResourceClaim) -> Mapping[str, str | None]:
    named, made = claim.resource_claim_name, claim.resource_claim_template_name
    return {"Name": claim.name, "ResourceClaimName": named, "ResourceClaimTemplateName": made}
