"""
What the kubelet has against a pod that names its node: no scheduler looks whether there is room.

Spec: EXPAND-58
"""

from __future__ import annotations

from typing import Final

from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.pods.amounts import CPU, EPHEMERAL, MEMORY, PODS
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.filters import node_affinity, ports
from dra_alloc.pods.filters.resources import shortfalls

#: What the kubelet counts of every pod; of other resources only what its node has.
_ALWAYS: Final = frozenset({CPU, MEMORY, EPHEMERAL})


def kept_out(attempt: Attempt, place: int) -> NodeRefusal | None:
    """Return why the kubelet of the node at this place rejects the pod, None if it runs."""
    node = attempt.tenancy.nodes[place].metadata.name or ""
    load = attempt.tenancy.loads[place]
    asked = {
        name: amount
        for name, amount in attempt.pod.requests.items()
        if amount > 0 and name != PODS and (name in _ALWAYS or name in load.allocatable)
    }
    short = shortfalls(asked, load, {})
    if short:
        first = short[0]
        said = f"requested: {first.asked}, used: {first.used}, capacity: {first.allocatable}"
        text = f"OutOf{first.resource}: Node didn't have enough resource: {first.resource}, {said}"
        return _rejected(node, "node-resources", text)
    if place in node_affinity.refused(attempt):
        return _rejected(node, "node-affinity", "NodeAffinity: Predicate NodeAffinity failed")
    if place in ports.refused(attempt):
        return _rejected(node, "node-ports", "NodePorts: Predicate NodePorts failed")
    return None


def _rejected(node: str, code: str, text: str) -> NodeRefusal:
    return NodeRefusal(node, code, f"the pod names its node, and the kubelet rejects it: {text}")
