"""
VolumeRestrictions, VolumeBinding and VolumeZone: volumes that one pod alone uses, or that some nodes cannot use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection

_USED: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """
    Return the nodes where the pod cannot have its volumes.

    Spec: VOLUME-3 to VOLUME-6.
    """
    pod, tenancy, volumes = attempt.pod.pod, attempt.tenancy, attempt.ruling.volumes
    if not pod.spec.volumes:
        return {}
    used = next((each for each in volumes.used_by_one(pod) if tenancy.claiming.get(each)), None)
    if used is not None:
        said = f"another pod uses PersistentVolumeClaim {used}, which one pod alone can use"
        return dict.fromkeys(range(len(tenancy.nodes)), Objection("volume-in-use", (_USED,), said, lasting=False))
    known = attempt.pod.found.get("volumes")
    if known is None:
        asked = enumerate(map(volumes.on_nodes(pod), tenancy.nodes))
        known = attempt.pod.found["volumes"] = {place: found for place, found in asked if found is not None}
    return cast("Mapping[int, Objection]", known)
