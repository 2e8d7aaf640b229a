"""
Claims made in Python, completed as the API server completes what it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import ResourceClaim
from dra_alloc.manifest.make.defaults import set_defaults


def defaulted(claims: Sequence[ResourceClaim]) -> Sequence[ResourceClaim]:
    """Return the claims, those that leave out an allocation mode with the API server's defaults. Spec: DEF-1, DEF-3."""
    if all(map(_says_its_modes, claims)):
        return claims
    return [claim if _says_its_modes(claim) else _complete(claim) for claim in claims]


def _says_its_modes(claim: ResourceClaim) -> bool:
    for request in claim.spec.devices.requests:
        if request.exactly is not None and not request.exactly.allocation_mode:
            return False
        if request.first_available and not all(each.allocation_mode for each in request.first_available):
            return False
    return True


def _complete(claim: ResourceClaim) -> ResourceClaim:
    return ResourceClaim.from_wire(set_defaults(claim.to_wire(), "ResourceClaim", "v1"))
