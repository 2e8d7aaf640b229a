"""
NodeAffinity: labels and names of the nodes that a pod must run on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dra_alloc.api import Node, NodeSelector, PodSpec
from dra_alloc.errors import first_few
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection
from dra_alloc.problem.nodes import takes_node

_TEXT: Final = "node(s) didn't match Pod's node affinity/selector"
_NAMES: Final = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
_CONFLICT: Final = "pod affinity terms conflict"


def required(spec: PodSpec) -> NodeSelector | None:
    """Return the node affinity that the pod requires."""
    affinity = spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def admits(spec: PodSpec) -> Callable[[Node], bool]:
    """Return what tells whether selector and required affinity admit a node; what cannot be read admits none."""
    selector = required(spec)
    wanted = spec.node_selector

    def judge(node: Node) -> bool:
        labels = node.metadata.labels
        if any(labels.get(key) != value for key, value in wanted.items()):
            return False
        return selector is None or takes_node(selector, node)

    return judge


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """
    Return the nodes that the pod's selector or required affinity rule out.
    """
    spec = attempt.pod.spec
    selector = required(spec)
    tenancy = attempt.tenancy
    found: dict[int, Objection] = {}
    for key, value in spec.node_selector.items():
        said = f"the node lacks the label {key}={value} of the pod's nodeSelector"
        lacking = Objection("node-selector", (_TEXT,), said)
        labelled = tenancy.domains(key)
        for place in range(len(tenancy.nodes)):
            if place not in found and labelled.get(place) != value:
                found[place] = lacking
    if selector is not None:
        unmatched = Objection("node-affinity", (_TEXT,), f"the pod's node affinity wants {_wanted(selector)}")
        for place, node in enumerate(tenancy.nodes):
            if place not in found and not takes_node(selector, node):
                found[place] = unmatched
    return found


def not_named(attempt: Attempt) -> Mapping[int, Objection]:
    """Return the nodes that no filter looks at: where all terms of the required affinity name nodes, the others."""
    selector = required(attempt.pod.spec)
    named = None if selector is None else _named(selector)
    if named is None:
        return {}
    tenancy = attempt.tenancy
    names = ", ".join(sorted(named)) or "no node at all"
    elsewhere = Objection("node-affinity", (_NAMES if named else _CONFLICT,), f"the pod's node affinity names {names}")
    kept = _places(named, tenancy.places)
    return {place: elsewhere for place in range(len(tenancy.nodes)) if place not in kept}


def _places(names: frozenset[str], places: Mapping[str, int]) -> frozenset[int]:
    return frozenset(places[name] for name in names if name in places)


def _named(selector: NodeSelector) -> frozenset[str] | None:
    """Return the nodes that the terms name; None if a term names none."""
    names: frozenset[str] = frozenset()
    for term in selector.node_selector_terms:
        lists = [
            frozenset(each.values)
            for each in term.match_fields
            if each.key == "metadata.name" and each.operator == "In"
        ]
        if not lists:
            return None
        names |= frozenset.intersection(*lists)
    return names if selector.node_selector_terms else None


def _wanted(selector: NodeSelector) -> str:
    """Return the terms of a selector as a sentence has them."""
    terms = [
        " and ".join(
            f"{each.key} {each.operator}{f' ({first_few(each.values)})' if each.values else ''}"
            for each in (*term.match_expressions, *term.match_fields)
        )
        for term in selector.node_selector_terms
    ]
    return " or ".join(each for each in terms if each) or "no node at all"
