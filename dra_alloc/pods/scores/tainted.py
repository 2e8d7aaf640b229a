"""
TaintToleration: fewer taints of effect PreferNoSchedule that the pod does not tolerate are better.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import Taint
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import scaled
from dra_alloc.pods.taints import tolerated

_WARNS = "PreferNoSchedule"


def scores(attempt: Attempt, places: Sequence[int]) -> list[int] | None:
    """Return the score of each node; None if they are all the same."""
    tainted = attempt.tenancy.tainted
    if tainted.keys().isdisjoint(places):
        return None
    tolerations = [each for each in attempt.pod.spec.tolerations if each.effect in (None, "", _WARNS)]
    known: dict[tuple[Taint, ...], int] = {(): 0}
    comparing = attempt.ruling.comparing
    raw: list[int] = []
    for place in places:
        taints = tainted.get(place, ())
        if taints not in known:
            warnings = [each for each in taints if each.effect == _WARNS]
            known[taints] = sum(not tolerated(each, tolerations, comparing=comparing) for each in warnings)
        raw.append(known[taints])
    return scaled(raw, reverse=True)
