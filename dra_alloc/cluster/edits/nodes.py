"""
Steps that change nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import islice

from pydantic import Field

from dra_alloc.api import FrozenMap, Node, Pod, ResourceSlice
from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.step import NodePattern, StepKind, Stepping
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents
from dra_alloc.pods.taints import uncordoned
from dra_alloc.pods.workloads.states import PodState, state_of

_MIRROR = "kubernetes.io/config.mirror"
_NO_NODES = "the cluster has no Node objects, and nodes that only slices name are not changed: dump nodes, too"


class AddNodes(StepKind):
    """Add nodes like one that is there, with its labels, resources and the slices of its own, or of a shape."""

    like: str | None = None
    shape: str | None = None
    count: int = Field(1, ge=1, le=10_000)

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with more nodes, free ones. Spec: WHATIF-2, FLEET-6."""
        pattern = self._pattern(state, stepping)
        return state if pattern is None else with_nodes(state, pattern, new_names(pattern.name, self.count, state))

    def _pattern(self, state: ClusterState, stepping: Stepping) -> NodePattern | None:
        if (self.like is None) == (self.shape is None):
            stepping.complain("", "takes one of like and shape")
        elif self.like is not None:
            if stepping.knows("like", "there is no node", self.like, _nodes_of(state), _NO_NODES):
                return pattern_like(state, self.like)
        elif self.shape is not None and stepping.knows("shape", "there is no shape", self.shape, stepping.shapes()):
            try:
                return stepping.shapes()[self.shape]()
            except ManifestError as error:
                for each in error.problems:
                    stepping.complain("shape", f"{self.shape}: {each.message}", each.hint)
        return None


def pattern_like(state: ClusterState, name: str) -> NodePattern:
    """Return the pattern of a node that is there."""
    slices = tuple(each for each in state.dump.slices if each.spec.node_name == name)
    return NodePattern(_nodes_of(state)[name], slices)


def with_nodes(state: ClusterState, pattern: NodePattern, names: Collection[str]) -> ClusterState:
    """Return the state with free nodes of these names, each as the pattern, with slices of its own. Spec: WHATIF-2."""
    dump = replace(
        state.dump,
        nodes=(*state.dump.nodes, *(_like(pattern.node, name) for name in names)),
        slices=(
            *state.dump.slices,
            *(_slice_like(each, pattern.name, name) for name in names for each in pattern.slices),
        ),
    )
    return replace(state, dump=dump)


def new_names(like: str, count: int, state: ClusterState) -> list[str]:
    """Return names of nodes like one that are not there yet."""
    there = _nodes_of(state)
    numbered = (f"{like}-new-{number}" for number in range(1, count + len(there) + 1))
    return list(islice((name for name in numbered if name not in there), count))


class SomeNodes(StepKind):
    """Some nodes: by name, or all that have these labels."""

    names: tuple[str, ...] = Field((), strict=False)
    labels: Mapping[str, str] = Field(default_factory=FrozenMap)

    def chosen(self, state: ClusterState, stepping: Stepping) -> list[Node]:
        """Return the nodes; one that is missing, or a choice of none, is a problem."""
        if not self.names and not self.labels:
            stepping.complain("", "says no node: it takes names, labels, or both")
        there = _nodes_of(state)
        wanted = {each for each in self.names if stepping.knows("names", "there is no node", each, there, _NO_NODES)}
        alike = {name for name, node in there.items() if self.labels.items() <= node.metadata.labels.items()}
        if self.labels and not alike:
            said = ", ".join(f"{key}={value}" for key, value in self.labels.items())
            stepping.complain("labels", f"no node has the labels {said}")
        wanted |= alike if self.labels else set()
        return [node for name, node in there.items() if name in wanted]


class RemoveNodes(SomeNodes):
    """Take nodes away, with their pods and the slices of their own."""

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state without the nodes. Spec: WHATIF-2, WHATIF-3."""
        gone = {each.metadata.name or "" for each in self.chosen(state, stepping)}
        state = state.evicting((pod, f"node {pod.spec.node_name} is gone") for pod in _pods_on(state, gone))
        without = (_without_nodes(each, gone) for each in (state.dump, state.manifests))
        dump, manifests = without
        return replace(state, dump=dump, manifests=manifests)


class CordonNodes(SomeNodes):
    """Let nodes take no more pods."""

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the nodes cordoned."""
        return _cordoned(state, self.chosen(state, stepping), is_closed=True)


class UncordonNodes(SomeNodes):
    """Let nodes take pods again."""

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the nodes open."""
        return _cordoned(state, self.chosen(state, stepping), is_closed=False)


class DrainNodes(SomeNodes):
    """Cordon nodes and evict their pods, but for those of DaemonSets and of the node itself."""

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the nodes drained, as far as budgets let them be. Spec: WHATIF-3, EVICT-1."""
        chosen = self.chosen(state, stepping)
        state = _cordoned(state, chosen, is_closed=True)
        pods = _pods_on(state, {each.metadata.name or "" for each in chosen})
        leaving = [each for each in pods if not _is_of_node(each)]
        return stepping.drain(state, leaving)


def _nodes_of(state: ClusterState) -> dict[str, Node]:
    return {each.metadata.name or "": each for each in state.dump.nodes}


def _pods_on(state: ClusterState, names: Collection[str]) -> list[Pod]:
    return [each for each in state.dump.pods if each.spec.node_name in names and state_of(each) is PodState.BOUND]


def _is_of_node(pod: Pod) -> bool:
    owners = pod.metadata.owner_references
    return _MIRROR in pod.metadata.annotations or any(each.kind in ("DaemonSet", "Node") for each in owners)


def _cordoned(state: ClusterState, nodes: list[Node], *, is_closed: bool) -> ClusterState:
    names = {each.metadata.name for each in nodes}

    def change(node: Node) -> Node:
        if node.metadata.name not in names:
            return node
        return node.replaced(spec=node.spec.replaced(unschedulable=True)) if is_closed else uncordoned(node)

    dump, manifests = (each.mapped(change, "nodes") for each in (state.dump, state.manifests))
    return replace(state, dump=dump, manifests=manifests)


def _without_nodes(documents: Documents, gone: set[str]) -> Documents:
    return replace(
        documents,
        nodes=tuple(each for each in documents.nodes if each.metadata.name not in gone),
        slices=tuple(each for each in documents.slices if each.spec.node_name not in gone),
    )


def _like(node: Node, name: str) -> Node:
    labels = {**node.metadata.labels, **({HOSTNAME: name} if HOSTNAME in node.metadata.labels else {})}
    metadata = node.metadata.replaced(name=name, uid=None, labels=FrozenMap(labels))
    return uncordoned(node.replaced(metadata=metadata))


def _slice_like(item: ResourceSlice, like: str, name: str) -> ResourceSlice:
    """Return the slice of a new node: its pool is the node's, or called after both."""
    found: ResourceSlice = item.model() if hasattr(item, "model") else item
    pool = found.spec.pool
    pool = pool.replaced(name=name if pool.name == like else f"{pool.name}-{name}")
    metadata = found.metadata.replaced(name=f"{found.metadata.name}-{name}", uid=None)
    return found.replaced(metadata=metadata, spec=found.spec.replaced(node_name=name, pool=pool))
