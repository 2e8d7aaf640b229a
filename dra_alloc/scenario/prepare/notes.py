"""
Notes on who answers and on how manifests and a dump were read: what has no effect, is left alone, or leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.api import ResourceClaim
from dra_alloc.api.names import driver_faults, pool_faults
from dra_alloc.api.semver import is_version
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import first_few
from dra_alloc.limits import DEVICES_MAX
from dra_alloc.manifest import Documents
from dra_alloc.manifest.validate.objects import validate_object
from dra_alloc.problem.devices import DeviceKey, SliceRow
from dra_alloc.problem.requests import claim_name
from dra_alloc.queues.systems import QUEUE_SYSTEMS
from dra_alloc.remembered import of_short_texts

_MOST: Final = 5
_ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_MAY_REFUSE: Final = "the API server may refuse pods"
#: What of kinds that are left alone decides about pods all the same.
_ASIDE: Final = {
    "admissionregistration.k8s.io/": f"admission policies and webhooks are not asked: {_MAY_REFUSE} and claims",
    " HorizontalPodAutoscaler": "HorizontalPodAutoscalers are not asked: there are as many pods as workloads say",
}
OF_TAINT_RULES: Final = ("DRADeviceTaints", "DRADeviceTaintRules")


def notes_on(manifests: Documents, dump: Documents, cluster: Cluster) -> Iterator[str]:
    """Yield what a reader has to know of the input; `cluster` is that of both."""
    yield from cluster.settings.notes()
    if cluster.implied and cluster.nodes:
        yield "no Node objects were given: nodes are taken to be those that slices name, without labels or taints"
    rules = len(dump.taint_rules) + len(manifests.taint_rules)
    if rules and not cluster.settings.merges_taint_rules():
        gates = cluster.settings.effective_gates()
        off = " and ".join(name for name in OF_TAINT_RULES if not gates.get(name, True))
        yield f"{rules} DeviceTaintRules have no effect with {off} off, as in {cluster.settings.release}"
    yield from _held_by_no_server(dump, cluster)
    yield from _devices_nowhere(manifests.claims, cluster)
    unknown = {**dump.unknown, **manifests.unknown}
    if unknown:
        listed = first_few([f"{count} {kind}" for kind, count in sorted(unknown.items())], "other kinds")
        yield f"left alone: {listed}"
    yield from (said for kind, said in _ASIDE.items() if any(kind in each for each in unknown))
    yield from _enforced(manifests, dump)
    groups = {each.partition("/")[0] for each in unknown}
    systems = [each.title for each in QUEUE_SYSTEMS.values() if groups & {*each.groups, *each.beside}]
    if systems:
        yield f"queues, gangs and topologies of {', '.join(systems)} are not asked here: see dra-alloc admit"


def _enforced(manifests: Documents, dump: Documents) -> Iterator[str]:
    """Yield the namespaces with something of the manifests in which the API server lets not every pod in."""
    asked = {each.metadata.namespace for each in manifests.pods} | {
        each.metadata.namespace for each in manifests.workloads
    }
    levels = {
        each.metadata.name or "": each.metadata.labels.get(_ENFORCE, "privileged")
        for each in (*dump.namespaces, *manifests.namespaces)
        if each.metadata.name in asked
    }
    for name, level in sorted(levels.items()):
        if level != "privileged":
            yield f"namespace {name} enforces the pod security level {level}, which is not looked at: {_MAY_REFUSE}"


def _held_by_no_server(dump: Documents, cluster: Cluster) -> Iterator[str]:
    """
    Yield what no API server would hold of the dump's slices, once a slice: the scheduler takes them as they are.

    Only what is noted of whole slices is looked at, not each device; what is odd there is judged as admission does.

    Spec: EXPLAIN-16.
    """
    odd = [row.wire for row in cluster.inventory.slices if id(row.wire) in dump.places and _is_odd(row)]
    found = [(item, faults[0]) for item in odd if (faults := validate_object(item))]
    for problem in dump.placed(found[:_MOST]):
        yield f"no API server would hold what is read as it is: {problem}"
    if found[_MOST:]:
        yield f"no API server would hold {len(found) - _MOST:,} more of the slices"


def _is_odd(row: SliceRow) -> bool:
    outline, layout = row.outline, row.layout
    names: Sequence[object] = row.wire.spec.devices if layout is None else ()  # those of a snapshot stay packed
    if layout is not None and layout.names is not None:
        names = layout.names.names
    return (
        outline.repeats
        or len(names) > DEVICES_MAX
        or not _is_driver(row.pool.driver)
        or not _is_pool(row.pool.pool)
        or not all(each is None or is_version(each) for each in outline.versions)
    )


@of_short_texts(128)
def _is_driver(name: str) -> bool:
    return not driver_faults(name)


@of_short_texts(1 << 14)
def _is_pool(name: str) -> bool:
    return not pool_faults(name)


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
