"""
NodeResourcesFit and NodeResourcesBalancedAllocation: how much cpu and memory are left, and how even they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dra_alloc.pods.amounts import CPU, MEMORY
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.scores.scaling import MOST
from dra_alloc.pods.tenancy import Load
from dra_alloc.releases import Release

#: Since when a node's balance is held against its balance without the pod.
_COMPARED_SINCE: Final = Release(1, 36, 0, 0)
_Pair = tuple[int, int]


def least_allocated(attempt: Attempt, places: Sequence[int]) -> list[int]:
    """Return the score of each node: the mean of the shares of cpu and memory that are left."""
    asked = attempt.pod.scored_as
    return _by_load(attempt, places, lambda load: _left(load, asked))


def balance(attempt: Attempt, places: Sequence[int]) -> list[int] | None:
    """
    Return the score of each node: how even the used shares of cpu and memory are; None for a pod that asks for neither.

    Since 1.36 it is how much evener they are with the pod.
    """
    asked = attempt.pod.requests.get(CPU, 0), attempt.pod.requests.get(MEMORY, 0)
    if asked == (0, 0):
        return None
    if attempt.ruling.release < _COMPARED_SINCE:
        return _by_load(attempt, places, lambda load: _evenness(load, asked))
    half = MOST // 2
    return _by_load(
        attempt, places, lambda load: half + _halved(half + _evenness(load, asked) - _evenness(load, (0, 0)))
    )


def _by_load(attempt: Attempt, places: Sequence[int], score: Callable[[Load], int]) -> list[int]:
    loads = attempt.tenancy.loads
    theirs = list(map(loads.__getitem__, places))
    known = {load: score(load) for load in set(theirs)}
    return list(map(known.__getitem__, theirs))


def _left(load: Load, asked: _Pair) -> int:
    total = weights = 0
    for name, amount, counted in zip((CPU, MEMORY), asked, load.counted, strict=True):
        there = load.allocatable.get(name, 0)
        if there == 0:
            continue
        weights += 1
        wanted = counted + amount
        total += 0 if wanted > there else (there - wanted) * MOST // there
    return total // weights if weights else 0


def _evenness(load: Load, asked: _Pair) -> int:
    shares: list[float] = []
    for name, amount in zip((CPU, MEMORY), asked, strict=True):
        there = load.allocatable.get(name, 0)
        if there:
            shares.append(min(1.0, float(load.used.get(name, 0) + amount) / float(there)))
    uneven = abs((shares[0] - shares[1]) / 2) if len(shares) == 2 else 0.0
    return int((1 - uneven) * float(MOST))


def _halved(value: int) -> int:
    """Return half, rounded towards zero."""
    return int(value / 2)
