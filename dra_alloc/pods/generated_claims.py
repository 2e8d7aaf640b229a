"""
Claims that are made for a pod from templates.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.api import FrozenMap, ObjectMeta, Pod, ResourceClaim, ResourceClaimTemplate

__all__ = ["claim_from_template"]

_POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"


def claim_from_template(template: ResourceClaimTemplate, pod: Pod, entry: str) -> ResourceClaim:
    """Return the claim that is made for an entry of a pod's claims; the end of its name is left out."""
    made = template.spec.metadata
    meta = ObjectMeta(
        name=f"{pod.metadata.name or pod.metadata.generate_name or ''}-{entry}",
        namespace=pod.metadata.namespace,
        labels=made.labels,
        annotations=FrozenMap({**made.annotations, _POD_CLAIM_NAME: entry}),
    )
    return ResourceClaim(metadata=meta, spec=template.spec.spec)
