"""
What a claim holds, noted while it is fresh in the processor's caches.
"""

from __future__ import annotations

from typing import NamedTuple

from dra_alloc.api import ResourceClaim

__all__ = ["Holding", "holding_of"]


class Holding(NamedTuple):
    """
    The claim's name, with its namespace, and the devices it holds: ((driver, pool), device).

    With `special` some results have admin access or a share, and nothing is noted.
    """

    name: str
    devices: tuple[tuple[tuple[str, str], str], ...] = ()
    special: bool = False


def holding_of(claim: ResourceClaim) -> Holding:
    """Return what the claim holds."""
    full_name = claim.metadata.full_name
    allocation = claim.status.allocation
    if allocation is None:
        return Holding(full_name)
    results = allocation.devices.results
    if any(each.share_id or each.admin_access for each in results):
        return Holding(full_name, special=True)
    return Holding(full_name, tuple([((each.driver, each.pool), each.device) for each in results]))
