"""
Shapes of nodes that could be bought: which nodes of a cluster are alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Device, Node, ResourceSlice
from dra_alloc.cluster.edits.step import NodePattern
from dra_alloc.manifest import Documents
from dra_alloc.pods.taints import uncordoned

#: From so many values on, a label or an attribute that never has a value twice names what it is on.
_NAMING: Final = 3


@dataclass(frozen=True, slots=True)
class NodeShape:
    """A kind of node: as `like`, of which there are `there` in the cluster, each new one for `price`."""

    like: NodePattern
    there: int
    price: int = 1

    @property
    def name(self) -> str:
        """The name of the node, or of the shape, that it is like."""
        return self.like.name


def shapes_of(dump: Documents) -> list[NodeShape]:
    """
    Return the kinds of nodes of a cluster, those with most nodes first.

    Nodes are of one kind if they have the same labels, taints, resources and
    devices, but for labels and attributes that are different everywhere.

    Spec: ADDED-2.
    """
    slices: dict[str, list[ResourceSlice]] = defaultdict(list)
    for each in dump.slices:
        if each.spec.node_name:
            slices[each.spec.node_name].append(each)
    labels = _naming(each.metadata.labels.items() for each in dump.nodes)
    attributes = _naming(
        ((f"{each.spec.driver}/{name}", str(value)) for name, value in device.attributes.items())
        for each in dump.slices
        for device in each.spec.devices
    )
    kinds: dict[Hashable, list[Node]] = defaultdict(list)
    for node in dump.nodes:
        own = slices[node.metadata.name or ""]
        kinds[_content(node, labels), _devices(own, attributes)].append(node)
    found = [NodeShape(_pattern(nodes[0], slices), len(nodes)) for nodes in kinds.values()]
    return sorted(found, key=lambda each: -each.there)


def _pattern(node: Node, slices: Mapping[str, list[ResourceSlice]]) -> NodePattern:
    return NodePattern(node, tuple(slices.get(node.metadata.name or "", ())))


def _naming(items: Iterable[Iterable[tuple[str, str]]]) -> set[str]:
    """Return the keys that never have one value twice."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in items:
        for key, value in each:
            counts[key][value] += 1
    return {key for key, values in counts.items() if len(values) >= _NAMING and max(values.values()) == 1}


def _content(node: Node, naming: set[str]) -> Hashable:
    labels = frozenset((key, value) for key, value in node.metadata.labels.items() if key not in naming)
    return labels, uncordoned(node).spec.taints, _sorted(node.status.allocatable)


def _devices(slices: Sequence[ResourceSlice], naming: set[str]) -> Hashable:
    """Return how many devices of what content each driver has."""
    counts = Counter(
        (each.spec.driver, _device(each.spec.driver, device, naming)) for each in slices for device in each.spec.devices
    )
    return frozenset(counts.items())


def _device(driver: str, device: Device, naming: set[str]) -> Hashable:
    attributes = {name: each for name, each in device.attributes.items() if f"{driver}/{name}" not in naming}
    return _sorted(attributes), _sorted(device.capacity), str(device.taints), len(device.consumes_counters)


def _sorted(values: Mapping[str, object]) -> Hashable:
    return tuple(sorted((name, str(value)) for name, value in values.items()))
