"""
Which nodes a slice or device can be used on: standard node affinity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dra_alloc.api import Device, Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ResourceSliceSpec

__all__ = ["NodeSelectorError", "is_on_node", "selects_node"]


class NodeSelectorError(ValueError):
    """A node selector that cannot be evaluated, with the API machinery's text."""


def is_on_node(place: ResourceSliceSpec | Device, node: Node) -> bool:
    """
    Return whether a slice or device with its own node selection can be used on the node.

    nodeName wins over allNodes, which wins over nodeSelector; none of them means no node.

    Spec: POOL-3.
    Raises: NodeSelectorError.
    """
    if place.node_name:
        return place.node_name == node.metadata.name
    if place.all_nodes:
        return True
    return place.node_selector is not None and selects_node(place.node_selector, node)


def selects_node(selector: NodeSelector, node: Node) -> bool:
    """Return whether any term matches; a term without requirements matches nothing."""
    return any(_term_matches(term, node) for term in selector.node_selector_terms)


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": node.metadata.name or ""}
    labels = node.metadata.labels
    return all(_holds(each, labels) for each in term.match_expressions) and all(
        _holds(each, fields) for each in term.match_fields
    )


def _holds(requirement: NodeSelectorRequirement, values: Mapping[str, str]) -> bool:
    test = _OPERATORS.get(requirement.operator)
    if test is None:
        raise NodeSelectorError(f'"{requirement.operator}" is not a valid label selector operator')
    return test(values.get(requirement.key), requirement.values)


def _integer(text: str) -> int | None:
    digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def _compares(value: str | None, wanted: tuple[str, ...], greater: bool) -> bool:
    left = None if value is None else _integer(value)
    right = _integer(wanted[0]) if len(wanted) == 1 else None
    if left is None or right is None:
        return False
    return left > right if greater else left < right


_OPERATORS: Final[Mapping[str, Callable[[str | None, tuple[str, ...]], bool]]] = {
    "In": lambda value, wanted: value in wanted if value is not None else False,
    "NotIn": lambda value, wanted: value is None or value not in wanted,
    "Exists": lambda value, wanted: value is not None,
    "DoesNotExist": lambda value, wanted: value is None,
    "Gt": lambda value, wanted: _compares(value, wanted, greater=True),
    "Lt": lambda value, wanted: _compares(value, wanted, greater=False),
}
