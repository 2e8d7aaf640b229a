"""
What is left of a cluster for more: by class, at once, on one node, and what is free and of use to none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Unsatisfiable
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.pods.taints import closing
from dra_alloc.scenario.gang.gang import replicas
from dra_alloc.scenario.gang.types import Verdict
from dra_alloc.scenario.left.devices import Stranded, Takers, one_device, stranded, takers
from dra_alloc.work import BudgetExhausted


@dataclass(frozen=True, slots=True)
class ClassLeft:
    """
    What is left for requests of a class.

    `devices` could be taken, each by itself; `gang` is how many pods that want one each find one at once,
    `on_one_node` how many one request gets; more may be possible of both if they are not `proven`. `broken` is why
    the class cannot be asked.
    """

    name: str
    devices: int
    gang: int = 0
    proven: bool = True
    on_one_node: int = 0
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left for each class, and what is stranded, if that is `counted`; else there is a `why`."""

    classes: tuple[ClassLeft, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    why: str = ""

    @property
    def counted(self) -> bool:
        """Whether all was looked at."""
        return not self.why


def left_in(cluster: Cluster | None) -> Left | None:
    """
    Return what is left in a cluster as it is; None without one, or where it has no classes.

    Spec: LEFT-1 to LEFT-4.
    """
    if cluster is None or not cluster.classes:
        return None
    try:
        found = takers(cluster)
        nodes = tuple(each for each in cluster.nodes if not closing(each))
        there = cluster if len(nodes) == len(cluster.nodes) else Cluster(cluster.known.on_nodes(nodes))
        classes = tuple([_of_class(there, name, found) for name in found.takes])
        return Left(classes, stranded(cluster, found))
    except BudgetExhausted as error:
        return Left(why=str(error) or "the budget of work ran out")


def _of_class(cluster: Cluster, name: str, found: Takers) -> ClassLeft:
    took = found.takes[name]
    if name in found.broken:
        return ClassLeft(name, len(took), broken=found.broken[name])
    if not any(each.draws or each.shareable for each in took):  # each leaves the others as they are
        most = max(Counter(node for nodes in took.values() for node in nodes).values(), default=0)
        return ClassLeft(name, len(took), len(took), on_one_node=min(most, ALLOCATION_RESULTS_MAX))
    joint = replicas(cluster, [one_device(name)]).joint
    most, sure = _on_one_node(cluster, name)
    proven = sure and joint.proven and joint.verdict is not Verdict.UNDECIDED
    return ClassLeft(name, len(took), len(joint.placements), proven, most)


def _on_one_node(cluster: Cluster, name: str) -> tuple[int, bool]:
    """Return how many devices one request of a class gets on some node, and whether more are known not to be had."""
    for count in range(1, ALLOCATION_RESULTS_MAX + 1):
        outcome = cluster.allocate([one_device(name, count)])
        if not isinstance(outcome, Allocated):
            return count - 1, isinstance(outcome, Unsatisfiable)
    return ALLOCATION_RESULTS_MAX, True
