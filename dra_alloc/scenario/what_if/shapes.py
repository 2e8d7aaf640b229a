"""
Shapes of nodes as patterns of nodes to add.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from dra_alloc.cluster.edits.step import NodePattern, Shapes
from dra_alloc.manifest.given import documents_of
from dra_alloc.scenario.fleet.catalogue import catalogue
from dra_alloc.scenario.fleet.fleet import checked_node
from dra_alloc.scenario.fleet.shape import MachineShape


def pattern_of(shape: MachineShape, name: str) -> NodePattern:
    """Return the pattern of a shape. Spec: FLEET-6. Raises: ManifestError for what no API server would take."""
    made = documents_of(checked_node(shape, name))
    return NodePattern(made.nodes[0], made.slices)


def patterns(own: Mapping[str, MachineShape]) -> Shapes:
    """Return the shapes of the catalogue, and those of a scenario's own, as patterns to be made."""
    return {name: partial(pattern_of, shape, name) for name, shape in {**catalogue().shapes, **own}.items()}
