"""
Which nodes a pod may run on at all, before devices matter.

Only what the pod and the Node objects say themselves: node name, node
selector, required node affinity, cordons and taints, and extended resources.
Other scheduler plugins are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_alloc.api import Node, Pod
from dra_alloc.pods.extended_resources import unserved
from dra_alloc.pods.filters.node_affinity import required
from dra_alloc.pods.taints import CORDON, repelling
from dra_alloc.problem.nodes import takes_node


def node_objection(pod: Pod, node: Node) -> tuple[str, str] | None:
    """Return a reason code and text if the pod cannot run on the node, whatever its claims; else None."""
    spec = pod.spec
    name = node.metadata.name or ""
    if spec.node_name and spec.node_name != name:
        return "node-name", f"the pod is bound to node {spec.node_name}"
    labels = node.metadata.labels
    for key, value in spec.node_selector.items():
        if labels.get(key) != value:
            return "node-selector", f"the node lacks the label {key}={value} of the pod's nodeSelector"
    affinity = required(spec)
    if affinity is not None and not takes_node(affinity, node):
        return "node-affinity", "the node does not match the pod's required node affinity"
    return None if spec.node_name else _taint_objection(pod, node)


def pod_objection(pod: Pod, node: Node, classes: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the same, and whether all extended resources are there: behind one of the classes or on the node."""
    missing = unserved(pod, node, classes)
    return node_objection(pod, node) if missing is None else ("node-resources", f"Insufficient {missing}")


def _taint_objection(pod: Pod, node: Node) -> tuple[str, str] | None:
    cordon = (CORDON,) if node.spec.unschedulable else ()
    taint = repelling((*cordon, *node.spec.taints), pod.spec.tolerations)
    if taint is None:
        return None
    value = f"={taint.value}" if taint.value else ""
    return "node-taint", f"the pod does not tolerate the node's taint {taint.key}{value}:{taint.effect}"
