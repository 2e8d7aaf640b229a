"""
PodTopologySpread: constraints that must hold on how even pods are spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.spreading import Constraint, constraints_of, counted, included

_TEXT: Final = "node(s) didn't match pod topology spread constraints"
_NO_LABEL: Final = f"{_TEXT} (missing required label)"


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """
    Return the nodes on which the pod would make a skew too large, and those without the label.

    Domains are those of nodes that have the labels of all constraints and that
    the constraint's policies include; with fewer than it wants the smallest
    number of pods in one counts as 0.
    """
    constraints = tuple(constraints_of(attempt.pod, "DoNotSchedule"))
    found: dict[int, Objection] = {}
    if not constraints:
        return found
    tenancy = attempt.tenancy
    labelled = [place for place in range(len(tenancy.nodes)) if _has_all(constraints, attempt, place)]
    for constraint in constraints:
        values = tenancy.domains(constraint.key)
        pods = counted(constraint, attempt)
        domains: dict[str, int] = {}
        for place in included(constraint, attempt, labelled):
            value = values[place]
            domains[value] = domains.get(value, 0) + pods.get(place, 0)
        fewest = min(domains.values(), default=2**31 - 1) if len(domains) >= constraint.min_domains else 0
        own = 1 if constraint.selector is not None and constraint.selector.matches(attempt.pod.labels) else 0
        for place in range(len(tenancy.nodes)):
            if place in found:
                continue
            if place not in values:
                said = f"the node has no label {constraint.key} to spread pods over"
                found[place] = Objection("topology-spread", (_NO_LABEL,), said)
            elif domains.get(values[place], 0) + own - fewest > constraint.max_skew:
                found[place] = _skewed(constraint, values[place], domains.get(values[place], 0), fewest)
    return found


def _has_all(constraints: tuple[Constraint, ...], attempt: Attempt, place: int) -> bool:
    return all(place in attempt.tenancy.domains(each.key) for each in constraints)


def _skewed(constraint: Constraint, value: str, there: int, fewest: int) -> Objection:
    said = (
        f"{there} pods run in {constraint.key}={value} and {fewest} where there are fewest: "
        f"one more is over maxSkew {constraint.max_skew}"
    )
    return Objection("topology-spread", (_TEXT,), said, lasting=False)
