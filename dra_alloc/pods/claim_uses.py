"""
What the containers of a pod do with its claims: nothing, or what cannot be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_alloc.api import Container, Pod, ResourceClaim
from dra_alloc.errors import did_you_mean, first_few, in_brief


def idle_uses(pod: Pod, claims: Mapping[str, ResourceClaim]) -> Iterator[str]:
    """
    Yield what the pod runs with and its containers do not get; `claims` are those behind its entries.

    The API server takes a request that the claim does not have, and kubelet
    starts the container without any device of the claim.

    Spec: EXPAND-46.
    """
    spec = pod.spec
    containers = (*spec.init_containers, *spec.containers)
    used = {use.name for each in (*containers, *spec.ephemeral_containers) for use in each.resources.claims}
    unused = [in_brief(each.name) for each in spec.resource_claims if each.name not in used]
    if unused and containers:
        yield f"no container uses the pod's claim {first_few(unused)}: it is allocated, and its devices reach none"
    for each in containers:
        yield from _unknown_requests(each, claims)


def _unknown_requests(container: Container, claims: Mapping[str, ResourceClaim]) -> Iterator[str]:
    for use in container.resources.claims:
        claim = claims.get(use.name)
        names = [each.name for each in claim.spec.devices.requests] if claim is not None else []
        if use.request and names and use.request not in names:
            meant = did_you_mean(use.request, names) or f"it has {first_few(names)}"
            yield (
                f'container {container.name} uses request "{in_brief(use.request)}" of claim {use.name}, which has no '
                f"such request: the container gets none of its devices ({meant})"
            )
