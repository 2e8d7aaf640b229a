"""
The step that taints nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dra_alloc.api import Node, Taint
from dra_alloc.api.names import label_key_faults, label_value_faults
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.node_eviction import gone_in_time, observed
from dra_alloc.cluster.edits.nodes import SomeNodes
from dra_alloc.cluster.edits.step import Stepping
from dra_alloc.cluster.edits.waiting import waited

__all__ = ["TaintNodes"]


class _NodeTaint(BaseModel):
    """A taint of a node."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key: str = Field(min_length=1)
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class TaintNodes(SomeNodes):
    """Taint nodes, in place of a taint of that key and effect; NoExecute evicts who does not tolerate it."""

    taint: _NodeTaint
    seconds: int | None = Field(None, ge=0, description="how long it is looked at who is evicted; without it, for ever")

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the nodes tainted, and without the pods that this evicts. Spec: EVICT-4."""
        for name, faults in (
            ("key", label_key_faults(self.taint.key)),
            ("value", label_value_faults(self.taint.value or "")),
        ):
            for fault in faults:
                stepping.complain(f"taint.{name}", str(fault))
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
