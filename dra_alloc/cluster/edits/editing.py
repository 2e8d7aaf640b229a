"""
Clusters that differ from another in a few objects, made at the cost of the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dra_alloc.api import AllocationResult, DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.edits.digests import Digests
from dra_alloc.cluster.edits.events import Event, read_events
from dra_alloc.cluster.implied_nodes import implied_nodes, names_differ
from dra_alloc.cluster.standings import concerned
from dra_alloc.errors import InputError
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.problem.devices import PoolKey
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.overlay import Overlay
from dra_alloc.problem.requests import claim_name
from dra_alloc.problem.tainting import has_effect

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

__all__ = ["Edit", "Event", "edit_of", "edited"]

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Edit:
    """
    What to change: the object of each name, or None for one that goes.

    Names are those in the cluster, of claims with their namespace.
    """

    slices: Mapping[str, ResourceSlice | None] = Overlay()
    claims: Mapping[str, ResourceClaim | None] = Overlay()
    classes: Mapping[str, DeviceClass | None] = Overlay()
    nodes: Mapping[str, Node | None] = Overlay()
    taint_rules: Mapping[str, DeviceTaintRule | None] = Overlay()


def edit_of(events: Iterable[Event | Mapping[str, Any]]) -> Edit:
    """
    Return what the events come to; of one object the last counts.

    Raises: InputError for an event or object that is not known.
    """
    found: dict[str, dict[str, Any]] = {"slices": {}, "claims": {}, "classes": {}, "nodes": {}, "taint_rules": {}}
    for event in read_events(events):
        member, name = _belonging(event.object)
        found[member][name] = None if event.type == "DELETED" else event.object
    return Edit(**found)


def _belonging(item: object) -> tuple[str, str]:
    match item:
        case ResourceClaim():
            return "claims", claim_name(item)
        case DeviceClass():
            return "classes", item.metadata.name or ""
        case Node():
            return "nodes", item.metadata.name or ""
        case DeviceTaintRule():
            return "taint_rules", item.metadata.name or ""
        case ResourceSlice() | WireRecord():
            return "slices", item.metadata.name or ""  # type: ignore[union-attr]  # all records are slices
        case _:
            raise InputError(f"a cluster has no objects of type {type(item).__name__}")


def edited(cluster: Cluster, edit: Edit) -> Cluster:
    """Return the cluster with the changes; what is known of the rest stays known."""
    edit = _effective(cluster, edit)
    inventory, pools = _inventory(cluster, edit)
    changes: dict[str, Any] = {"inventory": inventory}
    for member in ("claims", "classes"):
        given: Mapping[str, Any] = getattr(edit, member)
        if given:
            changes[member] = _changed(getattr(cluster, member), given)
    if edit.nodes or cluster.implied:
        changes |= _nodes(cluster, edit, inventory, pools)
    made = replace(cluster, **changes)
    made.__dict__.update(_known(cluster, made, edit, pools))
    return made


def _effective(cluster: Cluster, edit: Edit) -> Edit:
    """
    Return the edit with only the taint rules that make a difference.

    Rules that can taint nothing are as good as gone: clusters do not have them. Where rules are not merged
    only those count that were when the cluster was made.
    """
    if not edit.taint_rules:
        return edit
    profile = cluster.settings.profile()
    merged = {rule.metadata.name or "" for rule in cluster.inventory.taint_rules}
    rules = {
        name: rule if rule is not None and has_effect(rule, profile) else None
        for name, rule in edit.taint_rules.items()
        if name in merged or cluster.settings.merges_taint_rules()
    }
    return replace(edit, taint_rules=rules)


def _changed(items: Mapping[K, V], given: Mapping[K, V | None]) -> Overlay[K, V]:
    before = items if isinstance(items, Overlay) else Overlay(items)
    gone = [key for key, each in given.items() if each is None]
    return before.changed({key: each for key, each in given.items() if each is not None}, gone)


def _nodes(cluster: Cluster, edit: Edit, inventory: Inventory, pools: frozenset[PoolKey] | None) -> dict[str, Any]:
    """Return the nodes after the change if they differ: those of the edit, or without any those that slices name."""
    before = () if cluster.implied else cluster.nodes
    named = {node.metadata.name or "": node for node in before} | dict(edit.nodes)
    nodes = tuple(node for node in named.values() if node is not None)
    if nodes:
        return {"nodes": nodes, "implied": False}
    if cluster.implied and pools is not None and not names_differ(cluster.inventory, inventory, pools):
        return {}
    return {"nodes": implied_nodes(inventory), "implied": True}


def _inventory(cluster: Cluster, edit: Edit) -> tuple[Inventory, frozenset[PoolKey] | None]:
    """Return the slices after the change, and the pools that differ; None if that may be all."""
    inventory, slices = cluster.inventory, edit.slices
    pools: frozenset[PoolKey] | None = frozenset()
    if slices:
        gone = [name for name, each in slices.items() if each is None]
        inventory, pools = inventory.changed([each for each in slices.values() if each is not None], gone)
    if edit.taint_rules:
        rules = {rule.metadata.name or "": rule for rule in inventory.taint_rules} | dict(edit.taint_rules)
        wires = [row.wire for row in inventory.slices]
        return Inventory.build(wires, [rule for rule in rules.values() if rule is not None]), None
    return inventory, pools


def _known(before: Cluster, after: Cluster, edit: Edit, pools: frozenset[PoolKey] | None) -> dict[str, Any]:
    """Return what the new cluster need not find out itself."""
    # As it is now: other threads may add to it meanwhile, and what is carried on has to belong together.
    had = dict(before.__dict__)
    known: dict[str, Any] = {}
    if after.nodes is before.nodes and "roster" in had:
        known["roster"] = before.roster
    if not edit.classes and "class_by_resource" in had:
        known["class_by_resource"] = before.class_by_resource
    if "digests" in had:
        known["digests"] = _digests(before, after, edit)
    if "survey" not in had or pools is None:
        return known
    survey = before.survey.changed(after.inventory, pools) if pools else before.survey
    known["survey"] = survey = survey.with_classes(after.classes) if edit.classes else survey
    touched = set(pools)
    if "ledger" in had:
        known["ledger"] = before.ledger
    if edit.claims and ("ledger" in had or "occupancy" in had):
        known["ledger"], keys = before.ledger.changed(
            _allocations((name, before.claims.get(name)) for name in edit.claims), _allocations(edit.claims.items())
        )
        touched |= {PoolKey(key.driver, key.pool) for key in keys}
    if "occupancy" in had:
        old = [row for key in touched for row in before.inventory.by_pool.get(key, ())]
        new = [row for key in touched for row in after.inventory.by_pool.get(key, ())]
        usage = known["ledger"].usage if "ledger" in known else None
        known["occupancy"] = before.occupancy.changed(old, new, usage)
        if "standings" in had and "roster" in known and not edit.classes:
            places = concerned(touched, (before.inventory, after.inventory), before.roster)
            if (survey.broken, survey.unfinished) != (before.survey.broken, before.survey.unfinished):
                places = None
            known["standings"] = before.standings.forked(survey, known["occupancy"], after.ask, places)
    return known


def _allocations(claims: Iterable[tuple[str, ResourceClaim | None]]) -> Iterator[tuple[str, AllocationResult]]:
    for name, claim in claims:
        if claim is not None and claim.status.allocation is not None:
            yield name, claim.status.allocation


def _digests(before: Cluster, after: Cluster, edit: Edit) -> Digests:
    old: list[object] = [before.inventory.find(name) for name in edit.slices]
    old = [getattr(row, "wire", None) for row in old]
    old += [before.claims.get(name) for name in edit.claims]
    old += [before.classes.get(name) for name in edit.classes]
    rules = {rule.metadata.name or "": rule for rule in before.inventory.taint_rules} if edit.taint_rules else {}
    old += [rules.get(name) for name in edit.taint_rules]
    members = (edit.slices, edit.claims, edit.classes, edit.taint_rules)
    new: list[object] = [each for member in members for each in member.values()]
    if before.implied or after.implied:
        same = after.nodes is before.nodes
        old += () if same else before.nodes
        new += () if same else after.nodes
    elif edit.nodes:
        nodes = {node.metadata.name or "": node for node in before.nodes}
        old += [nodes.get(name) for name in edit.nodes]
        new += edit.nodes.values()
    return before.digests.changed(old, new)
