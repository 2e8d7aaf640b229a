"""
What the parts of a random world share: the source of choices, which features it has, and what was drawn so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from dra_alloc.testing.drawing.draw import Seeded

Json = dict[str, Any]
T = TypeVar("T")

RESOURCES: Final = "resource.k8s.io/v1"
APPS: Final = "apps/v1"
HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
DRIVER: Final = "gpu.example.com"
#: What a device class stands for, and some nodes have from a device plugin.
EXTENDED: Final = "example.com/gpu"


@dataclass
class Sketch:
    """A world in the making. `rates` says how often a feature is drawn where it can be; absent is never."""

    draw: Seeded
    namespace: str
    rates: Mapping[str, float]
    nodes: list[Json] = field(default_factory=list)
    cluster: list[Json] = field(default_factory=list)
    prepare: list[Json] = field(default_factory=list)
    apps: list[str] = field(default_factory=list)

    @property
    def neighbour(self) -> str:
        """The other namespace, in which pods may run from the start."""
        return f"{self.namespace}-other"

    def has(self, feature: str) -> bool:
        """Return True in as many cases as the feature's rate says."""
        rate = self.rates.get(feature, 0.0)
        return rate > 0 and self.draw.chance(rate)

    def may(self, feature: str) -> bool:
        """Return True if the world can have the feature at all."""
        return self.rates.get(feature, 0.0) > 0

    def one(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return self.draw.choice(options)

    def node_name(self) -> str:
        """Return the name of one of the nodes."""
        name: str = self.one(self.nodes)["metadata"]["name"]
        return name

    def meta(self, name: str, **more: Any) -> Json:
        """Return the metadata of an object of the world's namespace."""
        return {"name": name, "namespace": self.namespace, **more}
