"""
Topologies that systems name: which labels of nodes are levels, and what is asked of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_alloc.errors import in_brief
from dra_alloc.pods.gangs.topology import ANYWHERE, TopologyConstraint, level_against
from dra_alloc.queues.reading import ObjectReading


@dataclass(frozen=True, slots=True)
class NamedTopology:
    """Label keys as levels, the widest first, and what else these are called."""

    levels: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)


def topology_of(reading: ObjectReading) -> NamedTopology:
    """Return a Topology of KAI or of Kueue."""
    return _levels(reading, "nodeLabel", "alias")


def bound_topology(reading: ObjectReading) -> NamedTopology:
    """Return a ClusterTopologyBinding of Grove: its domains are other names of its levels."""
    return _levels(reading, "key", "domain")


def _levels(reading: ObjectReading, key: str, alias: str) -> NamedTopology:
    levels: list[str] = []
    aliases: dict[str, str] = {}
    for at in reading.places("spec.levels"):
        label, called = reading.needed(f"{at}.{key}"), reading.text(f"{at}.{alias}")
        if label in levels:
            reading.complain(f"{at}.{key}", f"level {in_brief(label)} is there before")
            continue
        levels.append(label)
        if called in aliases:
            reading.complain(f"{at}.{alias}", f"{in_brief(called)} is another level")
        elif called:
            aliases[called] = label
    if not levels:
        reading.complain("spec.levels", "a topology has at least one level")
    return NamedTopology(tuple(levels), aliases)


def constrained(
    topologies: Mapping[str, NamedTopology], name: str, required: str, preferred: str
) -> TopologyConstraint:
    """
    Return what levels of a topology, by label or by another name, ask of pods; without a topology nothing.

    Spec: TOPOLOGY-3.
    """
    if not name:
        return ANYWHERE
    topology = topologies.get(name)
    if topology is None:
        return TopologyConstraint(against=f"there is no Topology {name}")
    known = topology.aliases
    found = TopologyConstraint(topology.levels, known.get(required, required), known.get(preferred, preferred))
    against = level_against(found, name)
    return TopologyConstraint(against=against) if against else found
