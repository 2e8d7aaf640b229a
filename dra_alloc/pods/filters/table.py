"""
All filters, in the order of kube-scheduler's default profile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.filters import (
    node_affinity,
    node_name,
    pod_affinity,
    ports,
    resources,
    spread,
    tainted,
    unschedulable,
    volumes,
)
from dra_alloc.pods.objections import Objection
from dra_alloc.releases import Release

_Refused = Callable[[Attempt], Mapping[int, Objection]]


@dataclass(frozen=True, slots=True)
class Filter:
    """
    A plugin of the scheduler by its name there.

    One that is `fixed` says the same of a node whatever runs there.
    """

    name: str
    refused: _Refused
    fixed: bool = False


FILTERS: Final = (
    Filter("NodeName", node_name.refused, fixed=True),
    Filter("NodeUnschedulable", unschedulable.refused, fixed=True),
    Filter("TaintToleration", tainted.refused, fixed=True),
    Filter("NodeAffinity", node_affinity.refused, fixed=True),
    Filter("NodePorts", ports.refused),
    Filter("NodeResourcesFit", resources.refused),
    Filter("VolumeBinding", volumes.refused),
    Filter("PodTopologySpread", spread.refused),
    Filter("InterPodAffinity", pod_affinity.refused),
)
#: Until then a cordon was looked at before the name.
_NAME_FIRST_SINCE: Final = Release(1, 37, 0, 0)
_FIXED: Final = tuple(each for each in FILTERS if each.fixed)
_MOVING: Final = tuple(each for each in FILTERS if not each.fixed)


def objections(attempt: Attempt) -> Mapping[int, Objection]:
    """Return the first objection to every node that has one."""
    key = "objections"
    fixed = attempt.pod.found.get(key)
    if fixed is None:
        order = _FIXED if attempt.ruling.release >= _NAME_FIRST_SINCE else (_FIXED[1], _FIXED[0], *_FIXED[2:])
        fixed = attempt.pod.found[key] = _first(order, attempt, node_affinity.not_named(attempt))
    return _first(_MOVING, attempt, cast("Mapping[int, Objection]", fixed))


def _first(filters: tuple[Filter, ...], attempt: Attempt, known: Mapping[int, Objection]) -> Mapping[int, Objection]:
    found = known
    for each in filters:
        more = each.refused(attempt)
        if more:
            found = {**more, **found}
    return found
