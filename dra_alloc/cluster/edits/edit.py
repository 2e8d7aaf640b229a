"""
Changes of a few objects, and the contents of a cluster after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dra_alloc.api import DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.contents import Contents
from dra_alloc.cluster.edits.events import Event, read_events
from dra_alloc.cluster.implied_nodes import implied_nodes, names_differ
from dra_alloc.errors import InputError
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.problem.devices import PoolKey
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.overlay import Overlay
from dra_alloc.problem.requests import claim_name
from dra_alloc.problem.tainting import has_effect

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


def edited(before: Contents, edit: Edit) -> tuple[Contents, Edit, frozenset[PoolKey] | None]:
    """Return the contents after the changes, the edit as far as it makes a difference, and the pools that differ."""
    edit = _effective(before, edit)
    inventory, pools = _inventory(before, edit)
    changes: dict[str, Any] = {"inventory": inventory}
    for member in ("claims", "classes"):
        given: Mapping[str, Any] = getattr(edit, member)
        if given:
            changes[member] = _changed(getattr(before, member), given)
    if edit.nodes or before.implied:
        changes |= _nodes(before, edit, inventory, pools)
    return replace(before, **changes), edit, pools


def _effective(before: Contents, edit: Edit) -> Edit:
    """
    Return the edit with only the taint rules that make a difference.

    Rules that can taint nothing are as good as gone: clusters do not have them. Where rules are not merged
    only those count that were when the cluster was made.
    """
    if not edit.taint_rules:
        return edit
    profile = before.settings.profile()
    merged = {rule.metadata.name or "" for rule in before.inventory.taint_rules}
    rules = {
        name: rule if rule is not None and has_effect(rule, profile) else None
        for name, rule in edit.taint_rules.items()
        if name in merged or before.settings.merges_taint_rules()
    }
    return replace(edit, taint_rules=rules)


def _changed(items: Mapping[K, V], given: Mapping[K, V | None]) -> Overlay[K, V]:
    before = items if isinstance(items, Overlay) else Overlay(items)
    gone = [key for key, each in given.items() if each is None]
    return before.changed({key: each for key, each in given.items() if each is not None}, gone)


def _nodes(before: Contents, edit: Edit, inventory: Inventory, pools: frozenset[PoolKey] | None) -> dict[str, Any]:
    """Return the nodes after the change if they differ: those of the edit, or without any those that slices name."""
    named = {node.metadata.name or "": node for node in (() if before.implied else before.nodes)} | dict(edit.nodes)
    nodes = tuple(node for node in named.values() if node is not None)
    if nodes:
        return {"nodes": nodes, "implied": False}
    if before.implied and pools is not None and not names_differ(before.inventory, inventory, pools):
        return {}
    return {"nodes": implied_nodes(inventory), "implied": True}


def _inventory(before: Contents, edit: Edit) -> tuple[Inventory, frozenset[PoolKey] | None]:
    """Return the slices after the change, and the pools that differ; None if that may be all."""
    inventory, slices = before.inventory, edit.slices
    pools: frozenset[PoolKey] | None = frozenset()
    if slices:
        gone = [name for name, each in slices.items() if each is None]
        inventory, pools = inventory.changed([each for each in slices.values() if each is not None], gone)
    if edit.taint_rules:
        rules = {rule.metadata.name or "": rule for rule in inventory.taint_rules} | dict(edit.taint_rules)
        wires = [row.wire for row in inventory.slices]
        return Inventory.build(wires, [rule for rule in rules.values() if rule is not None]), None
    return inventory, pools
