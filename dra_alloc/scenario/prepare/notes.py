"""
Notes on who answers and on how manifests and a dump were read: what has no effect, is left alone, or leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import first_few
from dra_alloc.manifest import Documents
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.requests import claim_name

__all__ = ["notes_on"]

_OF_TAINT_RULES: Final = ("DRADeviceTaints", "DRADeviceTaintRules")


def notes_on(manifests: Documents, dump: Documents, cluster: Cluster) -> Iterator[str]:
    """Yield what a reader has to know of the input; `cluster` is that of both."""
    yield from cluster.settings.notes()
    if cluster.implied and cluster.nodes:
        yield "the cluster has no Node objects: nodes are those that slices name, without their labels"
    rules = len(dump.taint_rules) + len(manifests.taint_rules)
    if rules and not cluster.settings.merges_taint_rules():
        gates = cluster.settings.effective_gates()
        off = " and ".join(name for name in _OF_TAINT_RULES if not gates.get(name, True))
        yield f"{rules} DeviceTaintRules have no effect with {off} off, as in {cluster.settings.release}"
    yield from _devices_nowhere(manifests.claims, cluster)
    unknown = {**dump.unknown, **manifests.unknown}
    if unknown:
        listed = first_few([f"{count} {kind}" for kind, count in sorted(unknown.items())], "other kinds")
        yield f"left alone: {listed}"


def _devices_nowhere(claims: Sequence[ResourceClaim], cluster: Cluster) -> Iterator[str]:
    """Return a note for every claim that is allocated, so its status says, to devices that no slice has."""
    results = {
        claim_name(claim): [DeviceKey(each.driver, each.pool, each.device) for each in allocation.devices.results]
        for claim in claims
        if (allocation := claim.status.allocation) is not None
    }
    if not any(results.values()):
        return
    published = {
        DeviceKey(row.wire.spec.driver, row.wire.spec.pool.name, device.name)
        for row in cluster.inventory.slices
        for device in row.wire.spec.devices
    }
    for name, keys in results.items():
        if gone := [str(key) for key in keys if key not in published]:
            text = f"ResourceClaim {name} is allocated according to its status, to devices no slice has"
            yield f"{text}: {first_few(gone)}"
