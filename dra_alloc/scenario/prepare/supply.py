"""
Notes on what a cluster offers: twice, to nobody, not at all, or not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from dra_alloc import cel
from dra_alloc.api import DeviceClass, Node
from dra_alloc.cluster.attempts.taking import counts
from dra_alloc.cluster.availability import binds_since
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import first_few
from dra_alloc.pods.extended_resources import offers, unclassed
from dra_alloc.pods.node_allocatable import GATE
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.problem.requests import IMPLICIT
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.scenario.selecting import environment_for, prepared_devices

#: The gate of extended resources that classes serve.
EXTENDED: Final = "DRAExtendedResource"


def supply_notes(subjects: Sequence[Subject], cluster: Cluster) -> Iterator[str]:
    """Yield what a reader has to know of the nodes and slices, and of extended resources that pods ask for."""
    if not cluster.inventory.slices and any(each.needs_devices for each in subjects):
        yield "there are no ResourceSlices: no device of any node is known"
    yield from _of_unknown_nodes(cluster)
    yield from _holding_unseen(cluster)
    yield from _empty(cluster)
    yield from _half_published(cluster)
    for each in cluster.classes.values():
        yield from _offered_twice(each, cluster)
    yield from _not_known(subjects, cluster)
    yield from taken_of_nodes(cluster)
    yield from _being_bound(subjects, cluster)


def _of_unknown_nodes(cluster: Cluster) -> Iterator[str]:
    """Yield a note on slices of nodes that are not there; without Node objects there are those that slices name."""
    unknown = [name for name in cluster.inventory.by_node if name not in cluster.known.roster.places]
    if unknown:
        told = [f"{name} ({', '.join(_drivers(cluster, name))})" for name in sorted(unknown)]
        yield f"there are slices, and no Node, of these: what they offer is not looked at: {first_few(told)}"


def _holding_unseen(cluster: Cluster) -> Iterator[str]:
    """Yield a note on running pods whose claims are not there: their devices look free."""
    unseen, claims = list[str](), cluster.claims
    for pod in cluster.known.contents.population.pods:
        for each in pod.status.resource_claim_statuses:
            name = each.resource_claim_name
            if name and f"{pod.metadata.namespace}/{name}" not in claims and state_of(pod) is PodState.BOUND:
                unseen.append(pod.metadata.full_name)
                break
    if unseen:
        yield f"what these pods hold is not known, since their claims are not there: {first_few(unseen)}"


def _drivers(cluster: Cluster, node: str) -> list[str]:
    return sorted({row.driver for row in cluster.inventory.by_node[node]})


def _empty(cluster: Cluster) -> Iterator[str]:
    """Yield a note on drivers that published slices, and not one device."""
    full: set[str] = set()
    for row in cluster.inventory.slices:
        # Devices of a snapshot are unpacked when they are looked at: of most drivers the first slice tells.
        if row.driver not in full and row.wire.spec.devices:
            full.add(row.driver)
    for driver in sorted({row.driver for row in cluster.inventory.slices} - full):
        pools = sorted({row.pool.pool for row in cluster.inventory.slices if row.driver == driver})
        yield f"driver {driver} published no devices: its pools are empty: {first_few(pools)}"


def _half_published(cluster: Cluster) -> Iterator[str]:
    """Yield notes on pools that lack slices, or have too many: nobody gets devices of these. Spec: DUMP-2."""
    told: dict[str, list[str]] = {}
    for pool, rows in cluster.inventory.by_pool.items():
        newest = max(row.generation for row in rows)
        here = [row for row in rows if row.generation == newest]
        if len(here) != here[0].slice_count:
            state = "being republished" if len(here) < len(rows) else "not published as a whole"
            counts = f"generation {newest} has {len(here)} of {here[0].slice_count} slices"
            told.setdefault(state, []).append(f"{pool}, {counts}")
    for state, pools in told.items():
        who = f"{len(pools)} pools are" if len(pools) > 1 else "a pool is"
        yield f"{who} {state}, so that none of its devices is available now: {first_few(pools)}"


def _offered_twice(device_class: DeviceClass, cluster: Cluster) -> Iterator[str]:
    """Yield a note on nodes that offer the same devices through a device plugin and as devices of a class."""
    resource = device_class.spec.extended_resource_name
    nodes = [node for node in cluster.nodes if offers(node, resource)] if resource else []
    twice = [node.metadata.name or "" for node in nodes if _has(node, device_class, cluster)]
    if twice:
        yield (
            f"{resource} may be offered twice, by a device plugin and as class {device_class.metadata.name}: "
            f"what is taken one way is not missing the other on {first_few(twice, 'more nodes')}"
        )


def _has(node: Node, device_class: DeviceClass, cluster: Cluster) -> bool:
    """Return whether a slice of the node has a device of the class."""
    environment = environment_for(cluster.settings, "stored")
    expressions = [each.cel.expression for each in device_class.spec.selectors if each.cel is not None]
    slices = (row.wire for row in cluster.inventory.by_node.get(node.metadata.name or "", ()))
    try:
        programs = [environment.compile(each) for each in expressions]
    except cel.CompileError:
        return False
    return any(_matches(programs, device) for _, device in prepared_devices(slices, environment.reading))


def _matches(programs: Sequence[cel.Program], device: cel.CelDevice) -> bool:
    try:
        return all(program.matches(device) for program in programs)
    except cel.EvaluationError:
        return False


def _not_known(subjects: Sequence[Subject], cluster: Cluster) -> Iterator[str]:
    """Yield notes on extended resources that pods ask for and no class serves, as far as is known."""
    served = cluster.known.class_by_resource
    wanted = dict.fromkeys(name for each in subjects if each.pod is not None for name in unclassed(each.pod, served))
    silent = [node.metadata.name or "" for node in cluster.nodes if not node.status.allocatable]
    if wanted and silent:
        nodes = first_few(silent)
        yield f"whether there is any {first_few(list(wanted))} is not known without status.allocatable: {nodes}"
    for name, resource in _unserved(wanted, cluster):
        yield f"class {name} does not serve {resource}: the gate {EXTENDED} is off in {cluster.settings.release}"


def unserved(subjects: Sequence[Subject], cluster: Cluster) -> tuple[str, ...]:
    """Return the extended resources that pods ask for and classes do not serve, as the gate is off."""
    served = cluster.known.class_by_resource
    wanted = {name for each in subjects if each.pod is not None for name in unclassed(each.pod, served)}
    return tuple(dict.fromkeys(resource for _, resource in _unserved(wanted, cluster)))


def _unserved(wanted: Collection[str], cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield the classes that would serve resources that are wanted, were the gate on, by the name of either."""
    if cluster.settings.effective_gates().get(EXTENDED, False):
        return
    for each in cluster.classes.values():
        name = each.metadata.name or ""
        for resource in (each.spec.extended_resource_name or "", f"{IMPLICIT}{name}"):
            if resource in wanted:
                yield name, resource


