"""
PodTopologySpread: constraints that would rather hold, or over the pods of one set where a pod has none.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api.core.nodes import HOSTNAME
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import MOST
from dra_alloc.pods.spreading import ZONE, Constraint, constraints_of, counted, included

#: Over what pods that belong together are spread if they do not say: those of a set that made them, or of a Service.
_DEFAULT: Final = (Constraint(HOSTNAME, 3, None), Constraint(ZONE, 5, None))
#: The values of a node's labels, and of a host name only that there is one.
Site = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """What a constraint adds: the pods that count, by node for host names and by domain else, times its weight."""

    on_hosts: Mapping[int, int] | None
    in_domains: Mapping[str, int]
    weight: float
    skew: float

    def worth(self, value: str, place: int) -> float:
        """Return what the constraint adds to a node with this value of its label."""
        count = self.in_domains[value] if self.on_hosts is None else self.on_hosts.get(place, 0)
        return float(count) * self.weight + self.skew


def scores(attempt: Attempt, places: Sequence[int]) -> list[int] | None:
    """
    Return the score of each node: fewer pods where it is are better; None if they are all the same.

    A node without the labels of the pod's own constraints gets nothing.
    """
    own = bool(attempt.pod.spec.topology_spread_constraints)
    if own:
        constraints = tuple(constraints_of(attempt.pod, "ScheduleAnyway"))
    else:
        selector = attempt.tenancy.siblings.selector(attempt.pod)
        together = selector is not None or attempt.pod.owner is not None
        constraints = tuple([replace(each, selector=selector) for each in _DEFAULT]) if together else ()
    if not constraints:
        return None
    sites, all_kinds = _sites(attempt, tuple(each.key for each in constraints))
    found = list(map(sites.__getitem__, places)) if len(all_kinds) > 1 else list(all_kinds) * len(places)
    kinds = set(found) if len(all_kinds) > 1 else set(all_kinds if places else ())
    passed = {each for each in kinds if own and None in each}
    kinds -= passed
    hosts = sum(each not in passed for each in found) if passed else len(found)
    terms = [
        _host_term(each, attempt, hosts)
        if each.key == HOSTNAME
        else _term(each, attempt, {site[number] or "" for site in kinds}, sites if own else ())
        for number, each in enumerate(constraints)
    ]
    nowhere = {site: _sum(terms, site, -1) for site in kinds}
    running = {place for each in terms if each.on_hosts for place in each.on_hosts}
    if not (running or passed) and len(set(nowhere.values())) == 1:
        return None
    raw = list(map(nowhere.__getitem__, found)) if not passed else [nowhere.get(site, 0) for site in found]
    for place in running:
        index = bisect_left(places, place)
        if index < len(places) and places[index] == place and found[index] not in passed:
            raw[index] = _sum(terms, found[index], place)
    return _normalised(raw, [site in passed for site in found] if passed else ())


def _sites(attempt: Attempt, keys: tuple[str, ...]) -> tuple[list[Site], frozenset[Site]]:
    """Return where each node is, as far as these labels say, and all that differ."""
    tenancy = attempt.tenancy

    def find() -> tuple[list[Site], frozenset[Site]]:
        labels = [(key == HOSTNAME, tenancy.domains(key)) for key in keys]
        sites = [
            tuple([("" if host and place in values else values.get(place)) for host, values in labels])
            for place in range(len(tenancy.nodes))
        ]
        return sites, frozenset(sites)

    return tenancy.found(f"sites {' '.join(keys)}", find)


def _host_term(constraint: Constraint, attempt: Attempt, hosts: int) -> _Term:
    return _Term(counted(constraint, attempt), {}, math.log(hosts + 2), float(constraint.max_skew - 1))


def _term(constraint: Constraint, attempt: Attempt, values: set[str], wanted: Sequence[Site]) -> _Term:
    """
    Return what the constraint adds to nodes with these values of its label, without it the value of no name.

    If sites are `wanted`, only pods count that run where all labels are.
    """
    pods = counted(constraint, attempt)
    labels = attempt.tenancy.domains(constraint.key)
    domains = dict.fromkeys(values, 0)
    with_pods = [place for place in pods if not wanted or None not in wanted[place]]
    for place in included(constraint, attempt, with_pods):
        value = labels.get(place, "")
        if value in domains:
            domains[value] += pods[place]
    return _Term(None, domains, math.log(len(domains) + 2), float(constraint.max_skew - 1))


def _sum(terms: Sequence[_Term], site: Site, place: int) -> int:
    """Return what all constraints add to a node, the nearest whole number, halves upwards."""
    total = 0.0
    for term, value in zip(terms, site, strict=True):
        if value is not None:
            total += term.worth(value, place)
    whole = math.floor(total)
    return whole + (total - whole >= 0.5)


def _normalised(raw: Sequence[int], passed: Sequence[bool]) -> list[int] | None:
    counting = [each for each, over in zip(raw, passed, strict=True) if not over] if passed else raw
    lowest, highest = min(counting, default=0), max(counting, default=0)
    if lowest == highest and not passed:
        return None
    scaled = {each: MOST * (highest + lowest - each) // highest if highest else MOST for each in set(counting)}
    if not passed:
        return [scaled[each] for each in raw]
    return [0 if over else scaled[each] for each, over in zip(raw, passed, strict=True)]
