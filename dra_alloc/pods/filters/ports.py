"""
NodePorts: a port of a node belongs to one pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.views import conflict

_TEXT: Final = "node(s) didn't have free ports for the requested pod ports"


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """Return the nodes on which a port that the pod wants is taken, by address and protocol."""
    wanted = attempt.pod.ports
    found: dict[int, Objection] = {}
    for place, taken in attempt.tenancy.ports.items() if wanted else ():
        port = conflict(wanted, taken)
        if port is not None:
            said = f"port {port[2]}/{port[1]} of the node is taken"
            found[place] = Objection("node-ports", (_TEXT,), said, lasting=False)
    return found
