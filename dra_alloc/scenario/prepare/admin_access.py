"""
Admin access to devices: only in namespaces whose label allows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dra_alloc.api import DeviceClaim, ResourceClaim, ResourceClaimTemplate
from dra_alloc.errors import Where, first_few
from dra_alloc.manifest import Documents
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.pods.objections import Objection

if TYPE_CHECKING:  # the API server is asked without anything to place, too
    from dra_alloc.scenario.prepare.subjects import Subject

_LABEL: Final = "resource.kubernetes.io/admin-access"
_TEXT: Final = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"


def admin_access_problems(
    manifests: Documents, dump: Documents, merged: Documents
) -> Iterator[tuple[ResourceClaim | ResourceClaimTemplate, FieldFault]]:
    """Yield the new claims and templates of manifests that the API server refuses for admin access. Spec: GATE-4."""
    allowing = _allowing(merged)
    if all(allowing.values()):
        return
    stored: list[ResourceClaim | ResourceClaimTemplate] = [*dump.claims, *dump.templates]
    there = {(each.kind, each.metadata.full_name) for each in stored}
    for item, path in _asking(manifests):
        if not allowing.get(item.metadata.namespace or "", True) and (item.kind, item.metadata.full_name) not in there:
            yield item, FieldFault(f"Forbidden: {_TEXT}", Where(path=path), type="FieldValueForbidden", detail=_TEXT)


def without_admin_access(subjects: Sequence[Subject], merged: Documents) -> tuple[Subject, ...]:
    """Return the subjects, those barred of which a claim cannot be made for want of admin access. Spec: GATE-4."""
    allowing = _allowing(merged)
    if all(allowing.values()):
        return tuple(subjects)
    barred = Objection("admin-access", (f"Forbidden: {_TEXT}",))
    return tuple([replace(each, barred=barred) if _is_refused(each, allowing) else each for each in subjects])


def of_unknown_namespaces(manifests: Documents, merged: Documents) -> Iterator[str]:
    """Yield a note on admin access in namespaces of which nothing is known. Spec: GATE-4."""
    allowing = _allowing(merged)
    wanted = dict.fromkeys(item.metadata.namespace or "" for item, _ in _asking(manifests))
    unknown = [name for name in wanted if name not in allowing]
    if unknown:
        yield f"admin access needs the label {_LABEL} of the namespace, which is not in the input: {first_few(unknown)}"


def _allowing(merged: Documents) -> Mapping[str, bool]:
    return {each.metadata.name or "": each.metadata.labels.get(_LABEL) == "true" for each in merged.namespaces}


def _asking(documents: Documents) -> Iterator[tuple[ResourceClaim | ResourceClaimTemplate, str]]:
    """Yield what asks for admin access, with the path where it does first."""
    for claim in documents.claims:
        yield from ((claim, path) for path in _first(claim.spec.devices, "spec.devices"))
    for template in documents.templates:
        yield from ((template, path) for path in _first(template.spec.spec.devices, "spec.spec.devices"))


def _first(devices: DeviceClaim, path: str) -> Iterator[str]:
    for position, request in enumerate(devices.requests):
        if request.exactly is not None and request.exactly.admin_access:
            yield f"{path}.requests[{position}].exactly.adminAccess"
            return


def _is_refused(subject: Subject, allowing: Mapping[str, bool]) -> bool:
    made = [each for each in subject.claims if isinstance(each, ResourceClaim)]
    return any(
        not allowing.get(each.metadata.namespace or "", True) and any(_first(each.spec.devices, "")) for each in made
    )
