"""
Which nodes a slice or device can be used on: standard node affinity.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from dra_alloc.api import Device, Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ResourceSliceSpec


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


def takes_node(selector: NodeSelector, node: Node) -> bool:
    """Return whether a selector matches; one that cannot be evaluated matches nothing."""
    try:
        return selects_node(selector, node)
    except NodeSelectorError:
        return False


def selects_node(selector: NodeSelector, node: Node) -> bool:
    """
    Return whether any term matches; a term without requirements matches nothing.

    Every term is read before any is tried.

    Raises: NodeSelectorError.
    """
    faults = [
        f"{path}[{index}].{fault}"
        for number, term in enumerate(selector.node_selector_terms)
        for path, requirements, judge in (
            (f"nodeSelectorTerms[{number}].matchExpressions", term.match_expressions, _expression_fault),
            (f"nodeSelectorTerms[{number}].matchFields", term.match_fields, _field_fault),
        )
        for index, each in enumerate(requirements)
        if (fault := judge(each))
    ]
    if faults:
        said = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
        raise NodeSelectorError(f"{_printed(selector)}: {said}")
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
    return _OPERATORS[requirement.operator](values.get(requirement.key), requirement.values)


def _expression_fault(requirement: NodeSelectorRequirement) -> str:
    """Return what is wrong with a requirement of labels, in the API machinery's words; nothing if nothing is."""
    operator, values = requirement.operator, requirement.values
    given = f"values: Invalid value: {json.dumps(values, separators=(',', ':')) if values else 'null'}: "
    if operator not in _OPERATORS:
        return f'operator: Unsupported value: "{operator}": supported values: {_SUPPORTED}'
    if operator in ("In", "NotIn"):
        return "" if values else f"{given}for 'in', 'notin' operators, values set can't be empty"
    if operator in ("Exists", "DoesNotExist"):
        return f"{given}values set must be empty for exists and does not exist" if values else ""
    if len(values) != 1:
        return f"{given}for 'Gt', 'Lt' operators, exactly one value is required"
    if _integer(values[0]) is None:
        return f"values[0]: Invalid value: \"{values[0]}\": for 'Gt', 'Lt' operators, the value must be an integer"
    return ""


def _field_fault(requirement: NodeSelectorRequirement) -> str:
    """Return what is wrong with a requirement of fields; nothing if nothing is."""
    operator, values = requirement.operator, requirement.values
    if operator not in ("In", "NotIn"):
        return f'operator: Unsupported value: "{operator}": supported values: "In", "NotIn"'
    if len(values) != 1:
        given = json.dumps(values, separators=(",", ":")) if values else "null"
        return f"values: Invalid value: {given}: must have one element"
    return ""


def _printed(selector: NodeSelector) -> str:
    """Return a node selector as Go prints it."""
    terms = "".join(
        f"NodeSelectorTerm{{MatchExpressions:{_listed(term.match_expressions)},MatchFields:{_listed(term.match_fields)},}},"
        for term in selector.node_selector_terms
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}}},}}"


def _listed(requirements: tuple[NodeSelectorRequirement, ...]) -> str:
    each = "".join(
        f"NodeSelectorRequirement{{Key:{one.key},Operator:{one.operator},Values:[{' '.join(one.values)}],}},"
        for one in requirements
    )
    return f"[]NodeSelectorRequirement{{{each}}}"


def _integer(text: str) -> int | None:
    digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def _compares(value: str | None, wanted: tuple[str, ...], greater: bool) -> bool:
    left = None if value is None else _integer(value)
    right = _integer(wanted[0]) if len(wanted) == 1 else None
    if left is None or right is None:
        return False
    return left > right if greater else left < right


_SUPPORTED: Final = '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
_OPERATORS: Final[Mapping[str, Callable[[str | None, tuple[str, ...]], bool]]] = {
    "In": lambda value, wanted: value in wanted if value is not None else False,
    "NotIn": lambda value, wanted: value is None or value not in wanted,
    "Exists": lambda value, wanted: value is not None,
    "DoesNotExist": lambda value, wanted: value is None,
    "Gt": lambda value, wanted: _compares(value, wanted, greater=True),
    "Lt": lambda value, wanted: _compares(value, wanted, greater=False),
}
