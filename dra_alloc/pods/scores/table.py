"""
All scores of kube-scheduler's default profile with their weights, DRA's own besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Final

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores import images, node_affinity, pod_affinity, resources, spread, tainted


@dataclass(frozen=True, slots=True)
class NodeScore:
    """A plugin of the scheduler by its name there, and how much its score counts."""

    name: str
    weight: int
    scores: Callable[[Attempt, Sequence[int]], list[int] | None]


SCORES: Final = (
    NodeScore("TaintToleration", 3, tainted.scores),
    NodeScore("NodeAffinity", 2, node_affinity.scores),
    NodeScore("NodeResourcesFit", 1, resources.least_allocated),
    NodeScore("PodTopologySpread", 2, spread.scores),
    NodeScore("InterPodAffinity", 2, pod_affinity.scores),
    NodeScore("NodeResourcesBalancedAllocation", 1, resources.balance),
    NodeScore("ImageLocality", 1, images.scores),
)


def totals(attempt: Attempt, places: Sequence[int]) -> list[int]:
    """Return the sum of the weighted scores of each node; what is the same for all nodes is left out."""
    found: list[int] | None = None
    for each in SCORES:
        scores = each.scores(attempt, places)
        if scores is not None:
            weighted = scores if each.weight == 1 else list(map(each.weight.__mul__, scores))
            found = weighted if found is None else list(map(add, found, weighted))
    return [0] * len(places) if found is None else found
