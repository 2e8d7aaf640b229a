"""
NodeResourcesFit: cpu, memory, storage, huge pages, number of pods and what device plugins offer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.api.core.pods import HUGE
from dra_alloc.pods.amounts import CPU, EPHEMERAL, MEMORY, PODS
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection, Shortfall
from dra_alloc.pods.tenancy import Load

#: What every node has: one that does not say how much of it, says nothing of it.
_ALWAYS: Final = frozenset({CPU, MEMORY, PODS})
_NOTHING: Final[Mapping[str, str]] = {}
_FIRST: Final = (CPU, MEMORY, EPHEMERAL)
_BYTES: Final = frozenset({MEMORY, EPHEMERAL})
_UNITS: Final = {"Ti": 1024**4, "Gi": 1024**3, "Mi": 1024**2, "Ki": 1024}


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """
    Return the nodes that have too little left of what the pod asks for.

    A node without allocatable resources is not judged. What a DeviceClass
    serves is asked from DRA where the node offers none of it.
    """
    asked = {name: amount for name, amount in attempt.pod.requests.items() if amount > 0 and name != PODS}
    loads = attempt.tenancy.loads
    judged = ((load, too_little(asked, load, attempt.ruling.served)) for load in set(loads))
    found = {load: objection for load, objection in judged if objection is not None}
    return {place: found[load] for place, load in enumerate(loads) if load in found} if found else {}


def shortfalls(asked: Mapping[str, int], load: Load, served: Mapping[str, str]) -> list[Shortfall]:
    """Return what a node has too little of, one more pod included, in the scheduler's order."""
    offered, used = load.allocatable, load.used
    if not offered:
        return []
    found: list[Shortfall] = []
    if load.pods + 1 > offered.get(PODS, load.pods + 1):
        found.append(Shortfall(PODS, 1, load.pods, offered[PODS]))
    for name in (*_FIRST, *sorted(asked.keys() - _FIRST)):
        amount = asked.get(name, 0)
        there = offered.get(name, 0)
        if amount == 0 or (name in _ALWAYS and name not in offered) or (there == 0 and name in served):
            continue
        if amount > there - used.get(name, 0):
            found.append(Shortfall(name, amount, used.get(name, 0), there))
    return found


def too_little(asked: Mapping[str, int], load: Load, served: Mapping[str, str] = _NOTHING) -> Objection | None:
    """Return what is against a node that has too little left; None if it has enough."""
    found = shortfalls(asked, load, served)
    if not found:
        return None
    texts = tuple("Too many pods" if each.resource == PODS else f"Insufficient {each.resource}" for each in found)
    lasting = any(each.asked > each.allocatable for each in found if each.resource != PODS)
    said = "; ".join(map(_said, found))
    return Objection("node-resources", texts, said, lasting=lasting, shortfalls=tuple(found))


def _said(each: Shortfall) -> str:
    if each.resource == PODS:
        return f"the node runs {each.used} pods of {each.allocatable}"
    if not each.allocatable:
        return f"{_amounts(each.resource, each.asked)[0]} {each.resource} asked, and the node offers none"
    left = max(each.allocatable - each.used, 0)
    asked, left_, whole = _amounts(each.resource, each.asked, left, each.allocatable)
    return f"{asked} {each.resource} asked, {left_} of {whole} left"


def _amounts(resource: str, *amounts: int) -> list[str]:
    """Return amounts in the units of manifests, rounded if they can be told apart then."""
    if resource == CPU:
        return [f"{amount / 1000:.15g}" for amount in amounts]
    if resource not in _BYTES and not resource.startswith(HUGE):
        return list(map(str, amounts))
    rounded = [_bytes(amount) for amount in amounts]
    return rounded if len(set(rounded)) == len(set(amounts)) else list(map(str, amounts))


def _bytes(amount: int) -> str:
    unit = next((unit for unit in _UNITS if amount >= _UNITS[unit]), "")
    return f"{amount / _UNITS[unit]:.6g}{unit}" if unit else str(amount)