def taken_of_nodes(cluster: Cluster, *, pods_asked: bool = True) -> Iterator[str]:
    """Yield a note on devices that take cpu, memory and the like of their node, where that counts and is not asked."""
    if not cluster.settings.effective_gates().get(GATE, False) or (counts(cluster) and pods_asked):
        return
    name = "node_allocatable_resources" if counts(cluster) else "node_allocatable_resource_mappings"
    devices = ((row.driver, device) for row in cluster.inventory.slices for device in row.wire.spec.devices)
    drivers = sorted({driver for driver, device in devices if getattr(device, name)})
    if drivers:
        yield (
            f"devices of {first_few(drivers)} take cpu or memory of their node ({GATE}), "
            "which is not looked at: a pod may not fit where it is said to"
        )


def _being_bound(subjects: Sequence[Subject], cluster: Cluster) -> Iterator[str]:
    """Yield a note on each claim that pods use and whose devices are not bound yet."""
    profile = cluster.settings.profile()
    names = dict.fromkeys(each for subject in subjects for each in subject.claims if isinstance(each, str))
    for name in names:
        claim = cluster.claims.get(name)
        since = binds_since(claim, profile) if claim is not None else ""
        if since:
            yield f"claim {name} waits for its devices to be bound since {since}: the scheduler gives up after a time"
