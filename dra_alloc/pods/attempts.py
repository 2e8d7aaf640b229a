"""
One attempt to find a node for a pod: the pod, the nodes as they are, and the rules of the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_alloc.pods.filters.claimed_volumes import NO_VOLUMES, Volumes
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.pods.views import PodView
from dra_alloc.releases import Release


@dataclass(frozen=True, slots=True)
class Ruling:
    """
    What plugins have to know of the release and the cluster.

    `served` are the extended resources behind which a DeviceClass stands.
    """

    release: Release
    gates: Mapping[str, bool]
    served: Mapping[str, str]
    volumes: Volumes = NO_VOLUMES

    def on(self, gate: str) -> bool:
        """Return whether a gate is on; one that the release does not have is off."""
        return self.gates.get(gate, False)

    @property
    def comparing(self) -> bool:
        """Whether tolerations may compare numbers."""
        return self.on("TaintTolerationComparisonOperators")


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """What filters and scores are asked about."""

    pod: PodView
    tenancy: Tenancy
    ruling: Ruling
