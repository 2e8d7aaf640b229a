"""
Manifests applied to a dump: the cluster that results, and what the manifests ask of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from dra_alloc.api import FrozenMap, ObjectMeta, ResourceClaim, ResourceClaimTemplate
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError, Problem, UnknownReference, first_few
from dra_alloc.manifest import Documents
from dra_alloc.pods.namespaces import in_namespace
from dra_alloc.pods.naming import named
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.prepare.gating import gated
from dra_alloc.scenario.prepare.references import Known, reference_problems
from dra_alloc.scenario.prepare.subjects import Subject, subjects_of

__all__ = ["Applied", "apply", "problems_besides"]


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A cluster with manifests applied, the subjects that need devices in order, and notes on the input."""

    cluster: Cluster
    subjects: tuple[Subject, ...]
    notes: tuple[str, ...]


def apply(
    manifests: Documents, dump: Documents, settings: Settings, namespace: str, node: str | None = None
) -> Applied:
    """
    Return the dump with the manifests applied.

    Their classes, slices, nodes and taint rules replace or join the dump's;
    fields of disabled gates are dropped; what names no namespace goes to the
    one given, what has only generateName is numbered. A claim's status in the dump is kept.
    A `node` that is missing is told with other problems; without any, whoever looks there will say so.

    Raises: ManifestError with everything that is wrong with the manifests'
    objects, references and selectors; InputError for settings.
    """
    manifests, dropped = gated(named(in_namespace(manifests, namespace), dump), settings.effective_gates())
    applied = _applied(manifests, dump)
    cluster = Cluster.of(applied, settings)
    subjects, problems = subjects_of(manifests, cluster, _by_name(applied.templates))
    problems = (*problems, *reference_problems(manifests, Known(settings, cluster.classes)))
    if problems:
        raise ManifestError([*problems, *_missing_node(cluster, node)])
    asking = tuple(each for each in subjects if each.needs_devices)
    idle = len(subjects) - len(asking)
    skipped = [f"{idle} pod{'s need' if idle > 1 else ' needs'} no devices, left out"] if idle else []
    return Applied(cluster, asking, (*dropped, *skipped, *_notes(manifests, dump, cluster)))


def problems_besides(
    manifests: Documents, dump: Documents, settings: Settings, namespace: str, node: str | None = None
) -> tuple[Problem, ...]:
    """
    Return what is wrong with objects that could be read where others are lost.

    Nothing is called missing that may be among the lost.

    Raises: InputError for settings.
    """
    lost = manifests.lost | dump.lost
    manifests, _ = gated(named(in_namespace(manifests, namespace), dump), settings.effective_gates())
    applied = _applied(manifests, dump)
    cluster = Cluster.of(applied, settings)
    _, problems = subjects_of(manifests, cluster, _by_name(applied.templates), lost)
    classes = None if lost.may_hold_any("DeviceClass") else cluster.classes.keys() | lost.of("DeviceClass")
    problems = (*problems, *reference_problems(manifests, Known(settings, classes)))
    nodes_known = not lost.may_hold_any("Node") and node not in lost.of("Node")
    # Without Node objects nodes are those that slices name.
    if nodes_known and (applied.nodes or not (lost.may_hold_any("ResourceSlice") or lost.of("ResourceSlice"))):
        problems = (*problems, *_missing_node(cluster, node))
    return problems


def _missing_node(cluster: Cluster, node: str | None) -> tuple[Problem, ...]:
    if node is None:
        return ()
    try:
        cluster.node(node)
    except UnknownReference as error:
        return (Problem(error.message, hint=error.hint),)
    return ()


def _by_name(templates: Sequence[ResourceClaimTemplate]) -> Mapping[str, ResourceClaimTemplate]:
    return {f"{each.metadata.namespace or ''}/{each.metadata.name or ''}": each for each in templates}


def _applied(manifests: Documents, dump: Documents) -> Documents:
    """Return the dump with the manifests applied; a claim's status in the dump is kept."""
    claims = {claim_name(claim): claim for claim in dump.claims}
    for claim in manifests.claims:
        before = claims.get(claim_name(claim))
        claims[claim_name(claim)] = claim if before is None else _with_status(claim, before)
    return replace(
        dump,
        slices=_merged(dump.slices, manifests.slices),
        classes=_merged(dump.classes, manifests.classes),
        templates=_merged(dump.templates, manifests.templates),
        taint_rules=_merged(dump.taint_rules, manifests.taint_rules),
        nodes=_merged(dump.nodes, manifests.nodes),
        claims=tuple(claims.values()),
    )


class _Named(Protocol):
    """Any object of the API."""

    @property
    def metadata(self) -> ObjectMeta: ...


_N = TypeVar("_N", bound=_Named)


def _merged(dumped: Sequence[_N], applied: Sequence[_N]) -> tuple[_N, ...]:
    named = {(each.metadata.namespace, each.metadata.name): each for each in dumped}
    named |= {(each.metadata.namespace, each.metadata.name): each for each in applied}
    return tuple(named.values())


def _with_status(claim: ResourceClaim, before: ResourceClaim) -> ResourceClaim:
    return claim.model_copy(update={"status": before.status}) if claim.status.allocation is None else claim


def _notes(manifests: Documents, dump: Documents, cluster: Cluster) -> list[str]:
    notes = []
    if not dump.nodes and not manifests.nodes and cluster.nodes:
        notes.append("the cluster has no Node objects: nodes are those that slices name, without their labels")
    rules = len(dump.taint_rules) + len(manifests.taint_rules)
    if rules and not cluster.settings.merges_taint_rules():
        notes.append(f"{rules} DeviceTaintRules have no effect: a gate is off in {cluster.settings.release}")
    notes += _devices_nowhere(manifests.claims, cluster)
    unknown = FrozenMap({**dump.unknown, **manifests.unknown})
    if unknown:
        listed = first_few([f"{count} {kind}" for kind, count in sorted(unknown.items())], "other kinds")
        notes.append(f"left alone: {listed}")
    return notes


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
