"""
ImageLocality: nodes that have the pod's images already, large ones that many nodes have above all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from dra_alloc.api import Node, PodSpec
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import MOST
from dra_alloc.releases import Release

_LEAST: Final = 23 * 1024 * 1024
_MOST_OF_ONE: Final = 1000 * 1024 * 1024
#: Since when images in volumes count as images.
_VOLUMES_COUNT_SINCE: Final = Release(1, 37, 0, 0)


def scores(attempt: Attempt, places: Sequence[int]) -> list[int] | None:
    """Return the score of each node; None if no node says that it has one of the images."""
    tenancy = attempt.tenancy
    present = tenancy.found("images", partial(_images, tenancy.nodes))
    wanted = [(name, in_volume) for name, in_volume in _wanted(attempt.pod.spec) if name in present]
    if not wanted:
        return None
    total = len(tenancy.nodes)
    sums = dict.fromkeys(places, 0)
    for name, _ in wanted:
        size, where = present[name]
        worth = int(float(size) * (float(len(where)) / float(total)))
        for place in places:
            if place in where:
                sums[place] += worth
    volumes = attempt.ruling.release >= _VOLUMES_COUNT_SINCE
    count = sum(volumes or not in_volume for _, in_volume in _wanted(attempt.pod.spec))
    highest = _MOST_OF_ONE * count
    return [MOST * (min(max(sums[place], _LEAST), highest) - _LEAST) // (highest - _LEAST) for place in places]


def _wanted(spec: PodSpec) -> Iterator[tuple[str, bool]]:
    """Yield the pod's images with their tags, and whether each is a volume."""
    for container in (*spec.init_containers, *spec.containers):
        yield _tagged(container.image or ""), False
    for volume in spec.volumes:
        if volume.image is not None:
            yield _tagged(volume.image.reference or ""), True


def _tagged(name: str) -> str:
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def _images(nodes: Sequence[Node]) -> Mapping[str, tuple[int, set[int]]]:
    """Return for each image that a node says it has its size, as the first node says, and the nodes that have it."""
    found: dict[str, tuple[int, set[int]]] = {}
    for place, node in enumerate(nodes):
        for image in node.status.images:
            for name in image.names:
                found.setdefault(name, (image.size_bytes, set()))[1].add(place)
    return found
