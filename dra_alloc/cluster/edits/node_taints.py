"""
The step that taints nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from dra_alloc.api import Node, Taint
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.node_eviction import gone_in_time, observed
from dra_alloc.cluster.edits.nodes import SomeNodes
from dra_alloc.cluster.edits.step import Stepping
from dra_alloc.cluster.edits.waiting import waited
from dra_alloc.cluster.edits.written_taint import WrittenTaint


class _NodeTaint(WrittenTaint):
    """A taint of a node."""

    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class TaintNodes(SomeNodes):
    """Taint nodes, in place of a taint of that key and effect; NoExecute evicts who does not tolerate it."""

    taint: _NodeTaint
    seconds: int | None = Field(None, ge=0, description="how long it is looked at who is evicted; without it, for ever")

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the nodes tainted, and without the pods that this evicts. Spec: EVICT-4."""
        self.taint.complain(stepping)
        names = {each.metadata.name or "" for each in self.chosen(state, stepping)}
        taint = Taint.made(key=self.taint.key, value=self.taint.value, effect=self.taint.effect)

        def tainted(node: Node) -> Node:
            if node.metadata.name not in names:
                return node
            others = tuple([each for each in node.spec.taints if not _is_one(each, taint)])
            return node.replaced(spec=node.spec.replaced(taints=(*others, taint)))

        state = observed(state)
        dump, manifests = (each.mapped(tainted, "nodes") for each in (state.dump, state.manifests))
        state = observed(replace(state, dump=dump, manifests=manifests))
        return gone_in_time(state, names) if self.seconds is None else waited(state, self.seconds)


def _is_one(taint: Taint, other: Taint) -> bool:
    return (taint.key, taint.effect) == (other.key, other.effect)
