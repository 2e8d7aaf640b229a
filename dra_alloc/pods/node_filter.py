"""
Which nodes a pod may run on at all, before devices matter.

Only what the pod and the Node objects say themselves: node name, node
selector, required node affinity, cordons and taints, and extended resources.
Other scheduler plugins are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_alloc.api import Node, NodeSelector, Pod, Taint, Toleration
from dra_alloc.api.core.nodes import BARRING
from dra_alloc.pods.extended_resources import unserved
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
    required = _required_affinity(pod)
    if required is not None and not takes_node(required, node):
        return "node-affinity", "the node does not match the pod's required node affinity"
    return None if spec.node_name else _taint_objection(pod, node)


def pod_objection(pod: Pod, node: Node, classes: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the same, and whether all extended resources are there: behind one of the classes or on the node."""
    missing = unserved(pod, node, classes)
    return node_objection(pod, node) if missing is None else ("node-resources", f"Insufficient {missing}")


def _required_affinity(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def _taint_objection(pod: Pod, node: Node) -> tuple[str, str] | None:
    taints = list(node.spec.taints)
    if node.spec.unschedulable:
        taints.insert(0, Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule"))
    for taint in taints:
        if taint.effect in BARRING and not any(_tolerates(each, taint) for each in pod.spec.tolerations):
            value = f"={taint.value}" if taint.value else ""
            return "node-taint", f"the pod does not tolerate the node's taint {taint.key}{value}:{taint.effect}"
    return None


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in (None, "", "Equal"):
        return bool(toleration.key) and (toleration.value or "") == (taint.value or "")
    return toleration.operator == "Exists"
