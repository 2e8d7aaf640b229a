"""
NodeAffinity: the weights of the preferred terms that a node meets.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import Node, NodeSelector, PreferredSchedulingTerm
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import scaled
from dra_alloc.problem.nodes import NodeSelectorError, selects_node


def scores(attempt: Attempt, places: Sequence[int]) -> list[int] | None:
    """Return the score of each node; None if they are all the same."""
    affinity = attempt.pod.spec.affinity
    node_affinity = None if affinity is None else affinity.node_affinity
    wishes = () if node_affinity is None else node_affinity.preferred_during_scheduling_ignored_during_execution
    if not wishes:
        return None
    nodes = attempt.tenancy.nodes
    return scaled([sum(each.weight for each in wishes if _meets(each, nodes[place])) for place in places])


def _meets(wish: PreferredSchedulingTerm, node: Node) -> bool:
    try:
        return selects_node(NodeSelector(node_selector_terms=(wish.preference,)), node)
    except NodeSelectorError:
        return False
