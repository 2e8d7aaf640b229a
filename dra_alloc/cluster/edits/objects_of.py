"""
A cluster as objects for steps to change, and the cluster that changed objects make.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, Final

from dra_alloc.api import FrozenMap, Namespace, ObjectMeta
from dra_alloc.cluster.contents import Contents, beside_of, contents_of
from dra_alloc.cluster.edits.carrying import carried
from dra_alloc.cluster.edits.edit import Edit, edited
from dra_alloc.cluster.known import Known
from dra_alloc.cluster.population import Population
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents
from dra_alloc.pods.quota.book import chargeable
from dra_alloc.problem.requests import claim_name

#: What a population is made of.
_POPULATION: Final = (
    "pods", "namespaces", "templates", "quotas", "pod_groups", "priority_classes", "workloads", "services",
    "volume_claims", "volumes", "storage_classes",
)  # fmt: skip


def objects_of(contents: Contents) -> Documents:
    """Return all objects of a cluster; nodes that slices imply are none."""
    population, beside = contents.population, contents.beside
    running = {each.metadata.full_name for each in population.pods}
    spaces = population.namespaces.items()
    return replace(
        beside,
        slices=tuple([row.wire for row in contents.inventory.slices]),
        classes=tuple(contents.classes.values()),
        claims=tuple(contents.claims.values()),
        templates=tuple(population.templates.values()),
        taint_rules=(*contents.inventory.taint_rules, *beside.taint_rules),
        nodes=() if contents.implied else contents.nodes,
        namespaces=tuple(
            [Namespace.made(metadata=ObjectMeta.made(name=name, labels=labels)) for name, labels in spaces]
        ),
        pods=(*population.pods, *(each for each in beside.pods if each.metadata.full_name not in running)),
        pod_groups=tuple(population.groups.values()),
        quotas=population.quotas,
        volume_claims=tuple(population.volumes.claims.values()),
        volumes=tuple(population.volumes.volumes.values()),
        storage_classes=tuple(population.volumes.classes.values()),
    )


def known_of(known: Known, before: Documents, after: Documents, settings: Settings) -> Known:
    """
    Return the cluster of objects that were changed; what is known of it as it was `before` is carried over.

    Raises: InputError for settings that are not known.
    """
    was = known.contents
    if settings != was.settings:
        return Known(contents_of(after, after.held, settings))
    named: dict[str, Callable[[Any], str]] = {
        **dict.fromkeys(("slices", "classes", "nodes", "taint_rules"), lambda each: each.metadata.name or ""),
        "claims": claim_name,
    }
    edit = Edit(
        **{member: _differing(getattr(before, member), getattr(after, member), name) for member, name in named.items()}
    )
    found = carried(known, *edited(was, edit))
    if not _same(before, after, *_POPULATION):
        found = found.populated(_population(was.population, before, after, settings))
    beside = beside_of(after, found.contents.inventory.taint_rules)
    return Known(replace(found.contents, beside=beside), found.parts)


def _differing(before: Sequence[Any], after: Sequence[Any], name: Callable[[Any], str]) -> FrozenMap[str, Any]:
    """Return the objects that came or changed by name, and None for those that went."""
    old, new = ({name(each): each for each in some} for some in (before, after))
    return FrozenMap({each: new.get(each) for each in {**old, **new} if old.get(each) is not new.get(each)})


def _same(before: Documents, after: Documents, *members: str) -> bool:
    pairs = [(getattr(before, each), getattr(after, each)) for each in members]
    return all(len(old) == len(new) and all(map(is_, old, new)) for old, new in pairs)


def _population(was: Population, before: Documents, after: Documents, settings: Settings) -> Population:
    """Return who is there after a change; quotas that are the same know what is gone. Spec: WHATIF-6."""
    extended = bool(settings.effective_gates().get("DRAExtendedResource", False))
    if not _same(before, after, "quotas"):
        return Population.of(after, extended=extended)
    made = Population.of(replace(after, quotas=()), extended=extended)
    left = {(each.kind, each.metadata.full_name) for each in chargeable(after)}
    gone = [each for each in chargeable(before) if (each.kind, each.metadata.full_name) not in left]
    names = {each.metadata.full_name for each in after.pods}
    return replace(made, quotas=was.quotas, book=was.book.relieved(gone, before.pods), charged=was.charged & names)
