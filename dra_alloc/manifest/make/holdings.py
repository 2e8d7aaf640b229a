"""
What a claim holds, noted while it is fresh in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dra_alloc.api import ResourceClaim


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


class Holdings(NamedTuple):
    """
    What claims hold, in their order.

    `devices` are those of all claims that are not special, by driver and pool;
    `distinct`: no two claims have the same name.
    """

    claims: tuple[ResourceClaim, ...]
    each: tuple[Holding, ...]
    devices: Mapping[tuple[str, str], frozenset[str]]
    distinct: bool

    def of(self, claims: tuple[ResourceClaim, ...]) -> Holdings:
        """Return what some claims hold, looking only at those that are not among these."""
        if claims is self.claims:
            return self
        # Claims that are kept have their ids to themselves.
        known = {id(claim): holding for claim, holding in zip(self.claims, self.each, strict=True)}
        return holdings_of(claims, known)


def holdings_of(claims: Iterable[ResourceClaim], known: Mapping[int, Holding]) -> Holdings:
    """Return the claims with what each of them holds, which may be known by the claim's id."""
    claims = tuple(claims)
    each = tuple([known.get(id(claim)) or holding_of(claim) for claim in claims])
    names = {holding.name for holding in each}
    devices: dict[tuple[str, str], set[str]] = {}
    for holding in each:
        for pool, device in holding.devices:
            together = devices.get(pool)
            if together is None:
                devices[pool] = {device}
            else:
                together.add(device)
    # Equal ones are one and the same, which makes them quick to find.
    shared: dict[frozenset[str], frozenset[str]] = {}
    same = [shared.setdefault(held, held) for held in map(frozenset, devices.values())]
    return Holdings(claims, each, dict(zip(devices, same, strict=True)), len(names) == len(each))


NOTHING_NOTED: Final = holdings_of((), {})
