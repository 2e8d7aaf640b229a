"""
The step that lets time pass.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.device_eviction import evicted_by_taints
from dra_alloc.cluster.edits.node_eviction import gone_in_time, observed
from dra_alloc.cluster.edits.step import StepKind, Stepping


class Wait(StepKind):
    """Let time pass, and taints of devices and nodes evict whoever tolerates them for no longer."""

    seconds: int = Field(ge=0)

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state later on. Spec: WHATIF-7, EVICT-4."""
        return waited(state, self.seconds)


def waited(state: ClusterState, seconds: int) -> ClusterState:
    """Return the state so many seconds later. Spec: WHATIF-7, EVICT-4."""
    state = observed(state)
    return gone_in_time(evicted_by_taints(replace(state, clock=state.clock + seconds), for_ever=False))
