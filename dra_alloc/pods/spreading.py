"""
How pods are spread over the values of a node label: what constraints count, for the filter and the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import TopologySpreadConstraint
from dra_alloc.api.labels import LabelTest, selector_of
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.filters.node_affinity import admits
from dra_alloc.pods.taints import repelling
from dra_alloc.pods.views import PodView, added_keys

ZONE: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint with its selector; `selector` is absent where the pods of the pod's own set count."""

    key: str
    max_skew: int
    selector: LabelTest | None
    min_domains: int = 1
    honours_affinity: bool = True
    honours_taints: bool = False


def constraints_of(pod: PodView, when: str) -> Iterator[Constraint]:
    """Return the pod's constraints of one kind, `DoNotSchedule` or `ScheduleAnyway`."""
    for each in pod.spec.topology_spread_constraints:
        if (each.when_unsatisfiable or "DoNotSchedule") == when:
            yield _constraint(each, pod)


def _constraint(given: TopologySpreadConstraint, pod: PodView) -> Constraint:
    return Constraint(
        given.topology_key,
        given.max_skew,
        selector_of(given.label_selector, added_keys(given.match_label_keys, pod.labels)),
        given.min_domains if given.min_domains is not None else 1,
        (given.node_affinity_policy or "Honor") == "Honor",
        (given.node_taints_policy or "Ignore") == "Honor",
    )


def counted(constraint: Constraint, attempt: Attempt) -> dict[int, int]:
    """
    Return how many pods count on each node: those of the pod's namespace that the selector selects.

    Pods being deleted do not count; a selector that asks for nothing counts none.
    """
    tenancy, pod = attempt.tenancy, attempt.pod
    selector = constraint.selector
    if selector is None:
        return dict(tenancy.owned.get(pod.owner, ())) if pod.owner is not None else {}
    if selector.empty or selector.nothing:
        return {}
    return dict(tenancy.selected(pod.namespace, selector))


def included(constraint: Constraint, attempt: Attempt, places: Iterable[int]) -> list[int]:
    """Return those of the nodes that the constraint's policies on node affinity and taints let count."""
    kept = list(places)
    spec, nodes = attempt.pod.spec, attempt.tenancy.nodes
    affinity = spec.affinity
    if constraint.honours_affinity and (
        spec.node_selector or (affinity is not None and affinity.node_affinity is not None)
    ):
        judge = admits(spec)
        kept = [place for place in kept if judge(nodes[place])]
    if constraint.honours_taints:
        comparing = attempt.ruling.comparing
        kept = [
            place
            for place in kept
            if repelling(nodes[place].spec.taints, spec.tolerations, comparing=comparing) is None
        ]
    return kept
