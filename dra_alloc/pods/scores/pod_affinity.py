"""
InterPodAffinity: wishes of the pod about those that run, and of those about the pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import MOST
from dra_alloc.pods.tenancy import Tenancy


def scores(attempt: Attempt, places: Sequence[int]) -> list[int] | None:
    """
    Return the score of each node, the least wanted 0 and the most wanted 100; None if nobody has a wish that counts.

    A required affinity of a pod that runs is a wish of weight 1.
    """
    tenancy, pod = attempt.tenancy, attempt.pod
    worth: dict[str, dict[str, int]] = {}
    for weight, term in pod.rather:
        _weigh(worth, tenancy, (term.key, weight), tenancy.running(term).items())
    theirs = [(1, term, where) for term, where in tenancy.near.items()]
    theirs += [(weight, term, where) for (weight, term), where in tenancy.rather.items()]
    for weight, term, where in theirs:
        if term.matches(pod.namespace, pod.labels, tenancy.namespaces):
            _weigh(worth, tenancy, (term.key, weight), where.items())
    if not worth:
        return None
    raw = [0] * len(places)
    for key, values in worth.items():
        domains = tenancy.domains(key)
        for number, place in enumerate(places):
            if place in domains:
                raw[number] += values.get(domains[place], 0)
    lowest, highest = min(raw, default=0), max(raw, default=0)
    if lowest == highest:
        return None
    return [int(float(MOST) * (float(each - lowest) / float(highest - lowest))) for each in raw]


def _weigh(
    worth: dict[str, dict[str, int]], tenancy: Tenancy, wish: tuple[str, int], where: Iterable[tuple[int, int]]
) -> None:
    key, weight = wish
    domains = tenancy.domains(key)
    for place, pods in where:
        if place in domains:
            values = worth.setdefault(key, {})
            values[domains[place]] = values.get(domains[place], 0) + weight * pods
