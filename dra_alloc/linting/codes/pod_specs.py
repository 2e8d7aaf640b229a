"""
Pod specs in whatever object, for the codes that look at pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dra_alloc.linting.looking import Linting
from dra_alloc.linting.written import WrittenObject, at, members, walked
from dra_alloc.manifest.kinds import RESOURCE_GROUP
from dra_alloc.manifest.read.paths import Path

__all__ = ["WrittenPodSpec", "pod_specs"]


class WrittenPodSpec(NamedTuple):
    """A pod spec in an object: its path and what stands there, and the metadata beside it."""

    written: WrittenObject
    path: Path
    spec: dict[str, Any]
    metadata: dict[str, Any]

    def labels(self) -> dict[str, Any]:
        """Return the labels of the object, and of its pods over them."""
        outer = members(members(self.written.value.get("metadata")).get("labels"))
        return {**outer, **members(self.metadata.get("labels"))}


def pod_specs(linting: Linting) -> Iterator[WrittenPodSpec]:
    """Yield the pod specs of all objects but ours."""
    for written in linting.written:
        if written.group == RESOURCE_GROUP:
            continue
        for path, value in walked(written.value):
            if isinstance(value.get("containers"), list) and "name" not in value:
                metadata = members(members(at(written.value, path[:-1])).get("metadata"))
                yield WrittenPodSpec(written, path, value, metadata)
