"""
InterPodAffinity: pods that must be near others, or must not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.tenancy import Tenancy
from dra_alloc.pods.views import PodView, Term

_NEAR: Final = "node(s) didn't match pod affinity rules"
_APART: Final = "node(s) didn't match pod anti-affinity rules"
_THEIRS: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
#: A label of nodes and one of its values.
_Domain = tuple[str, str]


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """
    Return the nodes that the pod's required terms rule out, and those from which pods there keep it away.

    One running pod has to meet all terms of an affinity. Where none does
    anywhere, a pod that meets its own terms is the first.
    """
    tenancy, pod = attempt.tenancy, attempt.pod
    found: dict[int, Objection] = {}
    if pod.near:
        found |= _not_near(tenancy, pod)
    for term in pod.apart:
        said = f"a pod with {term.pods} runs in the node's {term.key}, which the pod keeps away from"
        objection = Objection("pod-anti-affinity", (_APART,), said, lasting=False)
        _add(found, _in(tenancy, term.key, _values(tenancy, term.key, tenancy.running(term))), objection)
    for term, places in tenancy.apart.items():
        if term.matches(pod.namespace, pod.labels, tenancy.namespaces):
            said = f"a pod in the node's {term.key} keeps away from pods with {term.pods}"
            objection = Objection("pod-anti-affinity-of-others", (_THEIRS,), said, lasting=False)
            _add(found, _in(tenancy, term.key, _values(tenancy, term.key, places)), objection)
    return found


def _not_near(tenancy: Tenancy, pod: PodView) -> dict[int, Objection]:
    met = _meeting_all(tenancy, pod.near)
    pairs: set[_Domain] = set()
    for key in {term.key for term in pod.near}:
        pairs.update((key, value) for value in _values(tenancy, key, met))
    alone = not pairs and all(term.matches(pod.namespace, pod.labels, tenancy.namespaces) for term in pod.near)
    found: dict[int, Objection] = {}
    where = f"nodes that run one: {len(met)}" if met else "none runs anywhere"
    objections = {
        term: Objection("pod-affinity", (_NEAR,), f"no pod with {term.pods} runs in the node's {term.key} ({where})")
        for term in pod.near
    }
    for place in range(len(tenancy.nodes)):
        for term in pod.near:
            value = tenancy.domains(term.key).get(place)
            if value is None or not (alone or (term.key, value) in pairs):
                found[place] = objections[term]
                break
    return found


def _meeting_all(tenancy: Tenancy, terms: tuple[Term, ...]) -> set[int]:
    """Return the nodes that run a pod which every term means."""
    found: set[int] = set()
    for alike in (tenancy.staying, tenancy.leaving):
        for (namespace, labels), places in alike.items():
            if all(term.matches(namespace, labels, tenancy.namespaces) for term in terms):
                found.update(places)
    return found


def _values(tenancy: Tenancy, key: str, places: Iterable[int]) -> set[str]:
    domains = tenancy.domains(key)
    return {domains[place] for place in places if place in domains}


def _in(tenancy: Tenancy, key: str, values: set[str]) -> list[int]:
    return [place for place, value in tenancy.domains(key).items() if value in values] if values else []


def _add(found: dict[int, Objection], places: Iterable[int], objection: Objection) -> None:
    for place in places:
        found.setdefault(place, objection)
