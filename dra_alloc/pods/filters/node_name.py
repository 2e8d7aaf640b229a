"""
NodeName: a pod that names its node runs nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection

_TEXT: Final = "node(s) didn't match the requested node name"


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """Return the nodes that are not the one the pod names."""
    name = attempt.pod.spec.node_name
    if not name:
        return {}
    objection = Objection("node-name", (_TEXT,), f"the pod names node {name}")
    own = attempt.tenancy.places.get(name)
    return {place: objection for place in range(len(attempt.tenancy.nodes)) if place != own}
