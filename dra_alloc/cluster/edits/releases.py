"""
Steps that change the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import Field

from dra_alloc.api import FrozenMap
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.step import StepKind, Stepping
from dra_alloc.errors import DraAllocError


class ReleaseStep(StepKind):
    """Another release of Kubernetes, or other gates; gates that were set before stay."""

    version: str | None = None
    gates: Mapping[str, bool] = Field(default_factory=FrozenMap)

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state under the release."""
        try:
            settings = state.settings.changed(self.version, self.gates)
            settings.profile()
        except DraAllocError as error:
            stepping.complain("", error.message, error.hint)
            return state
        return replace(state, settings=settings)
