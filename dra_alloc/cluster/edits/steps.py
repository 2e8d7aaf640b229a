"""
All kinds of steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.cluster.edits.devices import TaintDevices, Wait
from dra_alloc.cluster.edits.nodes import AddNodes, CordonNodes, DrainNodes, RemoveNodes, UncordonNodes
from dra_alloc.cluster.edits.objects import Apply, Delete
from dra_alloc.cluster.edits.releases import ReleaseStep
from dra_alloc.cluster.edits.step import StepKind

__all__ = ["STEPS"]

#: Kinds of steps by their names in a scenario.
STEPS: Final[Mapping[str, type[StepKind]]] = {
    "addNodes": AddNodes,
    "apply": Apply,
    "cordonNodes": CordonNodes,
    "delete": Delete,
    "drainNodes": DrainNodes,
    "release": ReleaseStep,
    "removeNodes": RemoveNodes,
    "taintDevices": TaintDevices,
    "uncordonNodes": UncordonNodes,
    "wait": Wait,
}
