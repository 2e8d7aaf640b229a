"""
Which slices and devices can be used on a node.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_alloc.api import Device, Node, NodeSelectorRequirement, NodeSelectorTerm, ResourceSlice, ResourceSliceSpec


def slice_is_for(each: ResourceSlice, node: Node) -> bool:
    """
    Return whether a slice concerns the node.

    Spec: POOL-3.
    """
    if each.spec.per_device_node_selection:
        return any(_is_for(device, node) for device in each.spec.devices)
    return _is_for(each.spec, node)


def device_is_for(device: Device, inside: ResourceSlice, node: Node) -> bool:
    """
    Return whether a device of a slice that concerns the node can be used there.

    Spec: NODE-1.
    """
    return not inside.spec.per_device_node_selection or _is_for(device, node)


def _is_for(place: ResourceSliceSpec | Device, node: Node) -> bool:
    if place.node_name:
        return place.node_name == node.metadata.name
    if place.all_nodes:
        return True
    return place.node_selector is not None and any(
        _holds(term, node) for term in place.node_selector.node_selector_terms
    )


def _holds(term: NodeSelectorTerm, node: Node) -> bool:
    by_label = [_fits(each, node.metadata.labels) for each in term.match_expressions]
    by_field = [_fits(each, {"metadata.name": node.metadata.name or ""}) for each in term.match_fields]
    return bool(by_label or by_field) and all(by_label) and all(by_field)


def _fits(requirement: NodeSelectorRequirement, values: Mapping[str, str]) -> bool:
    value, wanted = values.get(requirement.key), requirement.values
    if requirement.operator == "In":
        return value is not None and value in wanted
    if requirement.operator == "NotIn":
        return value is None or value not in wanted
    if requirement.operator == "Exists":
        return value is not None
    if requirement.operator == "DoesNotExist":
        return value is None
    if value is None or len(wanted) != 1:
        return False
    try:
        left, right = int(value), int(wanted[0])
    except ValueError:
        return False
    return left > right if requirement.operator == "Gt" else left < right
