"""
NodeUnschedulable: a cordoned node takes only pods that tolerate that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.taints import CORDON, tolerated

_CORDONED: Final = Objection("node-unschedulable", ("node(s) were unschedulable",), "the node is cordoned")


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """Return the cordoned nodes, unless the pod tolerates the taint that a cordon stands for."""
    nodes = attempt.tenancy.nodes
    cordoned = attempt.tenancy.found(
        "cordoned", lambda: [place for place, node in enumerate(nodes) if node.spec.unschedulable]
    )
    if not cordoned or tolerated(CORDON, attempt.pod.spec.tolerations, comparing=attempt.ruling.comparing):
        return {}
    return dict.fromkeys(cordoned, _CORDONED)
